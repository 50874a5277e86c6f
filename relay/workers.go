package relay

import (
	"context"
	"os"
	"path/filepath"

	"tabrelay/relay/agent"
	"tabrelay/relay/agent/worker"
	"tabrelay/relay/call"
	"tabrelay/relay/config"
	"tabrelay/relay/fault"
)

// newWorker makes a configured program, which does not run yet, and the agent that it is. Whoever has it closes it.
func (r *Relay) newWorker(id string, c config.Worker) (*worker.Worker, *agent.Program) {
	w := worker.New(worker.Options{
		ID: id, Command: c.Command, Args: c.Args, Env: c.Env, Dir: c.Dir, Protocol: worker.Protocol(c.Protocol),
		Folder: filepath.Join(r.Home.Workers(), id), Version: Version, Log: r.part("worker"),
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
