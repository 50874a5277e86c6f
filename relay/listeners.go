package relay

import (
	"maps"
	"slices"

	"tabrelay/relay/lib/lock"
)

// listeners hear that something happened. The zero value has none.
type listeners struct {
	mu   lock.Mutex // nothing nests in it
	next int
	all  map[int]func()
}

// listen has f, which must not block, hear of it until stop is called.
func (l *listeners) listen(f func()) (stop func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = map[int]func(){}
	}
	id := l.next
	l.next++
	l.all[id] = f
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		delete(l.all, id)
	}
}

func (l *listeners) tell() {
	l.mu.Lock()
	all := slices.Collect(maps.Values(l.all))
	l.mu.Unlock()
	for _, f := range all {
		f()
	}
}
