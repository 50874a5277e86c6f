package relay

import (
	"context"
	"os"
	"path/filepath"
	"slices"

	"tabrelay/relay/agent"
	"tabrelay/relay/agent/provider"
	"tabrelay/relay/agent/worker"
	"tabrelay/relay/breaker"
	"tabrelay/relay/call"
	"tabrelay/relay/config"
	"tabrelay/relay/event"
	"tabrelay/relay/fault"
	"tabrelay/relay/registry"
)

// newDelegation makes what clients delegate to. Its agents come with the configuration, when the catalog reads that.
func (r *Relay) newDelegation() {
	c := r.config
	r.delegation = agent.NewDelegation(agent.Setup{
		Sessions: agent.Options{
			Tools: toolsOfAgents{r}, Log: r.part("agent"), MaxTimeout: c.MaxTimeout, Events: r.events.Publish,
			Meter: r.meter, Left: r.sessionLeft, Transcripts: r.store, TabGone: r.hub.NoTab, Lend: r.hub.Lend,
			Changed: func() { r.panels.Changed(event.TopicAgents) },
		},
		Retry: c.Errors.Transient.Retry, Breakers: breaker.NewGroup(breakerSettings(c), nil), Ledger: r.store,
		Provider: newProvider, Program: r.newProgram,
	})
	r.own.Agents, r.own.AgentTrouble = r.delegation.Counts, r.delegation.Trouble
}

// newProvider makes a provider of models.
func newProvider(id string, p config.Provider, key string) (provider.Provider, error) {
	return provider.New(provider.Config{
		ID: id, Kind: provider.Kind(p.Kind), BaseURL: p.BaseURL, Key: key, Models: p.Models,
		Defaults: provider.Params(p.Defaults),
	})
}

// newProgram makes the agent of a worker.
func (r *Relay) newProgram(id string, w config.Worker) (made agent.Agent, end func()) {
	running, program := r.newWorker(id, w)
	return program, running.Close
}

// agentsConfigured takes over the agents of a configuration, and lists the tools of delegation where there are some.
func (r *Relay) agentsConfigured(c config.Config) {
	listed := len(r.delegation.Members()) > 0
	r.warnUnpriced(agent.Unpriced(&c), c.Delegation.CostPerDayUSD)
	if err := r.delegation.Configure(context.Background(), &c); err != nil {
		r.Log.Error().Err(err).Msg("the delegated agents stay as they were")
		r.notice("The delegated agents stay as they were: " + err.Error())
		return
	}
	if list := len(r.delegation.Members()) > 0; list != listed || !r.delegates.Swap(true) {
		r.tools.SetBuiltins(slices.Concat(r.own.List(), r.delegation.OwnTools()))
	}
	r.panels.Changed(event.TopicAgents)
}

// warnUnpriced says once which models the bound of a day's cost does not hold for.
func (r *Relay) warnUnpriced(models []string, usd float64) {
	if len(models) == 0 || !r.unpriced.CompareAndSwap(false, true) {
		return
	}
	r.Log.Warn().Strs("models", models).Float64("costPerDayUsd", usd).
		Msg("delegation.costPerDayUsd does not bound what these models cost, which counts as 0 USD: no pricing of " +
			"theirs is configured (providers.<name>.pricing)")
}

// toolsOfAgents are the relay's tools as delegated agents have them.
type toolsOfAgents struct{ relay *Relay }

// List returns the tools that a session may see.
func (t toolsOfAgents) List(s call.Session) []*registry.Tool {
	view := t.relay.policy.View(s)
	return slices.DeleteFunc(slices.Clone(t.relay.tools.Snapshot().Tools),
		func(one *registry.Tool) bool { return view.Shows != nil && !view.Shows(one) })
}

// Offer says which tools are of use in what is open now.
func (t toolsOfAgents) Offer() *registry.Offer {
	return t.relay.tools.Snapshot().Offer(open{t.relay.hub}.Site, false)
}

// Find returns the tool of a name.
func (t toolsOfAgents) Find(name string) (*registry.Tool, bool) {
	return t.relay.tools.Snapshot().Find(name)
}

// Do carries a call out.
func (t toolsOfAgents) Do(ctx context.Context, c call.Call) (*call.Result, *fault.Error) {
	return t.relay.calls.Do(ctx, c)
}

// newWorker makes a configured program, which does not run yet, and the agent that it is. Whoever has it closes it.
func (r *Relay) newWorker(id string, c config.Worker) (*worker.Worker, *agent.Program) {
	env, secrets, trouble := c.Variables(id)
	w := worker.New(worker.Options{
		ID: id, Command: c.Command, Args: c.Args, Env: env, Secrets: secrets, Lacks: trouble, Dir: c.Dir,
		Protocol: worker.Protocol(c.Protocol),
		Folder:   filepath.Join(r.Home.Workers(), id), Version: Version, Log: r.part("worker"),
		Corrupt: func() { r.meter.Corruption("worker") },
	})
	binary, _ := os.Executable() // it is only for programs that cannot use HTTP
	return w, agent.NewProgram(agent.ProgramOptions{
		ID: id, Capabilities: c.Capabilities, Worker: w, URL: "http://" + r.Address() + "/mcp",
		Command: binary, Env: map[string]string{"TABRELAY_HOME": string(r.Home)},
		Lend:   func(s call.Session) (string, func()) { return r.clients.Lend(s) }, // who are not there yet
		Visits: r.visits, Approve: r.approve,
	})
}

// approve asks the person for what a program wants to do by itself.
func (r *Relay) approve(ctx context.Context, a call.Access,
	client func(context.Context, call.Question) (call.Answer, error), tell func(string)) *fault.Error {
	if r.policy.Paused() {
		return fault.New(fault.PermissionDenied, "Every agent was stopped", fault.WithOutcome(fault.NotExecuted))
	}
	_, failure := r.policy.Ask(ctx, a, client, tell)
	return failure
}
