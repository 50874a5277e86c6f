package plugin

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"
)

// promptsFolder holds a plugin's recipes, one Markdown file each.
const promptsFolder = "prompts"

const (
	maxPrompts     = 100      // of one plugin
	maxPromptFile  = 64 << 10 // bytes
	maxArguments   = 20       // of one recipe
	maxCompletions = 1000     // values an argument declares
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
	argumentForm    = regexp.MustCompile(`^[a-zA-Z][a-zA-Z0-9_-]{0,63}$`)
	placeholderForm = regexp.MustCompile(`\\?\{\{[ \t]*([^{}\n]*?)[ \t]*\}\}|\\\{\{`)
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

// readPrompts reads every recipe of a plugin's folder. A plugin without the folder has none.
func readPrompts(f *folder, plugin string) (prompts []Prompt, found []Diagnostic) {
	at, _, err := f.follow(promptsFolder)
	var entries map[string]fs.FileMode
	if err == nil {
		entries, err = f.list(at)
	}
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, faultf(promptsFolder, "cannot be read: %v", rootCause(err))
	}
	byName := map[string]string{}
	for _, entry := range slices.Sorted(maps.Keys(entries)) {
		file := path.Join(promptsFolder, entry)
		switch {
		case strings.HasPrefix(entry, ".") || strings.EqualFold(entry, "README.md"):
			continue
		case entries[entry].IsDir() || !strings.HasSuffix(entry, ".md"):
			found = append(found, Diagnostic{File: file, Warning: true,
				Text: "is not read: a recipe is a file prompts/<name>.md"})
			continue
		}
		p, more := readPrompt(f, file)
		found = append(found, more...)
		if p == nil {
			continue
		}
		if problem := checkFullName("prompt", plugin, p.Name); problem != "" {
			found = append(found, Diagnostic{File: file, Line: 1, Text: problem})
		}
		if other, taken := byName[p.Name]; taken {
			text := fmt.Sprintf("there are two prompts %q; the other one is %s", p.Name, other)
			found = append(found, Diagnostic{File: file, Line: 1, Text: text})
		}
		byName[p.Name] = file
		prompts = append(prompts, *p)
	}
	if len(prompts) > maxPrompts {
		found = append(found, faultf(promptsFolder, "holds %d recipes, and a plugin may have %d", len(prompts),
			maxPrompts)...)
	}
	return prompts, found
}

func readPrompt(f *folder, file string) (*Prompt, []Diagnostic) {
	refuse := func(text string, values ...any) (*Prompt, []Diagnostic) {
		return nil, faultf(file, text, values...)
	}
	raw, err := f.read(file)
	if err != nil {
		return refuse("cannot be read: %v", err)
	}
	if len(raw) > maxPromptFile {
		return refuse("has %d bytes, and a recipe may have %d", len(raw), maxPromptFile)
	}
	return parsePrompt(file, raw)
}

// parsePrompt reads one recipe: front matter in YAML between two lines of three dashes, then the text.
func parsePrompt(file string, raw []byte) (*Prompt, []Diagnostic) {
	r := &recipe{file: file}
	if !utf8.Valid(raw) {
		r.add(0, "is not UTF-8 text")
		return nil, r.found
	}
	raw = bytes.ReplaceAll(bytes.TrimPrefix(raw, []byte("\uFEFF")), []byte("\r\n"), []byte("\n"))
	head, body, ok := splitFrontMatter(string(raw))
	if !ok {
		r.add(1, "has no front matter: begin it with a line of three dashes, lines such as "+
			"\"description: What it is for.\", and three dashes again")
		return nil, r.found
	}
	r.Name = strings.TrimSuffix(path.Base(file), ".md")
	r.frontMatter(head)
	r.template(body, 3+strings.Count(head, "\n"))
	if invalid(r.found) != nil {
		return nil, r.found
	}
	return &r.Prompt, r.found
}

// splitFrontMatter splits a recipe. head ends with a line break, or is empty.
func splitFrontMatter(text string) (head, body string, ok bool) {
	text, ok = strings.CutPrefix(text, "---\n")
	if !ok {
		return "", "", false
	}
	for at := 0; at <= len(text); {
		line, _, more := strings.Cut(text[at:], "\n")
		if strings.TrimRight(line, " \t") == "---" {
			return text[:at], strings.TrimPrefix(text[at+len(line):], "\n"), true
		}
		if !more {
			break
		}
		at += len(line) + 1
	}
	return "", "", false
}

// template checks the text. first is its first line in the file.
func (r *recipe) template(text string, first int) {
	used := map[string]bool{}
	for _, at := range placeholderForm.FindAllStringSubmatchIndex(text, -1) {
		if text[at[0]] == '\\' {
			continue
		}
		name, line := text[at[2]:at[3]], first+strings.Count(text[:at[0]], "\n")
		used[name] = true
		if !r.declares(name) {
			r.add(line, "{{%s}} is not an argument of the recipe%s; declare it, or write \\{{ for two braces", name,
				r.argumentNames())
		}
	}
	for _, a := range r.Arguments {
		if !used[a.Name] {
			r.warn(r.lines[a.Name], "the argument %q is not used in the text", a.Name)
		}
	}
	r.Template = strings.TrimSpace(text)
	if r.Template == "" {
		r.add(first, "has no text after its front matter; write what the model is to do")
	}
}

func (r *recipe) declares(name string) bool {
	return slices.ContainsFunc(r.Arguments, func(a PromptArgument) bool { return a.Name == name })
}

func (r *recipe) argumentNames() string {
	var names []string
	for _, a := range r.Arguments {
		names = append(names, a.Name)
	}
	if len(names) == 0 {
		return ", which has none"
	}
	return ", which has " + strings.Join(names, ", ")
}

// validatePrompts repeats the checks of a build for build output.
func (m *Manifest) validatePrompts() error {
	seen := map[string]bool{}
	for _, p := range m.Prompts {
		if problem := checkFullName("prompt", m.Name, p.Name); problem != "" {
			return errors.New(problem)
		}
		if seen[p.Name] {
			return fmt.Errorf("there are two prompts %q", p.Name)
		}
		seen[p.Name] = true
		if len(p.Arguments) > maxArguments || len(p.Template) > maxPromptFile {
			return fmt.Errorf("the prompt %q is larger than a recipe may be", p.Name)
		}
		for _, a := range p.Arguments {
			if !argumentForm.MatchString(a.Name) {
				return fmt.Errorf("the prompt %q has an argument %q, which is not a name", p.Name, a.Name)
			}
		}
	}
	if len(m.Prompts) > maxPrompts {
		return fmt.Errorf("there are %d prompts, and a plugin may have %d", len(m.Prompts), maxPrompts)
	}
	return nil
}
