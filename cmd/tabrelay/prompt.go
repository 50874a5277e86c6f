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

// prompt asks the person at this terminal to approve their call; of several questions one after the other. An approval
// may be answered elsewhere, or expire, before they have typed anything.
type prompt struct {
	app       *app
	answer    func(ctx context.Context, id string, verdict httpapi.Verdict) error
	elsewhere bool                 // nothing is asked here: nobody looks
	terminal  *controllingTerminal // nil until something is asked
	open      []call.Approval      // the first is at the terminal, the others wait for it
	typed     chan line            // of the terminal; nil until something is asked. Closed when it ends
	asked     atomic.Int32         // questions so far
}

// line is what was typed, and how many questions had been asked by then.
type line struct {
	text  string
	asked int32
}

// show asks, once what was asked before has its answer. Where nothing can be typed it says at once what the call waits
// for.
func (p *prompt) show(asked call.Approval) {
	if p.position(asked.ID) >= 0 {
		return
	}
	p.open = append(p.open, asked)
	if p.terminal == nil && !p.elsewhere {
		p.terminal, _ = openControlling()
	}
	if p.terminal == nil {
		p.app.noteAsked(asked.Sentence, "tabrelay permit allow "+asked.ID)
		return
	}
	if len(p.open) == 1 {
		p.ask()
	}
}

// position is that of a question among those that are open; -1 when it is not one of them.
func (p *prompt) position(id string) int {
	return slices.IndexFunc(p.open, func(one call.Approval) bool { return one.ID == id })
}

// ask puts the first of the open questions to the terminal. What is typed from then on is the answer.
func (p *prompt) ask() {
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

// close takes an open question away, and asks the next one if it was at the terminal.
func (p *prompt) close(position int) {
	p.open = slices.Delete(p.open, position, position+1)
	if position == 0 && len(p.open) > 0 && p.terminal != nil {
		p.ask()
	}
}

// noteAsked says what a call waits for, where nobody can be asked: whoever runs it is an agent, or does not look.
func (a *app) noteAsked(sentence, command string) {
	a.notef("The person is asked: %s They answer in %s, or in a terminal of theirs with: %s\n", sentence, sidePanel,
		command)
}

func (p *prompt) print() {
	p.terminal.printf("%s\nYou can also answer in %s.\n%s ", wrapToTerminal(p.terminal.out, policy.Text(p.open[0])),
		sidePanel, p.text())
}

func (p *prompt) text() string {
	open := p.open[0]
	switch {
	case open.Shown.Secret > 0:
		return "Allow it? Type yes to allow it once, or secrets to see all of it first, with its secret fields; " +
			"anything else denies it:"
	case open.Shown.Hidden > 0:
		return "Allow it? Type yes to allow it once, or all to see all of it first; anything else denies it:"
	case open.Choices[0] == "session":
		return "Allow it? Type yes to allow it for this session, or once; anything else denies it:"
	case slices.Contains(open.Choices, "session"):
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
	if len(p.open) == 0 || ok && typed.asked < p.asked.Load() {
		return
	}
	open := p.open[0]
	verdict := httpapi.Verdict{Answer: "deny"}
	switch word := strings.ToLower(strings.TrimSpace(typed.text)); word {
	case "all", "secrets":
		if secrets := open.Shown.Secret > 0; secrets || open.Shown.Hidden > 0 {
			if err := p.app.showArguments(ctx, &p.open[0], secrets && word == "secrets"); err != nil {
				p.terminal.printf("%s\n%s ", err, p.text())
				return
			}
			p.print()
			return
		}
	case policy.ConfirmWord:
		verdict = httpapi.Verdict{Answer: "allow"} // as it was asked
	case "once", "session":
		if slices.Contains(open.Choices, word) {
			verdict = httpapi.Verdict{Answer: "allow", For: word}
		}
	}
	if err := p.answer(ctx, open.ID, verdict); err != nil {
		p.app.notef("%s\n", err) // the result of the call says the rest
	}
	p.close(0)
}

// sendTyped sends the relay what the person typed to a question.
func (a *app) sendTyped(ctx context.Context, id string, verdict httpapi.Verdict) error {
	confirmed := func(context.Context, *policy.Change) error { return nil } // they read it, and typed the word
	path := "/api/v1/approvals/" + url.PathEscape(id)
	res, err := a.sendConfirmed(ctx, http.MethodPost, path, verdict, http.Header{}, confirmed)
	if err != nil {
		return err
	}
	return res.Body.Close() // not read
}

// endedElsewhere says how a question ended that was not answered here.
func (p *prompt) endedElsewhere(e policy.Ended) {
	position := p.position(e.ID)
	if position < 0 {
		return
	}
	if p.terminal == nil || position == 0 { // the others were not seen yet
		if p.terminal != nil {
			p.terminal.printf("\n") // what was asked ends with a prompt
		}
		p.app.notef("The question is closed: %s.\n", e.How)
	}
	p.close(position)
}
