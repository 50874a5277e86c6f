package relay

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"

	"tabrelay/relay/agent/front"
	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/capability/delegation/agentconfig"
	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/capability/delegation/provider/providertest"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/state/config"
)

// errands is a relay with an agent whose model pays and then thinks until it is let go on.
type errands struct {
	alsoHas map[string]agentconfig.Worker // beside the agent on a provider
	*world
	model *providertest.Server
	letGo chan struct{}
	paid  atomic.Int32
}

func newErrands(t *testing.T) *errands {
	e := &errands{world: newWorld(t), letGo: make(chan struct{})}
	e.model = providertest.NewFunc(t, provider.OpenAI, func(r providertest.Request) providertest.Step {
		if len(r.Last().Results) == 0 {
			return providertest.Step{Calls: []provider.ToolCall{{ID: "1", Name: "shop__pay",
				Arguments: json.RawMessage(`{}`)}}}
		}
		return providertest.Step{Wait: e.letGo, Text: "It is paid."}
	})
	return e
}

// start starts a relay with a browser.
func (e *errands) start() (r *Relay, end func()) {
	e.t.Helper()
	r, end = e.relayAs(func(c *config.Config) {
		agentconfig.Section.Change(c, func(s *agentconfig.Settings) {
			s.Providers = map[string]agentconfig.Provider{
				"local": {Kind: string(e.model.Kind), BaseURL: e.model.URL, Models: []string{providertest.Model}}}
			s.Workers = e.alsoHas
		})
	})
	e.browser(func(c *hubtest.Call) {
		c.Started()
		e.paid.Add(1)
		c.Return(json.RawMessage(`{"paid":true}`))
	})
	return r, end
}

// asTask sends a request of a client that has tasks, and returns the answer.
func (a *mcpClient) asTask(id int, method, params string) string {
	a.t.Helper()
	return string(a.says(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{"_meta":{`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":`+
		`{"extensions":{%q:{}}}},%s}}`, id, method, front.Tasks, params)))
}

// delegate delegates an errand and returns the id of the task that it is.
func (a *mcpClient) delegate() (id string) {
	a.t.Helper()
	answer := a.asTask(1, "tools/call", `"name":"tasks_delegate","arguments":{"prompt":"Pay."}`)
	_, rest, isTask := strings.Cut(answer, `"resultType":"task","taskId":"`)
	if !isTask {
		a.t.Fatalf("tasks_delegate answered %s", answer)
	}
	return rest[:32]
}

// task asks for a task until the answer has one of the words, and returns it.
func (a *mcpClient) task(id string, until ...string) (answer string) {
	a.t.Helper()
	for n := 2; ; n++ {
		answer = a.asTask(n, "tasks/get", `"taskId":"`+id+`"`)
		for _, word := range append(until, `"error":`) {
			if strings.Contains(answer, word) {
				return answer
			}
		}
	}
}

func (e *errands) says(answer string, words ...string) {
	e.t.Helper()
	for _, word := range words {
		if !strings.Contains(answer, word) {
			e.t.Errorf("tasks/get answered\n%s\nwithout %s", answer, word)
		}
	}
	if n := e.paid.Load(); n != 1 {
		e.t.Errorf("the page was asked to pay %d times", n)
	}
}

// thinking is what the progress of an errand says once the page has paid.
const thinking = `"statusMessage":"shop__pay in tab 7: done"`

// An errand goes on as a task, without the client that asked for it, and the same client finds it when it is back.
func TestAnErrandAsATask(t *testing.T) {
	e := newErrands(t)
	e.start()
	a := e.agent(nobodyStarts)
	id := a.delegate()
	e.says(a.task(id, thinking), `"status":"working"`)
	stranger := e.agentWith(nobodyStarts, &join.Proxy{Client: "mallory"})
	if answer := stranger.task(id); !strings.Contains(answer, `"code":-32602`) {
		t.Errorf("a stranger got %s", answer)
	}
	a.leave()
	close(e.letGo)
	e.says(e.agent(nobodyStarts).task(id, `"completed"`), `"status":"completed"`, "It is paid.", `shop__pay`)
}

// Cancelling a task ends the request to the model, and says what was done.
func TestATaskIsCancelled(t *testing.T) {
	e := newErrands(t)
	e.start()
	a := e.agent(nobodyStarts)
	id := a.delegate()
	a.task(id, thinking)
	a.asTask(90, "tasks/cancel", `"taskId":"`+id+`"`)
	e.says(a.task(id, `"cancelled"`), `"status":"cancelled"`, `"tabrelay/result"`, `CANCELLED`, `shop__pay`, `executed`)
}

// The person's Stop ends an errand that is a task as any other call.
func TestThePersonStopsATask(t *testing.T) {
	e := newErrands(t)
	r, _ := e.start()
	a := e.agent(nobodyStarts)
	id := a.delegate()
	a.task(id, thinking)
	for _, ended := range r.calls.Interrupt(func(dispatch.Running) bool { return true }, "The person stopped it") {
		<-ended
	}
	e.says(a.task(id, `"completed"`), `"isError":true`, `CANCELLED`, `shop__pay`)
}

// A relay that stops ends its tasks, and the next one tells what they had done to the client that asked for them, which
// is known by its stdio proxy only.
func TestTasksOutliveTheRelay(t *testing.T) {
	e := newErrands(t)
	_, end := e.start()
	restarted := make(chan struct{})
	a := e.agentWith(func(context.Context) (join.State, error) {
		<-restarted
		return join.ReadState(e.home)
	}, &join.Proxy{})
	id := a.delegate()
	a.task(id, thinking)
	end()
	e.start()
	close(restarted)
	e.says(a.task(id, `"completed"`), `"isError":true`, `shop__pay`)
	if answer := e.agentWith(nobodyStarts, &join.Proxy{}).task(id); !strings.Contains(answer, `"code":-32602`) {
		t.Errorf("another attachment got %s", answer)
	}
}
