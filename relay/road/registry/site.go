package registry

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/match"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/plugin"
)

// Configured is what a person configured for one plugin.
type Configured struct {
	Disabled    bool
	Pages       []string        // in place of the patterns of a plugin for every page; nil: its own
	Excludes    []string        // added to the plugin's own
	URLPatterns []string        // added to the plugin's own, or to Pages
	Settings    json.RawMessage // values for the plugin's configSchema; nil or an object
	Held        []string        // settings that are not among these, because what they name waits for the person
	Withheld    *Withheld       // of the plugin, or of a newer content of it; nil when nothing is
}

// Withheld is what a plugin would offer if a person had accepted its content.
type Withheld struct {
	Tools []string // names, without the plugin's
	Why   string   // why it is off: one sentence without full stop
}

// Site is a plugin together with what a person configured for it: where it runs, and with which settings.
type Site struct {
	Plugin     *plugin.Plugin
	Matches    []string // match patterns of the pages it may run in
	Excludes   []string
	Homepage   string            // where to open the web app; empty when nobody said
	Instances  []plugin.Instance // of the web app, sorted by name
	Settings   json.RawMessage   // what its tools get as settings; nil when there are none
	EveryPage  bool              // it is for the pages of every site, as far as the person allows
	Everywhere bool              // the person allows it the pages of every site
	Secret     bool              // one of them is not for a page that could read it
	Missing    []string          // settings that the plugin cannot do without and that it does not have, sorted
	Held       []string          // of its settings, those that wait for the person
	SignIn     *Tool             // plugin.SignInCheck, which no list has; nil: the plugin is for every page
}

// Instance returns the instance of that name.
func (s *Site) Instance(name string) (plugin.Instance, bool) {
	i := slices.IndexFunc(s.Instances, func(in plugin.Instance) bool { return in.Name == name })
	if i < 0 {
		return plugin.Instance{}, false
	}
	return s.Instances[i], true
}

// newSite applies the configuration. What is wrong with it is left out and named.
func newSite(p *plugin.Plugin, c Configured) (site *Site, faults []string) {
	site = &Site{Plugin: p, Matches: slices.Clone(p.Manifest.URLPatterns), Excludes: p.Manifest.ExcludePatterns,
		Homepage: p.Manifest.Homepage, Held: c.Held}
	site.Excludes = slices.Concat(site.Excludes, c.Excludes)
	site.EveryPage = p.Manifest.EveryPage()
	if site.EveryPage && c.Pages != nil {
		site.Matches = slices.Clone(c.Pages)
	}
	for _, pattern := range c.URLPatterns {
		site.match(pattern)
	}
	faults = site.configure(p.Manifest.ConfigSchema, c.Settings)
	site.Everywhere = (&plugin.Manifest{URLPatterns: site.Matches}).EveryPage()
	if len(site.Matches) == 0 {
		faults = append(faults, "has no pages to work on; "+whereToSay(&p.Manifest, c.Held))
	}
	return site, faults
}

// HeldHint is what a person does about settings that wait for them.
const HeldHint = "answer in the side panel, or run: tabrelay config apply"

// whereToSay is how a person says where the web app of a plugin stands.
func whereToSay(m *plugin.Manifest, held []string) string {
	if name := plugin.URLSetting(m.ConfigSchema); slices.Contains(held, name) {
		return fmt.Sprintf("the one in setting %q waits for you: ", name) + HeldHint
	} else if name != "" {
		return fmt.Sprintf("run: tabrelay plugin configure %s %s=ADDRESS", m.Name, name)
	}
	return fmt.Sprintf("set plugins.%s.urlPatterns in config.json", m.Name)
}

// Reach is where a plugin may run with what is configured for it, as match patterns.
func Reach(p *plugin.Plugin, c Configured) []string {
	site, _ := newSite(p, c)
	return site.Matches
}

func (s *Site) match(pattern string) {
	if !slices.Contains(s.Matches, pattern) {
		s.Matches = append(s.Matches, pattern)
	}
}

func (s *Site) configure(declared, given json.RawMessage) (faults []string) {
	fields, err := plugin.Settings(declared)
	if err != nil {
		return []string{"declares settings (configSchema) that are not an object of fields; they are ignored"}
	}
	if depth := rawjson.Depth(given); depth > rawjson.MostDeep {
		faults = append(faults, fmt.Sprintf("has settings that nest %d levels deep, and at most %d are allowed; "+
			"they are ignored", depth, rawjson.MostDeep))
		given = nil
	}
	given, left := rawjson.WithoutPrototypes(given)
	if left != nil {
		faults = append(faults, fmt.Sprintf("has settings of the names %s, which programs take for something else "+
			"than a value; they are ignored", strings.Join(left, ", ")))
	}
	values, _ := rawjson.Members(given)
	var kept []rawjson.Member
	for _, v := range values {
		f, known := fields[v.Name]
		if !known {
			faults = append(faults, fmt.Sprintf("has no setting %q; it declares: %s", v.Name,
				strings.Join(names(fields), ", ")))
			continue
		}
		if problem := s.accept(f, v.Value); problem != "" {
			faults = append(faults, fmt.Sprintf("setting %q is ignored: %s", v.Name, problem))
			continue
		}
		kept = append(kept, v)
		s.Secret = s.Secret || f.IsSecret()
	}
	for _, name := range names(fields) {
		if f := fields[name]; f.Default != nil && rawjson.Get(kept, name) == nil {
			problem := "only the person says on which sites a plugin works"
			if f.Type != "url" {
				problem = s.accept(f, f.Default)
			}
			if problem != "" {
				faults = append(faults, fmt.Sprintf("the default of setting %q is ignored: %s", name, problem))
				continue
			}
			kept = append(kept, rawjson.Make(name, json.RawMessage(f.Default)))
		}
		if fields[name].Required && rawjson.Get(kept, name) == nil {
			s.Missing = append(s.Missing, name)
			if slices.Contains(s.Held, name) {
				faults = append(faults, fmt.Sprintf("needs setting %q, which waits for you: ", name)+HeldHint)
				continue
			}
			faults = append(faults, fmt.Sprintf("needs setting %q; run: tabrelay plugin configure %s %s=VALUE", name,
				s.Plugin.Manifest.Name, name))
		}
	}
	if len(kept) > 0 {
		s.Settings = rawjson.Join(kept)
	}
	return faults
}

