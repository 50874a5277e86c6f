package build

import (
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/match"
	"tabrelay/relay/road/plugin"
)

// What a build accepts can still be hard to use: an agent knows only a tool's name, its description and its schemas.

const (
	shortDescription = 20   // characters; less adds nothing to the name
	longDescription  = 1000 // characters; every agent pays for them in every conversation
	manyTools        = 40
)

var (
	verbPrefix = lazyregexp.New(`^(get|list|read|search|find|create|add|update|edit|set|delete|remove|send|post|` +
		`upload|download|open|close|move|copy|rename|mark|watch|export|import|run|start|stop|cancel|reply|comment|` +
		`assign|compare|count|check|show|who|whoami|current|filter|lookup|load|fetch|save|submit|toggle|` +
		`enable|disable|activate|deactivate|archive|restore|publish|approve|reject|invite|duplicate|clone|refresh|` +
		`sync|subscribe|unsubscribe|follow|unfollow|buy|sell|pay|lock|unlock|merge|reset)`)
	writingPrefix = lazyregexp.New(`^(create|add|update|edit|set|delete|remove|send|post|upload|move|rename|` +
		`reply|comment|assign|save|submit|archive|restore|publish|approve|reject|buy|sell|pay|merge|reset)_?`)
)

// Check returns what could be better about a built plugin, each as a warning.
func Check(p *plugin.Plugin) []Diagnostic {
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
		if strings.HasPrefix(pattern, "http://") && !strings.Contains(pattern, "localhost") &&
			!strings.Contains(pattern, "127.0.0.1") {
			say("the pattern %s is for unencrypted pages only; write https:// or *://", pattern)
		}
	}
	for _, problem := range checkDeclared(p) {
		say("%s", problem)
	}
	for i := range m.Tools {
		for _, problem := range checkTool(&m.Tools[i]) {
			say("tool %q: %s", m.Tools[i].Name, problem)
		}
	}
	return found
}

func checkTool(t *plugin.Tool) (problems []string) {
	if !verbPrefix.MatchString(t.Name) {
		problems = append(problems, "its name does not begin with what it does, such as list_ or create_")
	}
	switch length := len([]rune(t.Description)); {
	case length < shortDescription:
		problems = append(problems, "its description is too short to choose it by")
	case length > longDescription:
		problems = append(problems, fmt.Sprintf("its description has %d characters, and every agent pays for them; "+
			"%d are enough", length, longDescription))
	}
	readOnly := t.Annotations.ReadOnlyHint != nil && *t.Annotations.ReadOnlyHint
	switch {
	case readOnly && writingPrefix.MatchString(t.Name):
		problems = append(problems, "it claims readOnlyHint, and its name says that it writes; a call that failed "+
			"would be repeated")
	case t.Annotations.ReadOnlyHint == nil && t.Annotations.DestructiveHint == nil:
		problems = append(problems, "it has neither readOnlyHint nor destructiveHint, so it counts as one that may "+
			"destroy")
	}
	if t.OutputSchema == nil {
		problems = append(problems, "it has no output schema, so agents get its answer as text only")
	}
	return append(problems, checkArguments(t)...)
}

func checkArguments(t *plugin.Tool) (problems []string) {
	var input struct {
		Properties           map[string]struct{ Description string } `json:"properties"`
		AdditionalProperties *bool                                   `json:"additionalProperties"`
	}
	if json.Unmarshal(t.InputSchema, &input) != nil {
		return nil // a schema of another form
	}
	if input.AdditionalProperties == nil || *input.AdditionalProperties {
		problems = append(problems, "its input takes arguments of any name; with additionalProperties: false a "+
			"misspelt one is an error")
	}
	undescribed := 0
	for _, name := range reservedParameters {
		if _, hidden := input.Properties[name]; hidden {
			problems = append(problems, fmt.Sprintf("its argument %q hides the relay's own of that name; rename it, "+
				"so that agents can choose where the tool runs", name))
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

// What a plugin declares and what its sources use are compared by the words in the sources. Addresses that are computed
// at run time, and what packages do, are not found.

var (
	// requestCall is a request with a literal address.
	requestCall = lazyregexp.New("\\b(?:fetch|fetch[A-Z]\\w*|post[A-Z]\\w*|putJSON|patchJSON|deleteJSON)" +
		"\\s*(?:<[^()]*>)?\\(\\s*['\"`](https?://[^/'\"`$\\s]+)")
	// mainWorldWord is a name that only the main world has, or may have.
	mainWorldWord = lazyregexp.New(`\b(window|globalThis|self|getPageGlobal|customElements|unsafeWindow)\b`)
	comment       = lazyregexp.New(`(?m)(^|\s)//.*$|/\*(?s:.*?)\*/`)
)

// checkDeclared says what a plugin declares and does not use, and uses and does not declare.
func checkDeclared(p *plugin.Plugin) (problems []string) {
	text := sourceText(p.Dir)
	if text == "" {
		return nil
	}
	m := &p.Manifest
	for _, host := range undeclaredHosts(text, m.URLPatterns) {
		problems = append(problems, fmt.Sprintf("it sends requests to %s, which is on none of its pages: there the "+
			"site's CORS decides, and the person's session may be missing", host))
	}
	if m.World == plugin.Main && m.PreScript == "" && !mainWorldWord.MatchString(text) {
		problems = append(problems, `it asks for the main world, and its sources name nothing that only a page has; `+
			`"world": "isolated" keeps it out of the page's reach`)
	}
	if m.PreScript != "" && !strings.Contains(text, "getPreScriptValue") {
		problems = append(problems, "it asks for a pre-script, and nothing reads what that keeps (getPreScriptValue)")
	}
	var declared map[string]struct {
		Type string `json:"type"`
	}
	if json.Unmarshal(m.ConfigSchema, &declared) != nil {
		return problems
	}
	for _, key := range slices.Sorted(maps.Keys(declared)) {
		// An address is used without being named: it adds pages.
		if declared[key].Type != "url" && !regexp.MustCompile(`\b`+regexp.QuoteMeta(key)+`\b`).MatchString(text) {
			problems = append(problems, fmt.Sprintf("it asks for the setting %q, and its sources do not name it", key))
		}
	}
	return problems
}

// undeclaredHosts are the hosts that sources send requests to and that no pattern covers.
func undeclaredHosts(text string, patterns []string) []string {
	hosts := map[string]bool{}
	for _, found := range requestCall.FindAllStringSubmatch(text, -1) {
		asked := func(pattern string) bool {
			scheme, rest, _ := strings.Cut(pattern, "://")
			host, _, _ := strings.Cut(rest, "/")
			rule, err := match.NewRule([]string{scheme + "://" + host + "/*"}, nil)
			return err == nil && rule.Matches(found[1]+"/")
		}
		if !slices.ContainsFunc(patterns, asked) {
			hosts[found[1]] = true
		}
	}
	return slices.Sorted(maps.Keys(hosts))
}

// sourceText is a plugin's own sources, without comments; empty when there are none.
func sourceText(dir string) string {
	files, _ := SourceFiles(dir)
	var all strings.Builder
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if strings.HasPrefix(name, "src/") && strings.Contains(".ts.tsx.js.jsx.mts.mjs", path.Ext(name)) {
			all.Write(files[name])
			all.WriteByte('\n')
		}
	}
	return comment.ReplaceAllString(all.String(), " ")
}
