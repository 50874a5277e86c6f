package httpapi

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"

	"tabrelay/relay/call"
	"tabrelay/relay/catalog"
	"tabrelay/relay/fault"
	"tabrelay/relay/plugin"
	"tabrelay/relay/policy"
)

// showHints answers GET /api/v1/plugins/{plugin}/hints: what its author and the person say its tools do.
func (a *API) showHints(_ http.ResponseWriter, req *http.Request) (any, *refusal) {
	view, failure := a.Catalog.Hints(req.PathValue("plugin"))
	if failure != nil {
		return nil, refuse(reviewStatus(failure), failure)
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
func (a *API) setHints(w http.ResponseWriter, req *http.Request) (any, *refusal) {
	var h Hinting
	text, err := io.ReadAll(http.MaxBytesReader(w, req.Body, 16<<10))
	if err == nil {
		err = json.Unmarshal(text, &h)
	}
	effect, known := effects[h.Effect]
	invalid := func(pattern string) bool { return !plugin.ValidPattern(pattern) }
	if err != nil || !known || len(h.Patterns) == 0 || len(h.Patterns) > maxPatterns ||
		slices.ContainsFunc(h.Patterns, invalid) {
		return nil, refuse(http.StatusBadRequest, fault.New(fault.InvalidRequest, "The body says nothing about tools",
			fault.WithHint(`Send {"patterns": ["list_*"], "effect": "read"}; the effect is read, write, destroy or `+
				`none, and a pattern is the name of a tool with * for any characters.`)))
	}
	name := req.PathValue("plugin")
	before, failure := a.Catalog.Hints(name)
	if failure != nil {
		return nil, refuse(reviewStatus(failure), failure)
	}
	change, problem := hinting(before, h, effect)
	if problem != nil {
		return nil, refuse(http.StatusUnprocessableEntity, problem)
	}
	by, denied := a.confirmed(w, req, change)
	if denied != nil {
		return nil, denied
	}
	if failure := a.Catalog.SetHints(name, h.Patterns, effect, by, Sender(req.Context())); failure != nil {
		return nil, refuse(reviewStatus(failure), failure)
	}
	return a.showHints(w, req)
}

// hinting is what hints let agents do more; nil: nothing. Hints that no tool takes are a problem.
func hinting(before catalog.HintsView, h Hinting, effect plugin.Effect) (*policy.Change, *fault.Error) {
	var differences []call.Difference
	takes := false
	for _, t := range before.Tools {
		tool := plugin.Tool{Name: t.Tool}
		var hints []plugin.Hint
		for _, pattern := range h.Patterns {
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
		return nil, fault.New(fault.InvalidRequest, fmt.Sprintf("No tool of %s that says nothing of itself has a name "+
			"like %s", before.Plugin, strings.Join(h.Patterns, ", ")),
			fault.WithHint("What an author says of a tool stays. `tabrelay plugin annotate "+before.Plugin+
				"` lists the tools."))
	}
	if len(differences) == 0 {
		return nil, nil
	}
	command := fmt.Sprintf("tabrelay plugin annotate %s '%s' %s", before.Plugin, strings.Join(h.Patterns, ","),
		h.Effect)
	return policy.NewChange(fmt.Sprintf("Tools of %s %s (%d)", before.Plugin, effectText(effect), len(differences)),
		command, differences...).Reading("Their author does not say what they do. You answer for it: what is allowed "+
		"for tools that only read is allowed for them, and those are called again when a call failed.",
		"It applies to tools of these names in later versions of the plugin, too."), nil
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
	return "may destroy: they say nothing"
}
