package adapters

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/schema"
)

// TestRecipesNameToolsThatExist holds the recipes to the tools they tell a model to call.
func TestRecipesNameToolsThatExist(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	docs, err := os.ReadFile("../docs/prompts.md")
	if err != nil {
		t.Fatal(err)
	}
	named := regexp.MustCompile(`[a-z0-9-]+__[a-z0-9_]+`)
	for _, name := range sources(t) {
		m := readManifest(t, files, name)
		if len(m.Prompts) < 2 {
			t.Errorf("%s: has %d recipes; two or three show a person what it is good for", name, len(m.Prompts))
		}
		for _, p := range m.Prompts {
			for _, full := range named.FindAllString(p.Template, -1) {
				if !slices.ContainsFunc(m.Tools, func(tool plugin.Tool) bool { return m.Name+"__"+tool.Name == full }) {
					t.Errorf("%s: the recipe %s tells the model to call %s, which does not exist", name, p.Name, full)
				}
			}
			if !bytes.Contains(docs, []byte("`"+m.Name+"__"+p.Name+"`")) {
				t.Errorf("docs/prompts.md does not list %s__%s", name, p.Name)
			}
			if p.Title == "" || !strings.HasSuffix(p.Description, ".") {
				t.Errorf("%s: the recipe %s needs a title and a description that is a sentence", name, p.Name)
			}
		}
	}
}

// TestRecipesNameArgumentsTheirToolsTake renders every recipe with each value it offers, and holds what it then says
// about a tool's argument ("with the factory X") to that tool's input schema.
func TestRecipesNameArgumentsTheirToolsTake(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	checked := 0
	for _, name := range sources(t) {
		m := readManifest(t, files, name)
		for i := range m.Prompts {
			p := &m.Prompts[i]
			for _, values := range fillings(p) {
				text := p.Fill(func(argument string) string { return values[argument] })
				for _, said := range saidOfTools(m, text) {
					checked++
					if err := said.accepted(); err != nil {
						t.Errorf("%s: the recipe %s, with %v: %v", name, p.Name, values, err)
					}
				}
			}
		}
	}
	if checked < 3 { // two values of demo__explain_a_failure and the one of demo__take_a_tour
		t.Errorf("only %d arguments were found in the recipes", checked)
	}
}

// fillings are the ways to fill a recipe in: each value that is offered at least once.
func fillings(p *plugin.Prompt) []map[string]string {
	base := map[string]string{}
	for _, a := range p.Arguments {
		if base[a.Name] = a.Default; a.Default == "" && len(a.Complete) > 0 {
			base[a.Name] = a.Complete[0]
		}
	}
	all := []map[string]string{base}
	for _, a := range p.Arguments {
		for _, value := range a.Complete {
			filled := maps.Clone(base)
			filled[a.Name] = value
			all = append(all, filled)
		}
	}
	return all
}

// saidOfTool is an argument of a tool, and the value that a recipe tells a model to give it.
type saidOfTool struct {
	tool, argument, value string
	schema                *schema.Schema
}

func (s saidOfTool) accepted() error {
	text, err := json.Marshal(map[string]string{s.argument: s.value})
	if err != nil {
		return err
	}
	if problems := s.schema.Check(text); len(problems) > 0 {
		return fmt.Errorf("%s does not take %s %q: %s", s.tool, s.argument, s.value,
			schema.ExplainAs("arguments", problems))
	}
	return nil
}

// saidOfTools finds what a recipe says about arguments that have a list of values, in sentences that name their tool.
func saidOfTools(m plugin.Manifest, text string) (found []saidOfTool) {
	for _, sentence := range regexp.MustCompile(`[.;]\s|\n`).Split(text, -1) {
		for _, tool := range m.Tools {
			if !strings.Contains(sentence, m.Name+"__"+tool.Name) {
				continue
			}
			var input struct {
				Properties map[string]json.RawMessage `json:"properties"`
			}
			if json.Unmarshal(tool.InputSchema, &input) != nil {
				continue
			}
			for argument, property := range input.Properties {
				mention := regexp.MustCompile(`\b` + argument + `(?: "([^"]*)"| ([\w-]+))`).FindStringSubmatch(sentence)
				if mention == nil || !bytes.Contains(property, []byte(`"enum"`)) {
					continue
				}
				one := fmt.Sprintf(`{"type":"object","properties":{%q:%s}}`, argument, property)
				if compiled, err := schema.Compile(json.RawMessage(one)); err == nil {
					found = append(found, saidOfTool{m.Name + "__" + tool.Name, argument, mention[1] + mention[2],
						compiled})
				}
			}
		}
	}
	return found
}
