package policy

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// question is the pending approval of a call.
type question struct {
	call.Approval
	access    call.Access
	grant     call.Binding   // that an answer for more than this call adds
	shownUpTo map[viewer]int // offset of the next part of the arguments, 0 after the last one; guarded by approvals.mu
}

// viewer is who reads all arguments of a call: a panel, by its profile, or a terminal, without one.
type viewer struct {
	profileID string
	secrets   bool
}

// Allowed is how the last progress message of a question begins that the person has allowed.
const Allowed = "Allowed "

// Ask asks the person whether a call may run, in all panels, at terminals and through the call's own client, and waits
// for the first answer that counts. client may be nil; tell is called with progress messages and may be nil, too. The
// binding is what they approved, for [call.Access.Approved].
func (p *Policy) Ask(
	ctx context.Context, a call.Access, client func(context.Context, call.Question) (call.Answer, error),
	tell func(string),
) (call.Binding, *fault.Error) {
	if m := p.redeemMissed(&a); m != nil {
		p.tellDecision(p.newQuestion(a), "allowed, because the person said so after an earlier question", m.by)
		return bind(&a), nil
	}
	one := &pending{call: p.newQuestion(a)}
	q := one.call
	admit := func(open map[string]*pending) *fault.Error { return p.admitCall(q, open) }
	if failure := p.add(one, admit); failure != nil {
		return call.Binding{}, failure
	}
	p.tell(&a.Session, q.Sentence, map[string]any{
		"approval": q.ID, "state": "asked", "correlationId": string(q.CallID), "tool": q.Tool, "profile": q.Profile,
		"origin": q.Origin,
	})
	p.changed(TopicApprovals)
	p.endWithTab(one)      // its tab may have been closed since the call chose it
	p.settleOneByRule(one) // rules may have changed since Allow asked for a question
	if tell == nil {
		tell = func(string) {}
	}
	step := func() {
		left := int(time.Until(one.until).Round(time.Second).Seconds())
		tell(fmt.Sprintf("Waiting for the person to allow %s%s (%d s left)", named(q.Approval), location(q.Approval),
			left))
	}
	step()
	var through sync.WaitGroup
	asking, done := context.WithCancelCause(ctx)
	if client != nil {
		through.Go(func() { p.askClient(asking, one, client) })
	}
	d, unanswered := p.wait(ctx, one, step)
	if unanswered == endsLate {
		p.keepMissed(one)
	}
	done(call.ErrAnswered)
	through.Wait() // until the question is withdrawn from the client
	failure := p.applyDecision(ctx, q, d, unanswered)
	if failure == nil && ctx.Err() != nil {
		failure = fault.CallEnded(ctx, "while the person was asked")
	}
	if failure != nil {
		return call.Binding{}, failure
	}
	tell(Allowed + decidedBy[d.By])
	return bind(&a), nil
}

// admitCall refuses a question when too many are open, or their arguments are too large.
func (p *Policy) admitCall(q *question, open map[string]*pending) *fault.Error {
	calls, mine, held := 0, 0, len(q.access.Arguments)
	for _, other := range open {
		if other.call == nil {
			continue
		}
		calls++
		held += len(other.call.access.Arguments)
		if other.call.Client == q.Client {
			mine++
		}
	}
	config := p.options.Config.Approvals
	overloaded := func(message, hint string) *fault.Error {
		return fault.New(fault.Overloaded, message, fault.WithOutcome(fault.NotExecuted),
			fault.WithRetryAfter(config.Timeout), fault.WithHint(hint))
	}
	most := cmp.Or(config.MaxBytes, maxBytes)
	switch {
	case calls >= maxCalls, mine >= maxCalls/4:
		return overloaded(fmt.Sprintf("%d questions wait for the person already, %d of them of this client", calls,
			mine),
			"Wait until the person has answered them.")
	case held > most && calls > 0:
		return overloaded(fmt.Sprintf("The arguments of the questions that wait for the person would have %d bytes; "+
			"at most %d are kept", held, most),
			"Wait until the person has answered them (`approvals.maxBytes` in config.json).")
	}
	return nil
}

