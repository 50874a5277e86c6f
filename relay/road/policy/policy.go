// Package policy decides what agents may do: by the scope of a client, by the rules of the person and of the
// configuration, by grants, or by asking the person. What waits for their answer is a pending approval: of a call of an
// agent (a question), or of a change that lets agents do more (a widening).
//
// Rules are kept in an immutable table; each change makes another one. One goroutine makes all changes in order: it
// writes to the store, puts the new table into effect, and then notifies listeners. Decisions never wait for it, and it
// holds no lock meanwhile.
package policy

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/lib/random"
	"tabrelay/relay/road/call"
	"tabrelay/relay/state/config"
)

// Options is what a Policy needs. All functions but those of Store may be nil. They must not block.
type Options struct {
	Store  Store
	Config config.Config // as it was read
	Log    zerolog.Logger
	Lost   string // why the store may have lost rules of the person; empty: it has not
	Used   bool   // the store is not new

	Version string // of this program

	// What exists.
	Clients    interface{ Load() *[]config.Client }                 // that have a token; another pointer after a change
	Tools      func() []call.Access                                 // every tool there is, as rules see it
	Known      func(target string) (exists bool, suggestion string) // whether a name is one of a tool or a plugin
	TabGone    func(profileID string, tabID int) bool               // whether a tab is closed for certain
	PanelsOpen func() bool                                          // whether a side panel is open

	// Who is told.
	Audit        func(call.Entry)
	Events       func(of *call.Session, message string, data map[string]any) // nil session: an event of the person
	Changed      func(topic string)                                          // a topic of the side panel
	Notice       func(message string)                                        // something for the person to read
	Reconfigured func(undone bool)                                           // [Policy.Config] is another one
}

// Topics of Changed.
const (
	TopicApprovals   = "approvals"
	TopicPermissions = "permissions"
	TopicPaused      = "paused"
)

// Store persists rules, and named strings: switches.
type Store interface {
	Rules(ctx context.Context) ([]call.Rule, error)
	SetRule(ctx context.Context, r call.Rule) error
	UnsetRule(ctx context.Context, target, client string) (there bool, err error)
	Switch(ctx context.Context, name string) (value string, err error) // empty: it was never set
	SetSwitch(ctx context.Context, name, value string) error
}

// pausedSwitch is the name under which the store has whether all agents are stopped.
const pausedSwitch = "paused"

// ErrClosed is the error of a change that came after Close.
var ErrClosed = errors.New("the relay is stopping, so nothing was changed")

// Policy decides. Its methods may be called concurrently.
type Policy struct {
	options        Options
	rules          atomic.Pointer[table]
	rights         atomic.Pointer[rights]
	unacknowledged atomic.Pointer[unacknowledged]
	shipped        []string // plugins of this program; set by Start, before any change
	pages          atomic.Pointer[pages]
	scopes         scopes
	grants         grants
	approvals      approvals
	views          views

	changes chan func()   // for the goroutine that makes them
	closing chan struct{} // closed by Close
	ended   chan struct{} // closed when that goroutine has ended
	close   sync.Once
}

// New reads the rules, and what was in effect when they were used last.
func New(ctx context.Context, o Options) (*Policy, error) {
	rules, err := o.Store.Rules(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot read the permissions: %w", err)
	}
	paused, err := o.Store.Switch(ctx, pausedSwitch)
	if err != nil {
		return nil, fmt.Errorf("cannot read whether all agents are stopped: %w", err)
	}
	o.Config.Permissions = withBase(o.Config.Permissions, shippedBase)
	p := &Policy{options: o, changes: make(chan func()), closing: make(chan struct{}), ended: make(chan struct{})}
	p.approvals.open, p.approvals.closed = map[string]*pending{}, make(chan struct{})
	if err := p.readRules(ctx, rules, paused == "true"); err != nil {
		return nil, err
	}
	go p.makeChanges()
	return p, nil
}

// readRules puts the rules into effect, with what an earlier relay did or lost.
func (p *Policy) readRules(ctx context.Context, rules []call.Rule, paused bool) error {
	p.unacknowledged.Store(&unacknowledged{since: time.Now()})
	if err := p.readRights(ctx); err != nil {
		return err
	}
	configured := p.options.Config.Permissions
	rules, err := p.carryOver(ctx, rules, append(layersOf(p.rights.Load()), configured)...)
	if err != nil {
		return fmt.Errorf("cannot carry the permissions over: %w", err)
	}
	lost, err := p.readLost(ctx)
	if err != nil {
		return fmt.Errorf("cannot note that permissions may be missing: %w", err)
	}
	t := p.table(rules, configured, paused)
	if t.lost = lost != ""; t.lost {
		p.unacknowledged.Store(&unacknowledged{since: time.Now(), lost: lostChange(lost, t)})
	}
	p.rules.Store(t)
	return nil
}

// Close ends all pending approvals: their calls are not executed, and their changes not made. It may be called more
// than once.
func (p *Policy) Close() {
	p.close.Do(func() {
		p.approvals.close()
		close(p.closing)
	})
	<-p.ended
}

// makeChanges makes changes until Close, and tells when a rule ends.
func (p *Policy) makeChanges() {
	defer close(p.ended)
	for {
		select {
		case change := <-p.changes:
			change()
		case <-p.rules.Load().nextEnd():
			p.putInEffect(p.rules.Load())
		case <-p.closing:
			return
		}
	}
}

