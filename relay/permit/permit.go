// Package permit decides what agents may do: by the rules of a person, by what they allowed for a while, or by asking
// them. Whoever asks for permission does it twice: Allow is cheap and says whether a person has to be asked, Ask waits
// for them.
package permit

import (
	"context"
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/event"
	"tabrelay/relay/fault"
)

// Options is what Permits need.
type Options struct {
	Store    Store
	Config   map[string]map[string]string                                                  // the rules of the configuration: target, client ("*" for all), mode
	MaxBytes int                                                                           // of the arguments of questions that wait at once; 64 MiB when 0
	Timeout  time.Duration                                                                 // a question is open so long
	Audit    func(call.Entry)                                                              // may be nil
	Events   func(owner event.Owner, kind event.Kind, message string, data map[string]any) // may be nil
	News     func(topic string)                                                            // a topic of the panel is different now; may be nil
	Known    func(target string) (exists bool, suggestion string)                          // whether a name is one of a tool or a plugin; nil: every name is
	Tools    func() []call.Access                                                          // every tool there is, as rules see it; nil: none is known
	TabGone  func(profileID string, tabID int) bool                                        // whether a tab is closed for certain; nil: none is
}

// Topics of News.
const (
	TopicApprovals   = "approvals"
	TopicPermissions = "permissions"
	TopicPaused      = "paused"
)

// Store keeps what must survive a restart.
type Store interface {
	Rules(ctx context.Context) ([]call.Rule, error)
	SetRule(ctx context.Context, r call.Rule) error
	UnsetRule(ctx context.Context, target, client string) (there bool, err error)
	Switch(ctx context.Context, name string) (value string, err error) // empty: it was never set
	SetSwitch(ctx context.Context, name, value string) error
}

// pausedSwitch is the name under which it is kept that everything is stopped.
const pausedSwitch = "paused"

// Permits decides. Its methods may be called concurrently.
type Permits struct {
	options Options
	table   atomic.Pointer[table]
	grants  grants
	desk    desk

	mu       sync.Mutex // one change of the rules at a time
	expiry   *time.Timer
	watchers map[int]func()
	watched  int
}

// New reads the rules.
func New(ctx context.Context, o Options) (*Permits, error) {
	rules, err := o.Store.Rules(ctx)
	if err != nil {
		return nil, fmt.Errorf("cannot read the permissions: %w", err)
	}
	paused, err := o.Store.Switch(ctx, pausedSwitch)
	if err != nil {
		return nil, fmt.Errorf("cannot read whether everything is stopped: %w", err)
	}
	p := &Permits{options: o, watchers: map[int]func(){}}
	p.desk.open, p.desk.closed = map[string]*question{}, make(chan struct{})
	p.table.Store(newTable(rules, o.Config, paused == "true"))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watchExpiry()
	return p, nil
}

// Close ends the questions that wait; their calls are not executed.
func (p *Permits) Close() {
	p.desk.close()
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.expiry != nil {
		p.expiry.Stop()
	}
}

// Allow says by the rules, and by what was allowed before, whether a call may run. With ask, a person has to say so. A
// page's tool is looked at twice: before its tab is known, when only a failure counts, and with it.
func (p *Permits) Allow(a call.Access) (ask bool, failure *fault.Error) {
	t := p.table.Load()
	if t.paused {
		return false, stopped()
	}
	v := t.resolve(&a, t.now())
	switch {
	case v.open && (v.mode != call.Off || t.opens):
		return true, nil
	case v.mode == call.Off:
		return false, forbidden(&a, v)
	case v.mode == call.Ask && (a.At == nil && !a.BuiltIn || !p.grants.use(scopeOf(&a))):
		return true, nil
	}
	return false, nil
}

