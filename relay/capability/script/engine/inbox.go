package engine

import (
	"encoding/json"
	"errors"
	"sync"

	"tabrelay/relay/lib/lock"
)

// inbox is what the relay has said and the script has not heard. It is read all the time, so that the relay, which
// reads what the script says meanwhile, never waits for a script that computes.
type inbox struct {
	mu    lock.Mutex
	some  *sync.Cond
	list  []*Ended
	ended error
}

var errMessage = errors.New("the relay said something else than how a call ended")

func newInbox(from *json.Decoder) *inbox {
	b := &inbox{}
	b.some = sync.NewCond(&b.mu)
	go func() {
		for b.ended == nil {
			var told Told
			err := from.Decode(&told)
			if err == nil && told.Ended == nil {
				err = errMessage
			}
			b.mu.Lock()
			if b.ended = err; err == nil {
				b.list = append(b.list, told.Ended)
			}
			b.some.Signal()
			b.mu.Unlock()
		}
	}()
	return b
}

// next waits for the next message.
func (b *inbox) next() (*Ended, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.list) == 0 && b.ended == nil {
		b.some.Wait()
	}
	if len(b.list) == 0 {
		return nil, b.ended
	}
	first := b.list[0]
	b.list = b.list[1:]
	return first, nil
}
