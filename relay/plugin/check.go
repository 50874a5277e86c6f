package plugin

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
)

// What a build accepts can still be hard to use. Check says what a reader of the tools would stumble over: an agent
// knows nothing of a tool but its name, its description and its schemas.

const (
	shortDescription = 20   // characters; less says nothing that the name does not
	longDescription  = 1000 // characters; every agent pays for them in every conversation
	manyTools        = 40
)

var (
	verbForm    = regexp.MustCompile(`^(get|list|read|search|find|create|add|update|edit|set|delete|remove|send|post|upload|download|open|close|move|copy|rename|mark|watch|export|import|run|start|stop|cancel|reply|comment|assign|compare|count|check|show|who|whoami|current)`)
	writingWord = regexp.MustCompile(`^(create|add|update|edit|set|delete|remove|send|post|upload|move|rename|reply|comment|assign)_?`)
)

// Check returns what could be better about a built plugin, each as a warning.
func Check(p *Plugin) []Diagnostic {
	var found []Diagnostic
	say := func(format string, args ...any) {
		found = append(found, Diagnostic{Text: fmt.Sprintf(format, args...), Warning: true})
	}
	m := p.Manifest
	if m.Description == "" {
		say("package.json has no description of the plugin; people choose by it")
	}
	if m.Homepage == "" {
		say("there is no homepage; without one nobody can be told what to open when no tab matches")
	}
	if len(m.Tools) > manyTools {
		say("%d tools are more than an agent chooses well from; leave out what two others do together", len(m.Tools))
	}
	for _, pattern := range m.URLPatterns {
		if strings.HasPrefix(pattern, "http://") && !strings.Contains(pattern, "localhost") && !strings.Contains(pattern, "127.0.0.1") {
			say("the pattern %s is for unencrypted pages only; write https:// or *://", pattern)
		}
	}
	for _, problem := range checkAsked(p) {
		say("%s", problem)
	}
	for _, t := range m.Tools {
		for _, problem := range t.check() {
			say("tool %q: %s", t.Name, problem)
		}
	}
	return found
}

func (t *Tool) check() (problems []string) {
	if !verbForm.MatchString(t.Name) {
		problems = append(problems, "its name does not begin with what it does, such as list_ or create_")
	}
	switch length := len([]rune(t.Description)); {
	case length < shortDescription:
		problems = append(problems, "its description is too short to choose it by")
	case length > longDescription:
		problems = append(problems, fmt.Sprintf("its description has %d characters, and every agent pays for them; %d are enough", length, longDescription))
	}
	readOnly := t.Annotations.ReadOnlyHint != nil && *t.Annotations.ReadOnlyHint
	switch {
	case readOnly && writingWord.MatchString(t.Name):
		problems = append(problems, "it claims readOnlyHint, and its name says that it writes; a call that failed would be repeated")
	case t.Annotations.ReadOnlyHint == nil && t.Annotations.DestructiveHint == nil:
		problems = append(problems, "it has neither readOnlyHint nor destructiveHint, so it counts as one that may destroy")
	}
	if t.OutputSchema == nil {
		problems = append(problems, "it has no output schema, so agents get its answer as text only")
	}
	return append(problems, t.checkArguments()...)
}

func (t *Tool) checkArguments() (problems []string) {
	var input struct {
		Properties           map[string]struct{ Description string } `json:"properties"`
		AdditionalProperties *bool                                   `json:"additionalProperties"`
	}
	if json.Unmarshal(t.InputSchema, &input) != nil {
		return nil // a schema of another form; there is nothing to say about it
	}
	if input.AdditionalProperties == nil || *input.AdditionalProperties {
		problems = append(problems, "its input takes arguments of any name; with additionalProperties: false a misspelt one is an error")
	}
	undescribed := 0
	for _, name := range reservedParameters {
		if _, hidden := input.Properties[name]; hidden {
			problems = append(problems, fmt.Sprintf("its argument %q hides the relay's own of that name; rename it, so that agents can choose where the tool runs", name))
		}
	}
	for _, property := range input.Properties {
		if property.Description == "" {
			undescribed++
		}
	}
	if len(input.Properties) > 1 && undescribed == len(input.Properties) {
		problems = append(problems, "none of its arguments has a description")
	}
	return problems
}
