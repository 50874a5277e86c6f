package policy

import (
	"slices"
	"time"

	"tabrelay/relay/road/call"
)

const (
	// maxMissed bounds the questions that are kept after nobody answered them; the oldest goes first.
	maxMissed = 50
	// maxMissedBytes bounds their arguments.
	maxMissedBytes = 8 << 20
)

// missed is a question that nobody answered in time. The person may still allow the call: once, when the same client
// makes the same call again. It is kept in approvals.missed under approvals.mu; its question never changes.
type missed struct {
	*pending
	allowed bool
	by      string // who allowed it
	timer   *time.Timer
}

// nextCall is what the approval of a missed question is for: the same call of the same client on the same site, with
// the same targets.
type nextCall struct {
	client, agent, tool, pluginHash, argumentsHash, targets, profileID, origin string
}

func nextCallOf(a *call.Access) nextCall {
	bound := bind(a)
	n := nextCall{
		client: a.Session.Client, tool: a.Tool, pluginHash: a.Hash, argumentsHash: bound.ArgumentsHash,
		targets: bound.Targets,
	}
	if d := a.Session.Bounds; d != nil {
		n.agent = d.Agent
	}
	if a.At != nil {
		n.profileID, n.origin = a.At.ProfileID, a.At.Origin
	}
	return n
}

// keepMissed keeps a question that nobody answered, for as long as the configuration says. One with a note is about
// something that may be different by then.
func (p *Policy) keepMissed(one *pending) {
	lasts := p.options.Config.Approvals.Missed
	if lasts <= 0 || one.call.Note != "" || len(one.call.access.Arguments) > maxMissedBytes {
		return
	}
	kept := *one.call
	until := one.until.Add(lasts)
	kept.Until, kept.Missed = until.UTC(), true
	kept.Choices = []string{"once"}
	m := &missed{pending: &pending{id: one.id, asked: one.asked, until: until, call: &kept}}
	q := &p.approvals
	q.mu.Lock()
	if q.shut {
		q.mu.Unlock()
		return
	}
	m.timer = time.AfterFunc(lasts, func() { p.dropMissed(func(other *missed) bool { return other == m }) })
	q.missed = append(q.missed, m)
	held := 0
	for i, other := range slices.Backward(q.missed) {
		if held += len(other.call.access.Arguments); held > maxMissedBytes || len(q.missed)-i > maxMissed {
			for _, gone := range q.missed[:i+1] {
				gone.timer.Stop()
			}
			q.missed = slices.Delete(q.missed, 0, i+1)
			break
		}
	}
	q.mu.Unlock()
	p.changed(TopicApprovals)
}

// dropMissed forgets missed questions and returns them.
func (p *Policy) dropMissed(which func(*missed) bool) (dropped []*missed) {
	q := &p.approvals
	q.mu.Lock()
	q.missed = slices.DeleteFunc(q.missed, func(m *missed) bool {
		if !which(m) {
			return false
		}
		m.timer.Stop()
		dropped = append(dropped, m)
		return true
	})
	q.mu.Unlock()
	if len(dropped) > 0 {
		p.changed(TopicApprovals)
	}
	return dropped
}

// dropAnswered forgets the missed questions that rules or grants decide by now.
func (p *Policy) dropAnswered() {
	q := &p.approvals
	q.mu.Lock()
	kept := slices.Clone(q.missed)
	q.mu.Unlock()
	kept = slices.DeleteFunc(kept, func(m *missed) bool {
		says, failure := p.Allow(m.call.access)
		return failure == nil && says.Ask
	})
	if len(kept) > 0 {
		p.dropMissed(func(m *missed) bool { return slices.Contains(kept, m) })
	}
}

// redeemMissed removes the missed questions about a call that is made again, and returns the one that the person has
// allowed meanwhile; nil: none, so the person is asked again.
func (p *Policy) redeemMissed(a *call.Access) (allowed *missed) {
	next := nextCallOf(a)
	for _, m := range p.dropMissed(func(m *missed) bool { return nextCallOf(&m.call.access) == next }) {
		if m.allowed && time.Now().Before(m.until) {
			allowed = m
		}
	}
	return allowed
}

// answerMissed answers a missed question and reports whether there was one.
func (p *Policy) answerMissed(id string, d call.Decision) bool {
	q := &p.approvals
	q.mu.Lock()
	i := slices.IndexFunc(q.missed, func(m *missed) bool { return m.id == id })
	if i < 0 {
		q.mu.Unlock()
		return false
	}
	m := q.missed[i]
	if m.allowed, m.by = d.Allow, d.By; !d.Allow {
		m.timer.Stop()
		q.missed = slices.Delete(q.missed, i, i+1)
	}
	q.mu.Unlock()
	said := "denied, after the question had timed out"
	if d.Allow {
		said = "allowed for the next time"
	}
	p.tellDecision(m.call, said, d.By)
	p.changed(TopicApprovals)
	return true
}

// Missed lists the calls that nobody answered in time, and that can still be allowed at a profile, the oldest first.
func (p *Policy) Missed(profileID string) []call.Approval {
	q := &p.approvals
	q.mu.Lock()
	defer q.mu.Unlock()
	list := []call.Approval{}
	for _, m := range q.missed {
		if m.isFor(profileID) {
			shown := m.call.Approval
			shown.AllowedNext = m.allowed
			list = append(list, shown)
		}
	}
	return list
}

// findMissed is a missed question that the person at a profile may read.
func (p *Policy) findMissed(id string) *pending {
	q := &p.approvals
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, m := range q.missed {
		if m.id == id {
			return m.pending
		}
	}
	return nil
}