// CheckSetting says what is wrong with a value for one of the settings that declared, a configSchema, names; empty
// when nothing is.
func CheckSetting(declared json.RawMessage, name string, value json.RawMessage) (problem string) {
	fields, err := plugin.Settings(declared)
	if err != nil {
		return "the plugin's configSchema is not an object of fields"
	}
	return new(Site).accept(fields[name], value)
}

func names(fields map[string]plugin.Setting) []string {
	list := make([]string, 0, len(fields))
	for name := range fields {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}

// accept checks one value, and takes the instances out of a url.
func (s *Site) accept(f plugin.Setting, value json.RawMessage) (problem string) {
	var ok bool
	switch f.Type {
	case "url":
		return s.instances(value)
	case "string":
		_, ok = decode[string](value)
	case "number":
		_, ok = decode[float64](value)
	case "boolean":
		_, ok = decode[bool](value)
	case "select":
		var chosen string
		chosen, ok = decode[string](value)
		if ok && !slices.Contains(f.Options, chosen) {
			return fmt.Sprintf("expected one of %s, but got %s", strings.Join(f.Options, ", "), value)
		}
	default:
		return fmt.Sprintf("the plugin declares it with the unknown type %q", f.Type)
	}
	if !ok {
		return fmt.Sprintf("expected a %s, but got %.60s", strings.Replace(f.Type, "select", "string", 1), value)
	}
	return ""
}

func decode[T any](value json.RawMessage) (v T, ok bool) {
	var p *T
	if json.Unmarshal(value, &p) != nil || p == nil {
		return v, false
	}
	return *p, true
}

// instances takes over the addresses of a url setting. Each adds the pages of its host; the first becomes the homepage.
func (s *Site) instances(value json.RawMessage) (problem string) {
	found, problem := plugin.Instances(value)
	if problem != "" {
		return problem
	}
	if len(s.Instances) == 0 && len(found) > 0 {
		s.Homepage = found[0].URL
	}
	for _, in := range found {
		if _, taken := s.Instance(in.Name); !taken {
			s.Instances = append(s.Instances, in)
		}
		s.match(in.Match)
	}
	slices.SortFunc(s.Instances, func(a, b plugin.Instance) int { return strings.Compare(a.Name, b.Name) })
	return ""
}

// tools accepts the plugin's tools one by one.
func (s *Site) tools(cache *schemas) (offered []*Tool, rejected []string) {
	for _, spec := range s.Plugin.Manifest.Tools {
		t := &Tool{Name: plugin.FullName(s.Plugin.Manifest.Name, spec.Name), Plugin: s.Plugin, Site: s, Spec: spec}
		if err := t.accept(cache); err != nil {
			rejected = append(rejected, leftOut(t.Name, err.Error()))
			continue
		}
		offered = append(offered, t)
	}
	ordered(offered, s.Plugin.Manifest.Prompts)
	return offered, rejected
}

// signInCheck makes the tool with which the relay asks the plugin whether a person is signed in. Rules and questions
// are those of the plugin's tools that read.
func (s *Site) signInCheck(cache *schemas) *Tool {
	yes := true
	t := &Tool{
		Name: plugin.FullName(s.Plugin.Manifest.Name, plugin.SignInCheck), Plugin: s.Plugin, Site: s,
		Spec: plugin.Tool{
			Name: plugin.SignInCheck, DisplayName: "See whether you are signed in",
			Description: "Waits until a person is signed in; false: the plugin cannot know.",
			InputSchema: json.RawMessage(`{"type":"object","additionalProperties":false}`),
			Annotations: plugin.Annotations{ReadOnlyHint: &yes},
		},
	}
	if s.EveryPage || t.accept(cache) != nil { // a name that is too long: nobody can wait for this plugin
		return nil
	}
	return t
}

// Serves reports whether the plugin is for the page at an address.
func (s *Site) Serves(address string) bool {
	rule, err := match.NewRule(s.Matches, s.Excludes)
	return err == nil && rule.Matches(address)
}

// toolNames finds the full names of tools in a text.
var toolNames = lazyregexp.New(`[A-Za-z0-9_-]+__[A-Za-z0-9_-]+`)

// ordered ranks the tools of a plugin by importance: those that its prompts name, because its author knows what people
// do with it; then those that read; then the others. Within each group the author's order stays.
func ordered(tools []*Tool, prompts []plugin.Prompt) {
	called := map[string]bool{}
	for _, p := range prompts {
		for _, name := range toolNames.FindAllString(p.Template, -1) {
			called[name] = true
		}
	}
	last := func(t *Tool) int {
		switch {
		case called[t.Name]:
			return 0
		case t.ReadOnly:
			return 1
		}
		return 2
	}
	tools = slices.SortedStableFunc(slices.Values(tools), func(a, b *Tool) int { return last(a) - last(b) })
	for i, t := range tools {
		t.Order = i
	}
}