func (p *Policy) newQuestion(a call.Access) *question {
	q := &question{access: a, shownUpTo: map[viewer]int{}, Approval: call.Approval{
		CallID: a.ID, Client: a.Session.Client, Called: Called(a.Session), Doubt: p.Doubt(a.Session),
		Machine: Machine(a.Session), Via: a.Session.Via, Session: a.Session.ID, Tool: a.Tool,
		Title: quotable(a.Title, maxAbout), Plugin: a.Plugin,
		PluginTitle: quotable(a.PluginTitle, maxAbout), Risk: Risk(&a), Shown: firstShown(a.Arguments),
		ArgumentsHash: bind(&a).ArgumentsHash, Changes: changes(&a), Note: a.Note,
		Reason: quotable(a.Reason, maxReason),
	}}
	t := p.rules.Load()
	v := t.resolve(&a, time.Now().UnixNano())
	if q.grant, q.Choices = bindSession(&a, v), choices(&a, v); t.lost {
		q.Choices = []string{"once"}
	}
	if v.fixed {
		q.Managed = "Your organization has set that this is asked about. " + t.managed.by.Ask()
	}
	if d := a.Session.Bounds; d != nil {
		q.Agent = quotable(d.Agent, maxName)
	}
	if q.Shown.Hidden == 0 {
		q.Arguments = withoutSecrets(a.Arguments)
	}
	if about := clip.Runes(fault.Sanitize(a.Description), maxAbout); about != "" && !a.BuiltIn {
		said := " Its author says: "
		if a.OfPage {
			said = " Nobody has reviewed it. "
		}
		q.Changes += said + about
	}
	if at := a.At; at != nil {
		q.ProfileID, q.Profile, q.TabID, q.Origin = at.ProfileID, at.Profile, at.TabID, at.Origin
		q.Within = at.Within
		q.URL, q.TabTitle = address(at.URL), quotable(at.Title, maxTitle)
	}
	if slices.Contains(q.Choices, "session") {
		q.Covers = covers(&a, q.grant)
	}
	q.Deeds, q.Lead = a.Deeds.Sentences, lead(&a, q.Approval)
	q.Effects, q.Elsewhere = a.Deeds.Effects, sendsTo(a.Deeds.Elsewhere)
	q.Sentence, q.Brief = sentence(&a, q.Approval, q.grant), inBrief(&a, q.Approval)
	return q
}

// choices lists for how long a call can be allowed; the first is the one that the question suggests. What can delete or
// overwrite is asked about each time. There is no "always" for an agent that acts for a client: the rule would be one
// for that client.
func choices(a *call.Access, v verdict) (list []string) {
	switch {
	case a.Once, Risk(a) == "destroys", a.OfPage && !a.ReadOnly:
		return []string{"once"}
	case a.ReadOnly, ofDemo(a) && v.from == "": // without a rule, the demo is asked about once for the session
		list = []string{"session", "once"}
	default:
		list = []string{"once", "session"}
	}
	if a.Session.Bounds == nil && !a.OfPage && !v.fixed && (a.At == nil || isOrigin(a.At.Origin)) {
		list = append(list, "always")
	}
	return list
}

// checkedDecision validates and completes an answer to a question, by where it was given.
func (p *Policy) checkedDecision(q *question, profileID string, d call.Decision) (call.Decision, error) {
	if !d.Allow {
		return d, nil
	}
	if q.Missed {
		if d.For == "next" || d.For == "" && d.By == ByTerminal {
			return d, nil
		}
		return d, fmt.Errorf("%w: %s", ErrEnded, endsLate)
	}
	shown := p.shownAt(q, profileID)
	if d.For == "" {
		if d.For = q.Choices[0]; !shown {
			d.For = "once"
		}
	}
	if _, err := grantDuration(d); err != nil {
		return d, err
	}
	switch {
	case d.For == "once":
	case Risk(&q.access) == "destroys" && !q.access.Once:
		return d, fmt.Errorf("%w: what can delete or overwrite is allowed once; a rule of yours can say otherwise",
			ErrAnswer)
	case len(q.Choices) == 1:
		return d, fmt.Errorf("%w: it can be allowed once only", ErrAnswer)
	case d.For == "always" && q.access.OfPage:
		return d, fmt.Errorf("%w: a tool of a page can be allowed always by a rule only", ErrAnswer)
	case d.For == "always" && q.Origin != "" && !isOrigin(q.Origin):
		return d, fmt.Errorf("%w: there is no rule about what has no address of its own", ErrAnswer)
	case d.For == "always" && q.Managed != "":
		return d, fmt.Errorf("%w: %s", ErrAnswer, q.Managed)
	case d.For == "always" && q.Agent != "":
		return d, fmt.Errorf("%w: a call of an agent that acts for a client is allowed for once, session, or a time",
			ErrAnswer)
	case !shown:
		return d, ErrUnseen
	}
	return d, nil
}

