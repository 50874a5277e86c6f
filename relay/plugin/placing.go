package plugin

import (
	"bytes"
	"fmt"
	"regexp"
	"strings"
)

// noExport is what the bundler says of a name that a package does not have.
var noExport = regexp.MustCompile(`^No matching export in "([^"]+)" for import "([^"]+)"$`)

// placeImports finds in the plugin's sources the names that packages do not have: the bundler sees the sources as one
// module, and names a line of that.
func placeImports(f *folder, files []string, found []Diagnostic) []Diagnostic {
	for i, d := range found {
		parts := noExport.FindStringSubmatch(d.Text)
		if parts == nil || !strings.HasPrefix(d.File, entryNamespace) {
			continue
		}
		owner := "the SDK"
		if _, file, ok := strings.Cut(parts[1], "node_modules/"); ok {
			owner = file
		}
		found[i] = importOf(parts[2], f, files)
		found[i].Text = fmt.Sprintf("%s has no %q", owner, parts[2])
	}
	return found
}

// importOf is the place where a file imports a name from a package.
func importOf(name string, f *folder, files []string) Diagnostic {
	form := regexp.MustCompile(`\b(?:import|export)\b[^'"]*?\b(` + regexp.QuoteMeta(name) + `)\b[^'"]*?\bfrom\s*['"][^.'"]`)
	for _, file := range files {
		text, err := f.read(file)
		if err != nil {
			continue // it was there a moment ago; the next file, or the entry, is named
		}
		if at := form.FindSubmatchIndex(text); at != nil {
			before := text[:at[2]]
			return Diagnostic{File: file, Line: 1 + bytes.Count(before, []byte("\n")), Column: at[2] - bytes.LastIndexByte(before, '\n')}
		}
	}
	return Diagnostic{File: entryFile}
}
