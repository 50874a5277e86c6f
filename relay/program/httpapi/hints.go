package httpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/policy"
)

// showHints answers GET /api/v1/plugins/{plugin}/hints: what its author and the person say its tools do.
func (a *API) showHints(_ http.ResponseWriter, req *http.Request) (any, *Refusal) {
	view, failure := a.Catalog.Hints(req.PathValue("plugin"))
	if failure != nil {
		return nil, NewRefusal(reviewStatus(failure), failure)
	}
	return view, nil
}

// Hinting is the body of PUT /api/v1/plugins/{plugin}/hints.
type Hinting struct {
	Patterns []string `json:"patterns"` // of names of tools, with * for any characters
	Effect   string   `json:"effect"`   // read, write, destroy; none: what the author says
}

// maxPatterns is how many patterns one request may have.
const maxPatterns = 100

var effects = map[string]plugin.Effect{"read": plugin.Reads, "write": plugin.Writes, "destroy": plugin.Destroys,
	"none": plugin.Unsaid}

// setHints answers PUT /api/v1/plugins/{plugin}/hints with what is said of the tools then. A person confirms what lets
// agents do more: that a tool reads, or does not destroy.
func (a *API) setHints(w http.ResponseWriter, req *http.Request) (any, *Refusal) {
	var h Hinting
	if err := json.NewDecoder(http.MaxBytesReader(w, req.Body, 16<<10)).Decode(&h); err != nil {
		return nil, saysNothing()
	}
	name := req.PathValue("plugin")
	views, refused := a.hint(w, req, map[string][]string{name: h.Patterns}, h.Effect)
	if refused != nil {
		return nil, refused
	}
	return views[0], nil
}

// HintingMany is the body of PUT /api/v1/hints.
type HintingMany struct {
	Plugins map[string][]string `json:"plugins"` // patterns of names of their tools
	Effect  string              `json:"effect"`
}

// ManyHints is its answer.
type ManyHints struct {
	Plugins []catalog.HintsView `json:"plugins"`
}

// setManyHints answers PUT /api/v1/hints: the same for many plugins, with one confirmation.
func (a *API) setManyHints(w http.ResponseWriter, req *http.Request) (any, *Refusal) {
	var h HintingMany
	if err := json.NewDecoder(http.MaxBytesReader(w, req.Body, 256<<10)).Decode(&h); err != nil {
		return nil, saysNothing()
	}
	views, refused := a.hint(w, req, h.Plugins, h.Effect)
	if refused != nil {
		return nil, refused
	}
	return ManyHints{Plugins: views}, nil
}

// maxHinted is how many plugins one request may be about.
const maxHinted = 200

func saysNothing() *Refusal {
	return NewRefusal(http.StatusBadRequest, fault.New(fault.InvalidRequest, "The body says nothing about tools",
		fault.WithHint(`Send {"patterns": ["list_*"], "effect": "read"}, or to /api/v1/hints {"plugins": {"NAME": `+
			`["list_*"]}, "effect": "read"}; the effect is read, write, destroy or none, and a pattern is the name of `+
			`a tool with * for any characters.`)))
}

// hint writes down what a person says of the tools of plugins, confirmed at once where it lets agents do more.
func (a *API) hint(w http.ResponseWriter, req *http.Request, patterns map[string][]string, said string) (
	views []catalog.HintsView, refused *Refusal) {
	effect, known := effects[said]
	if !known || len(patterns) == 0 || len(patterns) > maxHinted {
		return nil, saysNothing()
	}
	names := slices.Sorted(maps.Keys(patterns))
	var differences []call.Difference
	for _, name := range names {
		if len(patterns[name]) == 0 || len(patterns[name]) > maxPatterns ||
			!all(patterns[name], plugin.ValidPattern) {
			return nil, saysNothing()
		}
		before, failure := a.Catalog.Hints(name)
		if failure != nil {
			return nil, NewRefusal(reviewStatus(failure), failure)
		}
		wider, problem := widening(before, patterns[name], effect)
		if problem != nil {
			return nil, NewRefusal(http.StatusUnprocessableEntity, problem)
		}
		if len(names) > 1 {
			for i := range wider {
				wider[i].What = name + ": " + wider[i].What
			}
		}
		differences = append(differences, wider...)
	}
	by, denied := a.Confirmed(w, req, hinting(names, patterns, said, differences))
	if denied != nil {
		return nil, denied
	}
	for _, name := range names {
		failure := a.Catalog.SetHints(name, patterns[name], effect, by, Sender(req.Context()))
		if failure != nil {
			return nil, NewRefusal(reviewStatus(failure), failure)
		}
		view, failure := a.Catalog.Hints(name)
		if failure != nil {
			return nil, NewRefusal(reviewStatus(failure), failure)
		}
		views = append(views, view)
	}
	return views, nil
}

func all(list []string, is func(string) bool) bool {
	return !slices.ContainsFunc(list, func(one string) bool { return !is(one) })
}

// widening is what hints let agents do more. Hints that no tool takes are a problem.
func widening(before catalog.HintsView, patterns []string, effect plugin.Effect) ([]call.Difference, *fault.Error) {
	var differences []call.Difference
	takes := false
	for _, t := range before.Tools {
		tool := plugin.Tool{Name: t.Tool}
		var hints []plugin.Hint
		for _, pattern := range patterns {
			hints = append(hints, plugin.Hint{Pattern: pattern, Effect: plugin.Reads})
		}
		if t.Says != "nothing" || tool.Hinted(hints) == plugin.Unsaid {
			continue
		}
		takes = true
		if rank(effect) < rank(t.Hinted) {
			differences = append(differences, call.Difference{What: t.Tool, Before: effectText(t.Hinted),
				After: effectText(effect)})
		}
	}
	if !takes && effect != plugin.Unsaid {
		return nil, fault.New(fault.InvalidRequest, fmt.Sprintf("No tool of %s that declares nothing has a name "+
			"like %s", before.Plugin, strings.Join(patterns, ", ")),
			fault.WithHint("What an author declares stays. `tabrelay plugin annotate "+before.Plugin+
				"` lists the tools."))
	}
	return differences, nil
}

// hinting is what a person confirms; nil: nothing.
func hinting(names []string, patterns map[string][]string, said string, differences []call.Difference) *policy.Change {
	if len(differences) == 0 {
		return nil
	}
	of, command := names[0], "tabrelay plugin annotate "+strings.Join(names, ",")
	if len(names) > 1 {
		of = fmt.Sprintf("%d plugins", len(names))
	} else {
		command += fmt.Sprintf(" '%s' %s", strings.Join(patterns[of], ","), said)
	}
	return policy.NewChange(fmt.Sprintf("Tools of %s %s (%d)", of, effectText(effects[said]), len(differences)),
		command, differences...).WithText("Their author does not say what they do. You vouch for it: what is allowed "+
		"for tools that only read is allowed for them, and those are called again when a call failed.",
		"It applies to tools of these names in later versions of the plugin, too.")
}

// rank orders effects by what agents may do: the lower, the more.
func rank(e plugin.Effect) int {
	switch e {
	case plugin.Reads:
		return 0
	case plugin.Writes:
		return 1
	}
	return 2
}

func effectText(e plugin.Effect) string {
	switch e {
	case plugin.Reads:
		return "only read"
	case plugin.Writes:
		return "change things, and do not destroy"
	case plugin.Destroys:
		return "may destroy"
	}
	return "may destroy: nothing is declared"
}
