package permit

import (
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/event"
	"tabrelay/relay/fault"
)

const (
	// ticks is how often an agent hears that the person is still being asked.
	ticks = 5 * time.Second
	// remembered is of how many questions it is known how they ended.
	remembered = 200
	// mostOpen bounds the questions that wait at once; one client may have a quarter of them.
	mostOpen = 200
	// mostBytes bounds the arguments of the questions that wait at once; a single call may have more.
	mostBytes = 64 << 20
)

// Who decides.
const (
	byClient = "client"
	byRule   = "rule"
	byRelay  = "relay"

	byTab = "tab" // the tab was closed: nobody decides
)

// desk is where questions wait for an answer.
type desk struct {
	mu     sync.Mutex
	open   map[string]*question
	ended  []ended // the oldest first
	asked  map[string]bool
	shut   bool
	closed chan struct{}
}

// ended is how a question ended, for those who answer late.
type ended struct{ id, how string }

// question is one call that waits. It is bound to that call: its session, tool, arguments, tab and document.
type question struct {
	call.Approval
	access  call.Access
	session bool               // whoever allows it allows it for the session
	answer  chan call.Decision // gets the one that counts
	opened  map[string]opening // how far it was opened, by the profile of the panel, empty at a terminal; the desk's
}

// opening is how far somebody opened arguments of which a question hides some.
type opening struct {
	next int  // where they go on
	all  bool // there is nothing that they were not shown
}

// LongestRule is for how long a rule can be made at the most that ends by itself.
const LongestRule = 365 * 24 * time.Hour

// Errors of [Permits.Answer].
var (
	ErrNoQuestion = errors.New("there is no such question")
	ErrEnded      = errors.New("the question is not open any more")
	ErrNotYours   = errors.New("the question is for another browser profile")
	ErrAnswer     = errors.New("that makes no sense")
	ErrUnseen     = errors.New("a part of the arguments was not shown, so the call can only be allowed once")
	ErrPart       = errors.New("no part of the arguments begins there")
)

// Ask asks the person whether a call may run, wherever they can be asked, and waits for the first answer that counts.
// client asks through the call's own client, nil when that cannot; tell is told what goes on meanwhile, and may be nil.
func (p *Permits) Ask(ctx context.Context, a call.Access, client func(context.Context, call.Question) (call.Answer, error), tell func(string)) *fault.Error {
	q, failure := p.put(a)
	if failure != nil {
		return failure
	}
	if tell == nil {
		tell = func(string) {}
	}
	p.endWithTab(q) // which may have been closed since the call chose it
	waiting := "Waiting for the person to allow " + named(q.Approval) + place(q.Approval)
	tell(waiting + left(q.Until))
	var through sync.WaitGroup
	asking, done := context.WithCancelCause(ctx)
	if client != nil {
		through.Go(func() { p.askClient(asking, q, client) })
	}
	failure = p.wait(ctx, q, func() { tell(waiting + left(q.Until)) })
	done(call.ErrAnswered)
	through.Wait() // the client is told that nobody waits for its answer any more
	if failure == nil && ctx.Err() != nil {
		return unsent(ctx)
	}
	return failure
}

func left(until time.Time) string {
	return fmt.Sprintf(" (%d s left)", int(time.Until(until).Round(time.Second).Seconds()))
}

// put lays a question on the desk.
func (p *Permits) put(a call.Access) (*question, *fault.Error) {
	q := p.newQuestion(a)
	d := &p.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	mine, held := 0, len(a.Arguments)
	for _, other := range d.open {
		held += len(other.access.Arguments)
		if other.Client == q.Client {
			mine++
		}
	}
	switch {
	case d.shut:
		return nil, shuttingDown()
	case len(d.open) >= mostOpen, mine >= mostOpen/4:
		return nil, fault.New(fault.Overloaded, fmt.Sprintf("%d questions wait for the person already, %d of them of this client", len(d.open), mine),
			fault.WithOutcome(fault.NotExecuted), fault.WithRetryAfter(p.options.Timeout), fault.WithHint("Wait until the person has answered them."))
	}
	if most := cmp.Or(p.options.MaxBytes, mostBytes); held > most && len(d.open) > 0 {
		return nil, fault.New(fault.Overloaded, fmt.Sprintf("The arguments of the questions that wait for the person would have %d bytes; at most %d are kept", held, most),
			fault.WithOutcome(fault.NotExecuted), fault.WithRetryAfter(p.options.Timeout), fault.WithHint("Wait until the person has answered them (`approvals.maxBytes` in config.json)."))
	}
	for d.open[q.ID] != nil {
		q.ID = newID()
	}
	if d.asked == nil {
		d.asked = map[string]bool{}
	}
	q.First = !d.asked[q.Client]
	if len(d.asked) < remembered {
		d.asked[q.Client] = true
	}
	d.open[q.ID] = q
	p.publish(event.Of(q.access.Session), Sentence(q.Approval), map[string]any{"approval": q.ID, "state": "asked", "correlationId": string(q.CallID), "tool": q.Tool, "profile": q.Profile, "origin": q.Origin})
	p.news(TopicApprovals)
	return q, nil
}

