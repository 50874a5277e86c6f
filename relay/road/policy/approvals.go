package policy

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

const (
	// progressInterval is how often an agent hears that the person is still being asked.
	progressInterval = 5 * time.Second
	// rememberedEnds is how many ended approvals are remembered.
	rememberedEnds = 200
	// toldEnds is how many of them a list of approvals has.
	toldEnds = 20
	// maxCalls bounds the calls that wait at once; one client may have a quarter of them.
	maxCalls = 200
	// maxBytes bounds the arguments of the calls that wait at once; a single call may have more.
	maxBytes = 64 << 20
	// maxChanges bounds the changes that wait at once.
	maxChanges = 20
)

// Who decides.
const (
	ByPanel    = "panel"
	ByTerminal = "terminal"
	ByClient   = "client"
	byRule     = "rule"
	ByRelay    = "relay"

	byPause = "pause" // the person stopped everything
	byTab   = "tab"   // the tab was closed
)

// decidedBy is who decided, in words.
var decidedBy = map[string]string{
	ByPanel: "in the side panel", ByTerminal: "in a terminal", ByClient: "in the client",
	byRule: "by a rule or by the answer to another question",
}

// pending is a pending approval: of a call or of a change.
type pending struct {
	id           string
	asked, until time.Time          // monotonic
	answer       chan call.Decision // has room for the one that counts

	call   *question // of a call; nil: of a change
	change *Change
	from   string // who asks for the change, in words
}

// approvals is the queue of all that waits for the person.
type approvals struct {
	mu     lock.Mutex // nothing nests in it
	open   map[string]*pending
	ended  []Ended         // the oldest first
	missed []*missed       // the oldest first
	asked  map[string]bool // clients of which a call was asked about
	shut   bool
	closed chan struct{}
}

// Ended is how an approval ended, for answers that come too late.
type Ended struct {
	ID  string `json:"id"`
	How string `json:"how"` // a sentence without a capital and a full stop
}

// How an approval ends that nobody answers.
const (
	endsLate      = "nobody answered in time"
	endsCancelled = "the agent no longer waits for an answer"
	endsClosed    = "the relay stopped"
	endsWithTab   = "its tab was closed"
	endsPaused    = "agents were paused, so it was refused"
)

// Errors of [Policy.Answer] and [Policy.ShowArguments].
var (
	ErrNoApproval = errors.New("there is no such question")
	ErrEnded      = errors.New("the question is not open any more")
	ErrNotYours   = errors.New("the question is for another browser profile")
	ErrAnswer     = errors.New("that is not an answer to this question")
	ErrUnseen     = errors.New("a part of the arguments was not shown, so the call can only be allowed once")
	ErrPart       = errors.New("no part of the arguments begins there")
	ErrPanel      = errors.New("this is allowed in tabrelay's side panel only")
	ErrStale      = errors.New("the change is a different one by now, so nothing was done")
)

// add puts an approval into the queue, unless admit refuses it, given those that are open.
func (p *Policy) add(one *pending, admit func(open map[string]*pending) *fault.Error) *fault.Error {
	one.asked = time.Now()
	one.until, one.answer = one.asked.Add(p.options.Config.Approvals.Timeout), make(chan call.Decision, 1)
	q := &p.approvals
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.shut {
		return shuttingDown()
	}
	if failure := admit(q.open); failure != nil {
		return failure
	}
	for one.id = newID(); q.open[one.id] != nil; one.id = newID() {
	}
	if c := one.call; c != nil {
		c.ID, c.Asked, c.Until, c.First = one.id, one.asked.UTC(), one.until.UTC(), !q.asked[c.Client]
		if q.asked == nil {
			q.asked = map[string]bool{}
		}
		if len(q.asked) < rememberedEnds {
			q.asked[c.Client] = true
		}
	}
	q.open[one.id] = one
	return nil
}

func shuttingDown() *fault.Error {
	return fault.New(fault.ShuttingDown, "The relay stopped while the person was asked; nothing was done",
		fault.WithOutcome(fault.NotExecuted))
}