// Mode is what the rules say about a tool, whatever tab it would run in, and why. It is off only if it is off
// everywhere.
func (p *Permits) Mode(a call.Access) (mode call.Mode, why string) {
	t := p.table.Load()
	v := t.resolve(&a, t.now())
	if v.open && v.mode == call.Off && t.opens {
		return call.Ask, "a rule about an origin enables it there"
	}
	return v.mode, v.why()
}

// Visible reports whether a tool is to be listed: it is not off. It is [Permits.Mode] without the words.
func (p *Permits) Visible(a call.Access) bool {
	t := p.table.Load()
	v := t.resolve(&a, t.now())
	return v.mode != call.Off || v.open && t.opens
}

// Default is what is done about tools that no rule names.
func (p *Permits) Default() (readOnly, other call.Mode) {
	t := p.table.Load()
	now := t.now()
	return t.resolve(&call.Access{ReadOnly: true}, now).mode, t.resolve(&call.Access{}, now).mode
}

// Rules lists the rules there are.
func (p *Permits) Rules() []Rule { return p.table.Load().list(time.Now()) }

// Configured are the rules of the configuration.
func (p *Permits) Configured() map[string]map[string]string { return p.table.Load().config }

// Grants lists what was allowed for more than one call.
func (p *Permits) Grants() []Grant { return p.grants.list() }

// Set makes a rule. lasts is for how long, 0 for ever.
func (p *Permits) Set(ctx context.Context, r call.Rule, lasts time.Duration) error {
	r.Created = time.Now().UTC().Truncate(time.Second)
	if lasts > 0 {
		r.Until = time.Now().UTC().Add(lasts)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if err := p.options.Store.SetRule(ctx, r); err != nil {
		return fmt.Errorf("the rule was not written down, so it is not in effect: %w", err)
	}
	if r.Mode != call.Auto {
		p.grants.revokeUnder(key{r.Target, r.Client})
	}
	said := "set to " + string(r.Mode)
	if lasts > 0 {
		said += " for " + lasts.String()
	}
	p.record(call.Entry{Kind: call.EntryRule, Decision: string(r.Mode), DecidedBy: r.By, Detail: aboutRule(r.Target, r.Client) + " " + said})
	return p.reload(ctx)
}

// Unset takes a rule of the person away and reports whether there was one.
func (p *Permits) Unset(ctx context.Context, target, client, by string) (there bool, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if there, err = p.options.Store.UnsetRule(ctx, target, client); err != nil || !there {
		return there, err
	}
	p.record(call.Entry{Kind: call.EntryRule, Decision: "unset", DecidedBy: by, Detail: aboutRule(target, client) + " taken away"})
	return true, p.reload(ctx)
}

func aboutRule(target, client string) string {
	if client == "" {
		return "the rule about " + target + " was"
	}
	return "the rule about " + target + " and the client " + client + " was"
}

// Configure replaces the rules of the configuration and reports whether they are others. What they forbid is forbidden
// at once. What they allow beyond those that were confirmed waits until [Permits.Confirm]: waits reports that.
func (p *Permits) Configure(config map[string]map[string]string) (changed, waits bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.table.Load()
	if sameRules(t.config, config) {
		return false, t.older != nil
	}
	confirmed := t.config
	if t.older != nil {
		confirmed = t.older.config
	}
	next := newTable(t.personal, config, t.paused)
	if waits = p.widens(newTable(t.personal, confirmed, t.paused), next); waits {
		next.within(confirmed)
	}
	p.replace(next)
	return true, waits
}

func sameRules(a, b map[string]map[string]string) bool {
	return maps.EqualFunc(a, b, func(a, b map[string]string) bool { return maps.Equal(a, b) })
}

// Confirm puts what waits of the configuration into effect.
func (p *Permits) Confirm() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if t := p.table.Load(); t.older != nil {
		p.replace(newTable(t.personal, t.config, t.paused))
	}
}

// Hold bounds the configuration by an earlier one: what it allows beyond that waits until [Permits.Confirm].
func (p *Permits) Hold(earlier map[string]map[string]string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	t := p.table.Load()
	p.replace(newTable(t.personal, t.config, t.paused).within(earlier))
}

