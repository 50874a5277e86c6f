package relay

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"strings"
	"testing"
	"time"

	"tabrelay/relay/capability/delegation"
	"tabrelay/relay/capability/delegation/agentconfig"
	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/capability/delegation/provider/providertest"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/fault/faulttest"
	"tabrelay/relay/state/config"
)

// failing are the steps of the providers whose agents fail in TestFailuresOfDelegation, by the agent's name.
var failing = map[string]providertest.Step{
	"refused-key":     {Status: 401},
	"refused-request": {Status: 400},
	"limited":         {Status: 429},
	"down":            {Status: 503},
	"odd":             {Status: 418, Body: "short and stout"},
	"slow":            {Holds: true},
	"talks":           {Holds: true},
}

// delegating is a configuration with an agent for each failing provider, and workers that fail.
func delegating(t *testing.T, c *config.Config) {
	t.Helper()
	binary, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	c.Errors.Transient.Retry.MaxAttempts = 1
	s := agentconfig.Section.Of(*c)
	s.Limits.MaxSessions = 1
	s.Providers, s.Agents = map[string]agentconfig.Provider{}, map[string]agentconfig.Agent{}
	add := func(name, address string) {
		s.Providers[name] = agentconfig.Provider{Kind: string(provider.OpenAI), BaseURL: address,
			Models: []string{providertest.Model}}
		s.Agents[name] = agentconfig.Agent{Providers: []string{name}}
	}
	for name, step := range failing {
		add(name, providertest.NewFunc(t, provider.OpenAI, func(providertest.Request) providertest.Step {
			return step
		}).URL)
	}
	add("unreachable", "http://"+unused(t)+"/v1")
	s.Workers = map[string]agentconfig.Worker{
		"missing": {Command: "no-such-program-of-tabrelay", Protocol: "acp"},
		"works":   {Command: binary, Protocol: "acp", Env: map[string]string{"RELAY_TEST_WORKER": "http"}},
	}
	agentconfig.Section.Change(c, func(given *agentconfig.Settings) { *given = s })
}

// unused is an address on which nobody listens.
func unused(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() // its address is all that is wanted
	return l.Addr().String()
}

// delegationFailed is the failure that a client got from a tool of delegation, as programs read it in _meta.
func delegationFailed(t *testing.T, answer string) (*fault.Error, string) {
	t.Helper()
	var got struct {
		Result struct {
			IsError bool
			Content []struct{ Text string }
			Meta    struct {
				Failure *fault.Error `json:"tabrelay/error"`
			} `json:"_meta"`
		}
	}
	if err := json.Unmarshal([]byte(answer), &got); err != nil || !got.Result.IsError || len(got.Result.Content) == 0 {
		t.Fatalf("no failure (%v): %s", err, answer)
	}
	return got.Result.Meta.Failure, got.Result.Content[0].Text
}

// parsed is a failure as clients of mcp-agentic parse it from its text.
type parsed struct {
	Error string
	Code  int
	Data  struct {
		Code      fault.Code
		Type      fault.Source
		Retryable bool
		Recovery  []string
	}
}

