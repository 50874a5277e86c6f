package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// maxArguments bounds what is read from stdin.
const maxArguments = 64 << 20

func (a *app) call() *cobra.Command {
	var tab int
	var timeout time.Duration
	var save string
	var ask httpapi.Ask
	cmd := &cobra.Command{
		Use:   "call NAME [JSON | @FILE | -]",
		Short: "Call a tool and print its result",
		Long: "Call a tool and print its result. The arguments are a JSON object: as it is, in a file (@FILE), or on " +
			"stdin (-).\n" +
			"It is printed as JSON; text, such as a snapshot of a page, is printed as it is. A picture is saved with " +
			"--save.\n" +
			"A failure is printed as an agent reads it, on stderr. So is the progress of the tool, on a terminal.\n" +
			"A large result is truncated as it is for an agent: what is printed says so, and how to read the rest; " +
			"--max-bytes 10485760 prints the largest there is.\n" +
			"Calls of one shell share a session (tabrelay sessions --help): the next one goes to the same tab, and " +
			"knows the references of this one.\n" +
			"With --plain everything is as a model reads it: text without JSON around it, and the exit code says " +
			"what became of a call that failed:\n" +
			"3 not executed, 4 it may be tried again, 5 unknown, 6 executed.\n" +
			"With the token of a client in TABRELAY_TOKEN it is that client who calls (tabrelay clients add --help).",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			given := cmd.Flags().Changed
			switch { // what is no number of anything must not be taken for a flag that was not given
			case given("tab") && tab < 1:
				return usage("--tab is %d, which is not the id of a tab", tab).hinting("tabrelay tabs lists them")
			case given("timeout") && timeout < time.Millisecond, given("max-bytes") && ask.MaxBytes < 1:
				return usage("--timeout is at least 1ms, and --max-bytes at least 1")
			case ask.Plain && a.json:
				return usage("--plain and --json exclude each other")
			}
			if ask.Arguments, err = a.arguments(cmd.Context(), append(args, "{}")[1], tab); err != nil {
				return err
			}
			ask.TimeoutMs = timeout.Milliseconds()
			answer, err := a.runCall(cmd.Context(), callPath(args[0]), ask)
			if refused, ok := errors.AsType[*refusedFault](err); ok && ask.Plain {
				return a.refusedPlainly(refused.fault)
			}
			if err != nil {
				return err
			}
			if save != "" && answer.Error == nil {
				if err := a.savePicture(&answer, save); err != nil {
					return err
				}
			}
			if ask.Plain {
				a.noteRun(answer)
				return a.printPlain(answer)
			}
			return a.printAnswer(answer)
		},
	}
	cmd.Flags().BoolVarP(&ask.Plain, "plain", "p", false, "print what a model reads, without JSON around it; the exit "+
		"code says what became of the call")
	cmd.Flags().StringVar(&save, "save", "", "file to save the picture of the result to")
	cmd.Flags().IntVar(&tab, "tab", 0, "id of the tab to run in")
	cmd.Flags().DurationVar(&timeout, "timeout", 0,
		"how long the tool may take, for example 10s (default: the tool's own)")
	cmd.Flags().BoolVar(&ask.Trace, "trace", false, "print each step of the call with its time, on stderr")
	cmd.Flags().IntVar(&ask.MaxBytes, "max-bytes", 0,
		"truncate a result that is larger (default: maxBytes of the configuration)")
	cmd.Flags().StringVar(&ask.ArrayPath, "array-path", "",
		"the list to shorten then, for example .items (default: the tool's own, or the largest)")
	a.withCallJSON(cmd)
	return cmd
}

// withCallJSON adds --json to a command that prints the result of a call.
func (a *app) withCallJSON(cmd *cobra.Command) {
	cmd.Flags().BoolVar(&a.json, "json", false, "print the result with where and how the call ran, or the whole "+
		"failure")
}

// callPath is where a tool is called.
func callPath(tool string) string { return "/api/v1/tools/" + url.PathEscape(tool) + "/call" }

// read reads a file, which may be a pipe, or stdin (-).
func (a *app) read(ctx context.Context, file string) ([]byte, error) {
	return unlessStopped(ctx, func() ([]byte, error) {
		if file == "-" {
			return io.ReadAll(io.LimitReader(a.in, maxArguments))
		}
		return os.ReadFile(file)
	})
}