// Revoke takes a grant back and reports whether there was one.
func (p *Permits) Revoke(id, by string) bool {
	g, there := p.grants.revoke(id)
	if there {
		p.record(call.Entry{Kind: call.EntryRule, Session: call.Session{Client: g.Client, ID: g.Session}, Tool: g.Tool, Profile: g.Profile, Origin: g.Origin,
			Decision: "revoked", DecidedBy: by, Detail: "what was allowed for a while was taken back"})
		p.news(TopicPermissions)
	}
	return there
}

// Forget ends what was allowed for a while to sessions or clients that have left.
func (p *Permits) Forget(ended func(Grant) bool) {
	if p.grants.forget(ended) {
		p.news(TopicPermissions)
	}
}

// Paused reports whether everything is stopped.
func (p *Permits) Paused() bool { return p.table.Load().paused }

// Pause stops everything, or lets it go on. Questions that wait are answered with no. The calls that run are for the
// caller to end.
func (p *Permits) Pause(ctx context.Context, paused bool, by string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	value, said := "false", "agents may call tools again"
	if paused {
		value, said = "true", "every agent was stopped"
	}
	if p.table.Load().paused == paused {
		return nil
	}
	t := p.table.Load()
	if paused { // even if it cannot be written down
		p.replace(t.with(t.personal, true))
	}
	if err := p.options.Store.SetSwitch(ctx, pausedSwitch, value); err != nil {
		return fmt.Errorf("the switch was not written down: %w", err)
	}
	p.record(call.Entry{Kind: call.EntrySwitch, Decision: map[bool]string{true: "stopped", false: "resumed"}[paused], DecidedBy: by, Detail: said})
	p.publish(event.OfPerson(), strings.ToUpper(said[:1])+said[1:], map[string]any{"paused": paused, "by": by})
	if !paused {
		p.replace(t.with(t.personal, false))
	}
	p.news(TopicPaused)
	return nil
}

// OnChange calls listener, which must not block, after the rules have changed.
func (p *Permits) OnChange(listener func()) (stop func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watched++
	id := p.watched
	p.watchers[id] = listener
	return func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.watchers, id)
	}
}

// reload reads the rules after a change. The lock is held.
func (p *Permits) reload(ctx context.Context) error {
	rules, err := p.options.Store.Rules(ctx)
	if err != nil {
		return fmt.Errorf("the rule was written down, but is in effect only after a restart: %w", err)
	}
	t := p.table.Load()
	p.replace(t.with(rules, t.paused))
	return nil
}

// replace puts rules into effect: questions that need no answer any more are settled. The lock is held.
func (p *Permits) replace(t *table) {
	p.table.Store(t)
	p.watchExpiry()
	p.settleByRule()
	p.news(TopicPermissions)
	for _, listener := range p.watchers {
		listener()
	}
}

// watchExpiry tells of a rule that ends. The lock is held.
func (p *Permits) watchExpiry() {
	if p.expiry != nil {
		p.expiry.Stop()
	}
	var next time.Time
	now := time.Now()
	for _, r := range p.table.Load().personal {
		if r.Until.After(now) && (next.IsZero() || r.Until.Before(next)) {
			next = r.Until
		}
	}
	if next.IsZero() {
		return
	}
	p.expiry = time.AfterFunc(next.Sub(now), func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.replace(p.table.Load())
	})
}

func (p *Permits) news(topic string) {
	if p.options.News != nil {
		p.options.News(topic)
	}
}

func (p *Permits) publish(owner event.Owner, message string, data map[string]any) {
	if p.options.Events != nil {
		p.options.Events(owner, event.Approval, message, data)
	}
}

func (p *Permits) record(e call.Entry) {
	if p.options.Audit != nil {
		e.At = time.Now()
		p.options.Audit(e)
	}
}
