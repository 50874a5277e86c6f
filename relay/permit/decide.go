package permit

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"tabrelay/relay/call"
	"tabrelay/relay/event"
	"tabrelay/relay/fault"
)

// decided does what the answer says.
func (p *Permits) decided(q *question, d call.Decision) *fault.Error {
	if d.By == byTab {
		return p.unanswered(q, fault.New(fault.TabNotFound, fmt.Sprintf("Tab %d was closed while the person was asked; the call was not executed", q.TabID),
			append(at(&q.access), fault.WithOutcome(fault.NotExecuted))...))
	}
	if !d.Allow {
		p.tellDecision(q, "denied", d.By)
		return p.denied(q, d)
	}
	lasts, _ := lasting(d) // it was checked when the answer came
	said := "allowed once"
	switch {
	case d.By == byRule:
		said = "allowed, because a rule or an answer to another question says so"
	case d.For == "always":
		said = "allowed always"
	case lasts > 0:
		said = "allowed for " + d.For
		p.grants.add(&q.access, lasts)
	case d.For == "session":
		said = "allowed for the session"
		p.grants.add(&q.access, 0)
	}
	p.tellDecision(q, said, d.By)
	if said != "allowed once" && d.By != byRule {
		p.news(TopicPermissions)
		p.settleByRule()
	}
	return nil
}

func (p *Permits) denied(q *question, d call.Decision) *fault.Error {
	if d.By == byRule {
		if _, failure := p.Allow(q.access); failure != nil {
			return failure
		}
	}
	return fault.New(fault.ApprovalDenied, "The person did not allow "+q.Tool+place(q.Approval), append(at(&q.access),
		fault.WithHint("Do not ask for the same again; ask the person what they want instead. What was decided can be changed in tabrelay's side panel, or with `tabrelay permit`."))...)
}

// unanswered tells that a question ended without an answer.
func (p *Permits) unanswered(q *question, failure *fault.Error) *fault.Error {
	said := map[fault.Code]string{fault.ApprovalTimeout: "not answered in time", fault.ShuttingDown: "ended by the relay's end", fault.Cancelled: "ended with the call", fault.TabNotFound: "ended with the tab"}[failure.Code]
	p.tellDecision(q, said, byRelay)
	return failure
}

// tellDecision writes down how a question ended, and tells whoever listens.
func (p *Permits) tellDecision(q *question, said, by string) {
	e := call.Entry{
		Kind: call.EntryDecision, Session: q.access.Session, Tool: q.Tool, Plugin: q.Plugin, Arguments: q.access.Arguments,
		Decision: said, DecidedBy: by, CallID: q.CallID, Detail: strings.TrimSuffix(Sentence(q.Approval), "?"),
	}
	if at := q.access.At; at != nil {
		e.ProfileID, e.Profile, e.TabID, e.Origin = at.ProfileID, at.Profile, at.TabID, at.Origin
	}
	p.record(e)
	p.publish(event.Of(q.access.Session), q.Tool+" of "+q.Client+": "+said, map[string]any{"approval": q.ID, "state": "ended", "decision": said, "by": by, "correlationId": string(q.CallID), "tool": q.Tool})
}

// TabsGone ends the questions about tabs of a profile that were closed: no answer would do anything.
func (p *Permits) TabsGone(profileID string) {
	for _, q := range p.waiting() {
		if q.ProfileID == profileID {
			p.endWithTab(q)
		}
	}
}

func (p *Permits) endWithTab(q *question) {
	if gone := p.options.TabGone; gone != nil && q.TabID != 0 && gone(q.ProfileID, q.TabID) && p.take(q, "its tab was closed") {
		q.answer <- call.Decision{By: byTab}
	}
}

// waiting are the questions that are open now.
func (p *Permits) waiting() []*question {
	p.desk.mu.Lock()
	defer p.desk.mu.Unlock()
	return slices.Collect(maps.Values(p.desk.open))
}

// settleByRule settles the questions that the rules, or a grant, answer by now.
func (p *Permits) settleByRule() {
	for _, q := range p.waiting() {
		if q.access.Note != "" {
			continue // it needs an answer of its own
		}
		ask, failure := p.Allow(q.access)
		if failure != nil || !ask {
			p.settle(q, call.Decision{Allow: failure == nil, By: byRule})
		}
	}
}

// askClient asks through the client of the call. Whatever is no clear answer is none: the panel and the terminal ask
// on.
func (p *Permits) askClient(ctx context.Context, q *question, ask func(context.Context, call.Question) (call.Answer, error)) {
	shown := q.Approval
	if shown.Shown.Hidden > 0 {
		if lines, next := whole(q.access.Arguments, 0); next == 0 && textBytes(lines) <= mostForm {
			ShowAll(&shown, lines)
		} else {
			shown.Choices = []string{"once"}
		}
	}
	schema, meaning := form(shown.Choices)
	answer, err := ask(ctx, call.Question{Message: Text(shown), Schema: schema})
	if err != nil {
		return
	}
	switch answer.Action {
	case "decline":
		p.settle(q, call.Decision{By: byClient})
	case "accept":
		var said struct {
			Answer string `json:"answer"`
		}
		if json.Unmarshal(answer.Content, &said) != nil {
			return
		}
		if d, ok := meaning[said.Answer]; ok {
			p.settle(q, d)
		}
	}
}