// arguments reads the arguments of a call, and adds the tab.
func (a *app) arguments(ctx context.Context, text string, tab int) (json.RawMessage, error) {
	from := "the arguments"
	raw := []byte(text)
	var err error
	switch {
	case text == "-":
		from = "stdin"
		raw, err = a.read(ctx, text)
	case strings.HasPrefix(text, "@"):
		from = text[1:]
		raw, err = a.read(ctx, from)
	}
	if err != nil {
		return nil, failed("cannot read the arguments: %w", err)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		problem := usage("not a JSON object: %s", from)
		if _, ok := errors.AsType[*json.SyntaxError](err); ok {
			problem = usage("not a JSON object: %s: %w", from, err)
		}
		return nil, problem.hinting(`for example: '{"name":"value"}'`)
	}
	if tab == 0 {
		return raw, nil
	}
	if _, given := object["tabId"]; given {
		return nil, usage("both --tab and tabId name a tab; use one of them")
	}
	object["tabId"] = json.RawMessage(fmt.Sprint(tab))
	return json.Marshal(object)
}

// printAnswer prints a result on stdout, or a failure on stderr.
func (a *app) printAnswer(answer httpapi.Answer) error {
	a.noteRun(answer)
	if a.json {
		if err := a.printJSON(answer); err != nil {
			return err
		}
	}
	switch {
	case answer.Error != nil:
		if !a.json {
			a.notef("%s\n", strings.Join(answer.Text, "\n"))
		}
		return silent(exitFailed)
	case a.json:
		return nil
	}
	if said := answer.Said(); said != nil || answer.Content == nil {
		return a.printJSON(said)
	}
	text, pictures, ok := shown(answer.Content)
	if !ok {
		return a.printJSON(answer.Content)
	}
	return a.printShown(text, pictures, "--save FILE keeps it, --json prints it")
}

// printShown prints the text of a result, and says of its pictures what the person can do about them.
func (a *app) printShown(text string, pictures []picture, next string) error {
	for _, p := range pictures {
		a.notef("A picture (%s): %s.\n", p, next)
	}
	if text == "" {
		return nil
	}
	_, err := fmt.Fprintln(a.out, text)
	return err
}

// noteRun says how a call ran, where there is something to say.
func (a *app) noteRun(answer httpapi.Answer) {
	before := 0.0
	for _, step := range answer.Trace {
		a.notef("%9.2f ms %+9.2f  %s\n", step.Ms, step.Ms-before, step.Step)
		before = step.Ms
	}
	for _, warning := range answer.Warnings {
		a.notef("warning: %s\n", warning)
	}
}

// picture is a picture in a result.
type picture struct {
	data     []byte
	mimeType string
}

// String says what it is, and how large.
func (p picture) String() string { return fmt.Sprintf("%s, %d KB", p.mimeType, (len(p.data)+999)/1000) }

// shown is a result of texts and pictures: the text without what a terminal obeys. ok is false for any other result.
func shown(content []call.Content) (text string, pictures []picture, ok bool) {
	var lines []string
	for _, item := range content {
		var block struct {
			Type, Text, MIMEType string
			Data                 []byte
		}
		err := json.Unmarshal(item, &block)
		switch {
		case err == nil && block.Type == "text":
			lines = append(lines, visible(block.Text))
		case err == nil && block.Type == "image":
			pictures = append(pictures, picture{block.Data, fault.Sanitize(block.MIMEType)})
		default:
			return "", nil, false
		}
	}
	return strings.Join(lines, "\n"), pictures, true
}

// savePicture moves the picture of a result to a file, which nobody else can read: it may show anything.
func (a *app) savePicture(answer *httpapi.Answer, file string) error {
	var saved []picture
	rest := slices.DeleteFunc(slices.Clone(answer.Content), func(item call.Content) bool {
		_, pictures, _ := shown([]call.Content{item})
		saved = append(saved, pictures...)
		return len(pictures) > 0
	})
	if len(saved) != 1 {
		return failed("the result has %s, so %s was not written", plural(len(saved), "picture"), file).
			hinting("--json prints the whole result")
	}
	if err := os.WriteFile(file, saved[0].data, 0o600); err != nil {
		return failed("cannot save the picture: %w", err)
	}
	a.notef("Saved to %s: %s.\n", file, saved[0])
	answer.Content = rest
	return nil
}

