package front

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
)

// modern is the _meta of a client that has tasks and forms.
const modern = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
	`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{},"extensions":{"` + Tasks + `":{}}}}`

// taskClient is a client of the modern era on stdio.
type taskClient struct {
	*lineTalker
	t    *testing.T
	last int
}

func newTaskClient(t *testing.T, s *taskMemory) (*taskClient, *fixture) {
	x := newFixture(t, Options{Tasks: s})
	return &taskClient{newLineTalker(t, x.front, ""), t, 0}, x
}

// send sends a request and returns what came back after d.
func (c *taskClient) send(d time.Duration, method, params string) string {
	c.last++
	c.say("", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":%q,"params":{%s,%s}}`+"\n", c.last, method, params,
		modern))
	time.Sleep(d)
	synctest.Wait()
	return c.heard("")
}

// errand begins an errand and returns its answer after a second, and the id of the task that it became.
func (c *taskClient) errand(do ...string) (answer, task string) {
	answer = c.send(time.Second, "tools/call",
		`"name":"demo_errand","arguments":`+string(rawjson.MustEncode(map[string]any{"do": do})))
	if found := given["$TASK"].FindStringSubmatch(answer); found != nil {
		task = found[1]
	}
	return answer, task
}

// get asks for a task and checks that the answer holds all words.
func (c *taskClient) get(id string, words ...string) {
	c.t.Helper()
	answer := c.send(settleTime, methodTaskGet, `"taskId":"`+id+`"`)
	for _, word := range words {
		if !strings.Contains(answer, word) {
			c.t.Errorf("tasks/get says\n%s\nwithout %s", answer, word)
		}
	}
}

// Where no task can be kept, the client waits as for any other call.
func TestCallsThatCannotBeTasks(t *testing.T) {
	for name, limit := range map[string]func(*taskMemory){
		"too many": func(s *taskMemory) { s.most = 0 },
		"no disk":  func(s *taskMemory) { s.fail = errors.New("the disk is full") },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newTaskMemory()
				limit(s)
				c, x := newTaskClient(t, s)
				defer c.hangUp()
				if answer, task := c.errand("sleep 2s"); answer != "" || task != "" {
					t.Errorf("got %s", answer)
				}
				time.Sleep(time.Second)
				synctest.Wait()
				if answer := c.heard(""); !strings.Contains(answer, `"resultType":"complete"`) {
					t.Errorf("got %s", answer)
				}
				if runningTasks(x.front)+len(x.front.inFlight) > 0 {
					t.Error("something is left")
				}
			})
		})
	}
}

// A task has the id of the call that it goes on with, also when its client was asked something before: the request with
// the answer makes no other call.
func TestTaskOfARequestThatWasResumed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTaskMemory()
		c, x := newTaskClient(t, s)
		defer c.hangUp()
		const do = `"name":"demo_errand","arguments":{"do":["ask Really?","sleep 1h"]}`
		asked := c.send(50*time.Millisecond, "tools/call", do)
		_, rest, _ := strings.Cut(asked, `"requestState":"`)
		state, _, isAsked := strings.Cut(rest, `"`)
		if !isAsked {
			t.Fatalf("the client was not asked: %s", asked)
		}
		answer := c.send(time.Second, "tools/call", do+`,"requestState":"`+state+
			`","inputResponses":{"question-1":{"action":"accept","content":{"sure":true}}}`)
		found := given["$TASK"].FindStringSubmatch(answer)
		if found == nil {
			t.Fatalf("it became no task: %s", answer)
		}
		if got, ran := s.now(found[1]).CallID, x.calls[len(x.calls)-1].ID; got != ran || ran == "" {
			t.Errorf("the task has the call %s, and %s runs", got, ran)
		}
		c.send(settleTime, methodTaskCancel, `"taskId":"`+found[1]+`"`)
	})
}

// A relay that stops lets its tasks go on for a moment, and then keeps what they have done.
func TestTasksAndTheEndOfTheRelay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTaskMemory()
		c, x := newTaskClient(t, s)
		_, short := c.errand("sleep 2s")
		_, long := c.errand("say page 1 is saved", "sleep 1h")
		began := time.Now()
		if err := x.front.Shutdown(t.Context()); err != nil || time.Since(began) != taskPatience {
			t.Errorf("%v after %s", err, time.Since(began))
		}
		c.hangUp()
		if got := s.now(short); got.State != call.TaskCompleted || !strings.Contains(string(got.Result), "done") {
			t.Errorf("the short one is %+v", got)
		}
		if got := s.now(long); got.State != call.TaskCompleted ||
			!strings.Contains(string(got.Result), "CANCELLED") ||
			!slices.Equal(got.Steps, []string{"page 1 is saved"}) {
			t.Errorf("the long one is %+v", got)
		}
		if fmt.Sprint(x.causes) != fmt.Sprint([]error{errShutdown}) {
			t.Errorf("ended with %v", x.causes)
		}
		next, _ := newTaskClient(t, s) // of the next relay
		defer next.hangUp()
		next.get(short, `"status":"completed"`, "done")
		next.get(long, `"status":"completed"`, `"isError":true`, "CANCELLED")
	})
}

