package front

import "sync"

// queue keeps calls in the order in which they were read.
type queue struct {
	last <-chan struct{} // closed when the last call has its place in line; nil: there was none
}

// join puts a call behind those before it. Others may run meanwhile.
func (q *queue) join(x *exchange) {
	before, placed := q.last, make(chan struct{})
	if before == nil {
		nobody := make(chan struct{})
		close(nobody)
		before = nobody
	}
	x.after, q.last = before, placed
	x.placed = sync.OnceFunc(func() {
		select {
		case <-before:
			close(placed)
		default: // it has no use for a place, but those behind it must not pass those before it
			go func() { <-before; close(placed) }()
		}
	})
}