// grantDuration is how long the grant of an answer lasts; 0: as long as it is used.
func grantDuration(d call.Decision) (time.Duration, error) {
	if !d.Allow || d.For == "" || d.For == "once" || d.For == "session" || d.For == "always" {
		return 0, nil
	}
	lasts, err := time.ParseDuration(d.For)
	if err != nil || lasts < time.Second || lasts > 24*time.Hour {
		return 0, fmt.Errorf("%w: a call is allowed for once, session, always, or a time of up to 24h such as 1h",
			ErrAnswer)
	}
	return lasts, nil
}

// applyDecision carries out the answer, records it, and publishes an event. Its fault is that of a call that may not
// run.
func (p *Policy) applyDecision(ctx context.Context, q *question, d call.Decision, unanswered string) *fault.Error {
	said, by, failure := "", d.By, (*fault.Error)(nil)
	lasts, _ := grantDuration(d) // it was checked when the answer came
	fails := func(code fault.Code, message string, more ...fault.Option) {
		failure = fault.New(code, message, append(append(at(&q.access), fault.WithOutcome(fault.NotExecuted)),
			more...)...)
	}
	switch {
	case unanswered == endsLate:
		said = "not answered in time"
		fails(fault.ApprovalTimeout, fmt.Sprintf("The person was asked whether %s may run and did not answer within %s",
			q.Tool, p.options.Config.Approvals.Timeout), fault.WithHint(p.repeatLater()))
	case unanswered == endsClosed:
		said, failure = "ended by the relay's end", shuttingDown()
	case unanswered != "":
		said, failure = "ended with the call", fault.CallEnded(ctx, "while the person was asked")
	case d.By == byTab:
		said = "ended with the tab"
		fails(fault.TabNotFound,
			fmt.Sprintf("Tab %d was closed while the person was asked; the call was not executed", q.TabID))
	case !d.Allow:
		said = "denied"
		if d.By == byRule || d.By == byPause {
			_, failure = p.Allow(q.access)
		}
		if failure == nil {
			fails(fault.ApprovalDenied, "The person did not allow "+q.Tool+location(q.Approval), fault.WithHint(
				"Do not ask for the same again; ask the person what they want instead. What was decided can be "+
					"changed in "+
					"tabrelay's side panel, or with `tabrelay permit`."))
		}
	case d.By == byRule:
		said = "allowed, because a rule or an answer to another question says so"
	case d.For == "always":
		said = "allowed always"
	case d.For == "session", lasts > 0:
		said = "allowed for " + map[bool]string{true: "the session", false: d.For}[lasts == 0]
		p.grants.add(&q.access, q.grant, lasts)
		p.changed(TopicPermissions)
		p.settleByRule()
	default:
		said = "allowed once"
	}
	if unanswered != "" || d.By == byTab {
		by = ByRelay
	}
	p.tellDecision(q, said, by)
	return failure
}

// repeatLater tells an agent what to do when nobody answered.
func (p *Policy) repeatLater() string {
	text := "Tell the person that tabrelay asks in its side panel, and in a terminal with `tabrelay permit pending`. "
	if lasts := p.options.Config.Approvals.Missed; lasts > 0 {
		still := strings.NewReplacer("m0s", "m", "h0m0s", "h").Replace(lasts.String())
		text += "They can still allow it within " + still + ". "
	}
	return text + "Go on with something else, and repeat exactly this call later."
}