// Of a task that ran when its relay was killed, its last steps are known.
func TestLostTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s, now := newTaskMemory(), time.Now()
		s.tasks["1"] = call.Task{ID: "1", Owner: "client test", Tool: "demo_errand", State: call.TaskLost, Created: now,
			Updated: now, Expires: now.Add(time.Hour), Message: "saving page 2", Steps: []string{"page 1 is saved",
				"saving page 2"}}
		c, _ := newTaskClient(t, s)
		defer c.hangUp()
		c.get("1", `"status":"failed"`, `"statusMessage":"The relay ended`, `"error":{"code":-32603`,
			`"outcome":"unknown"`, `"steps":["page 1 is saved","saving page 2"]`, `"ttlMs":3600000`)
		c.send(settleTime, methodTaskCancel, `"taskId":"1"`)
		c.get("1", `"status":"failed"`)
	})
}

// A task that runs is not forgotten, one that runs for ever is ended, and its end can be read for a while.
func TestLongTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, x := newTaskClient(t, newTaskMemory())
		defer c.hangUp()
		_, id := c.errand("sleep 48h")
		time.Sleep(time.Hour + 40*time.Minute)
		c.get(id, `"status":"working"`, `"ttlMs":9000000`)
		time.Sleep(maxTask - 2*keepTask)
		c.get(id, `"status":"completed"`, "CANCELLED", `"ttlMs":86400000`)
		if fmt.Sprint(x.causes) != fmt.Sprint([]error{errTaskTooLong}) {
			t.Errorf("ended with %v", x.causes)
		}
		time.Sleep(2 * keepTask)
		c.get(id, `"code":-32602`)
	})
}

// Steps that come fast are written down together, and only the last hundred.
func TestStepsOfTasks(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTaskMemory()
		c, _ := newTaskClient(t, s)
		defer c.hangUp()
		do := []string{"say at once", "sleep 1s"}
		for i := range 150 {
			do = append(do, fmt.Sprintf("say step %d", i), "sleep 1ms")
		}
		_, id := c.errand(append(do, "sleep 1h")...)
		if got := s.now(id); got.Message != "at once" || !slices.Equal(got.Steps, []string{"at once"}) {
			t.Errorf("at the beginning %+v is kept", got)
		}
		time.Sleep(time.Second)
		c.get(id, `"statusMessage":"step 149"`)
		if got := s.now(id); s.saves() != 1 || len(got.Steps) != maxSteps || got.Steps[maxSteps-1] != "step 149" {
			t.Errorf("kept %d times: %q", s.saves(), got.Steps)
		}
		c.send(settleTime, methodTaskCancel, `"taskId":"`+id+`"`)
	})
}

// Whatever is done to tasks at once, each has one end.
func TestTasksAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newTaskMemory()
		c, x := newTaskClient(t, s)
		for i := range 50 {
			c.say("", fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"demo_errand",`+
				`"arguments":{"do":["say a","sleep %dms","ask Really?","say b","sleep 1s"]},%s}}`+"\n", i, 95+i/5,
				modern))
		}
		time.Sleep(150 * time.Millisecond)
		synctest.Wait()
		for i, found := range given["$TASK"].FindAllStringSubmatch(c.heard(""), -1) {
			params := `"taskId":"` + found[1] + `"`
			for n, line := range []string{
				`tasks/get","params":{`,
				`tasks/update","params":{"inputResponses":{"question-1":{"action":"cancel"}},`,
				`tasks/get","params":{`,
				[]string{`tasks/cancel`, `tasks/get`}[i%2] + `","params":{`,
			} {
				c.say("", fmt.Sprintf(`{"jsonrpc":"2.0","id":"%d-%d","method":"%s%s,%s}}`+"\n", i, n, line, params,
					modern))
			}
		}
		time.Sleep(6 * time.Minute)
		synctest.Wait()
		c.hangUp()
		states := map[call.TaskState]int{}
		for _, task := range s.tasks {
			states[task.State]++
		}
		if states[call.TaskWorking] > 0 || states[call.TaskCompleted] == 0 || states[call.TaskCancelled] == 0 {
			t.Errorf("the tasks are %v", states)
		}
		if runningTasks(x.front)+len(x.front.inFlight) > 0 {
			t.Error("something is left")
		}
	})
}

// Nothing that a client sends breaks more than its own request.
func FuzzTaskRequests(f *testing.F) {
	f.Add(methodTaskGet, `{"taskId":"1"}`)
	f.Add(methodTaskUpdate, `{"taskId":"1","inputResponses":{"question-1":{"action":"accept"},"b":[],"":null}}`)
	f.Add(methodTaskCancel, `{"taskId":1}`)
	f.Fuzz(func(t *testing.T, method, params string) {
		m, fail := parse([]byte(`{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":` + params + `}`))
		if fail != nil {
			return
		}
		m.method = method
		s, now := newTaskMemory(), time.Now()
		s.tasks["1"] = call.Task{ID: "1", Owner: "client test", State: call.TaskLost, Created: now,
			Expires: now.Add(time.Hour)}
		x := newFixture(t, Options{Tasks: s})
		p := &peer{session: call.Session{ID: "1", Client: "test"}}
		able := &mcp.ClientCapabilities{Extensions: map[string]any{Tasks: true}}
		meta := requestMeta{modern: true, Capabilities: able}
		r := x.front.serveTask(t.Context(), p, &exchange{id: []byte("1"), modern: true}, &m, &meta)
		if !rawjson.Valid(r.body) || bytes.ContainsRune(r.body, '\n') {
			t.Errorf("%s %s is answered with %s", method, params, r.body)
		}
	})
}

func runningTasks(f *Front) (n int) {
	for range f.tasks.Range {
		n++
	}
	return n
}
