package delegation

import (
	"context"
	"os"
	"path/filepath"

	"tabrelay/relay/capability"
	"tabrelay/relay/capability/delegation/agentconfig"
	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/capability/delegation/worker"
	"tabrelay/relay/road/breaker"
	"tabrelay/relay/road/event"
	"tabrelay/relay/state/config"
)

// Name is what settings and tables call it.
const Name = agentconfig.Name

// Capability is delegation, as a program attaches it.
var Capability = capability.Capability{
	Name: Name, Settings: agentconfig.Section, Group: Group,
	Instructions: Instructions, Beside: []string{"bridge_health"},
	Codes: codes.Group, Situations: codes.Situations, Findings: findings, Tables: tables,
	Commands: []capability.Command{agentsCommand},
	New:      func(c capability.Core) capability.Attachment { return New(c).Running() },
}

// New makes delegation in a relay, without agents: they come with the configuration. It pays nothing until there are
// some.
func New(core capability.Core) *Delegation {
	d := &Delegation{
		core: core, meters: newMeters(), programs: NewProgramCalls(), shapes: map[string]shape{},
		breakers: breaker.NewGroup(breaker.Settings(core.Config.Breaker), nil),
	}
	d.Sessions = NewSessions(Options{
		Tools: core.Tools, Log: core.Log("agent"), MaxTimeout: core.Config.MaxTimeout, Events: core.Events.Publish,
		Meter: d.meters, Left: core.ReleaseSession, Transcripts: Records{core.Store}, TabGone: core.NoTab,
		Lend:    core.LendTabs,
		Changed: d.changed,
	})
	return d
}

func (d *Delegation) changed() { d.core.Changed(event.TopicAgents) }

// Running is what it brings to its relay.
func (d *Delegation) Running() capability.Attachment {
	return capability.Attachment{
		Routes: d.routes(), Bounded: d.programs, Meters: d.meters.collectors(), Tools: d.OwnTools,
		Configured: d.configured, SessionEnded: d.SessionEnded, Lacks: d.Lacks, Health: d.Health, Close: d.Close,
	}
}

// newProvider makes a provider of models.
func newProvider(id string, p agentconfig.Provider, key string) (provider.Provider, error) {
	return provider.New(provider.Config{
		ID: id, Kind: provider.Kind(p.Kind), BaseURL: p.BaseURL, Key: key, Models: p.Models,
		Defaults: p.Defaults, Images: p.Images,
	})
}

// configured takes over the agents of a configuration, and lists the tools of delegation where there are some.
func (d *Delegation) configured(all config.Config) {
	c := agentconfig.Section.Of(all)
	listed, log := len(d.Members()) > 0, d.core.Log("agent")
	d.warnUnpriced(Unpriced(&c), c.Limits.CostPerDayUSD)
	if err := d.Configure(context.Background(), &c); err != nil {
		log.Error().Err(err).Msg("the delegated agents stay as they were")
		d.core.Notice("The delegated agents stay as they were: " + err.Error())
		return
	}
	if len(d.Members()) > 0 != listed {
		d.core.ToolsChanged()
	}
	d.changed()
}

// warnUnpriced says once which models the bound of a day's cost does not hold for.
func (d *Delegation) warnUnpriced(models []string, usd float64) {
	if len(models) == 0 || !d.unpriced.CompareAndSwap(false, true) {
		return
	}
	log := d.core.Log("agent")
	log.Warn().Strs("models", models).Float64("costPerDayUsd", usd).
		Msg("delegation.costPerDayUsd does not bound what these models cost, which counts as 0 USD: no pricing of " +
			"theirs is configured (providers.<name>.pricing)")
}

// NewWorker makes a configured program, which does not run yet, and the agent that it is. Whoever has it closes it.
func (d *Delegation) NewWorker(id string, c agentconfig.Worker) (*worker.Worker, *Program) {
	core := d.core
	env, secrets, trouble := c.Variables(id)
	w := worker.New(worker.Options{
		ID: id, Command: c.Command, Args: c.Args, Env: env, Secrets: secrets, Lacks: trouble, Dir: c.Dir,
		Protocol: worker.Protocol(c.Protocol),
		Folder:   filepath.Join(core.Home.Workers(), id), Version: core.Version, Log: core.Log("worker"),
		Corrupt: func() { core.Corrupt("worker") },
	})
	binary, _ := os.Executable() // it is only for programs that cannot use HTTP
	return w, NewProgram(ProgramOptions{
		ID: id, Capabilities: c.Capabilities, Worker: w, URL: "http://" + core.Address() + "/mcp",
		Command: binary, Env: map[string]string{"TABRELAY_HOME": string(core.Home)},
		Lend: core.LendToken, Calls: d.programs, Approve: core.Ask,
	})
}
