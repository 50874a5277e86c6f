package build

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/grafana/sobek"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/suggest"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/schema"
)

// arrayPath is the form of the name of the list to shorten.
var arrayPath = lazyregexp.New(`^(\.[a-zA-Z_]\w*)+$`)

// maxPattern is how long a progressPattern may be.
const maxPattern = 256

// reservedParameters are added by the relay to every page tool.
var reservedParameters = []string{"tabId", "profile", "instance"}

// emptyInput is the schema of a tool that declares none.
var emptyInput = json.RawMessage(`{"type":"object","properties":{},"additionalProperties":false}`)

// checkTools checks the tools that a plugin describes, and fills in defaults.
func checkTools(src *source, raw []*rawTool) ([]plugin.Tool, []Diagnostic) {
	var tools []plugin.Tool
	var found []Diagnostic
	lines := map[string]string{}
	problems := make([][]string, len(raw))
	var wait sync.WaitGroup // compiling schemas takes most of the time
	for i := range raw {
		if !raw[i].Known {
			wait.Go(func() { problems[i] = raw[i].check(src) })
		}
	}
	wait.Wait()
	for i, r := range raw {
		where := Diagnostic{File: r.At.File, Line: r.At.Line}
		for _, key := range r.unknown(src) {
			d := where
			d.field, d.Text = key.name, fmt.Sprintf("tool %q: %s", r.Name, key.text)
			found = append(found, d)
		}
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
		found = append(found, faultf(entryFile, "exports no tools; a plugin has at least one")...)
	}
	return tools, found
}

// unknown returns the fields of a tool that mean nothing.
func (r *rawTool) unknown(src *source) []unknownKey {
	keys := unknownKeys("annotations", r.Hints, hintKeys)
	if !src.foreign {
		keys = append(unknownKeys("a tool", r.Keys, toolKeys), keys...)
	}
	return keys
}

// check returns everything else wrong with a tool.
func (r *rawTool) check(src *source) []string {
	problems := slices.Clone(r.Problems)
	if problem := plugin.CheckFullName("tool", src.name, r.Name); problem != "" {
		problems = append(problems, problem)
	}
	misspelt := slices.ContainsFunc(r.unknown(src), func(k unknownKey) bool { return k.meant == "description" })
	if strings.TrimSpace(r.Description) == "" && !misspelt {
		problems = append(problems, `has no "description"; agents choose tools by it`)
	}
	if err := r.CheckText(); err != nil {
		problems = append(problems, err.Error())
	}
	if r.DisplayName == "" {
		r.DisplayName = displayName(r.Name)
	}
	if r.MaxTimeoutMs > 0 && r.TimeoutMs > r.MaxTimeoutMs {
		problems = append(problems, `"timeoutMs" is larger than "maxTimeoutMs"`)
	}
	if _, err := regexp.Compile(r.ProgressPattern); err != nil || len(r.ProgressPattern) > maxPattern {
		problems = append(problems, fmt.Sprintf(`"progressPattern" is not a regular expression of at most %d `+
			`characters, `+
			`in the syntax that RE2 and JavaScript share`, maxPattern))
	}
	if r.Frames != "" && r.Frames != "top" && r.Frames != "all" {
		problems = append(problems, fmt.Sprintf(`"frames" is %q; write "top" (default) or "all"`, r.Frames))
	}
	if r.ArrayPath != "" && !arrayPath.MatchString(r.ArrayPath) {
		problems = append(problems, fmt.Sprintf(
			`"arrayPath" is %q; write the names of members with a dot before each, such as ".data.items"`, r.ArrayPath))
	}
	if len(r.InputSchema) == 0 {
		r.InputSchema = emptyInput
	}
	return append(problems, r.checkSchemas(src.foreign)...)
}

// The fields of what defineTool and definePlugin are given.
var (
	toolKeys = []string{"annotations", "arrayPath", "description", "displayName", "frames", "group", "handle", "icon",
		"input", "maxTimeoutMs", "name", "narrowHint", "output", "progressPattern", "signIn", "summary", "timeoutHint",
		"timeoutMs"}
	hintKeys   = []string{"destructiveHint", "idempotentHint", "openWorldHint", "readOnlyHint", "title"}
	pluginKeys = []string{"configSchema", "description", "displayName", "excludePatterns", "homepage", "isReady",
		"name", "onActivate", "onDeactivate", "onNavigate", "onToolInvocationEnd", "onToolInvocationStart", "settings",
		"signIn", "teardown", "tools", "urlPatterns"}
)

// otherNames are what authors write for a field that has another name.
var otherNames = map[string]string{"handler": "handle", "execute": "handle", "run": "handle", "inputSchema": "input",
	"parameters": "input", "outputSchema": "output", "title": "displayName"}

// unknownKey is a field that means nothing.
type unknownKey struct {
	name, meant string // meant is empty where no field has a similar name
	text        string
}

// unknownKeys says which fields mean nothing, and which ones were probably meant.
func unknownKeys(of string, given, known []string) (unknown []unknownKey) {
	for _, key := range given {
		if slices.Contains(known, key) {
			continue
		}
		meant := otherNames[key]
		if !slices.Contains(known, meant) {
			meant = nearestField(key, known)
		}
		text := fmt.Sprintf("%q is not a field of %s; did you mean %q?", key, of, meant)
		if meant == "" {
			text = fmt.Sprintf("%q is not a field of %s; there are %s", key, of, strings.Join(known, ", "))
		}
		unknown = append(unknown, unknownKey{key, meant, text})
	}
	return unknown
}

