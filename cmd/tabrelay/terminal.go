package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"unicode"
	"unicode/utf16"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
	"golang.org/x/term"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/plugin/build"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/state/config"
)

// The rules are:
//
//   - stdout is for the result, and nothing else: it can be piped. `tabrelay mcp` writes MCP there.
//   - stderr is for everything a person watches: progress, questions, `error: …` and `hint: …`.
//   - A failure says what failed and why; the next step goes into a hint.
//   - --json prints one JSON document; its members are only ever added to.
//   - Nothing is asked unless stdin is a terminal. Colours and wrapped lines are for terminals; NO_COLOR is heeded.
//   - Whatever takes longer than a second says on a terminal what is waited for.
//   - Exit codes: 0 done, 1 failed, 2 wrong usage or configuration, 128 and the signal's number when one stopped it.
//     Where a program reads them (--plain, scripts), 3 to 6 say what became of a call that failed: see plain.go.

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
	exitUsage  = 2
)

// terminal is where the program reads and writes.
type terminal struct {
	in        io.Reader
	out, err  io.Writer
	json      bool  // --json was given
	unwritten error // why a part of the result could not be written
}

// withJSON adds --json to a command.
func (t *terminal) withJSON(cmd *cobra.Command) *cobra.Command {
	cmd.Flags().BoolVar(&t.json, "json", false, "print JSON")
	return cmd
}

// limitFlag adds --limit to a command: how many entries are shown at the most. Its former name, --lines, still works.
func limitFlag(cmd *cobra.Command, into *int, most int, what string) {
	cmd.Flags().IntVarP(into, "limit", "n", most, what)
	cmd.Flags().SetNormalizeFunc(func(_ *pflag.FlagSet, name string) pflag.NormalizedName {
		if name == "lines" {
			name = "limit"
		}
		return pflag.NormalizedName(name)
	})
}

// interactive reports whether a person can answer.
func (t *terminal) interactive() bool {
	file, ok := t.in.(*os.File)
	return ok && isTerminal(file)
}

// entered is closed once a person presses Enter from now on.
func (t *terminal) entered() <-chan struct{} {
	done := make(chan struct{})
	file, ok := t.in.(*os.File)
	if !ok || !isTerminal(file) {
		return done
	}
	discardTyped(file)
	go func() {
		if _, err := bufio.NewReader(file).ReadString('\n'); err == nil {
			close(done)
		}
	}()
	return done
}

func isTerminal(file *os.File) bool { return term.IsTerminal(int(file.Fd())) }

// hasViewer reports whether a person sees what is written to stderr.
func (t *terminal) hasViewer() bool {
	file, ok := t.err.(*os.File)
	return ok && isTerminal(file)
}

// wrapToTerminal wraps a text to the width of the terminal that w is, if it is one.
func wrapToTerminal(w io.Writer, text string) string {
	file, ok := w.(*os.File)
	if !ok {
		return text
	}
	width, _, err := term.GetSize(int(file.Fd()))
	if err != nil || width <= 0 {
		return text
	}
	return wrapLines(text, width)
}

