package front

import (
	"context"
	"encoding/json"
	"errors"
	"strconv"
	"strings"
	"sync"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

// errandTool may go on as a task. Its argument "do" says what it does, one thing after the other.
var errandTool = registry.Tool{Name: "demo_errand", Task: true, Spec: plugin.Tool{Description: "Takes long.",
	InputSchema: json.RawMessage(`{"type":"object"}`)}}

func (x *fixture) errand(ctx context.Context, c call.Call, result func(string) *call.Result) (*call.Result,
	*fault.Error) {
	var a struct{ Do []string }
	if err := json.Unmarshal(c.Arguments, &a); err != nil {
		panic(err)
	}
	var said []string
	for i, what := range a.Do {
		verb, words, _ := strings.Cut(what, " ")
		switch verb {
		case "say":
			c.Progress(call.Progress{Progress: float64(i), Message: words})
		case "sleep":
			d, err := time.ParseDuration(words)
			if err != nil {
				panic(err)
			}
			select {
			case <-time.After(d):
			case <-ctx.Done():
				return nil, x.ended(ctx)
			}
		case "finish": // it cannot be stopped any more
			time.Sleep(time.Second)
		case "ask":
			asking, cancel := context.WithTimeout(ctx, 5*time.Minute)
			answer, err := c.Ask(asking, call.Question{Message: words,
				Schema: json.RawMessage(`{"type":"object","properties":{"sure":{"type":"boolean"}}}`)})
			cancel()
			if err != nil {
				said = append(said, "no answer: "+err.Error())
			} else {
				said = append(said, answer.Action+string(answer.Content))
			}
		case "fail":
			return nil, fault.New(fault.ValidationError, words)
		case "incapable":
			return nil, fault.New(fault.ClientCapabilityMissing, words)
		case "panic":
			panic(words)
		}
	}
	return result(strconv.Quote(strings.Join(append(said, "done"), "; "))), nil
}

// ended is the failure of a call that was ended, as the dispatcher words it.
func (x *fixture) ended(ctx context.Context) *fault.Error {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.causes = append(x.causes, context.Cause(ctx))
	return fault.New(fault.Cancelled, "The call ended while it worked", fault.WithOutcome(fault.Executed))
}

// taskMemory keeps tasks for one test, as the store does.
type taskMemory struct {
	mu    sync.Mutex
	tasks map[string]call.Task
	most  int
	fail  error // of the disk
	moved int   // how often a step was kept
}

func newTaskMemory() *taskMemory { return &taskMemory{tasks: map[string]call.Task{}, most: 100} }

func (s *taskMemory) KeepTask(_ context.Context, t call.Task) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.tasks) >= s.most {
		return call.ErrTooManyTasks
	}
	s.tasks[t.ID] = t
	return s.fail
}

func (s *taskMemory) TaskMoved(t call.Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.moved++
	s.tasks[t.ID] = t
}

// saves is how often steps were kept.
func (s *taskMemory) saves() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.moved
}

func (s *taskMemory) EndTask(_ context.Context, t call.Task) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.tasks[t.ID].State != call.TaskWorking {
		return errors.New("it has ended before")
	}
	s.tasks[t.ID] = t
	return s.fail
}

func (s *taskMemory) ForgetTask(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.tasks, id)
}

func (s *taskMemory) Task(_ context.Context, id string) (call.Task, bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, found := s.tasks[id]
	return t, found && t.Expires.After(time.Now()), s.fail
}

// now is a task as it is kept now.
func (s *taskMemory) now(id string) call.Task {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.tasks[id]
}