// change has the change goroutine run apply, and returns when it is done. apply is not cancelled with ctx.
func (p *Policy) change(ctx context.Context, apply func(context.Context) error) error {
	done := make(chan error, 1)
	select {
	case p.changes <- func() { done <- apply(context.WithoutCancel(ctx)) }:
		return <-done
	case <-p.closing:
		return ErrClosed
	}
}

// putInEffect replaces the rules, and settles the questions that they answer. Only changes call it.
func (p *Policy) putInEffect(t *table) {
	if lost := p.toAcknowledge().lost != nil; t.lost != lost {
		other := *t
		other.lost, t = lost, &other
	}
	p.rules.Store(t)
	p.refreshLost(t)
	p.settleByRule()
	if t.paused {
		p.dropMissed(func(*missed) bool { return true })
	}
	p.changed(TopicPermissions)
	p.views.changed()
}

// Set makes a rule. lasts is for how long, 0 for ever.
func (p *Policy) Set(ctx context.Context, r call.Rule, lasts time.Duration) error {
	r.Created = time.Now().UTC().Truncate(time.Second)
	said := "set to " + string(r.Mode)
	if lasts > 0 {
		r.Until = time.Now().UTC().Add(lasts)
		said += " for " + lasts.String()
	}
	return p.change(ctx, func(ctx context.Context) error {
		if err := p.refuseLooser(r); err != nil {
			return err
		}
		if err := p.options.Store.SetRule(ctx, r); err != nil {
			return fmt.Errorf("the rule could not be saved, so it is not in effect: %w", err)
		}
		if r.Mode != call.Auto {
			p.grants.revokeUnder(key{r.Target, r.Client})
		}
		t := p.rules.Load()
		p.putInEffect(t.with(append(t.without(r.Target, r.Client), r), t.paused))
		p.recordRule(string(r.Mode), r.By, aboutRule(r.Target, r.Client)+" "+said)
		return nil
	})
}

// Unset removes a rule of the person and reports whether there was one.
func (p *Policy) Unset(ctx context.Context, target, client, by string) (there bool, err error) {
	err = p.change(ctx, func(ctx context.Context) error {
		t := p.rules.Load()
		client = t.clientIn(target, client)
		if len(t.without(target, client)) == len(t.personal) && t.managed.owns(target, client) {
			return &config.ManagedError{What: "the rule about " + ruleName(target, client) + " is set",
				Managed: t.managed.by}
		}
		if there, err = p.options.Store.UnsetRule(ctx, target, client); err != nil || !there {
			return err
		}
		p.putInEffect(t.with(t.without(target, client), t.paused))
		p.recordRule("unset", by, aboutRule(target, client)+" taken away")
		return nil
	})
	return there, err
}

func aboutRule(target, client string) string {
	if client == "" {
		return "the rule about " + target + " was"
	}
	return "the rule about " + target + " and the client " + client + " was"
}

func (p *Policy) recordRule(decision, by, detail string) {
	p.record(call.Entry{Kind: call.EntryRule, Decision: decision, DecidedBy: by, Detail: detail})
}

// Paused reports whether all agents are stopped.
func (p *Policy) Paused() bool { return p.rules.Load().paused }

// Pause stops all agents, or lets them go on. Calls that wait for the person are refused; the caller has to end those
// that run. Pausing while paused saves the state again, in case that failed before.
func (p *Policy) Pause(ctx context.Context, paused bool, by string) error {
	return p.change(ctx, func(ctx context.Context) error {
		t := p.rules.Load()
		if !paused && !t.paused {
			return nil
		}
		if paused && !t.paused {
			p.putInEffect(t.with(t.personal, true)) // at once, and even if it cannot be written down
		}
		err := p.options.Store.SetSwitch(ctx, pausedSwitch, fmt.Sprint(paused))
		switch {
		case err != nil && !paused:
			return fmt.Errorf("agents stay stopped, because that could not be saved: %w", err)
		case err != nil:
			err = fmt.Errorf("agents are stopped, but only until a restart, because that could not be saved: %w", err)
		case !paused:
			p.putInEffect(t.with(t.personal, false))
		}
		if t.paused != paused {
			p.tellPaused(paused, by)
		}
		return err
	})
}

// tellPaused tells that all agents were stopped, or go on.
func (p *Policy) tellPaused(paused bool, by string) {
	decision, said := "resumed", "Agents may call tools again"
	if paused {
		decision, said = "stopped", "Every agent was stopped"
	}
	p.record(call.Entry{Kind: call.EntrySwitch, Decision: decision, DecidedBy: by, Detail: said})
	p.tell(nil, said, map[string]any{"paused": paused, "by": by})
	p.changed(TopicPaused)
}

func (p *Policy) changed(topic string) {
	if p.options.Changed != nil {
		p.options.Changed(topic)
	}
}

func (p *Policy) tell(of *call.Session, message string, data map[string]any) {
	if p.options.Events != nil {
		p.options.Events(of, message, data)
	}
}

func (p *Policy) record(e call.Entry) {
	if p.options.Audit != nil {
		e.At = time.Now()
		p.options.Audit(e)
	}
}

// newID names an approval or a grant for people to type.
func newID() string { return random.Hex(4) }
