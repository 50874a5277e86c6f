package store

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/road/call"
)

func aTask(id, owner string) call.Task {
	now := time.Now().Truncate(time.Microsecond)
	return call.Task{ID: id, Owner: owner, CallID: "c", Tool: "tasks_delegate", State: call.TaskWorking, Created: now,
		Updated: now, Expires: now.Add(24 * time.Hour), Message: "begun"}
}

func taskOf(t *testing.T, s *Store, id string) (call.Task, bool) {
	t.Helper()
	got, found, err := s.Task(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return got, found
}

func TestTasksAreKept(t *testing.T) {
	s := openStore(t, home(t).Database())
	task := aTask("1", "client web")
	if err := s.KeepTask(t.Context(), task); err != nil {
		t.Fatal(err)
	}
	if got, found := taskOf(t, s, "1"); !found || !cmp.Equal(got, task) {
		t.Error(cmp.Diff(task, got))
	}
	task.Message, task.Steps = "page 1", []string{"begun", "page 1"}
	s.TaskMoved(task)
	if got, _ := taskOf(t, s, "1"); !cmp.Equal(got, task) {
		t.Error(cmp.Diff(task, got))
	}
	end := task
	end.State, end.Message, end.Result = call.TaskCompleted, "", []byte(`{"content":[]}`)
	if err := s.EndTask(t.Context(), end); err != nil {
		t.Fatal(err)
	}
	s.TaskMoved(task) // late
	if got, _ := taskOf(t, s, "1"); !cmp.Equal(got, end) {
		t.Error(cmp.Diff(end, got))
	}
	s.ForgetTask("1")
	if _, found := taskOf(t, s, "1"); found {
		t.Error("it is still there")
	}
}

// What the next relay finds: ends as they were, and what ran is lost for as long as somebody may ask.
func TestTasksOutliveTheStore(t *testing.T) {
	path := home(t).Database()
	s := openStore(t, path)
	ended, ran, short := aTask("ended", "client web"), aTask("ran", "client web"), aTask("short", "client web")
	short.Expires = short.Created.Add(time.Minute)
	for _, task := range []call.Task{ended, ran, short} {
		if err := s.KeepTask(t.Context(), task); err != nil {
			t.Fatal(err)
		}
	}
	ended.State, ended.Result = call.TaskFailed, []byte(`{"code":-32603}`)
	if err := errors.Join(s.EndTask(t.Context(), ended), s.Close()); err != nil {
		t.Fatal(err)
	}
	next := openStore(t, path)
	if got, _ := taskOf(t, next, "ended"); !cmp.Equal(got, ended) {
		t.Error(cmp.Diff(ended, got))
	}
	got, _ := taskOf(t, next, "ran")
	if got.State != call.TaskLost || got.Expires.Sub(got.Updated) != keepLostTasks || got.Message != "begun" {
		t.Errorf("what ran is %+v", got)
	}
	if got, _ = taskOf(t, next, "short"); got.State != call.TaskLost || !got.Expires.Equal(short.Expires) {
		t.Errorf("what expires soon is %+v", got)
	}
}

func TestTasksAreBounded(t *testing.T) {
	s := openStore(t, home(t).Database())
	old := aTask("old", "client web")
	old.Expires = old.Created.Add(-time.Second)
	if err := s.KeepTask(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if _, found := taskOf(t, s, "old"); found {
		t.Error("one that has expired is found")
	}
	for n := range maxTasks {
		if err := s.KeepTask(t.Context(), aTask(fmt.Sprint(n), "client web")); err != nil {
			t.Fatal(n, err)
		}
	}
	if err := s.KeepTask(t.Context(), aTask("more", "client web")); !errors.Is(err, call.ErrTooManyTasks) {
		t.Errorf("one more: %v", err)
	}
	large := aTask("large", "client desk") // another client has room
	if err := s.KeepTask(t.Context(), large); err != nil {
		t.Fatal(err)
	}
	large.State, large.Result = call.TaskCompleted, slices.Repeat([]byte("x"), maxTaskBytes)
	if err := s.EndTask(t.Context(), large); err != nil {
		t.Fatal(err)
	}
	if err := s.KeepTask(t.Context(), aTask("next", "client desk")); !errors.Is(err, call.ErrTooManyTasks) {
		t.Errorf("with 16 MiB of results: %v", err)
	}
	left, err := read(t.Context(), s, func(w *writer) (int64, error) {
		_, err := w.pruneTasks(time.Now().Add(25 * time.Hour))
		n, more := w.number("SELECT COUNT(*) FROM tasks")
		return n, errors.Join(err, more)
	})
	if err != nil || left != 0 {
		t.Errorf("%d are left, %v", left, err)
	}
}