func (p *Permits) newQuestion(a call.Access) *question {
	now := time.Now().UTC()
	sum := sha256.Sum256(a.Arguments)
	q := &question{access: a, answer: make(chan call.Decision, 1), opened: map[string]opening{}, Approval: call.Approval{
		ID: newID(), CallID: a.ID, Asked: now, Until: now.Add(p.options.Timeout),
		Client: a.Session.Client, Called: claimed(a.Session.Called, mostName), Via: a.Session.Via, Session: a.Session.ID,
		Tool: a.Tool, Title: claimed(a.Title, mostAbout), Plugin: a.Plugin, PluginTitle: claimed(a.PluginTitle, mostAbout), Risk: Risk(&a),
		Shown: brief(a.Arguments), ArgumentsHash: hex.EncodeToString(sum[:]),
		Changes: changes(&a), Note: a.Note, Choices: []string{"once", "session", "always"},
	}}
	if q.Shown.Hidden == 0 {
		q.Arguments = withoutSecrets(a.Arguments)
	}
	if about := shorten(fault.Sanitize(a.Description), mostAbout); about != "" && !a.BuiltIn {
		q.Changes += " Its author says: " + about
	}
	if at := a.At; at != nil {
		q.ProfileID, q.Profile, q.TabID, q.Origin = at.ProfileID, at.Profile, at.TabID, at.Origin
		q.URL, q.TabTitle = address(at.URL), claimed(at.Title, mostTitle)
	}
	t := p.table.Load()
	if v := t.resolve(&a, t.now()); v.level == unsaid && v.mode == call.Ask {
		q.session, q.Choices = true, []string{"session", "always"}
	}
	return q
}

// wait waits for the answer.
func (p *Permits) wait(ctx context.Context, q *question, tick func()) *fault.Error {
	late := time.NewTimer(time.Until(q.Until))
	defer late.Stop()
	ticker := time.NewTicker(ticks)
	defer ticker.Stop()
	for {
		select {
		case d := <-q.answer:
			return p.decided(q, d)
		case <-ticker.C:
			tick()
		case <-late.C:
			if p.take(q, "nobody answered in time") {
				return p.unanswered(q, fault.New(fault.ApprovalTimeout, fmt.Sprintf("The person was asked whether %s may run and did not answer within %s", q.Tool, p.options.Timeout), append(at(&q.access),
					fault.WithHint("Tell the person that tabrelay asks in its side panel, and in a terminal with `tabrelay permit pending`. Then repeat the call."))...))
			}
			return p.decided(q, <-q.answer)
		case <-ctx.Done():
			if p.take(q, "the call was cancelled") {
				return p.unanswered(q, unsent(ctx))
			}
			<-q.answer
			return unsent(ctx)
		case <-p.desk.closed:
			if p.take(q, "the relay stopped") {
				return p.unanswered(q, shuttingDown())
			}
			return p.decided(q, <-q.answer)
		}
	}
}

func shuttingDown() *fault.Error {
	return fault.New(fault.ShuttingDown, "The relay stopped while the person was asked; the call was not executed", fault.WithOutcome(fault.NotExecuted))
}

// unsent is the failure of a call that ended while the person was asked.
func unsent(ctx context.Context) *fault.Error {
	return fault.New(fault.Cancelled, "The call ended while the person was asked", fault.WithOutcome(fault.NotExecuted), fault.WithCause(context.Cause(ctx)))
}

// take removes a question from the desk and reports whether it was still there. Whoever takes it decides.
func (p *Permits) take(q *question, how string) bool {
	d := &p.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	return p.takeLocked(q, how)
}

func (p *Permits) takeLocked(q *question, how string) bool {
	d := &p.desk
	if d.open[q.ID] != q {
		return false
	}
	delete(d.open, q.ID)
	if len(d.ended) == remembered {
		d.ended = slices.Delete(d.ended, 0, 1)
	}
	d.ended = append(d.ended, ended{q.ID, how})
	p.news(TopicApprovals)
	return true
}

// settle gives a question its answer, if it waits for one.
func (p *Permits) settle(q *question, d call.Decision) bool {
	if !p.claim(q, d) {
		return false
	}
	q.answer <- d
	return true
}

// claim makes an answer the one that counts, if the question waits for one. Whoever claims it gives it.
func (p *Permits) claim(q *question, d call.Decision) bool {
	how := "it was denied (" + d.By + ")"
	if d.Allow {
		how = "it was allowed (" + d.By + ")"
	}
	return time.Now().Before(q.Until) && p.take(q, how)
}

