package plugin

import (
	"errors"
	"fmt"
	"regexp"
	"strings"

	"github.com/grafana/sobek"
)

var notDefined = regexp.MustCompile(`^ReferenceError: ([\w$]+) is not defined`)

// undefinedName returns the name a script could not find.
func undefinedName(err error) string {
	var thrown *sobek.Exception
	if !errors.As(err, &thrown) {
		return ""
	}
	if found := notDefined.FindStringSubmatch(thrown.Value().String()); found != nil {
		return found[1]
	}
	return ""
}

// readingFault says what went wrong while the plugin loaded, and where.
func readingFault(err error) Diagnostic {
	d := Diagnostic{File: entryFile, Text: err.Error()}
	var stopped *sobek.InterruptedError
	if errors.As(err, &stopped) {
		d.Text = fmt.Sprint(stopped.Value())
		return d
	}
	var endless *sobek.StackOverflowError
	if errors.As(err, &endless) {
		return at(endless.Stack(), "calls itself without end while it loads")
	}
	var thrown *sobek.Exception
	if !errors.As(err, &thrown) {
		return d
	}
	return at(thrown.Stack(), fmt.Sprintf("throws while it loads: %v", thrown.Value()))
}

// at is a fault at the innermost place of the plugin's own sources.
func at(stack []sobek.StackFrame, text string) Diagnostic {
	for _, frame := range stack {
		if p := frame.Position(); strings.HasSuffix(p.Filename, "s") && !strings.Contains(p.Filename, ":") && p.Line > 0 {
			return Diagnostic{File: p.Filename, Line: p.Line, Column: p.Column, Text: text}
		}
	}
	return Diagnostic{File: entryFile, Text: text}
}
