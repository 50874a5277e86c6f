package build

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"tabrelay/relay/lib/suggest"
	"tabrelay/relay/road/plugin"
)

// recipe is a Prompt while its file is read. The front matter is read node by node, so that values that YAML would turn
// into numbers, dates or booleans stay text, and every fault has its line.
type recipe struct {
	plugin.Prompt
	file  string
	lines map[string]int // of each argument
	found []Diagnostic
}

func (r *recipe) add(line int, format string, values ...any) {
	r.found = append(r.found, Diagnostic{File: r.file, Line: line, Text: fmt.Sprintf(format, values...)})
}

func (r *recipe) warn(line int, format string, values ...any) {
	r.found = append(r.found, Diagnostic{File: r.file, Line: line, Warning: true, Text: fmt.Sprintf(format, values...)})
}

// line is a node's line in the file: the front matter begins on the second one.
func line(n *yaml.Node) int { return n.Line + 1 }

func (r *recipe) frontMatter(text string) {
	r.lines = map[string]int{}
	var document yaml.Node
	if err := yaml.Unmarshal([]byte(text), &document); err != nil {
		r.add(yamlError(err))
		return
	}
	root := &yaml.Node{Kind: yaml.MappingNode, Line: 1}
	if len(document.Content) > 0 {
		root = document.Content[0]
	}
	r.mapping(root, "the front matter", map[string]func(*yaml.Node){
		"name":        func(n *yaml.Node) { r.Name = r.text(n, "name") },
		"title":       func(n *yaml.Node) { r.Title = r.text(n, "title") },
		"description": func(n *yaml.Node) { r.Description = r.text(n, "description") },
		"arguments":   r.arguments,
	})
	if r.Description == "" && len(r.found) == 0 {
		r.add(1, `has no "description"; people choose recipes by it`)
	}
}

// yamlError takes the line out of the parser's message, which has no other form.
func yamlError(err error) (line int, format, why string) {
	why = strings.TrimPrefix(err.Error(), "yaml: ")
	if rest, ok := strings.CutPrefix(why, "line "); ok {
		number, sentence, _ := strings.Cut(rest, ": ")
		if n, err := strconv.Atoi(number); err == nil {
			if strings.HasPrefix(sentence, "did not find expected ") {
				n++ // the parser counts lines from 0, the scanner from 1
			}
			return n + 1, "the front matter is not YAML: %s", sentence
		}
	}
	return 1, "the front matter is not YAML: %s", why
}

// mapping passes each member of a mapping to the function for its name.
func (r *recipe) mapping(n *yaml.Node, what string, known map[string]func(*yaml.Node)) {
	if n.Kind != yaml.MappingNode {
		r.add(line(n), "%s is not a list of names and values, such as description: …", what)
		return
	}
	seen := map[string]bool{}
	for i := 0; i+1 < len(n.Content); i += 2 {
		key, value := n.Content[i], n.Content[i+1]
		take, ok := known[key.Value]
		switch {
		case !ok:
			r.add(line(key), "%s has no field %q%s", what, key.Value,
				nearest(key.Value, slices.Sorted(maps.Keys(known))))
		case seen[key.Value]:
			r.add(line(key), "%q is there twice; keep one", key.Value)
		default:
			take(value)
		}
		seen[key.Value] = true
	}
}

// nearest names the field that was probably meant, or all known ones.
func nearest(name string, known []string) string {
	if meant := suggest.Nearest(name, known); meant != "" {
		return fmt.Sprintf("; did you mean %q?", meant)
	}
	return "; it may have " + strings.Join(known, ", ")
}

// text is a scalar as a person wrote it, on one line.
func (r *recipe) text(n *yaml.Node, what string) string {
	if n.Kind != yaml.ScalarNode || n.Tag == "!!null" {
		r.add(line(n), "%q has to be text", what)
		return ""
	}
	return strings.Join(strings.Fields(n.Value), " ")
}

func (r *recipe) boolean(n *yaml.Node, what string) bool {
	if n.Kind != yaml.ScalarNode || n.Tag != "!!bool" {
		r.add(line(n), "%q has to be true or false", what)
	}
	return strings.EqualFold(n.Value, "true")
}

func (r *recipe) list(n *yaml.Node, what string, most int) []*yaml.Node {
	if n.Kind != yaml.SequenceNode {
		r.add(line(n), "%q has to be a list, with a dash before each entry", what)
		return nil
	}
	if len(n.Content) > most {
		r.add(line(n), "%q has %d entries, and may have %d", what, len(n.Content), most)
		return nil
	}
	return n.Content
}

func (r *recipe) arguments(n *yaml.Node) {
	for _, entry := range r.list(n, "arguments", plugin.MaxArguments) {
		var a plugin.PromptArgument
		before := len(r.found)
		r.mapping(entry, "an argument", map[string]func(*yaml.Node){
			"name":        func(n *yaml.Node) { a.Name = r.text(n, "name") },
			"description": func(n *yaml.Node) { a.Description = r.text(n, "description") },
			"required":    func(n *yaml.Node) { a.Required = r.boolean(n, "required") },
			"default":     func(n *yaml.Node) { a.Default = r.text(n, "default") },
			"complete":    func(n *yaml.Node) { a.Complete, a.From = r.complete(n) },
		})
		switch {
		case len(r.found) > before: // reported already
		case !plugin.ValidArgument(a.Name):
			r.add(line(entry), "the argument name %q is not allowed; "+
				"use letters, digits, underscores and dashes, beginning with a letter", a.Name)
		case r.declares(a.Name):
			r.add(line(entry), "there are two arguments %q", a.Name)
		case a.Required && a.Default != "":
			r.add(line(entry), "the argument %q is required, so that its default is never used; drop one of the two",
				a.Name)
		}
		if a.Name == "" || r.declares(a.Name) {
			continue
		}
		r.Arguments = append(r.Arguments, a)
		r.lines[a.Name] = line(entry)
	}
}

// complete reads a list of values, or the name of a source of values.
func (r *recipe) complete(n *yaml.Node) (values []string, from string) {
	if n.Kind == yaml.ScalarNode {
		if !slices.Contains(plugin.Sources(), n.Value) {
			r.add(line(n), `"complete" is a list of values, or one of %s; it is %q`,
				strings.Join(plugin.Sources(), ", "), n.Value)
		}
		return nil, n.Value
	}
	for _, value := range r.list(n, "complete", maxCompletions) {
		values = append(values, r.text(value, "complete"))
	}
	return values, ""
}
