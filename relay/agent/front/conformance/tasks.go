package main

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"tabrelay/relay/agent/front"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// moment is longer than a front waits before it makes a task of a call.
const moment = 300 * time.Millisecond

// taskTools are those of the extension of tasks. All but greet may go on as one.
func (x *fixture) taskTools() []tool {
	return []tool{
		{"greet", "Greets at once.", anything, func(_ context.Context, c toolCall) (*call.Result, *fault.Error) {
			return content(text("Hello, " + argument(c, "name") + "!")), nil
		}},
		{"slow_compute", "Takes as many seconds as it is told.", anything, slowCompute},
		{"failing_job", "Fails after a second, and only as a task.", anything, failingJob},
		{"protocol_error_job", "Has a bug.", anything, func(ctx context.Context, c toolCall) (*call.Result,
			*fault.Error) {
			_ = sleep(ctx, moment)
			panic("a fixture's bug")
		}},
		{"confirm_delete", "Asks once it is a task.", anything, asksLater("Deleted.",
			form("confirm", "Really delete it?", confirmSchema))},
		{"multi_input", "Asks for two things once it is a task.", anything, asksLater("Both.",
			form("first", "What is your name?", nameSchema), form("second", "What is your color?", colorSchema))},
		{"test_tool_with_task", "Asks, and then goes on as a task.", anything, greetLater},
	}
}

// isTask reports whether a tool may go on as a task.
func isTask(name string) bool {
	switch name {
	case "slow_compute", "failing_job", "protocol_error_job", "confirm_delete", "multi_input", "test_tool_with_task":
		return true
	}
	return false
}

func slowCompute(ctx context.Context, c toolCall) (*call.Result, *fault.Error) {
	var a struct{ Seconds float64 }
	if err := json.Unmarshal(c.Arguments, &a); err != nil {
		return nil, fault.New(fault.ValidationError, "seconds is not a number")
	}
	if fail := sleep(ctx, time.Duration(a.Seconds*float64(time.Second))); fail != nil {
		return nil, fail
	}
	return content(text(fmt.Sprintf("Computed for %v s.", a.Seconds))), nil
}

// failingJob is for clients with tasks only.
func failingJob(ctx context.Context, c toolCall) (*call.Result, *fault.Error) {
	if !c.client.Can(front.Tasks) {
		return nil, fault.New(fault.ClientCapabilityMissing, "The client has not said that it has tasks",
			fault.WithData(rawjson.MustEncode(map[string]any{"requiredCapabilities": map[string]any{
				"extensions": map[string]any{front.Tasks: map[string]any{}}}})))
	}
	if fail := sleep(ctx, time.Second); fail != nil {
		return nil, fail
	}
	return nil, fault.New(fault.ValidationError, "The job failed, as it always does")
}

// asksLater asks when its call is a task, and repeats the answers.
func asksLater(words string, inputs ...front.Input) run {
	return func(ctx context.Context, c toolCall) (*call.Result, *fault.Error) {
		if fail := sleep(ctx, moment); fail != nil {
			return nil, fail
		}
		answers, fail := request(ctx, c.client, inputs...)
		if fail != nil {
			return nil, fail
		}
		return content(text(words + " " + string(rawjson.MustEncode(answers)))), nil
	}
}

// greetLater asks before its call is a task.
func greetLater(ctx context.Context, c toolCall) (*call.Result, *fault.Error) {
	answers, fail := request(ctx, c.client, form("user_name", "What is your name?", nameSchema))
	if fail == nil {
		fail = sleep(ctx, moment)
	}
	if fail != nil {
		return nil, fail
	}
	return content(text("Hello, " + value(answers["user_name"], "name") + "!")), nil
}

// sleep waits, unless the call ends.
func sleep(ctx context.Context, d time.Duration) *fault.Error {
	select {
	case <-time.After(d):
		return nil
	case <-ctx.Done():
		return fault.CallEnded(ctx, "while it worked")
	}
}

// memory keeps tasks for as long as the server runs.
type memory struct {
	mu   lock.Mutex
	byID map[string]call.Task
}

// KeepTask implements front.TaskStore.
func (s *memory) KeepTask(_ context.Context, t call.Task) error {
	s.TaskMoved(t)
	return nil
}

// TaskMoved implements front.TaskStore.
func (s *memory) TaskMoved(t call.Task) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.byID == nil {
		s.byID = map[string]call.Task{}
	}
	s.byID[t.ID] = t
}

// EndTask implements front.TaskStore.
func (s *memory) EndTask(ctx context.Context, t call.Task) error { return s.KeepTask(ctx, t) }

// ForgetTask implements front.TaskStore.
func (s *memory) ForgetTask(id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.byID, id)
}

// Task implements front.TaskStore.
func (s *memory) Task(_ context.Context, id string) (t call.Task, found bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t, found = s.byID[id]
	return t, found, nil
}
