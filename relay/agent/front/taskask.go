package front

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"tabrelay/relay/lib/rawjson"
)

// openInput is something the client has not answered.
type openInput struct {
	Input
	name  string // a key that the task has used for nothing else
	asked *taskQuestion
}

// taskQuestion is what is asked for at once.
type taskQuestion struct {
	left    int
	answers map[string]json.RawMessage // by the keys that the asker knows
	done    chan struct{}
}

// ask asks the client, which finds the questions in the answer to tasks/get, and waits for tasks/update.
func (k *task) ask(ctx context.Context, inputs []Input) (map[string]json.RawMessage, error) {
	q := &taskQuestion{left: len(inputs), answers: map[string]json.RawMessage{}, done: make(chan struct{})}
	k.mu.Lock()
	for i, in := range inputs {
		k.open = append(k.open, openInput{in, k.unused(nameOf(in, i)), q})
	}
	k.kept.Updated = time.Now()
	k.mu.Unlock()
	k.tell()
	defer k.withdraw(q)
	select {
	case <-q.done:
		return q.answers, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}

// unused makes a key out of one that is wanted: it names one question for as long as there is the task.
func (k *task) unused(wanted string) string {
	name := wanted
	for k.used[name] > 0 {
		k.used[wanted]++
		name = fmt.Sprintf("%s-%d", wanted, k.used[wanted])
	}
	k.used[name]++
	return name
}

// withdraw takes back what was asked for and is not answered.
func (k *task) withdraw(q *taskQuestion) {
	k.mu.Lock()
	k.open = slices.DeleteFunc(k.open, func(in openInput) bool { return in.asked == q })
	k.kept.Updated = time.Now()
	k.mu.Unlock()
	k.tell()
}

// answer takes what the client answers. Answers to what is not asked do nothing.
func (k *task) answer(given map[string]json.RawMessage) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.open = slices.DeleteFunc(k.open, func(in openInput) bool {
		answer := given[in.name]
		if !rawjson.IsObject(answer) {
			return false
		}
		in.asked.answers[in.Key] = answer
		if in.asked.left--; in.asked.left == 0 {
			close(in.asked.done)
		}
		return true
	})
	k.kept.Updated = time.Now()
}
