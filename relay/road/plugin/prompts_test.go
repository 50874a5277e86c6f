package plugin

import (
	"strings"
	"testing"
)

func TestPlaceholdersInValuesAreNotFilled(t *testing.T) {
	p := Prompt{Template: `{{a}} {{ b }} \{{a}} \{{ {{a}}`}
	got := p.Fill(func(name string) string { return map[string]string{"a": "{{b}} $1 \\{{b}}", "b": "B"}[name] })
	if want := `{{b}} $1 \{{b}} B {{a}} {{ {{b}} $1 \{{b}}`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestLoadRefusesInvalidPrompts(t *testing.T) {
	for _, prompts := range [][]Prompt{
		{{Name: "Bad Name", Template: "x"}},
		{{Name: "one", Template: "x"}, {Name: "one", Template: "x"}},
		{{Name: "one", Template: strings.Repeat("x", MaxPromptFile+1)}},
		{{Name: "one", Template: "x", Arguments: []PromptArgument{{Name: "not a name"}}}},
	} {
		m := Manifest{Name: "small", World: Isolated, Prompts: prompts}
		if err := m.validate(false); err == nil {
			t.Errorf("%+.80v was accepted", prompts)
		}
	}
}
