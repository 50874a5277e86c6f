package trial

import (
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/schema"
)

// Result is what came of one fixture.
type Result struct {
	Name      string   `json:"name"`
	Problems  []string `json:"problems,omitempty"`  // none: it passed, or was not run
	NeedsPage string   `json:"needsPage,omitempty"` // why it was not run without a browser
}

// outcome is what the world reports.
type outcome struct {
	Output   json.RawMessage            `json:"output"`
	Error    map[string]json.RawMessage `json:"error"`
	Problems []string                   `json:"problems"`
	Unused   []string                   `json:"unused"`
}

// judge compares what came with what was expected.
func (f *Fixture) judge(o outcome, p *plugin.Plugin) []string {
	problems := slices.Clone(o.Problems)
	for _, unused := range o.Unused {
		problems = append(problems, "it does not ask "+unused)
	}
	switch {
	case o.Error != nil && f.Expect.Error == nil:
		return append(problems, fmt.Sprintf("it fails with %s: %s", text(o.Error["code"]), text(o.Error["message"])))
	case o.Error == nil && f.Expect.Error != nil:
		return append(problems, "it succeeds with "+shortened(o.Output)+", and was expected to fail")
	case o.Error != nil:
		for _, field := range slices.Sorted(maps.Keys(f.Expect.Error)) {
			want, got := f.Expect.Error[field], o.Error[field]
			if field == "message" && strings.Contains(text(got), text(want)) {
				continue
			}
			problems = append(problems, differences("error."+field, want, got)...)
		}
		return problems
	}
	if f.Expect.Output != nil {
		problems = append(problems, differences("output", f.Expect.Output, o.Output)...)
	}
	return append(problems, f.offSchema(o.Output, p)...)
}

// offSchema says where an answer is not what the tool promises.
func (f *Fixture) offSchema(output json.RawMessage, p *plugin.Plugin) []string {
	for _, t := range p.Manifest.Tools {
		if t.Name != f.Tool || t.OutputSchema == nil {
			continue
		}
		promised, err := schema.Compile(t.OutputSchema)
		if err != nil {
			return []string{err.Error()}
		}
		if found := promised.Check(output); len(found) > 0 {
			return []string{"the answer is not what the output schema promises: " + schema.ExplainAs("output", found)}
		}
	}
	return nil
}

func text(raw json.RawMessage) string {
	var s string
	if json.Unmarshal(raw, &s) == nil {
		return s
	}
	return string(raw)
}

const (
	shownDifferences = 20
	shownValue       = 200 // bytes
)

// differences lists where two values differ, by path.
func differences(path string, want, got json.RawMessage) []string {
	var w, g any
	if json.Unmarshal(want, &w) != nil {
		return []string{path + ": what is expected is not JSON"}
	}
	if got == nil {
		return []string{fmt.Sprintf("%s: expected %s, and there is none", path, shortened(want))}
	}
	if json.Unmarshal(got, &g) != nil {
		return []string{path + ": what came is not JSON"}
	}
	var found []string
	differ(path, w, g, &found)
	if more := len(found) - shownDifferences; more > 0 {
		found = append(found[:shownDifferences], fmt.Sprintf("… and %d more", more))
	}
	return found
}

func differ(path string, want, got any, found *[]string) {
	if w, ok := want.(map[string]any); ok {
		if g, ok := got.(map[string]any); ok {
			for _, key := range slices.Sorted(maps.Keys(w)) {
				if one, there := g[key]; there {
					differ(path+"."+key, w[key], one, found)
				} else {
					*found = append(*found, fmt.Sprintf("%s.%s: expected %s, and there is none", path, key,
						shown(w[key])))
				}
			}
			for _, key := range slices.Sorted(maps.Keys(g)) {
				if _, there := w[key]; !there {
					*found = append(*found, fmt.Sprintf("%s.%s: %s was not expected", path, key, shown(g[key])))
				}
			}
			return
		}
	}
	if w, ok := want.([]any); ok {
		if g, ok := got.([]any); ok && len(w) == len(g) {
			for i := range w {
				differ(fmt.Sprintf("%s[%d]", path, i), w[i], g[i], found)
			}
			return
		}
	}
	if !reflect.DeepEqual(want, got) {
		*found = append(*found, fmt.Sprintf("%s: expected %s, got %s", path, shown(want), shown(got)))
	}
}

func shown(v any) string {
	raw, _ := json.Marshal(v) // it came from JSON
	return shortened(raw)
}

func shortened(raw json.RawMessage) string { return clip.Bytes(string(raw), shownValue+len("…")) }