// What a client reads of each failure of delegation is what the table says, in the text as in _meta, and the audit log
// has the same code and outcome.
func TestFailuresOfDelegation(t *testing.T) {
	w := newWorld(t)
	_, end := w.relayAs(func(c *config.Config) { delegating(t, c) })
	a := w.agent(nobodyStarts)
	id := 100
	calls := func(tool, arguments string) string {
		id++
		a.call(id, tool, arguments)
		answer, _ := a.hearsUntil(fmt.Sprintf(`"id":%d,`, id))
		return answer
	}
	errand := func(agent, prompt, more string) string {
		return fmt.Sprintf(`{"agentId":%q,"prompt":%q%s}`, agent, prompt, more)
	}
	var failures []*fault.Error
	for _, c := range []struct{ situation, tool, arguments string }{
		{"agent-unknown", "tasks_delegate", errand("nobody", "x", "")},
		{"agent-unknown", "sessions_create", `{"agentId":"nobody"}`},
		{"not-configured", "tasks_delegate", errand("slow", "x", `,"metadata":{"provider":"nothing"}`)},
		{"session-unknown", "sessions_prompt", `{"sessionId":"00","prompt":"x"}`},
		{"session-unknown", "sessions_status", `{"sessionId":"00"}`},
		{"provider-refuses-key", "tasks_delegate", errand("refused-key", "x", "")},
		{"provider-refuses-request", "tasks_delegate", errand("refused-request", "x", "")},
		{"provider-rate-limit", "tasks_delegate", errand("limited", "x", "")},
		{"provider-down", "tasks_delegate", errand("down", "x", "")},
		{"provider-unreachable", "tasks_delegate", errand("unreachable", "x", "")},
		{"provider-slow", "tasks_delegate", errand("slow", "x", `,"timeout":100`)},
		{"provider-odd", "tasks_delegate", errand("odd", "x", "")},
		{"worker-does-not-start", "tasks_delegate", errand("missing", "x", "")},
		{"worker-bad-reply", "tasks_delegate", errand("works", "babble", "")},
		{"worker-failed", "tasks_delegate", errand("works", "die", "")},
		{"worker-failed", "tasks_delegate", errand("works", "refuse", "")},
		{"worker-slow", "tasks_delegate", errand("works", "hang", `,"timeout":1000`)},
	} {
		failure, text := delegationFailed(t, calls(c.tool, c.arguments))
		faulttest.Provoked(t, c.situation, failure)
		var says parsed
		if err := json.Unmarshal([]byte(text), &says); err != nil || says.Data.Code != failure.Code ||
			says.Data.Retryable != failure.Retryable || says.Data.Type != failure.Source || says.Error == "" {
			t.Errorf("%s: the text says (%v) %s", c.situation, err, text)
		}
		for _, leak := range faulttest.Leaks(text) {
			t.Errorf("%s: the text shows %s: %s", c.situation, leak, text)
		}
		failures = append(failures, failure)
	}
	end()
	n := 0
	for _, row := range w.auditRows() {
		if row.Kind != "call" || row.Plugin != "agents" {
			continue
		}
		if n == len(failures) || row.Code != string(failures[n].Code) || row.Outcome != string(failures[n].Outcome) ||
			row.CallID != failures[n].CorrelationID {
			t.Errorf("written down as %+v, want %+v", row, failures[min(n, len(failures)-1)])
		}
		n++
	}
	if n != len(failures) {
		t.Errorf("%d rows of %d", n, len(failures))
	}
}

// A session takes one prompt at a time, and while it is open there may be no room for another one.
func TestASessionThatIsTaken(t *testing.T) {
	w := newWorld(t)
	w.relayAs(func(c *config.Config) {
		delegating(t, c)
		agentconfig.Section.Change(c, func(s *agentconfig.Settings) { s.Limits.DefaultAgent = "talks" })
	})
	a := w.agent(nobodyStarts)
	id := a.opens()
	a.call(1, "sessions_create", `{}`)
	answer, _ := a.hearsUntil(`"id":1,`)
	failure, _ := delegationFailed(t, answer)
	faulttest.Provoked(t, "sessions-full", failure)
	a.call(2, "sessions_prompt", `{"sessionId":"`+id+`","prompt":"x"}`)
	for n := 10; !strings.Contains(answer, `"status":"busy"`); n++ {
		a.call(n, "sessions_status", `{"sessionId":"`+id+`"}`)
		answer, _ = a.hearsUntil(fmt.Sprintf(`"id":%d,`, n))
	}
	a.call(3, "sessions_prompt", `{"sessionId":"`+id+`","prompt":"y"}`)
	answer, _ = a.hearsUntil(`"id":3,`)
	failure, _ = delegationFailed(t, answer)
	faulttest.Provoked(t, "session-busy", failure)
	a.call(4, "sessions_cancel", `{"sessionId":"`+id+`"}`)
	a.hearsUntil(`"id":2,`)
}

// broken is an agent with a bug.
type broken struct{ paying }

func (broken) Prompt(context.Context, *delegation.Session, delegation.Prompt) (delegation.Answer, *fault.Error) {
	panic("/home/ann/secret")
}

// A bug in an agent fails its errand and nothing else.
func TestAnAgentWithABug(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relayAs(func(c *config.Config) { delegating(t, c) })
	delegationOf(r).Sessions.Configure([]*delegation.Member{{Agent: broken{}, Timeout: time.Minute}},
		agentconfig.Section.Of(config.Default()).Limits)
	a := w.agent(nobodyStarts)
	a.call(1, "tasks_delegate", `{"prompt":"x"}`)
	answer, _ := a.hearsUntil(`"id":1,`)
	failure, _ := delegationFailed(t, answer)
	faulttest.Provoked(t, "agent-failed", failure)
}