// runCall asks the relay for a call. On a terminal the person sees its progress, and is asked whether it may run when
// the rules say so. Elsewhere stderr says that they are asked, and where: the call waits for that.
func (a *app) runCall(ctx context.Context, path string, body any) (answer httpapi.Answer, err error) {
	viewed := a.hasViewer()
	var asked time.Time
	ctx = httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{GetConn: func(string) { asked = time.Now() }})
	header, err := sessionHeader("application/x-ndjson")
	if err != nil {
		return answer, err
	}
	res, err := a.sendConfirmed(ctx, http.MethodPost, path, body, header, a.confirmHere)
	if err != nil {
		return answer, err
	}
	defer res.Body.Close() // only read from
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines := readStream(ctx, res.Body)
	approval := prompt{app: a, answer: a.sendTyped, elsewhere: !viewed}
	for {
		select {
		case <-ctx.Done():
			return answer, cmp.Or(stoppedRequest(ctx, http.MethodPost, path), ctx.Err())
		case typed, ok := <-approval.typed:
			approval.reply(ctx, typed, ok)
		case line := <-lines:
			switch {
			case line.err != nil:
				return answer, cmp.Or(stoppedRequest(ctx, http.MethodPost, path), line.err)
			case line.Answer != nil:
				line.Answer.Trace = a.commandSteps(line.Answer.Trace, asked, time.Now())
				return *line.Answer, nil
			case line.Asked != "":
				a.noteAsked(visible(line.Asked), "tabrelay permit pending")
			case line.Question != nil:
				approval.show(*line.Question)
			case line.Ended != nil:
				approval.endedElsewhere(*line.Ended)
			case line.Progress != nil && viewed && len(approval.open) == 0:
				a.notef("%s\n", progressText(*line.Progress))
			}
		}
	}
}

// commandSteps puts the steps of the relay between those of this command, whose clock begins with the command. How long
// request and answer took each way is not known: what the relay did not use is halved.
func (a *app) commandSteps(steps []httpapi.TraceStep, asked, answered time.Time) []httpapi.TraceStep {
	if len(steps) == 0 {
		return nil
	}
	since := func(t time.Time) float64 { return float64(t.Sub(a.began).Microseconds()) / 1000 }
	from, to := since(asked), since(answered)
	came := from + max(0, to-from-steps[len(steps)-1].Ms)/2
	all := []httpapi.TraceStep{{Step: "the command begins"}, {Ms: from, Step: "the command asks the relay"}}
	for _, s := range steps {
		all = append(all, httpapi.TraceStep{Ms: came + s.Ms, Step: s.Step})
	}
	return append(all, httpapi.TraceStep{Ms: to, Step: "the command has the answer"})
}

// streamLine is a line of a streamed reply, or why there is none.
type streamLine struct {
	httpapi.Line
	err error
}

// readStream reads a streamed reply to its end, or until ctx ends.
func readStream(ctx context.Context, body io.Reader) <-chan streamLine {
	lines := make(chan streamLine)
	go func() {
		for d := json.NewDecoder(body); ; {
			var line streamLine
			switch err := d.Decode(&line.Line); {
			case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
				line.err = failed("the relay's answer ended early").hinting("tabrelay logs shows why")
			case err != nil && ctx.Err() == nil:
				line.err = errUnreadable("the relay's answer", err)
			case err != nil:
				line.err = err
			}
			select {
			case lines <- line:
			case <-ctx.Done():
				return
			}
			if line.err != nil || line.Answer != nil {
				return
			}
		}
	}()
	return lines
}

// progressText is a step of progress as a person reads it: 3 of 10: saving.
func progressText(s httpapi.ProgressStep) string {
	if s.Total == nil && s.Message != "" {
		return s.Message // a number alone says nothing
	}
	text := strconv.FormatFloat(s.Progress, 'g', 6, 64)
	if s.Total != nil {
		text += " of " + strconv.FormatFloat(*s.Total, 'g', 6, 64)
	}
	if s.Message != "" {
		text += ": " + s.Message
	}
	return text
}
