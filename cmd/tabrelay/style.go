package main

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"text/tabwriter"
	"time"
	"unicode/utf8"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"tabrelay/relay/road/fault"
)

// style is how text looks on a terminal: a parameter of ECMA-48, SGR.
type style string

const (
	bold   style = "1"
	red    style = "31"
	green  style = "32"
	yellow style = "33"
	cyan   style = "36"
)

// paint gives text a style where w is a terminal, unless NO_COLOR (https://no-color.org) or TERM forbids it.
func paint(w io.Writer, s style, text string) string {
	if !coloured(w) {
		return text
	}
	return "\x1b[" + string(s) + "m" + text + "\x1b[0m"
}

func coloured(w io.Writer) bool {
	file, ok := w.(*os.File)
	return ok && os.Getenv("NO_COLOR") == "" && os.Getenv("TERM") != "dumb" && isTerminal(file)
}

// width is how many columns w has; 0: it is no terminal.
func width(w io.Writer) int {
	file, ok := w.(*os.File)
	if !ok {
		return 0
	}
	columns, _, err := term.GetSize(int(file.Fd()))
	if err != nil {
		return 0
	}
	return columns
}

// wrapWords breaks lines that are longer than columns between words. The rest of a line is indented as its beginning
// is, and by hang more. What has no blanks, such as a path, stays whole. 0 columns: nothing is broken.
func wrapWords(text string, columns, hang int) string {
	if columns <= 0 {
		return text
	}
	var b strings.Builder
	for line := range strings.Lines(text) {
		line, ended := strings.CutSuffix(line, "\n")
		b.WriteString(wrapLine(line, columns, hang))
		if ended {
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func wrapLine(line string, columns, hang int) string {
	if utf8.RuneCountInString(line) <= columns {
		return line
	}
	own := len(line) - len(strings.TrimLeft(line, " "))
	indent := min(own+hang, columns/2)
	var b strings.Builder
	b.WriteString(line[:own])
	at, first := own, true
	for word := range strings.SplitSeq(line[own:], " ") {
		length := utf8.RuneCountInString(word)
		switch {
		case first:
		case at+1+length > columns:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			at = indent
		default:
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at, first = at+length, false
	}
	return b.String()
}

// leastLastColumn is how narrow the last column of a table may become before its lines are left to the terminal.
const leastLastColumn = 24

// table writes rows in columns; the first row is the heading. On a terminal the last column is wrapped.
func (t *terminal) table(rows ...[]string) error {
	for _, row := range rows {
		for i, cell := range row {
			row[i] = fault.Sanitize(cell) // pages choose their titles, and a terminal obeys control characters
		}
	}
	rows = wrapLastColumn(rows, width(t.out))
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 4, 2, ' ', 0)
	for _, row := range rows {
		fmt.Fprintln(w, strings.Join(row, "\t"))
	}
	if err := w.Flush(); err != nil {
		return err
	}
	heading, rest, _ := strings.Cut(b.String(), "\n")
	_, err := fmt.Fprintf(t.out, "%s\n%s", paint(t.out, bold, heading), rest)
	return err
}

// wrapLastColumn breaks the last cell of each row so that the table fits into columns.
func wrapLastColumn(rows [][]string, columns int) [][]string {
	if columns == 0 || len(rows) == 0 {
		return rows
	}
	last := len(rows[0]) - 1
	left := columns
	for i := range last {
		widest := slices.MaxFunc(rows, func(a, b []string) int {
			return cmp.Compare(utf8.RuneCountInString(a[i]), utf8.RuneCountInString(b[i]))
		})
		left -= utf8.RuneCountInString(widest[i]) + 2
	}
	if left < leastLastColumn {
		return rows
	}
	var wrapped [][]string
	for _, row := range rows {
		lines := strings.Split(wrapLine(row[last], left, 0), "\n")
		for i, line := range lines {
			next := make([]string, last+1)
			if i == 0 {
				copy(next, row[:last])
			}
			next[last] = line
			wrapped = append(wrapped, next)
		}
	}
	return wrapped
}

// patience is how long something may take before a person is told what they wait for.
const patience = time.Second

// progress says what a person waits for, once it takes long. done ends that.
func (t *terminal) progress(what string) (done func()) {
	if !t.hasViewer() {
		return func() {}
	}
	late := time.AfterFunc(patience, func() { t.notef("%s …\n", what) })
	return func() { late.Stop() }
}

// wrapHelp has the help of every command wrapped between words.
func wrapHelp(root *cobra.Command) {
	columns := func() int { return min(width(root.OutOrStdout()), 100) }
	cobra.AddTemplateFunc("flagsWrapped", func(f *pflag.FlagSet) string { return f.FlagUsagesWrapped(columns()) })
	cobra.AddTemplateFunc("textWrapped", func(text string) string {
		if columns() == 0 {
			return text
		}
		return wrapWords(paragraphs(text), columns(), 0)
	})
	usage := strings.NewReplacer(".LocalFlags.FlagUsages", "flagsWrapped .LocalFlags",
		".InheritedFlags.FlagUsages", "flagsWrapped .InheritedFlags").Replace(root.UsageTemplate())
	root.SetUsageTemplate(usage)
	root.SetHelpTemplate(`{{with (or .Long .Short)}}{{. | textWrapped | trimTrailingWhitespaces}}

{{end}}{{if or .Runnable .HasSubCommands}}{{.UsageString}}{{end}}`)
}

// paragraphs joins the lines of each paragraph. A line about a flag, or an indented one, begins anew.
func paragraphs(text string) string {
	var b strings.Builder
	lines := strings.Split(text, "\n")
	for i, line := range lines {
		b.WriteString(line)
		if i == len(lines)-1 {
			break
		}
		next := lines[i+1]
		if line == "" || next == "" || strings.HasPrefix(next, "--") || strings.HasPrefix(next, " ") {
			b.WriteByte('\n')
		} else {
			b.WriteByte(' ')
		}
	}
	return b.String()
}
