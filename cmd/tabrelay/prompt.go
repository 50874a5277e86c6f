package main

import (
	"bufio"
	"context"
	"net/http"
	"net/url"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/policy"
)

// panelKeys open the side panel, unless the person chose others (extension/manifest.json).
var panelKeys = map[bool]string{true: "Ctrl+Shift+O", false: "Alt+Shift+O"}[runtime.GOOS == "darwin"]

// sidePanel is where a person answers besides a terminal.
var sidePanel = "tabrelay's side panel (" + panelKeys + " opens it)"

// prompt asks the person at this terminal to approve their call. The approval may be answered elsewhere, or expire,
// before they have typed anything.
type prompt struct {
	app       *app
	elsewhere bool                 // nothing is asked here: nobody looks
	terminal  *controllingTerminal // nil until something is asked
	open      *call.Approval       // nil: none
	typed     chan line            // of the terminal; nil until something is asked. Closed when it ends
	asked     atomic.Int32         // questions so far
}

// line is what was typed, and how many questions had been asked by then.
type line struct {
	text  string
	asked int32
}

// show asks. What is typed from then on is the answer. Where nothing can be typed it says what the call waits for.
func (p *prompt) show(asked call.Approval) {
	if p.open != nil && p.open.ID == asked.ID {
		return
	}
	p.open = &asked
	if p.terminal == nil {
		if !p.elsewhere {
			p.terminal, _ = openControlling()
		}
		if p.terminal == nil {
			p.app.noteAsked(asked.Sentence, "tabrelay permit allow "+asked.ID)
			return
		}
	}
	if p.asked.Add(1) > 1 {
		discardTyped(p.terminal.in) // what was begun for an earlier question
	}
	p.print()
	if p.typed == nil {
		p.typed = make(chan line)
		go func() { // until the process ends: a read of a terminal cannot be cancelled
			defer close(p.typed)
			for in := bufio.NewReader(p.terminal.in); ; {
				text, err := in.ReadString('\n')
				if err != nil {
					return
				}
				p.typed <- line{text, p.asked.Load()}
			}
		}()
	}
}

// noteAsked says what a call waits for, where nobody can be asked: whoever runs it is an agent, or does not look.
func (a *app) noteAsked(sentence, command string) {
	a.notef("The person is asked: %s They answer in %s, or in a terminal of theirs with: %s\n", sentence, sidePanel,
		command)
}

func (p *prompt) print() {
	p.terminal.printf("%s\nYou can also answer in %s.\n%s ", wrapToTerminal(p.terminal.out, policy.Text(*p.open)),
		sidePanel, p.text())
}

func (p *prompt) text() string {
	switch {
	case p.open.Shown.Secret > 0:
		return "Allow it? Type yes to allow it once, or secrets to see all of it first, with its secret fields; " +
			"anything else denies it:"
	case p.open.Shown.Hidden > 0:
		return "Allow it? Type yes to allow it once, or all to see all of it first; anything else denies it:"
	case p.open.Choices[0] == "session":
		return "Allow it? Type yes to allow it for this session, or once; anything else denies it:"
	case slices.Contains(p.open.Choices, "session"):
		return "Allow it? Type yes to allow it once, or session to allow it for this session; anything else denies it:"
	}
	return "Allow it? Type yes to allow it once; anything else denies it:"
}

// reply sends what was typed. Anything but a yes denies, and so does the end of input; what was typed before the
// question was asked says nothing.
func (p *prompt) reply(ctx context.Context, typed line, ok bool) {
	if !ok {
		p.typed = nil
	}
	if p.open == nil || ok && typed.asked < p.asked.Load() {
		return
	}
	verdict := httpapi.Verdict{Answer: "deny"}
	switch word := strings.ToLower(strings.TrimSpace(typed.text)); word {
	case "all", "secrets":
		if secrets := p.open.Shown.Secret > 0; secrets || p.open.Shown.Hidden > 0 {
			if err := p.app.showArguments(ctx, p.open, secrets && word == "secrets"); err != nil {
				p.terminal.printf("%s\n%s ", err, p.text())
				return
			}
			p.print()
			return
		}
	case policy.ConfirmWord:
		verdict = httpapi.Verdict{Answer: "allow"} // as it was asked
	case "once", "session":
		if slices.Contains(p.open.Choices, word) {
			verdict = httpapi.Verdict{Answer: "allow", For: word}
		}
	}
	confirmed := func(context.Context, *policy.Change) error { return nil } // they read it, and typed the word
	path := "/api/v1/approvals/" + url.PathEscape(p.open.ID)
	res, err := p.app.sendConfirmed(ctx, http.MethodPost, path, verdict, http.Header{}, confirmed)
	if err != nil {
		p.app.notef("%s\n", err) // the result of the call says the rest
	} else {
		_ = res.Body.Close() // not read
	}
	p.open = nil
}

// endedElsewhere says how a question ended that was not answered here.
func (p *prompt) endedElsewhere(e policy.Ended) {
	if p.open == nil || p.open.ID != e.ID {
		return
	}
	if p.terminal != nil {
		p.terminal.printf("\n") // what was asked ends with a prompt
	}
	p.open = nil
	p.app.notef("The question is closed: %s.\n", e.How)
}
