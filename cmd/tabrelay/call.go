package main

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/call"
	"tabrelay/relay/httpapi"
	"tabrelay/relay/policy"
)

// maxArguments bounds what is read from stdin.
const maxArguments = 64 << 20

func (a *app) call() *cobra.Command {
	var tab int
	var timeout time.Duration
	var ask httpapi.Ask
	cmd := &cobra.Command{
		Use:   "call NAME [JSON | @FILE | -]",
		Short: "Call a tool and print its result",
		Long: "Call a tool and print its result. The arguments are a JSON object: as it is, in a file (@FILE), or on " +
			"stdin (-).\n" +
			"A failure is printed as an agent reads it, on stderr. So is the progress of the tool, on a terminal.\n" +
			"A large result is truncated as it is for an agent: what is printed says so, and how to read the rest; " +
			"--max-bytes 10485760 prints the largest there is.",
		Args: cobra.RangeArgs(1, 2),
		RunE: func(cmd *cobra.Command, args []string) (err error) {
			if ask.Arguments, err = a.arguments(append(args, "{}")[1], tab); err != nil {
				return err
			}
			if timeout < 0 || ask.MaxBytes < 0 {
				return usage("--timeout and --max-bytes cannot be negative")
			}
			ask.TimeoutMs = timeout.Milliseconds()
			answer, err := a.runCall(cmd.Context(), "/api/v1/tools/"+url.PathEscape(args[0])+"/call", ask)
			if err != nil {
				return err
			}
			return a.printAnswer(answer)
		},
	}
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

// arguments reads the arguments of a call, and adds the tab.
func (a *app) arguments(text string, tab int) (json.RawMessage, error) {
	from := "the arguments"
	raw := []byte(text)
	var err error
	switch {
	case text == "-":
		from = "stdin"
		raw, err = io.ReadAll(io.LimitReader(a.in, maxArguments))
	case strings.HasPrefix(text, "@"):
		from = text[1:]
		raw, err = os.ReadFile(from)
	}
	if err != nil {
		return nil, failed("cannot read the arguments: %w", err)
	}
	var object map[string]json.RawMessage
	if err := json.Unmarshal(raw, &object); err != nil || object == nil {
		problem := usage("not a JSON object: %s", from)
		var syntax *json.SyntaxError
		if errors.As(err, &syntax) {
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
	for _, step := range answer.Trace {
		a.notef("%8.1f ms  %s\n", step.Ms, step.Step)
	}
	for _, warning := range answer.Warnings {
		a.notef("warning: %s\n", warning)
	}
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
		return errSilent
	case a.json:
		return nil
	case answer.Output == nil && answer.Content != nil:
		return a.printJSON(answer.Content)
	}
	if said := answer.Said(); said != nil {
		return a.printJSON(said)
	}
	return a.printJSON(answer.Output)
}

// runCall asks the relay for a call. On a terminal the person sees its progress, and is asked whether it may run when
// the rules say so.
func (a *app) runCall(ctx context.Context, path string, body any) (answer httpapi.Answer, err error) {
	if !a.hasViewer() {
		err = a.post(ctx, path, body, &answer)
		return answer, err
	}
	res, err := a.send(ctx, http.MethodPost, path, body, "application/x-ndjson")
	if err != nil {
		return answer, err
	}
	defer res.Body.Close() // only read from
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines := readStream(ctx, res.Body)
	approval := prompt{app: a}
	for {
		select {
		case typed, ok := <-approval.typed:
			approval.reply(ctx, typed, ok)
		case line := <-lines:
			switch {
			case line.err != nil:
				return answer, line.err
			case line.Answer != nil:
				approval.close()
				return *line.Answer, nil
			case line.Question != nil:
				approval.show(*line.Question)
			case line.Progress != nil && approval.open == nil:
				a.notef("%s\n", progressText(*line.Progress))
			}
		}
	}
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

// prompt asks the person at this terminal to approve their call. The approval may be answered elsewhere, or expire,
// before they have typed anything.
type prompt struct {
	app      *app
	terminal *controllingTerminal // nil until something is asked
	open     *call.Approval       // nil: none
	typed    chan string          // lines of the terminal; nil until something is asked. Closed when it ends
}

// show asks. What is typed from then on is the answer.
func (p *prompt) show(asked call.Approval) {
	if p.open != nil && p.open.ID == asked.ID {
		return
	}
	if p.terminal == nil {
		if p.terminal, _ = openControlling(); p.terminal == nil {
			return // there is no person here: the panel asks
		}
	}
	p.open = &asked
	p.print()
	if p.typed == nil {
		p.typed = make(chan string)
		go func() { // until the process ends: a read of a terminal cannot be cancelled
			defer close(p.typed)
			for in := bufio.NewReader(p.terminal.in); ; {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				p.typed <- line
			}
		}()
	}
}

func (p *prompt) print() {
	p.terminal.printf("%s\n%s ", wrapToTerminal(p.terminal.out, policy.Text(*p.open)), p.text())
}

func (p *prompt) text() string {
	switch {
	case p.open.Shown.Secret > 0:
		return "Allow it? Type yes for this once, secrets to see all of it with its secret fields first; " +
			"anything else denies it:"
	case p.open.Shown.Hidden > 0:
		return "Allow it? Type yes for this once, all to see all of it first; anything else denies it:"
	case p.open.Choices[0] == "session":
		return "Allow it? Type yes for this session, once for this once; anything else denies it:"
	case slices.Contains(p.open.Choices, "session"):
		return "Allow it? Type yes for this once, session for this session; anything else denies it:"
	}
	return "Allow it? Type yes for this once; anything else denies it:"
}

// reply sends what was typed. Anything but a yes denies, and so does the end of input.
func (p *prompt) reply(ctx context.Context, line string, ok bool) {
	if !ok {
		p.typed = nil
	}
	if p.open == nil {
		return
	}
	verdict := httpapi.Verdict{Answer: "deny"}
	switch word := strings.ToLower(strings.TrimSpace(line)); word {
	case "all", "secrets":
		if secrets := p.open.Shown.Secret > 0; secrets || p.open.Shown.Hidden > 0 {
			if err := p.app.showArguments(ctx, p.open, secrets && word == "secrets"); err != nil {
				p.terminal.printf("%s\n%s ", err, p.text())
				return
			}
			p.print()
			return
		}
	case policy.Word:
		verdict = httpapi.Verdict{Answer: "allow"} // as it was asked
	case "once", "session":
		if slices.Contains(p.open.Choices, word) {
			verdict = httpapi.Verdict{Answer: "allow", For: word}
		}
	}
	typed := func(context.Context, *policy.Change) error { return nil } // they read it, and typed the word
	path := "/api/v1/approvals/" + url.PathEscape(p.open.ID)
	res, err := p.app.sendConfirmed(ctx, http.MethodPost, path, verdict, http.Header{}, typed)
	if err != nil {
		p.app.notef("%s\n", err) // the result of the call says the rest
	} else {
		_ = res.Body.Close() // not read
	}
	p.open = nil
}

// close ends a prompt that needs no answer any more.
func (p *prompt) close() {
	if p.open != nil {
		p.app.notef("\n")
	}
	p.open = nil
}

// progressText is a step of progress as a person reads it: 3 of 10: saving.
func progressText(s httpapi.ProgressStep) string {
	text := strconv.FormatFloat(s.Progress, 'g', 6, 64)
	if s.Total != nil {
		text += " of " + strconv.FormatFloat(*s.Total, 'g', 6, 64)
	}
	if s.Message != "" {
		text += ": " + s.Message
	}
	return text
}
