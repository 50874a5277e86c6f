package plugin

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"tabrelay/relay/schema"
)

// arrayPath is how the list to shorten is named.
var arrayPath = regexp.MustCompile(`^(\.[a-zA-Z_]\w*)+$`)

// maxPattern is how long a progressPattern may be.
const maxPattern = 256

// emptyInput is the schema of a tool that declares none.
var emptyInput = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)

// acceptTools checks the tools a plugin describes, and fills in what they leave out.
func acceptTools(src *source, raw []*rawTool) ([]Tool, []Diagnostic) {
	var tools []Tool
	var found []Diagnostic
	lines := map[string]string{}
	problems := make([][]string, len(raw))
	var wait sync.WaitGroup // compiling schemas is most of the work
	for i := range raw {
		if !raw[i].Known {
			wait.Go(func() { problems[i] = raw[i].accept(src) })
		}
	}
	wait.Wait()
	for i, r := range raw {
		where := Diagnostic{File: r.At.File, Line: r.At.Line}
		for _, problem := range problems[i] {
			d := where
			d.Text = fmt.Sprintf("tool %q: %s", r.Name, problem)
			found = append(found, d)
		}
		if first, twice := lines[r.Name]; twice {
			d := where
			d.Text = fmt.Sprintf("there are two tools %q; the other one is at %s", r.Name, first)
			found = append(found, d)
		}
		lines[r.Name] = fmt.Sprintf("%s:%d", r.At.File, r.At.Line)
		tools = append(tools, r.Tool)
	}
	if raw != nil && len(raw) == 0 {
		found = append(found, Diagnostic{File: entryFile, Text: "exports no tools; a plugin has at least one"})
	}
	return tools, found
}

// accept returns everything wrong with a tool.
func (r *rawTool) accept(src *source) []string {
	problems := slices.Clone(r.Problems)
	if problem := checkToolName(src.name, r.Name); problem != "" {
		problems = append(problems, problem)
	}
	if strings.TrimSpace(r.Description) == "" {
		problems = append(problems, `has no "description"; agents choose tools by it`)
	}
	if err := r.CheckWords(); err != nil {
		problems = append(problems, err.Error())
	}
	if r.DisplayName == "" {
		r.DisplayName = displayName(r.Name)
	}
	if r.MaxTimeoutMs > 0 && r.TimeoutMs > r.MaxTimeoutMs {
		problems = append(problems, `"timeoutMs" is larger than "maxTimeoutMs"`)
	}
	if _, err := regexp.Compile(r.ProgressPattern); err != nil || len(r.ProgressPattern) > maxPattern {
		problems = append(problems, fmt.Sprintf(`"progressPattern" is not a regular expression of at most %d characters, in the syntax that RE2 and JavaScript share`, maxPattern))
	}
	if r.Frames != "" && r.Frames != "top" && r.Frames != "all" {
		problems = append(problems, fmt.Sprintf(`"frames" is %q; write "top" (default) or "all"`, r.Frames))
	}
	if r.ArrayPath != "" && !arrayPath.MatchString(r.ArrayPath) {
		problems = append(problems, fmt.Sprintf(`"arrayPath" is %q; write the names of members with a dot before each, such as ".data.items"`, r.ArrayPath))
	}
	if len(r.InputSchema) == 0 {
		r.InputSchema = emptyInput
	}
	return append(problems, r.checkSchemas(src.foreign)...)
}

// checkSchemas compiles the schemas. A tool written for OpenTabs keeps a parameter that has the name of one of ours,
// which then is not to be had for that tool.
func (r *rawTool) checkSchemas(foreign bool) []string {
	var problems []string
	var input struct {
		Type       any                        `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(r.InputSchema, &input); err != nil || input.Type != "object" {
		problems = append(problems, `the schema in "input" is not one of an object; write {"type": "object", "properties": { … }}`)
	}
	for _, name := range slices.Sorted(maps.Keys(input.Properties)) {
		if !foreign && slices.Contains(reservedParameters, name) {
			problems = append(problems, fmt.Sprintf("the parameter %q is reserved: the relay adds it to every tool; choose another name", name))
		}
	}
	for field, raw := range map[string]json.RawMessage{"input": r.InputSchema, "output": r.OutputSchema} {
		if len(raw) == 0 {
			continue
		}
		if _, err := schema.Compile(raw); err != nil {
			problems = append(problems, fmt.Sprintf("the schema in %q is not accepted: %v", field, err))
			continue
		}
		for _, problem := range checkPatterns(raw) {
			problems = append(problems, fmt.Sprintf("the schema in %q is not accepted: %s", field, problem))
		}
	}
	slices.Sort(problems)
	return problems
}
