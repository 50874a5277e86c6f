package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"text/tabwriter"

	"golang.org/x/term"

	"tabrelay/relay/config"
	"tabrelay/relay/fault"
	"tabrelay/relay/join"
	"tabrelay/relay/plugin"
)

// The rules are:
//
//   - stdout is for what was asked for, and nothing else: it can be piped. `tabrelay mcp` writes MCP there.
//   - stderr is for everything a person watches: progress, questions, `error: …` and `hint: …`.
//   - A failure says what failed and why; the next step goes into a hint.
//   - --json prints one JSON document; its members are only ever added to.
//   - Nothing is asked unless stdin is a terminal. There are no colours.
//   - Exit codes: 0 done, 1 failed, 2 wrong usage or configuration.

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// terminal is where the program reads and writes.
type terminal struct {
	in       io.Reader
	out, err io.Writer
}

// interactive reports whether a person can answer.
func (t *terminal) interactive() bool {
	file, ok := t.in.(*os.File)
	return ok && isTerminal(file)
}

func isTerminal(file *os.File) bool { return term.IsTerminal(int(file.Fd())) }

// watched reports whether a person sees what is written to stderr.
func (t *terminal) watched() bool {
	file, ok := t.err.(*os.File)
	return ok && isTerminal(file)
}

// fit breaks the lines of a text that are longer than the terminal is wide to which it is written, if it is one. The rest
// of a line stands as deep as its beginning, behind a mark: no words of others come to stand where the relay's begin.
func fit(w io.Writer, text string) string {
	file, ok := w.(*os.File)
	if !ok {
		return text
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil || width <= 0 {
		return text
	}
	return broken(text, width)
}

// broken is a text in lines of no more than width columns.
func broken(text string, width int) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		indent := min(len(line)-len(strings.TrimLeft(line, " ")), width/2)
		at := 0
		for _, r := range line {
			columns := 1
			switch {
			case r == '\n':
				columns = 0
			case r == '\t':
				columns = 8 // at most
			case r >= 0x1100:
				columns = 2 // at most: from here on there are wide ones
			}
			if at > 0 && at+columns > width {
				b.WriteString("\n" + strings.Repeat(" ", indent) + "↳ ")
				at = indent + 2
			}
			b.WriteRune(r)
			at += columns
		}
	}
	return b.String()
}

// printf writes a result.
func (t *terminal) printf(format string, args ...any) { fmt.Fprintf(t.out, format, args...) }

// notef writes something for the person who watches.
func (t *terminal) notef(format string, args ...any) { fmt.Fprintf(t.err, format, args...) }

// printJSON writes a result as JSON.
func (t *terminal) printJSON(v any) error {
	enc := json.NewEncoder(t.out)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	return enc.Encode(v)
}

// table writes rows in columns; the first row is the heading.
func (t *terminal) table(rows ...[]string) error {
	w := tabwriter.NewWriter(t.out, 0, 4, 2, ' ', 0)
	for _, row := range rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = fault.Sanitize(cell) // pages choose their titles, and a terminal obeys control characters
		}
		fmt.Fprintln(w, strings.Join(cells, "\t"))
	}
	return w.Flush()
}

// failure is an error with an exit code and a next step.
type failure struct {
	error
	exit int
	hint string
}

func (f *failure) Unwrap() error { return f.error }

// Hint is the next step.
func (f *failure) Hint() string { return f.hint }

// hinting adds the next step.
func (f *failure) hinting(hint string) *failure {
	f.hint = hint
	return f
}

// usage is a mistake in the command line.
func usage(format string, args ...any) *failure {
	return &failure{error: fmt.Errorf(format, args...), exit: exitUsage}
}

// failed is everything else that goes wrong.
func failed(format string, args ...any) *failure {
	return &failure{error: fmt.Errorf(format, args...), exit: exitFailed}
}

// report writes an error and returns the exit code.
func (t *terminal) report(err error) int {
	if err == nil {
		return exitDone
	}
	if errors.Is(err, errSilent) {
		return exitFailed
	}
	if errors.Is(err, errSilentUsage) {
		return exitUsage
	}
	exit := exitFailed
	var f *failure
	if errors.As(err, &f) {
		exit = f.exit
	}
	if unusable(err) {
		exit = exitUsage
	}
	message, hint := explain(err)
	for line := range strings.SplitSeq(strings.TrimSpace(message), "\n") {
		t.notef("error: %s\n", line)
	}
	for line := range strings.SplitSeq(strings.TrimSpace(hint), "\n") {
		if line != "" {
			t.notef("hint: %s\n", line)
		}
	}
	return exit
}

// unusable reports whether a configuration, or a file of the home folder, has to be repaired first: here, or in the
// relay that was started. A process whose own output is bad ends in the same way.
func unusable(err error) bool {
	var wrong *config.Error
	var file *config.FileError
	var list *plugin.ListError
	var start *join.StartError
	return errors.As(err, &wrong) || errors.As(err, &file) || errors.As(err, &list) || errors.As(err, &start) && start.Exit == exitUsage || errors.Is(err, join.ErrInvalidOutput)
}

// explain is what failed, and the next step if one is known.
func explain(err error) (message, hint string) {
	var f *fault.Error
	var refused *join.Refused
	var hinted interface{ Hint() string }
	switch {
	case errors.As(err, &f):
		return f.Message, f.Hint
	case errors.As(err, &refused):
		return refused.Message, refused.Hint
	case errors.As(err, &hinted):
		return err.Error(), hinted.Hint()
	}
	return err.Error(), ""
}
