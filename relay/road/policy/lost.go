package policy

import (
	"context"
	"strings"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// lostSwitch is the switch with why rules may be missing; empty: they are not, or the person has acknowledged it.
const lostSwitch = "rules-lost"

// Kinds of changes that the person has to acknowledge, besides those of the configuration.
const (
	ChangeLost    = "lost"    // rules may be missing, and everything is asked about
	ChangeCarried = "carried" // an update of tabrelay made the rules forbid more
)

// unacknowledged has the changes that the person has not acknowledged yet; nil: none of the kind. It is immutable.
type unacknowledged struct {
	lost, carried, updated *Change
	aside                  bool // the person has deferred lost, and goes on being asked about everything
	since                  time.Time
}

// toAcknowledge returns the changes that the person has not acknowledged.
func (p *Policy) toAcknowledge() *unacknowledged {
	if l := p.unacknowledged.Load(); l != nil {
		return l
	}
	return &unacknowledged{}
}

func (l *unacknowledged) change(kind string) *Change {
	switch kind {
	case ChangeLost:
		return l.lost
	case ChangeCarried:
		return l.carried
	}
	return l.updated
}

// readLost finds out whether rules may be missing: now, or since an earlier start.
func (p *Policy) readLost(ctx context.Context) (why string, err error) {
	if why = p.options.Lost; why != "" {
		p.record(call.Entry{Kind: call.EntryRule, Decision: "lost", DecidedBy: ByRelay,
			Detail: "rules may be missing, so everything is asked about: " + why})
		return why, p.options.Store.SetSwitch(ctx, lostSwitch, why)
	}
	return p.options.Store.Switch(ctx, lostSwitch)
}

// lostChange is what the person reads when rules may be missing.
func lostChange(why string, t *table) *Change {
	lines := []string{"The rules there are now:"}
	for _, r := range t.list(time.Now()) {
		if r.From != fromBuiltIn {
			lines = append(lines, "  "+ruleName(r.Target, r.Client)+": "+string(r.Mode))
		}
	}
	if len(lines) == 1 {
		lines = []string{"There are no rules now."}
	}
	lines = append(lines, "Anything else you had set is lost: set it again before you go on.")
	return NewChange("Rules of yours may be missing: "+why, "tabrelay permit confirm", call.Difference{
		What: "every call", Before: "asked about", After: "as the rules below say"}).WithText(lines...)
}

// Lost says why rules may be missing, until the person has acknowledged it; empty: they are not.
func (p *Policy) Lost() string {
	if c := p.toAcknowledge().lost; c != nil {
		return strings.TrimPrefix(c.Title, "Rules of yours may be missing: ")
	}
	return ""
}

// Narrowed lists what an update of tabrelay made the rules forbid, until the person has seen it.
func (p *Policy) Narrowed() string {
	if c := p.toAcknowledge().carried; c != nil {
		return c.difference()
	}
	return ""
}

// shown are these changes for the panel.
func (l *unacknowledged) shown() (list []PendingChange) {
	for _, kind := range []string{ChangeLost, ChangeCarried, ChangeUpdated} {
		if c := l.change(kind); c != nil {
			list = append(list, PendingChange{ID: kind, Kind: kind, Change: c, Digest: c.Digest(), From: "the relay",
				Asked: l.since.UTC(), Aside: kind == ChangeLost && l.aside})
		}
	}
	return list
}

// acknowledge handles the person's answer to a change that they have to acknowledge.
func (p *Policy) acknowledge(ctx context.Context, kind string, d call.Decision) error {
	return p.change(ctx, func(ctx context.Context) error {
		l := *p.toAcknowledge()
		c := l.change(kind)
		switch {
		case c == nil:
			return ErrEnded
		case !d.Allow: // it stays as it is, and is shown among the rules
			if kind == ChangeLost && !l.aside {
				l.aside = true
				p.unacknowledged.Store(&l)
				p.RecordWidening(person(d.By), c, "put aside", d.By)
				p.changed(TopicApprovals)
			}
			return nil
		case kind == ChangeLost && d.By != ByPanel && p.options.PanelsOpen != nil && p.options.PanelsOpen():
			return ErrPanel
		case d.Digest != c.Digest():
			return ErrStale
		}
		var err error
		switch kind {
		case ChangeLost:
			l.lost, err = nil, p.options.Store.SetSwitch(ctx, lostSwitch, "")
		case ChangeCarried:
			l.carried, err = nil, p.options.Store.SetSwitch(ctx, narrowedSwitch, "")
		default:
			l.updated, err = nil, p.readUpdated(ctx)
		}
		if err != nil {
			return err
		}
		p.unacknowledged.Store(&l)
		if t := p.rules.Load(); kind == ChangeLost {
			p.putInEffect(t.with(t.personal, t.paused))
		}
		if d.By == ByPanel { // what was confirmed at a terminal is recorded already
			p.RecordWidening(person(d.By), c, "looked at", d.By)
		}
		p.changed(TopicApprovals)
		return nil
	})
}

// refreshLost updates the list of rules in the change ChangeLost.
func (p *Policy) refreshLost(t *table) {
	l := *p.toAcknowledge()
	if l.lost == nil {
		return
	}
	l.lost = lostChange(p.Lost(), t)
	p.unacknowledged.Store(&l)
}

// announceUnacknowledged logs the changes that the person has to acknowledge, and notifies them.
func (p *Policy) announceUnacknowledged() {
	for _, one := range p.toAcknowledge().shown() {
		message := fault.Sanitize(one.Title) + " (in the side panel, or: tabrelay permit confirm)"
		p.options.Log.Warn().Msg(message)
		if p.options.Notice != nil {
			p.options.Notice(message)
		}
	}
}
