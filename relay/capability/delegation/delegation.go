package delegation

import (
	"context"
	"reflect"
	"strings"
	"sync"
	"sync/atomic"

	"tabrelay/relay/capability"
	"tabrelay/relay/capability/delegation/agentconfig"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/program/builtin"
	"tabrelay/relay/road/breaker"
	"tabrelay/relay/road/registry"
)

// Delegation is the agents of a relay, as they are configured, and their sessions.
type Delegation struct {
	*Sessions
	programs *ProgramCalls
	core     capability.Core
	breakers *breaker.Group // of providers
	meters   *meters
	unpriced atomic.Bool // the log says which models have no price

	mu     lock.Mutex // guards the rest; one change is made after the other
	costs  *Costs
	causes sync.Map         // why the last request to a provider failed, by its id
	shapes map[string]shape // by id
}

// shape is what an agent was made of: one that would be made of the same stays.
type shape struct {
	of     any
	member *Member
	close  func() // nil: nothing is to be closed
}

// Configure takes a configuration over. Agents that are configured as before stay, with their sessions. It reads keys,
// so it may take a while.
func (d *Delegation) Configure(ctx context.Context, c *agentconfig.Settings) error {
	d.mu.Lock()
	before := d.shapes
	d.mu.Unlock()
	if err := d.readCosts(ctx, c); err != nil {
		return err
	}
	next, members := map[string]shape{}, []*Member{}
	keys := map[string]agentconfig.Key{}
	for id, p := range c.Providers {
		keys[id] = p.Key(id)
	}
	for _, id := range c.AgentIDs() {
		s := d.shape(id, c, keys)
		if old, ok := before[id]; ok && reflect.DeepEqual(old.of, s.of) {
			s = old
		} else {
			d.make(id, &s, c, keys)
		}
		next[id] = s
		members = append(members, s.member)
	}
	d.mu.Lock()
	d.shapes = next
	d.mu.Unlock()
	d.Sessions.Configure(members, c.Limits)
	for id, old := range before {
		if old.close != nil && next[id].member != old.member {
			old.close()
		}
	}
	return nil
}

// readCosts reads what this day has cost, once there are agents on models.
func (d *Delegation) readCosts(ctx context.Context, c *agentconfig.Settings) error {
	switch costs := d.Costs(); {
	case costs != nil:
		costs.Bound(c.Limits.CostPerDayUSD)
		return nil
	case len(c.Providers) == 0:
		return nil
	}
	costs, err := NewCosts(ctx, Records{d.core.Store}, c.Limits.CostPerDayUSD)
	if err != nil {
		return err
	}
	costs.changed = d.changed
	d.mu.Lock()
	d.costs = costs
	d.mu.Unlock()
	return nil
}

// shape is what the agent of an id is made of.
func (d *Delegation) shape(id string, c *agentconfig.Settings, keys map[string]agentconfig.Key) shape {
	if w, ok := c.Workers[id]; ok {
		return shape{of: w}
	}
	a := c.Agents[id]
	type used struct {
		ID       string
		Provider agentconfig.Provider
		Key      agentconfig.Key
	}
	of := []any{a, c.Limits.HistoryTokens, c.Limits.StreamText, c.Limits.Fallback}
	for _, p := range providersOf(a, c) {
		of = append(of, used{p, c.Providers[p], keys[p]})
	}
	return shape{of: of}
}

// providersOf are the ids of the providers that an agent may use.
func providersOf(a agentconfig.Agent, c *agentconfig.Settings) []string {
	if len(a.Providers) > 0 {
		return a.Providers
	}
	return c.ProviderIDs()
}

// make makes the agent of an id.
func (d *Delegation) make(id string, s *shape, c *agentconfig.Settings, keys map[string]agentconfig.Key) {
	if w, ok := c.Workers[id]; ok {
		running, made := d.NewWorker(id, w)
		s.member, s.close = &Member{Agent: made, Program: w.Command, Timeout: w.Timeout}, running.Close
		return
	}
	a := c.Agents[id]
	o := ModelOptions{
		ID: id, Capabilities: a.Capabilities, SystemPrompt: a.SystemPrompt, Defaults: a.Defaults,
		Retry: d.core.Config.Errors.Transient.Retry, Breakers: d.breakers, HistoryTokens: c.Limits.HistoryTokens,
		StreamText: c.Limits.StreamText, Costs: d.Costs(), Causes: &d.causes,
		Fallback: c.Limits.Fallback,
	}
	for _, p := range providersOf(a, c) {
		o.Providers = append(o.Providers, d.provider(p, c.Providers[p], keys[p]))
	}
	s.member = &Member{Agent: NewModel(o), Tools: a.Tools, ReadOnly: a.ReadOnly, Budget: Budget{
		MaxTurns: a.Budget.MaxTurns, MaxToolCalls: a.Budget.MaxToolCalls, MaxTokens: a.Budget.MaxTokens,
		MaxMs: a.Budget.MaxTime.Milliseconds(),
	}}
}

// provider makes a provider, or says what is missing for it.
func (d *Delegation) provider(id string, c agentconfig.Provider, key agentconfig.Key) ModelProvider {
	p := ModelProvider{ID: id, Models: c.Models, Defaults: c.Defaults, Pricing: c.Pricing,
		Trouble: key.Trouble}
	if p.Trouble != "" {
		return p
	}
	made, err := newProvider(id, c, key.Value)
	if err != nil {
		p.Trouble = "The provider " + id + " cannot be used: " + strings.TrimSuffix(err.Error(), ".") + "."
	}
	p.Provider = made
	return p
}

// Costs is what agents have spent; nil: there are none on models.
func (d *Delegation) Costs() *Costs {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.costs
}

// Health is what bridge_health tells of delegation.
func (d *Delegation) Health() (h builtin.AgentHealth) {
	for _, a := range d.Agents() {
		h.Total++
		if a.Status == Ready {
			h.Ready++
		}
	}
	h.Active, h.Capacity = d.Load()
	h.Trouble, h.Next = d.trouble()
	return h
}

// OwnTools are the tools of delegation. While no agent is configured, only those who ask for them are shown them.
func (d *Delegation) OwnTools() []registry.Tool {
	tools := d.Sessions.OwnTools()
	for i := range tools {
		tools[i].Dormant = len(d.Members()) == 0
	}
	return tools
}

// Close ends all sessions, and then the programs.
func (d *Delegation) Close() {
	d.Shutdown()
	d.mu.Lock()
	shapes := d.shapes
	d.mu.Unlock()
	for _, s := range shapes {
		if s.close != nil {
			s.close()
		}
	}
}
