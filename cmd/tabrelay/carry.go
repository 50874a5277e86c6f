package main

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tabrelay/relay"
	"tabrelay/relay/call"
	"tabrelay/relay/policy"
)

// carryOut asks the relay for a call. On a terminal the person sees its progress, and is asked whether it may run when
// the rules say so.
func (a *app) carryOut(ctx context.Context, path string, body any) (answer relay.Answer, err error) {
	if !a.watched() {
		err = a.post(ctx, path, body, &answer)
		return answer, err
	}
	res, err := a.send(ctx, "POST", path, body, "application/x-ndjson")
	if err != nil {
		return answer, err
	}
	defer res.Body.Close() // only read from
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	lines := a.answerLines(ctx, res.Body)
	asked := question{app: a}
	for {
		select {
		case typed, ok := <-asked.typed:
			asked.answer(ctx, typed, ok)
		case line := <-lines:
			switch {
			case line.err != nil:
				return answer, line.err
			case line.Answer != nil:
				asked.settled()
				return *line.Answer, nil
			case line.Question != nil:
				asked.put(*line.Question)
			case line.Progress != nil && asked.open == nil:
				a.notef("%s\n", stepText(*line.Progress))
			}
		}
	}
}

// answerLine is a line of a streamed answer, or why there is none.
type answerLine struct {
	relay.Line
	err error
}

// answerLines reads a streamed answer to its end, or until ctx ends.
func (a *app) answerLines(ctx context.Context, body io.Reader) <-chan answerLine {
	lines := make(chan answerLine)
	go func() {
		for d := json.NewDecoder(body); ; {
			var line answerLine
			switch err := d.Decode(&line.Line); {
			case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
				line.err = failed("the relay's answer ended early").hinting("tabrelay logs shows why")
			case err != nil && ctx.Err() == nil:
				line.err = failed("the relay's answer cannot be read: %w", err).hinting("the relay may be of another version; run: tabrelay down, then tabrelay up")
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

// question is what the person at this terminal is asked while their call waits. It may be answered elsewhere, or end,
// before they have typed anything.
type question struct {
	app      *app
	terminal *controlling   // nil until something is asked
	open     *call.Approval // nil: none
	typed    chan string    // lines of the terminal; nil until something is asked. Closed when it ends
}

// put asks. What is typed from then on is the answer.
func (q *question) put(asked call.Approval) {
	if q.open != nil && q.open.ID == asked.ID {
		return
	}
	if q.terminal == nil {
		if q.terminal, _ = openControlling(); q.terminal == nil {
			return // nobody is here: the panel asks
		}
	}
	q.open = &asked
	q.terminal.printf("%s\n%s ", fit(q.terminal.out, policy.Text(asked)), q.prompt())
	if q.typed == nil {
		q.typed = make(chan string)
		go func() { // until the process ends: a read of a terminal cannot be called back
			defer close(q.typed)
			for in := bufio.NewReader(q.terminal.in); ; {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				q.typed <- line
			}
		}()
	}
}

func (q *question) prompt() string {
	switch {
	case q.open.Shown.Secret > 0:
		return "Allow it? Type yes for this once, secrets to see all of it with its secret fields first; anything else denies it:"
	case q.open.Shown.Hidden > 0:
		return "Allow it? Type yes for this once, all to see all of it first; anything else denies it:"
	case slices.Contains(q.open.Choices, "session"):
		return "Allow it? Type yes for this once, session for this session; anything else denies it:"
	}
	return "Allow it? Type yes to allow it; anything else denies it:"
}

// answer sends what was typed; anything but a yes is a no, and so is the end of what can be typed.
func (q *question) answer(ctx context.Context, line string, ok bool) {
	if !ok {
		q.typed = nil
	}
	if q.open == nil {
		return
	}
	verdict := relay.Verdict{Answer: "deny"}
	switch word := strings.ToLower(strings.TrimSpace(line)); word {
	case "all", "secrets":
		if secrets := q.open.Shown.Secret > 0; secrets || q.open.Shown.Hidden > 0 {
			q.showAll(ctx, secrets && word == "secrets")
			return
		}
	case policy.Word:
		verdict = relay.Verdict{Answer: "allow", For: "once"}
	case "session":
		if slices.Contains(q.open.Choices, "session") {
			verdict = relay.Verdict{Answer: "allow", For: "session"}
		}
	}
	typed := func(context.Context, *policy.Change) error { return nil } // they read it, and typed the word
	res, err := q.app.sendWith(ctx, http.MethodPost, "/api/v1/approvals/"+url.PathEscape(q.open.ID), verdict, http.Header{}, typed)
	if err != nil {
		q.app.notef("%s\n", err) // the call says what became of it
	} else {
		_ = res.Body.Close() // what is left to answer does not matter here
	}
	q.open = nil
}

// showAll shows all of what the question hides, with the values of secret fields or without, and asks again.
func (q *question) showAll(ctx context.Context, secrets bool) {
	if err := q.app.openArguments(ctx, q.open, secrets); err != nil {
		q.terminal.printf("%s\n%s ", err, q.prompt())
		return
	}
	q.terminal.printf("%s\n%s ", fit(q.terminal.out, policy.Text(*q.open)), q.prompt())
}

// settled ends a prompt whose question needs no answer any more.
func (q *question) settled() {
	if q.open != nil {
		q.app.notef("\n")
	}
	q.open = nil
}

// stepText is a step of progress as a person reads it: 3 of 10: saving.
func stepText(s relay.Step) string {
	var b bytes.Buffer
	b.WriteString(strconv.FormatFloat(s.Progress, 'g', 6, 64))
	if s.Total != nil {
		b.WriteString(" of " + strconv.FormatFloat(*s.Total, 'g', 6, 64))
	}
	if s.Message != "" {
		b.WriteString(": " + s.Message)
	}
	return b.String()
}