// Pending lists the questions that wait for the person at a profile, the oldest first. Those that concern no tab are
// for every profile, and an empty profileID is for the person at the terminal, who sees all.
func (p *Permits) Pending(profileID string) []call.Approval {
	d := &p.desk
	d.mu.Lock()
	defer d.mu.Unlock()
	list := []call.Approval{}
	for _, q := range d.open {
		if mayAnswer(q, profileID) {
			one := q.Approval
			one.Choices = q.choices(profileID)
			list = append(list, one)
		}
	}
	slices.SortFunc(list, func(a, b call.Approval) int { return cmp.Or(a.Asked.Compare(b.Asked), cmp.Compare(a.ID, b.ID)) })
	return list
}

// mayAnswer reports whether a question is for the person at a profile.
func mayAnswer(q *question, profileID string) bool {
	return profileID == "" || q.ProfileID == "" || q.ProfileID == profileID
}

// Answer is what a person says about a question, at a profile or, with none, at a terminal. The first answer counts;
// any other one does nothing, and its error says why.
func (p *Permits) Answer(ctx context.Context, id, profileID string, d call.Decision) error {
	q, err := p.find(id, profileID)
	if err != nil {
		return err
	}
	if _, err := lasting(d); err != nil {
		return err
	}
	switch once := d.For == "" || d.For == "once"; {
	case !d.Allow:
	case once && q.session && p.shownTo(q, profileID):
		d.For = "session"
	case !once && !p.shownTo(q, profileID):
		return ErrUnseen
	}
	if !p.claim(q, d) {
		return p.late(id)
	}
	defer func() { q.answer <- d }()
	if !d.Allow || d.For != "always" {
		return nil
	}
	// Before the call goes on: the next one of its agent is not to be asked about again.
	return p.Set(ctx, call.Rule{Target: q.Tool, Client: q.Client, Mode: call.Auto, By: d.By}, 0)
}

// choices are for how long a call can be allowed at a profile: what was not shown there in full is allowed only once.
func (q *question) choices(profileID string) []string {
	if q.Shown.Hidden > 0 && !q.opened[profileID].all {
		return []string{"once"}
	}
	return q.Choices
}

// shownTo reports whether the person at a profile, or at a terminal, could see all arguments of a call.
func (p *Permits) shownTo(q *question, profileID string) bool {
	p.desk.mu.Lock()
	defer p.desk.mu.Unlock()
	return q.Shown.Hidden == 0 || q.opened[profileID].all
}

// Open shows a part of the arguments a question is about, from an offset on. Whoever has got them from the beginning to
// the end was shown all of them.
func (p *Permits) Open(id, profileID string, from int) (call.Part, error) {
	q, err := p.find(id, profileID)
	if err != nil {
		return call.Part{}, err
	}
	if from < 0 || from%partBytes != 0 {
		return call.Part{}, ErrPart
	}
	lines, next := whole(q.access.Arguments, from)
	if len(lines) == 0 && from > 0 {
		return call.Part{}, ErrPart
	}
	p.desk.mu.Lock()
	defer p.desk.mu.Unlock()
	if o := q.opened[profileID]; !o.all && o.next == from {
		q.opened[profileID] = opening{next, next == 0}
		if next == 0 {
			p.news(TopicApprovals)
		}
	}
	return call.Part{Lines: lines, Next: next}, nil
}

func (p *Permits) find(id, profileID string) (*question, error) {
	p.desk.mu.Lock()
	q := p.desk.open[id]
	p.desk.mu.Unlock()
	switch {
	case q == nil:
		return nil, p.late(id)
	case !mayAnswer(q, profileID):
		return nil, ErrNotYours
	}
	return q, nil
}

// late is the error of an answer to a question that is not open.
func (p *Permits) late(id string) error {
	p.desk.mu.Lock()
	defer p.desk.mu.Unlock()
	for _, e := range p.desk.ended {
		if e.id == id {
			return fmt.Errorf("%w: %s", ErrEnded, e.how)
		}
	}
	if p.desk.open[id] != nil { // its time is over, and it is about to be told
		return fmt.Errorf("%w: nobody answered in time", ErrEnded)
	}
	return fmt.Errorf("%w: %q", ErrNoQuestion, fault.Sanitize(shorten(id, mostTitle)))
}

// lasting is how long what was allowed holds, 0 as long as it is used; it is an error if the answer makes no sense.
func lasting(d call.Decision) (time.Duration, error) {
	if !d.Allow || d.For == "" || d.For == "once" || d.For == "session" || d.For == "always" {
		return 0, nil
	}
	lasts, err := time.ParseDuration(d.For)
	if err != nil || lasts < time.Second || lasts > 24*time.Hour {
		return 0, fmt.Errorf("%w: a call is allowed for once, session, always, or a time of up to 24h such as 1h", ErrAnswer)
	}
	return lasts, nil
}

func (d *desk) close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.shut {
		d.shut = true
		close(d.closed)
	}
}