// nearestField is the field that was probably meant; upper and lower case do not count.
func nearestField(key string, known []string) string {
	for _, one := range known {
		if strings.EqualFold(one, key) {
			return one
		}
	}
	return suggest.Nearest(key, known)
}

// checkRequired says which names in "required" no property has. Schemas that say more of their properties elsewhere are
// left alone.
func checkRequired(raw json.RawMessage, at string) (problems []string) {
	var s struct {
		Properties map[string]json.RawMessage `json:"properties"`
		Required   []string                   `json:"required"`
		Items      json.RawMessage            `json:"items"`

		PatternProperties json.RawMessage `json:"patternProperties"`
		AllOf             json.RawMessage `json:"allOf"`
		AnyOf             json.RawMessage `json:"anyOf"`
		OneOf             json.RawMessage `json:"oneOf"`
		Ref               json.RawMessage `json:"$ref"`
	}
	if json.Unmarshal(raw, &s) != nil {
		return nil
	}
	elsewhere := s.PatternProperties != nil || s.AllOf != nil || s.AnyOf != nil || s.OneOf != nil || s.Ref != nil
	if s.Properties != nil && !elsewhere {
		known := slices.Sorted(maps.Keys(s.Properties))
		for _, name := range s.Required {
			if slices.Contains(known, name) {
				continue
			}
			problem := fmt.Sprintf("at %s: required names %q, and properties has no such field", at, name)
			if meant := nearestField(name, known); meant != "" {
				problem += fmt.Sprintf("; did you mean %q?", meant)
			}
			problems = append(problems, problem)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		problems = append(problems, checkRequired(s.Properties[name], at+"."+name)...)
	}
	if s.Items != nil {
		problems = append(problems, checkRequired(s.Items, at+"[]")...)
	}
	return problems
}

// checkSchemas compiles the schemas. A tool written for OpenTabs may have a parameter with the name of one of the
// relay's, which then is not available for that tool.
func (r *rawTool) checkSchemas(foreign bool) []string {
	var problems []string
	var input struct {
		Type       any                        `json:"type"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if err := json.Unmarshal(r.InputSchema, &input); err != nil || input.Type != "object" {
		problems = append(problems,
			`the schema in "input" is not one of an object; write {"type": "object", "properties": { … }}`)
	}
	for _, name := range slices.Sorted(maps.Keys(input.Properties)) {
		if !foreign && slices.Contains(reservedParameters, name) {
			problems = append(problems,
				fmt.Sprintf("the parameter %q is reserved: the relay adds it to every tool; choose another name", name))
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
		for _, problem := range append(checkPatterns(raw), checkRequired(raw, "schema")...) {
			problems = append(problems, fmt.Sprintf("the schema in %q is not accepted: %s", field, problem))
		}
	}
	slices.Sort(problems)
	return problems
}

// browserOnly finds the parts of an expression that browsers support and this engine does not in every place:
// properties of characters, flags of a group, and \B in a class. Other escapes match as a whole, so that no part of
// them does.
var browserOnly = lazyregexp.New(`(\\[pP]\{[^{}]*\})|(\\B)|(\(\?[ims]*(?:-[ims]*)?:)|\\.`)

// checkPatterns reports the patterns of a schema that are regular expressions neither in Go nor in JavaScript, and so
// would never be checked.
func checkPatterns(raw json.RawMessage) (problems []string) {
	for _, p := range schema.Unchecked(raw) {
		if why := patternError(p.Text); why != "" {
			problems = append(problems, fmt.Sprintf("at %s: %q is not a regular expression: %s", p.Path, p.Text, why))
		}
	}
	return problems
}

// patternError says why JavaScript cannot compile a pattern; empty when it can, with the flag u or without.
func patternError(pattern string) string {
	known := browserOnly.ReplaceAllStringFunc(pattern, func(found string) string {
		switch m := browserOnly.FindStringSubmatch(found); {
		case m[1] != "":
			return `\w`
		case m[2] != "":
			return `\b`
		case m[3] != "":
			return "(?:"
		}
		return found
	})
	vm := sobek.New()
	_, err := vm.New(vm.Get("RegExp"), vm.ToValue(known))
	if err == nil {
		return ""
	}
	if _, unicode := vm.New(vm.Get("RegExp"), vm.ToValue(known), vm.ToValue("u")); unicode == nil {
		return ""
	}
	return reason(err)
}

// engineReason is the form of the engine's message about an error in one of its two libraries.
var engineReason = lazyregexp.New(`(?s)\(error parsing regexp: (.*?)\)*$`)

func reason(err error) string {
	text := err.Error()
	if thrown, ok := errors.AsType[*sobek.Exception](err); ok {
		text = thrown.Value().String()
	}
	if found := engineReason.FindStringSubmatch(text); found != nil {
		return found[1]
	}
	return strings.TrimPrefix(text, "SyntaxError: ")
}

// displayName makes "Get title" of "get_title".
func displayName(tool string) string {
	words := strings.ReplaceAll(tool, "_", " ")
	if words == "" {
		return ""
	}
	return strings.ToUpper(words[:1]) + words[1:]
}
