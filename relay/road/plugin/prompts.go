package plugin

import (
	"errors"
	"fmt"
	"iter"
	"strings"

	"tabrelay/relay/lib/lazyregexp"
)

// The limits of recipes.
const (
	MaxPrompts    = 100      // of one plugin
	MaxPromptFile = 64 << 10 // bytes
	MaxArguments  = 20       // of one recipe
)

// Prompt is a recipe: a text for a model, with placeholders for arguments. Rendering it runs no code.
type Prompt struct {
	Name        string           `json:"name"` // without the plugin's
	Title       string           `json:"title,omitempty"`
	Description string           `json:"description"`
	Arguments   []PromptArgument `json:"arguments,omitempty"`
	Template    string           `json:"template"` // {{name}} stands for an argument, \{{ for two braces
}

// PromptArgument is one argument of a recipe.
type PromptArgument struct {
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Required    bool     `json:"required,omitempty"`
	Default     string   `json:"default,omitempty"`  // used when the argument is left out
	Complete    []string `json:"complete,omitempty"` // values offered for completion
	From        string   `json:"from,omitempty"`     // or their source: one of Sources
}

// Sources are the sources of completions, besides a list of values.
func Sources() []string { return []string{"tabs", "profiles", "tools", "plugins"} }

var (
	argumentForm    = lazyregexp.New(`^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`)
	placeholderForm = lazyregexp.New(`\\?\{\{[ \t]*([^{}\n]*?)[ \t]*\}\}|\\\{\{`)
)

// Fill renders a recipe: each {{name}} is replaced by value(name), each \{{ by {{. Placeholders in a value are not
// replaced.
func (p *Prompt) Fill(value func(name string) string) string {
	return placeholderForm.ReplaceAllStringFunc(p.Template, func(found string) string {
		if rest, escaped := strings.CutPrefix(found, `\`); escaped {
			return rest
		}
		return value(placeholderForm.FindStringSubmatch(found)[1])
	})
}

// Placeholders are the names of the arguments in a recipe, each with its place.
func Placeholders(template string) iter.Seq2[int, string] {
	return func(yield func(int, string) bool) {
		for _, at := range placeholderForm.FindAllStringSubmatchIndex(template, -1) {
			if escaped := template[at[0]] == '\\'; !escaped && !yield(at[0], template[at[2]:at[3]]) {
				return
			}
		}
	}
}

// ValidArgument reports whether an argument of a recipe may have a name.
func ValidArgument(name string) bool { return argumentForm.MatchString(name) }

// validatePrompts repeats the checks of a build for build output.
func (m *Manifest) validatePrompts() error {
	seen := map[string]bool{}
	for _, p := range m.Prompts {
		if problem := CheckFullName("prompt", m.Name, p.Name); problem != "" {
			return errors.New(problem)
		}
		if seen[p.Name] {
			return fmt.Errorf("there are two prompts %q", p.Name)
		}
		seen[p.Name] = true
		if len(p.Arguments) > MaxArguments || len(p.Template) > MaxPromptFile {
			return fmt.Errorf("the prompt %q is larger than a recipe may be", p.Name)
		}
		for _, a := range p.Arguments {
			if !ValidArgument(a.Name) {
				return fmt.Errorf("the prompt %q has an argument %q, which is not a name", p.Name, a.Name)
			}
		}
	}
	if len(m.Prompts) > MaxPrompts {
		return fmt.Errorf("there are %d prompts, and a plugin may have %d", len(m.Prompts), MaxPrompts)
	}
	return nil
}
