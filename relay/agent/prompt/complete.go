package prompt

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"tabrelay/relay/agent/front"
	"tabrelay/relay/browser/hub"
	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/match"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
)

// maxCompleted is how many values one answer holds (MCP, "Completion").
const maxCompleted = 100

// maxLetters is how many dead letters are listed: the newest.
const maxLetters = 200

// Completer offers values for arguments of recipes and of resources' URIs, out of what the relay knows right now.
type Completer struct {
	Prompts   *Prompts
	Templates func() []call.ResourceTemplate // nil: there are none
	Tools     Tools
	Tabs      func() []hub.Tab
	Browsers  func() []hub.Browser
	Letters   func(ctx context.Context, most int) ([]call.DeadLetter, error) // dead letters, the newest first
	Views     Views

	// Told is whether a client may know of a tab, and whether also its title.
	Told func(s call.Session, t hub.Tab) (seen, told bool)
}

// Views knows what a client may see.
type Views interface {
	View(s call.Session) registry.View
	Hides(s call.Session, plugin string, tools []*registry.Tool) bool
}

// candidate is one value and the words it can be found by besides itself: a tab by its title and its host.
type candidate struct {
	value string
	words []string
}

// Complete implements front.Completer.
func (c *Completer) Complete(ctx context.Context, s call.Session, ref front.Ref, argument, typed string,
	known map[string]string) (call.Completion, *fault.Error) {
	if ref.Prompt != "" {
		return c.forPrompt(s, ref.Prompt, argument, typed, known)
	}
	var list []call.ResourceTemplate
	if c.Templates != nil {
		list = c.Templates()
	}
	i := slices.IndexFunc(list, func(t call.ResourceTemplate) bool { return t.URITemplate == ref.Template })
	if i < 0 {
		return call.Completion{}, fault.New(fault.InvalidParams, fmt.Sprintf("There is no resource template %.120q",
			ref.Template),
			fault.WithHint("List the resource templates again and use one of them."))
	}
	if !slices.Contains(variables(ref.Template), argument) {
		return call.Completion{}, fault.New(fault.InvalidParams,
			fmt.Sprintf("The resource template %s has no argument %.80q", ref.Template, argument),
			fault.WithHint("The arguments of a template stand in braces in its URI."))
	}
	scheme, _, _ := strings.Cut(ref.Template, ":")
	return pick(c.forTemplate(ctx, s, scheme, argument, known), typed), nil
}

// expression is one of a URI template (RFC 6570, section 2.2).
var expression = lazyregexp.New(`\{[+#./;?&]?([^{}]*)\}`)

// variables are the names in a URI template.
func variables(template string) (names []string) {
	for _, found := range expression.FindAllStringSubmatch(template, -1) {
		for name := range strings.SplitSeq(found[1], ",") {
			name, _, _ = strings.Cut(strings.TrimSuffix(name, "*"), ":")
			names = append(names, name)
		}
	}
	return names
}

// forPrompt offers what the recipe declares for its argument.
func (c *Completer) forPrompt(s call.Session, name, argument, typed string, known map[string]string) (call.Completion,
	*fault.Error) {
	r, ok := c.Prompts.Find(name)
	if !ok || c.Views.Hides(s, r.Site.Plugin.Manifest.Name, c.Tools.Snapshot().Tools) {
		return call.Completion{}, fault.New(fault.UnknownPrompt, fmt.Sprintf("There is no prompt %.80q", name))
	}
	for _, a := range r.Arguments {
		if a.Name != argument {
			continue
		}
		if a.From != "" {
			return pick(c.from(s, a.From, r.Site, known["profile"]), typed), nil
		}
		return pick(plain(a.Complete), typed), nil
	}
	return call.Completion{}, fault.New(fault.InvalidParams, fmt.Sprintf("The prompt %s has no argument %.80q", name,
		argument),
		fault.WithHint("List the prompts again; each says which arguments it has."))
}

// forTemplate offers what a part of a URI can be. What it means follows from its name, and an id is one of what the
// scheme is about.
func (c *Completer) forTemplate(ctx context.Context, s call.Session, scheme, argument string,
	known map[string]string) []candidate {
	switch argument {
	case "profile", "tool", "plugin":
		return c.from(s, argument+"s", nil, "")
	case "tabId", "tab":
		return c.from(s, "tabs", nil, known["profile"])
	case "id":
		switch scheme {
		case "tab", "console", "network":
			return c.from(s, "tabs", nil, known["profile"])
		case "deadletter":
			return c.deadLetters(ctx)
		}
	}
	return nil
}

