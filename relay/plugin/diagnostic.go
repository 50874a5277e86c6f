package plugin

import (
	"fmt"
	"slices"
	"strings"
)

// Diagnostic is one thing wrong, or worth knowing, about a plugin folder.
type Diagnostic struct {
	File    string `json:"file,omitempty"` // relative to the folder, with forward slashes
	Line    int    `json:"line,omitempty"` // from 1; 0 when the whole file is meant
	Column  int    `json:"column,omitempty"`
	Text    string `json:"text"` // one sentence: what is wrong and, where it is not plain, what to write
	Warning bool   `json:"warning,omitempty"`
}

// String returns "src/index.ts:3:7: error: …", as editors and terminals make links of it.
func (d Diagnostic) String() string {
	var b strings.Builder
	if d.File != "" {
		b.WriteString(d.File)
		if d.Line > 0 {
			fmt.Fprintf(&b, ":%d", d.Line)
		}
		if d.Line > 0 && d.Column > 0 {
			fmt.Fprintf(&b, ":%d", d.Column)
		}
		b.WriteString(": ")
	}
	if d.Warning {
		b.WriteString("warning: ")
	}
	b.WriteString(d.Text)
	return b.String()
}

// InvalidError says why a plugin folder cannot become a plugin.
type InvalidError struct {
	Diagnostics []Diagnostic // at least one that is no warning
}

// Error returns every diagnostic that is no warning, each on a line of its own.
func (e *InvalidError) Error() string {
	var lines []string
	for _, d := range e.Diagnostics {
		if !d.Warning {
			lines = append(lines, d.String())
		}
	}
	return strings.Join(lines, "\n")
}

// invalid returns an *InvalidError when a diagnostic is more than a warning.
func invalid(diagnostics []Diagnostic) error {
	if slices.ContainsFunc(diagnostics, func(d Diagnostic) bool { return !d.Warning }) {
		return &InvalidError{Diagnostics: diagnostics}
	}
	return nil
}
