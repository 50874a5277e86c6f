package script

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"tabrelay/relay/capability/script/engine"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
)

// consent is whether a script may change something. It is asked at most once.
type consent struct {
	once    sync.Once
	failure *fault.Error
}

// foresee asks before the script runs where its text names a tool that may change something, or does not say which
// tools it uses.
func (r *run) foresee(uses *engine.Uses, entries []engine.Tool) *fault.Error {
	names, changes := r.uses(uses, entries)
	kept := ""
	if !uses.Other {
		kept = r.keptAs(names)
	}
	if changes {
		if kept != "" {
			r.approved = names
		}
		if failure := r.consent(names, uses.Other); failure != nil {
			return failure
		}
	}
	if kept != "" {
		r.noteRun(kept, names, changes && r.limits.Permission == ask && !r.asked.Consent && !r.told.Load())
	}
	return nil
}

// uses are the tools that the text of a script names, and whether it may change something.
func (r *run) uses(uses *engine.Uses, entries []engine.Tool) (names []string, changes bool) {
	changes = uses.Other
	for _, used := range uses.Tools {
		i := slices.IndexFunc(entries, func(e engine.Tool) bool {
			return e.Object == used.Object && e.Method == used.Method
		})
		if i >= 0 && !slices.Contains(names, entries[i].Name) {
			names = append(names, entries[i].Name)
			changes = changes || !r.tools[entries[i].Name].ReadOnly
		}
	}
	return names, changes
}

// mayChange asks before the first call of a tool that changes something, where the text of the script did not show it.
func (r *run) mayChange(t *registry.Tool) *fault.Error {
	defer r.clock.pause()()
	return r.consent([]string{t.Name}, true)
}

// consent is the person's, or that of a rule, to what a script changes. Each of its calls needs its own all the same.
func (r *run) consent(names []string, others bool) *fault.Error {
	asks := &r.asks
	if !r.covered(names) && r.approved != nil {
		asks = &r.beyond
	}
	asks.once.Do(func() { asks.failure = r.permit(names, others) })
	return asks.failure
}

// covered reports whether the person approved a script with these tools when they kept it.
func (r *run) covered(names []string) bool {
	return r.approved != nil && !slices.ContainsFunc(names, func(name string) bool {
		return !slices.Contains(r.approved, name)
	})
}

func (r *run) permit(names []string, others bool) *fault.Error {
	switch {
	case r.limits.Permission == deny:
		return fault.New(fault.PermissionDenied, "Scripts may not change anything here "+
			"(scripts.permission is \"deny\")", fault.WithOutcome(fault.NotExecuted), fault.WithHint(
			"Call the tools that change something one by one; a script may call those that only read."))
	case r.limits.Permission == ask && !r.asked.Consent:
		tell := func(message string) {
			r.told.Store(true)
			r.progress(call.Progress{Message: answerable(message)})
		}
		resume := func() {}
		if r.clock == nil && r.asked.Paused != nil {
			resume = r.asked.Paused()
		}
		defer resume()
		return r.core.Permit(r.ctx, r.access(names, others), r.asked.Ask, tell)
	}
	return nil
}

// access is the script as the person is asked about it: the whole text, and what it uses where.
func (r *run) access(names []string, others bool) call.Access {
	shown := []rawjson.Member{rawjson.Make("script", rawjson.MustEncode(r.args.Script))}
	if string(r.args.Args) != "null" {
		shown = append(shown, rawjson.Make("args", r.args.Args))
	}
	return call.Access{
		ID: r.asked.ID, Session: r.asked.Session, Tool: toolName, Title: "Run a script", Description: about,
		Plugin: Group, BuiltIn: true, Asks: !r.covered(names), Arguments: rawjson.Join(shown),
		Note: r.note(names, others, mostShown), Reason: r.asked.Reason,
	}
}

// mostShown is how many tools a question names.
const mostShown = 12

// note says which tools a script uses, and on which sites; most is how many of each are named.
func (r *run) note(names []string, others bool, most int) string {
	var changing, reading, sites []string
	for _, one := range names {
		t := r.tools[one]
		if t.ReadOnly {
			reading = append(reading, one)
		} else {
			changing = append(changing, one)
		}
		sites = append(sites, sitesOf(t)...)
	}
	var parts []string
	if len(changing) > 0 {
		parts = append(parts, "It may change something with "+listed(changing, most))
	}
	if len(reading) > 0 {
		parts = append(parts, "it reads with "+listed(reading, most))
	}
	if others {
		parts = append(parts, "it may use other tools, which its text does not show")
	}
	slices.Sort(sites)
	if sites = slices.Compact(sites); len(sites) > 0 {
		parts = append(parts, "on "+listed(sites, most))
	}
	if len(parts) == 0 {
		return ""
	}
	text := strings.Join(parts, "; ")
	return strings.ToUpper(text[:1]) + text[1:] + ". Each call of a tool is asked about as always."
}

func listed(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		return strings.Join(names[:most], ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(names, ", ")
}

// sitesOf are the sites that a tool works on.
func sitesOf(t *registry.Tool) []string {
	switch {
	case t.Page != nil:
		return []string{t.Page.Origin}
	case t.Browses:
		return []string{"any page that is open"}
	case t.Site != nil:
		return t.Site.Matches
	}
	return nil
}