// tellDecision records how a question ended, and publishes an event.
func (p *Policy) tellDecision(q *question, said, by string) {
	e := call.Entry{
		Kind: call.EntryDecision, Session: q.access.Session, Tool: q.Tool, Plugin: q.Plugin,
		Arguments: q.access.Arguments,
		Decision:  said, DecidedBy: by, CallID: q.CallID, Detail: strings.TrimSuffix(q.Sentence, "?"),
	}
	if q.access.Recorded != nil {
		e.Arguments = q.access.Recorded
	}
	if at := q.access.At; at != nil {
		e.ProfileID, e.Profile, e.TabID, e.Origin = at.ProfileID, at.Profile, at.TabID, at.Origin
	}
	p.record(e)
	p.tell(&q.access.Session, q.Tool+" of "+asker(q.Approval)+": "+said, map[string]any{
		"approval": q.ID, "state": "ended", "decision": said, "by": by, "correlationId": string(q.CallID),
		"tool": q.Tool,
	})
}

// askClient asks through the client of the call. Anything but a clear answer is ignored, and the question stays open. A
// client that does not show all arguments can allow the call only once.
func (p *Policy) askClient(
	ctx context.Context, one *pending, ask func(context.Context, call.Question) (call.Answer, error),
) {
	shown := one.call.Approval
	if shown.Shown.Hidden > 0 {
		if lines, next := allLines(one.call.access.Arguments, 0, false); next == 0 && textBytes(lines) <= maxForm {
			ShowAll(&shown, lines, false)
		}
	}
	if shown.Shown.Hidden > 0 || shown.Shown.Secret > 0 {
		shown.Choices = []string{"once"}
	}
	schema, meaning := form(shown)
	answer, err := ask(ctx, call.Question{Message: Text(shown), Schema: schema})
	if err != nil {
		return
	}
	switch answer.Action {
	case "decline":
		p.answerIfOpen(one, call.Decision{By: ByClient})
	case "accept":
		var said struct {
			Answer string `json:"answer"`
		}
		if json.Unmarshal(answer.Content, &said) != nil {
			return
		}
		if d, ok := meaning[said.Answer]; ok {
			p.answerIfOpen(one, d)
		}
	}
}

// ShowArguments returns a part of the arguments of an open question, from an offset on, with or without the values of
// secret fields. A viewer that has got all parts in order counts as having seen all arguments.
func (p *Policy) ShowArguments(id, profileID string, from int, secrets bool) (call.Part, error) {
	one, err := p.findOpen(id, profileID)
	if err != nil {
		return call.Part{}, err
	}
	if one.call == nil || from < 0 || from%partBytes != 0 {
		return call.Part{}, ErrPart
	}
	lines, next := allLines(one.call.access.Arguments, from, secrets)
	if len(lines) == 0 && from > 0 {
		return call.Part{}, ErrPart
	}
	if p.noteShown(one.call, viewer{profileID, secrets}, from, next) {
		p.changed(TopicApprovals)
	}
	return call.Part{Lines: lines, Next: next}, nil
}

// noteShown notes that a viewer was shown a part, and reports whether it has seen all arguments by that.
func (p *Policy) noteShown(q *question, by viewer, from, next int) (all bool) {
	p.approvals.mu.Lock()
	defer p.approvals.mu.Unlock()
	expected, begun := q.shownUpTo[by]
	if begun && expected == 0 || expected != from {
		return false
	}
	q.shownUpTo[by] = next
	return next == 0
}

// shownAt reports whether the person at a profile, or at a terminal, was shown all arguments of a call. Otherwise they
// can allow it only once there.
func (p *Policy) shownAt(q *question, profileID string) bool {
	p.approvals.mu.Lock()
	defer p.approvals.mu.Unlock()
	all := func(secrets bool) bool {
		next, begun := q.shownUpTo[viewer{profileID, secrets}]
		return begun && next == 0
	}
	return all(true) || q.Shown.Secret == 0 && (q.Shown.Hidden == 0 || all(false))
}
