package store

import (
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tabrelay/relay/road/call"
)

const (
	// How much is kept of the tasks of one client, and of all together. What is asked for beyond that is not made a
	// task, but answered as any other call.
	maxTasks     = 100
	maxTaskBytes = 16 << 20 // of results
	maxAllTasks  = 1000

	keepLostTasks = time.Hour // after the start of the next relay

	countTasks = `SELECT COUNT(*), IFNULL(SUM(IFNULL(LENGTH(result), 0)), 0) FROM tasks
		WHERE owner = ? AND expires > ?`
	countAllTasks = `SELECT COUNT(*) FROM tasks WHERE expires > ?`
	insertTask    = `INSERT INTO tasks (id, owner, call_id, tool, state, created, updated, expires, message, steps)
		VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`
	updateTask = `UPDATE tasks SET state = ?, updated = ?, expires = ?, message = ?, steps = ?, result = ?
		WHERE id = ? AND state = 'working'`
	findTask = `SELECT id, owner, call_id, tool, state, created, updated, expires, message, steps, result FROM tasks
		WHERE id = ? AND expires > ?`
	forgetTask  = `DELETE FROM tasks WHERE id = ?`
	expireTasks = `DELETE FROM tasks WHERE expires <= ?`
	loseTasks   = `UPDATE tasks SET state = 'lost', updated = ?, expires = MIN(expires, ?) WHERE state = 'working'`
)

// KeepTask keeps a task that begins, and returns once it is in the file. The error is [call.ErrTooManyTasks] when its
// owner has too many.
func (s *Store) KeepTask(ctx context.Context, t call.Task) error {
	return s.do(ctx, func(w *writer) error {
		now := time.Now().UnixMicro()
		var own, size, all int64
		if err := w.row(countTasks, []any{t.Owner, now}, &own, &size); err != nil {
			return err
		}
		all, err := w.number(countAllTasks, now)
		if err != nil {
			return err
		}
		if own >= maxTasks || size >= maxTaskBytes || all >= maxAllTasks {
			return call.ErrTooManyTasks
		}
		return w.exec(insertTask, t.ID, t.Owner, string(t.CallID), t.Tool, string(t.State), micros(t.Created),
			micros(t.Updated), micros(t.Expires), t.Message, stepsOf(t))
	})
}

// TaskMoved notes how far a task is. It does not wait for the disk, and changes none that has ended.
func (s *Store) TaskMoved(t call.Task) {
	s.doLater("cannot note how far a task is", t.CallID, func(w *writer) error { return w.updateTask(t) })
}

// EndTask notes how a task ended, and returns once that is in the file.
func (s *Store) EndTask(ctx context.Context, t call.Task) error {
	return s.do(ctx, func(w *writer) error {
		w.pruneSoon = true // there may be some that have expired
		return w.updateTask(t)
	})
}

// ForgetTask forgets a task that its client never heard of. It does not wait for the disk.
func (s *Store) ForgetTask(id string) {
	s.doLater("cannot forget a task", "", func(w *writer) error { return w.exec(forgetTask, id) })
}

func (w *writer) updateTask(t call.Task) error {
	var result []byte // NULL, not the text "null"
	if t.Result != nil {
		result = t.Result
	}
	return w.exec(updateTask, string(t.State), micros(t.Updated), micros(t.Expires), t.Message, stepsOf(t), result,
		t.ID)
}

func stepsOf(t call.Task) string {
	steps, err := json.Marshal(t.Steps)
	if err != nil {
		panic(err) // texts always encode
	}
	return string(steps)
}

// Task returns the task of that id, and false when there is none, or not any more.
func (s *Store) Task(ctx context.Context, id string) (t call.Task, found bool, err error) {
	t, err = read(ctx, s, func(w *writer) (t call.Task, err error) {
		var created, updated, expires int64
		var steps string
		err = w.row(findTask, []any{id, time.Now().UnixMicro()}, &t.ID, &t.Owner, &t.CallID, &t.Tool, &t.State,
			&created, &updated, &expires, &t.Message, &steps, (*[]byte)(&t.Result))
		if err != nil {
			return t, err
		}
		t.Created, t.Updated, t.Expires = timeOf(created), timeOf(updated), timeOf(expires)
		return t, json.Unmarshal([]byte(steps), &t.Steps)
	})
	if errors.Is(err, sql.ErrNoRows) {
		return call.Task{}, false, nil
	}
	if err != nil {
		return call.Task{}, false, fmt.Errorf("cannot read task %s: %w", id, err)
	}
	return t, true, nil
}

// loseTasks marks the tasks that ran when an earlier relay ended.
func (w *writer) loseTasks(now time.Time) error {
	return w.exec(loseTasks, now.UnixMicro(), now.Add(keepLostTasks).UnixMicro())
}

// pruneTasks removes those that have expired.
func (w *writer) pruneTasks(now time.Time) (more bool, err error) {
	return false, w.exec(expireTasks, now.UnixMicro())
}