// wait waits for the answer and calls tick at intervals meanwhile; unanswered is how the approval ended without one.
func (p *Policy) wait(ctx context.Context, one *pending, tick func()) (d call.Decision, unanswered string) {
	late := time.NewTimer(time.Until(one.until))
	defer late.Stop()
	ticker := time.NewTicker(progressInterval)
	defer ticker.Stop()
	for unanswered == "" {
		select {
		case d := <-one.answer:
			return d, ""
		case <-ticker.C:
			tick()
		case <-late.C:
			unanswered = endsLate
		case <-p.approvals.closed:
			unanswered = endsClosed
		case <-ctx.Done():
			unanswered = endsCancelled
		}
	}
	if p.removePending(one, unanswered) {
		return d, unanswered
	}
	return <-one.answer, "" // it was answered meanwhile
}

// removePending removes an approval from the queue and reports whether it was still there: only the caller that removed
// it may answer it.
func (p *Policy) removePending(one *pending, how string) bool {
	q := &p.approvals
	q.mu.Lock()
	there := q.open[one.id] == one
	if there {
		delete(q.open, one.id)
		if len(q.ended) == rememberedEnds {
			q.ended = slices.Delete(q.ended, 0, 1)
		}
		q.ended = append(q.ended, Ended{one.id, how})
	}
	q.mu.Unlock()
	if there {
		p.changed(TopicApprovals)
	}
	return there
}

// acceptAnswer reports whether an answer is the first and in time, and so the one that counts.
func (p *Policy) acceptAnswer(one *pending, d call.Decision) bool {
	how := "it was denied " + decidedBy[d.By]
	switch {
	case d.Allow:
		how = "it was allowed " + decidedBy[d.By]
	case d.By == byPause:
		how = endsPaused
	}
	return time.Now().Before(one.until) && p.removePending(one, how)
}

// answerIfOpen answers an approval if it is still open.
func (p *Policy) answerIfOpen(one *pending, d call.Decision) {
	if p.acceptAnswer(one, d) {
		one.answer <- d
	}
}

// waiting are the approvals that are open now, the oldest first.
func (p *Policy) waiting() []*pending {
	q := &p.approvals
	q.mu.Lock()
	defer q.mu.Unlock()
	list := make([]*pending, 0, len(q.open))
	for _, one := range q.open {
		list = append(list, one)
	}
	slices.SortFunc(list, func(a, b *pending) int { return cmp.Or(a.asked.Compare(b.asked), cmp.Compare(a.id, b.id)) })
	return list
}

// Pending lists the calls that wait for the person at a profile, the oldest first. Those that concern no tab are for
// every profile, and an empty profileID is for the person at a terminal, who sees all.
func (p *Policy) Pending(profileID string) []call.Approval {
	list := []call.Approval{}
	for _, one := range p.waiting() {
		if c := one.call; c != nil && one.isFor(profileID) {
			shown := c.Approval
			if !p.shownAt(c, profileID) {
				shown.Choices = []string{"once"}
			}
			list = append(list, shown)
		}
	}
	return list
}

// Waiting counts everything that waits for an answer of the person at a profile.
func (p *Policy) Waiting(profileID string) (n int) {
	for _, one := range p.waiting() {
		if one.isFor(profileID) {
			n++
		}
	}
	for _, q := range p.Missed(profileID) {
		if !q.AllowedNext {
			n++
		}
	}
	for _, one := range p.toAcknowledge().shown() {
		if !one.Aside && one.Kind != ChangeUpdated { // which needs no answer
			n++
		}
	}
	if v := p.rights.Load(); v.waits != nil && v.denied != v.waits.Digest() {
		n++
	}
	return n
}

// isFor reports whether the person at a profile may answer.
func (one *pending) isFor(profileID string) bool {
	return profileID == "" || one.call == nil || one.call.ProfileID == "" || one.call.ProfileID == profileID
}