// from offers the values of one of plugin.Sources. Tabs are those of the site, when there is one.
func (c *Completer) from(s call.Session, source string, site *registry.Site, profile string) []candidate {
	var list []candidate
	switch source {
	case "tabs":
		return c.openTabs(s, site, profile)
	case "profiles":
		for _, b := range c.Browsers() {
			if b.Connected {
				list = append(list, candidate{value: b.Label})
			}
		}
	case "tools":
		for _, t := range c.Tools.Snapshot().Tools {
			if c.Views.View(s).Shows(t) {
				list = append(list, candidate{value: t.Name, words: words(t.Spec.DisplayName)})
			}
		}
	case "plugins":
		for _, site := range c.Tools.Snapshot().Sites {
			if m := site.Plugin.Manifest; !c.Views.Hides(s, m.Name, c.Tools.Snapshot().Tools) {
				list = append(list, candidate{value: m.Name, words: words(m.DisplayName)})
			}
		}
	}
	return list
}

// openTabs offers the ids of tabs: those in front first, then as the browser has them.
func (c *Completer) openTabs(s call.Session, site *registry.Site, profile string) []candidate {
	belongs := func(hub.Tab) bool { return true }
	if site != nil {
		rule, err := match.NewRule(site.Matches, site.Excludes)
		if err != nil {
			return nil // a site whose patterns do not parse has no tabs
		}
		belongs = func(t hub.Tab) bool { return rule.Matches(t.URL) }
	}
	tabs := slices.DeleteFunc(slices.Clone(c.Tabs()), func(t hub.Tab) bool {
		return !belongs(t) || profile != "" && profile != t.Profile && profile != t.ProfileID
	})
	slices.SortStableFunc(tabs, func(a, b hub.Tab) int { return rank(a) - rank(b) })
	list := make([]candidate, 0, len(tabs))
	for _, t := range tabs {
		seen, told := c.Told(s, t)
		if !seen {
			continue
		}
		one := candidate{value: strconv.Itoa(t.ID), words: host(t.URL)}
		if told { // else its title could be found out, a letter at a time
			one.words = append(one.words, words(t.Title)...)
		}
		list = append(list, one)
	}
	return list
}

func rank(t hub.Tab) int {
	switch {
	case t.Active && t.Focused:
		return 0
	case t.Active:
		return 1
	}
	return 2
}

func (c *Completer) deadLetters(ctx context.Context) []candidate {
	letters, err := c.Letters(ctx, maxLetters)
	if err != nil {
		return nil // whoever opens one is told what is wrong
	}
	list := make([]candidate, 0, len(letters))
	for _, l := range letters {
		list = append(list, candidate{value: string(l.ID), words: []string{l.Tool}})
	}
	return list
}

func plain(values []string) []candidate {
	list := make([]candidate, 0, len(values))
	for _, v := range values {
		list = append(list, candidate{value: v})
	}
	return list
}

// words are the places of a text that somebody may begin to type.
func words(text string) []string {
	list := strings.FieldsFunc(text, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
	return append(list, text)
}

func host(address string) []string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return nil
	}
	return []string{u.Host, strings.TrimPrefix(u.Host, "www.")}
}

// pick keeps the values that begin with what was typed, or that are found by a word that does; letter case does not
// matter. Each value comes once.
func pick(list []candidate, typed string) call.Completion {
	typed = strings.ToLower(strings.TrimSpace(typed))
	starts := func(text string) bool { return strings.HasPrefix(strings.ToLower(text), typed) }
	done := call.Completion{Values: []string{}}
	seen := map[string]bool{}
	for _, o := range list {
		if seen[o.value] || !starts(o.value) && !slices.ContainsFunc(o.words, starts) {
			continue
		}
		seen[o.value] = true
		if done.Total++; len(done.Values) < maxCompleted {
			done.Values = append(done.Values, o.value)
		}
	}
	done.HasMore = done.Total > len(done.Values)
	return done
}
