package relay

import (
	"context"
	"encoding/json"
	"testing"

	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/capability/delegation"
	"tabrelay/relay/capability/delegation/agentconfig"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
)

// paying is an agent that pays whatever it is asked.
type paying struct{}

func (paying) Info() delegation.Info {
	return delegation.Info{ID: "payer", Status: delegation.Ready}
}

func (paying) Open(context.Context, *delegation.Session) *fault.Error { return nil }
func (paying) Close(*delegation.Session, delegation.Reason)           {}
func (paying) Prompt(
	ctx context.Context, s *delegation.Session, _ delegation.Prompt,
) (delegation.Answer, *fault.Error) {
	_, failure := s.Do(ctx, call.Call{Tool: "shop__pay", Arguments: json.RawMessage(`{}`)})
	return delegation.Answer{}, failure
}

// read asks for something as the person.
func (w *world) read(t *testing.T, path string, into any) {
	t.Helper()
	status, answer := w.person(t, "GET", path, "")
	if err := json.Unmarshal([]byte(answer), into); status != 200 || err != nil {
		t.Fatal(path, status, answer, err)
	}
}

// The person sees what a delegated agent does, in whose name, and with which colour, and stops it.
func TestThePersonSeesAndStopsADelegatedAgent(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	begun := make(chan *hubtest.Call, 1)
	w.browser(func(c *hubtest.Call) { c.Started(); begun <- c })
	delegationOf(r).Sessions.Configure([]*delegation.Member{{Agent: paying{}, Program: "/bin/payer"}},
		agentconfig.Section.Of(config.Default()).Limits)
	asker := call.Session{ID: "stdio:1", Client: "ann", Via: call.ViaStdio}
	var opened [2]delegation.View
	for i := range opened {
		var failure *fault.Error
		if opened[i], failure = delegationOf(r).Create(t.Context(), delegation.Asked{Asker: asker}); failure != nil {
			t.Fatal(failure)
		}
	}
	failures := make(chan *fault.Error, 1)
	go func() {
		_, failure := delegationOf(r).Prompt(t.Context(), asker, opened[0].ID, delegation.Errand{Text: "Pay."})
		failures <- failure
	}()
	<-begun

	var running httpapi.RunningCalls
	w.read(t, "/api/v1/running", &running)
	if len(running.Calls) != 1 || running.Calls[0].Client != "ann" || running.Calls[0].Agent != "payer" ||
		running.Calls[0].AgentSession != opened[0].ID {
		t.Errorf("running: %+v", running)
	}
	var agents delegation.Configured
	w.read(t, "/api/v1/agents", &agents)
	if len(agents.Agents) != 1 || agents.Agents[0].Program != "/bin/payer" || agents.Sessions != 2 {
		t.Errorf("agents: %+v", agents)
	}
	var sessions delegation.OpenSessions
	w.read(t, "/api/v1/agents/sessions", &sessions)
	if len(sessions.Sessions) != 2 || sessions.Sessions[0].State != delegation.StateBusy ||
		sessions.Sessions[0].Doing.Turn != 1 || sessions.Sessions[0].Color == sessions.Sessions[1].Color {
		t.Errorf("sessions: %+v", sessions)
	}
	if status, answer := w.person(t, "POST", "/api/v1/agents/sessions/"+opened[0].ID+"/stop", ""); status != 200 {
		t.Fatal(status, answer)
	}
	if failure := <-failures; failure == nil || failure.Code != fault.Cancelled ||
		failure.Message != "The person stopped the agent" {
		t.Error(failure)
	}
	w.read(t, "/api/v1/agents/sessions", &sessions)
	if len(sessions.Sessions) != 1 || sessions.Sessions[0].ID != opened[1].ID {
		t.Errorf("after the stop: %+v", sessions)
	}
}