// Answer answers an approval for the person at a profile or, without one, at a terminal. Only the first answer counts;
// for a later one it returns an error.
func (p *Policy) Answer(ctx context.Context, id, profileID string, d call.Decision) error {
	if id == ChangeConfig || id == ChangeStart {
		return p.answerRights(ctx, id, profileID, d)
	}
	if id == ChangeLost || id == ChangeCarried || id == ChangeUpdated {
		return p.acknowledge(ctx, id, d)
	}
	one, err := p.findOpen(id, profileID)
	if err != nil {
		return err
	}
	if one.call != nil {
		if d, err = p.checkedDecision(one.call, profileID, d); err != nil {
			return err
		}
	} else if d.Allow && d.By != ByPanel {
		return ErrPanel
	}
	if one.call != nil && one.call.Missed {
		if !p.answerMissed(id, d) {
			return p.endedError(id)
		}
		return nil
	}
	if !p.acceptAnswer(one, d) {
		return p.endedError(id)
	}
	if one.call != nil && d.Allow && d.For == "always" {
		// Before the call goes on: the next one of its agent is not to be asked about again.
		rule := call.Rule{Target: alwaysTarget(one.call), Client: one.call.Client, Mode: call.Auto, By: d.By}
		if err = p.Set(ctx, rule, 0); err != nil {
			d.For = "once"
		}
	}
	one.answer <- d
	return err
}

// alwaysTarget is the target of the rule that the answer “always” makes: this tool on this site.
func alwaysTarget(q *question) string {
	if q.Origin == "" {
		return q.Tool // it touches no site
	}
	return siteTarget(q.Tool, q.Origin)
}

func (p *Policy) findOpen(id, profileID string) (*pending, error) {
	p.approvals.mu.Lock()
	one := p.approvals.open[id]
	p.approvals.mu.Unlock()
	if one == nil {
		one = p.findMissed(id)
	}
	switch {
	case one == nil:
		return nil, p.endedError(id)
	case !one.isFor(profileID):
		return nil, ErrNotYours
	}
	return one, nil
}

// endedError is the error of an answer to an approval that is not open.
func (p *Policy) endedError(id string) error {
	q := &p.approvals
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.ended {
		if e.ID == id {
			return fmt.Errorf("%w: %s", ErrEnded, e.How)
		}
	}
	if q.open[id] != nil { // its time is over, and it is about to be told
		return fmt.Errorf("%w: %s", ErrEnded, endsLate)
	}
	return fmt.Errorf("%w: %q", ErrNoApproval, fault.Sanitize(clip.Runes(id, maxTitle)))
}

// Ended lists the approvals that ended last, the oldest first.
func (p *Policy) Ended() []Ended {
	q := &p.approvals
	q.mu.Lock()
	defer q.mu.Unlock()
	return append([]Ended{}, q.ended[max(0, len(q.ended)-toldEnds):]...)
}

// TabsGone ends the calls that wait for tabs of a profile that were closed: no answer would do anything.
func (p *Policy) TabsGone(profileID string) {
	for _, one := range p.waiting() {
		if one.call != nil && one.call.ProfileID == profileID {
			p.endWithTab(one)
		}
	}
}

func (p *Policy) endWithTab(one *pending) {
	gone := p.options.TabGone
	if gone != nil && one.call.TabID != 0 && gone(one.call.ProfileID, one.call.TabID) &&
		p.removePending(one, endsWithTab) {
		one.answer <- call.Decision{By: byTab}
	}
}

// settleByRule answers the questions that rules or grants decide by now, and forgets missed questions of that kind.
func (p *Policy) settleByRule() {
	for _, one := range p.waiting() {
		if one.call != nil {
			p.settleOneByRule(one)
		}
	}
	p.dropAnswered()
}

func (p *Policy) settleOneByRule(one *pending) {
	if one.call.Note != "" && !p.Paused() {
		return // it needs an answer of its own
	}
	by := byRule
	if p.Paused() {
		by = byPause
	}
	if says, failure := p.Allow(one.call.access); failure != nil || !says.Ask {
		p.answerIfOpen(one, call.Decision{Allow: failure == nil, By: by})
	}
}

func (q *approvals) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if !q.shut {
		q.shut = true
		for _, m := range q.missed {
			m.timer.Stop()
		}
		close(q.closed)
	}
}