// wrapLines breaks lines that are longer than width columns. The rest of a line has the indent of its beginning and a
// mark, so that text of a page cannot look like a line of the relay's own.
func wrapLines(text string, width int) string {
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
				columns = 2 // at most: wide characters begin here
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

// printf writes a result. That it could not is said when the command has ended.
func (t *terminal) printf(format string, args ...any) {
	if _, err := fmt.Fprintf(t.out, format, args...); err != nil && t.unwritten == nil {
		t.unwritten = err
	}
}

// notef writes something for the person who watches.
func (t *terminal) notef(format string, args ...any) {
	text := wrapWords(pasteable(fmt.Sprintf(format, args...)), width(t.err), 0)
	_, _ = io.WriteString(t.err, text) // nobody else could be told
}

// printJSON writes a result as JSON. On a terminal, characters that a terminal obeys or that nobody sees are escaped:
// it may have words of a page.
func (t *terminal) printJSON(v any) error {
	var text strings.Builder
	enc := json.NewEncoder(&text)
	enc.SetEscapeHTML(false)
	enc.SetIndent("", "  ")
	if err := enc.Encode(v); err != nil {
		return err
	}
	_, err := io.WriteString(t.out, t.forTerminal(text.String()))
	return err
}

// forTerminal is JSON as it may be written to stdout, which may be a terminal.
func (t *terminal) forTerminal(said string) string {
	if file, ok := t.out.(*os.File); ok && isTerminal(file) {
		return escapeUnseen(said)
	}
	return said
}

// escapeUnseen writes what is not to be seen in JSON as its number.
func escapeUnseen(text string) string {
	var b strings.Builder
	for _, r := range text {
		switch {
		case r == '\n' || r == ' ' || unicode.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			high, low := utf16.EncodeRune(r)
			fmt.Fprintf(&b, `\u%04x\u%04x`, high, low)
		default:
			fmt.Fprintf(&b, `\u%04x`, r)
		}
	}
	return b.String()
}

// plural is a number with its noun.
func plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return fmt.Sprintf("%d %ss", n, noun)
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

// silent is a failure whose message was printed already. It is the exit code.
type silent int

func (s silent) Error() string { return fmt.Sprintf("exit code %d", int(s)) }

// report prints an error and returns the exit code.
func (t *terminal) report(err error) int {
	if err == nil && t.unwritten != nil {
		err = failed("the result could not be written: %w", t.unwritten)
	}
	exit := exitCode(err)
	if _, ok := errors.AsType[silent](err); ok || err == nil {
		return exit
	}
	if wrong, ok := errors.AsType[*build.InvalidError](err); ok && err.Error() == wrong.Error() {
		t.notef("%s\n", wrong.Framed())
		return exit
	}
	message, hint := explain(err)
	for line := range strings.SplitSeq(strings.TrimSpace(message), "\n") {
		t.labelled("error:", red, line)
	}
	for line := range strings.SplitSeq(strings.TrimSpace(hint), "\n") {
		if line != "" {
			t.labelled("hint:", cyan, line)
		}
	}
	return exit
}

// exitCode is that of an error.
func exitCode(err error) int {
	if err == nil {
		return exitDone
	}
	if said, ok := errors.AsType[silent](err); ok {
		return int(said)
	}
	if isConfigError(err) {
		return exitUsage
	}
	if f, ok := errors.AsType[*failure](err); ok {
		return f.exit
	}
	return exitFailed
}

// labelled writes a line for the person who watches, after a label in a style of its own.
func (t *terminal) labelled(label string, s style, line string) {
	line = fault.Sanitize(line) // a registry, a server or a page may have worded a part of it
	text := wrapWords(label+" "+pasteable(line), width(t.err), len(label)+1)
	_, _ = io.WriteString(t.err, paint(t.err, s, label)+text[len(label):]+"\n") // nobody else could be told
}

// isConfigError reports whether a configuration, or a file of the home folder, has to be repaired first: here, or in
// the relay that was started. A process whose own output is invalid has the same exit code.
func isConfigError(err error) bool {
	var wrong *config.Error
	var file *config.FileError
	var list *build.ListError
	var start *join.StartError
	return errors.As(err, &wrong) || errors.As(err, &file) || errors.As(err, &list) ||
		errors.As(err, &start) && start.Exit == exitUsage || errors.Is(err, join.ErrInvalidOutput)
}

// explain is what failed, and the next step if one is known.
func explain(err error) (message, next string) {
	if f, ok := errors.AsType[*fault.Error](err); ok {
		return f.Message, f.Hint
	}
	if refused, ok := errors.AsType[*join.Refused](err); ok {
		return refused.Message, refused.Hint
	}
	if next = fault.HintOf(err); next == "" && errors.Is(err, syscall.ENOSPC) {
		next = "free some disk space, then do it again"
	}
	return err.Error(), next
}

// Whatever lets agents do more is confirmed by a person: in tabrelay's side panel when one is open, else at the
// terminal that controls this process. stdin does not count: a program can redirect it.
var (
	errNotConfirmed = errors.New("nothing was changed: it was not confirmed")
	errNoTerminal   = errors.New("nothing was changed: this lets agents do more")
)

// unconfirmed is the relay's refusal of a change that a person has to confirm first.
type unconfirmed struct{ httpapi.Unconfirmed }

func (u *unconfirmed) Error() string { return u.Unconfirmed.Error.Message }

// Hint is the next step.
func (u *unconfirmed) Hint() string { return u.Unconfirmed.Error.Hint }

// controllingTerminal is the terminal that controls this process, for questions that only a person may answer.
type controllingTerminal struct{ in, out *os.File }

// openControlling opens it. An error means that there is none.
func openControlling() (*controllingTerminal, error) {
	in, out, err := openConsole()
	if err != nil {
		return nil, err
	}
	c := &controllingTerminal{in, out}
	if !isTerminal(in) {
		c.close()
		return nil, fmt.Errorf("%s is not a terminal", in.Name())
	}
	return c, nil
}

func (c *controllingTerminal) close() {
	_ = c.in.Close() // only read from
	if c.out != c.in {
		_ = c.out.Close() // a terminal does not buffer
	}
}

// hasTerminal reports whether a person could confirm something here.
func hasTerminal() bool {
	c, err := openControlling()
	if err != nil {
		return false
	}
	c.close()
	return true
}

// printf shows something to the person, whatever stdout and stderr are.
func (c *controllingTerminal) printf(format string, args ...any) { fmt.Fprintf(c.out, format, args...) }

// readLine waits for a line that the person types. At the end of input, or when ctx ends, it is empty.
func (c *controllingTerminal) readLine(ctx context.Context) string {
	line, _ := unlessStopped(ctx, func() (string, error) { return bufio.NewReader(c.in).ReadString('\n') })
	return strings.TrimSpace(line)
}

// confirmHere lets the person confirm a change at the controlling terminal. nil: they did.
func (a *app) confirmHere(ctx context.Context, c *policy.Change) error {
	if c == nil {
		return nil
	}
	t, err := openControlling()
	if err != nil {
		next := "open tabrelay's side panel and run it again"
		if c.ShownElsewhere {
			next = "answer in tabrelay's side panel"
		}
		if c.Command != "" {
			next += ", or run in a terminal of your own: " + c.Command
		} else {
			next += ", or run it in a terminal of your own"
		}
		return failed("%w (%s), and there is no terminal here to confirm it in", errNoTerminal,
			fault.Sanitize(c.String())).
			hinting(next)
	}
	defer t.close()
	t.printf("%s\nType %s to allow this: ", wrapToTerminal(t.out, strings.Join(c.Lines(), "\n")), policy.ConfirmWord)
	if !strings.EqualFold(t.readLine(ctx), policy.ConfirmWord) {
		if stoppedIn(ctx) != nil {
			return context.Cause(ctx)
		}
		return failed("%w", errNotConfirmed).hinting("run it again and type " + policy.ConfirmWord)
	}
	return nil
}
