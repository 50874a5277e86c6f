package review

import (
	"bytes"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/rogpeppe/go-internal/diff"
)

// File is one file, as a person reads it.
type File struct {
	Path string `json:"path"`
	Size int    `json:"size"` // bytes of the file itself
	Text string `json:"text"` // code written out, everything legible
	Runs bool   `json:"runs"` // it is part of what was built; otherwise it is there for reading only

	raw []byte
}

// Difference is what changed in one file.
type Difference struct {
	Path   string `json:"path"`
	Change string `json:"change"` // added, removed or changed
	Text   string `json:"text"`   // unified diff of the texts, or one sentence
}

// unseen is said of a file whose bytes are others and whose text is not.
const unseen = "It differs only in how its lines end, or in how characters are written that are not shown as they " +
	"are.\n"

// builtDir is where the files of the build are shown, so that no source can take their place.
const builtDir = "dist"

// files lists what runs first, then the recipes, then the sources.
func files(c Content) (list []File) {
	built, err := c.Plugin.Files()
	if err != nil {
		// the manifest was read from JSON, so it encodes
		built = map[string][]byte{"adapter.js": c.Plugin.Adapter, "pre-script.js": c.Plugin.PreScript}
	}
	add := func(name string, content []byte, runs bool) {
		text := string(content)
		if runs && path.Ext(name) == ".js" {
			text = Lines(text)
		}
		list = append(list, File{Path: name, Size: len(content), Text: Legible(text), Runs: runs, raw: content})
	}
	for _, name := range slices.Sorted(maps.Keys(built)) {
		add(path.Join(builtDir, name), built[name], true)
	}
	for _, p := range c.Plugin.Manifest.Prompts {
		add(path.Join(builtDir, "prompts", p.Name+".md"), []byte(p.Template+"\n"), true)
	}
	for _, name := range slices.Sorted(maps.Keys(c.Sources)) {
		add(name, c.Sources[name], false)
	}
	return list
}

// differences compares two states file by file, in the order of the later one.
func differences(before, now []File) []Difference {
	list := []Difference{}
	for _, f := range now {
		i := slices.IndexFunc(before, func(o File) bool { return o.Path == f.Path })
		switch {
		case i < 0:
			list = append(list, Difference{f.Path, "added", unified(File{Path: f.Path}, f)})
		case before[i].Text != f.Text:
			list = append(list, Difference{f.Path, "changed", unified(before[i], f)})
		case !bytes.Equal(before[i].raw, f.raw):
			list = append(list, Difference{f.Path, "changed", unseen})
		}
	}
	for _, f := range before {
		if !slices.ContainsFunc(now, func(o File) bool { return o.Path == f.Path }) {
			list = append(list, Difference{f.Path, "removed", unified(f, File{Path: f.Path})})
		}
	}
	return list
}

// unified is the difference of two texts in unified format, without the line that names the command.
func unified(before, now File) string {
	text := string(diff.Diff("a/"+before.Path, []byte(before.Text), "b/"+now.Path, []byte(now.Text)))
	_, text, _ = strings.Cut(text, "\n")
	return text
}
