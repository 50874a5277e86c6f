// Package async has what goroutines wait with: a queue of changes, and a sleep that a context ends.
package async

import (
	"errors"
	"sync"

	"tabrelay/relay/lib/lock"
)

// ErrClosed is the error of a change that came after Close.
var ErrClosed = errors.New("the relay is stopping, so nothing was changed")

// Queue makes changes one after the other, in one goroutine and in the order in which they come: what a change waits
// for, such as a file or the store, keeps only later changes waiting, and no lock is held meanwhile.
type Queue struct {
	changes chan func()
	closing chan struct{} // closed by Close
	ended   chan struct{} // closed when the goroutine has ended
	close   sync.Once
}

// NewQueue starts the goroutine.
func NewQueue() *Queue {
	q := &Queue{changes: make(chan func()), closing: make(chan struct{}), ended: make(chan struct{})}
	go q.run()
	return q
}

func (q *Queue) run() {
	defer close(q.ended)
	for {
		select {
		case change := <-q.changes:
			change()
		case <-q.closing:
			return
		}
	}
}

// Do returns once a change was made. A change must not make another one.
func (q *Queue) Do(change func()) error {
	lock.NoneHeld("a change waits for its turn")
	done := make(chan struct{})
	select {
	case q.changes <- func() { defer close(done); change() }:
		<-done
		return nil
	case <-q.closing:
		return ErrClosed
	}
}

// Close returns once the change that is being made, if any, has been, and no other will be. It may be called more than
// once.
func (q *Queue) Close() {
	q.close.Do(func() { close(q.closing) })
	<-q.ended
}
