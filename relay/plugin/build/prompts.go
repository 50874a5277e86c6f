package build

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"
	"unicode/utf8"

	"tabrelay/relay/road/plugin"
)

// promptsFolder holds a plugin's recipes, one Markdown file each.
const promptsFolder = "prompts"

const maxCompletions = 1000 // values an argument declares

// readPrompts reads every recipe of a plugin's folder. A plugin without the folder has none.
func readPrompts(f *folder, owner string) (prompts []plugin.Prompt, found []Diagnostic) {
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
		if problem := plugin.CheckFullName("prompt", owner, p.Name); problem != "" {
			found = append(found, Diagnostic{File: file, Line: 1, Text: problem})
		}
		if other, taken := byName[p.Name]; taken {
			text := fmt.Sprintf("there are two prompts %q; the other one is %s", p.Name, other)
			found = append(found, Diagnostic{File: file, Line: 1, Text: text})
		}
		byName[p.Name] = file
		prompts = append(prompts, *p)
	}
	if len(prompts) > plugin.MaxPrompts {
		found = append(found, faultf(promptsFolder, "holds %d recipes, and a plugin may have %d", len(prompts),
			plugin.MaxPrompts)...)
	}
	return prompts, found
}

func readPrompt(f *folder, file string) (*plugin.Prompt, []Diagnostic) {
	refuse := func(text string, values ...any) (*plugin.Prompt, []Diagnostic) {
		return nil, faultf(file, text, values...)
	}
	raw, err := f.read(file)
	if err != nil {
		return refuse("cannot be read: %v", err)
	}
	if len(raw) > plugin.MaxPromptFile {
		return refuse("has %d bytes, and a recipe may have %d", len(raw), plugin.MaxPromptFile)
	}
	return parsePrompt(file, raw)
}

// parsePrompt reads one recipe: front matter in YAML between two lines of three dashes, then the text.
func parsePrompt(file string, raw []byte) (*plugin.Prompt, []Diagnostic) {
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
	for at, name := range plugin.Placeholders(text) {
		line := first + strings.Count(text[:at], "\n")
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
	return slices.ContainsFunc(r.Arguments, func(a plugin.PromptArgument) bool { return a.Name == name })
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
