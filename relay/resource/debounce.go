package resource

import (
	"sync"
	"time"
)

// A change is told when nothing more has changed for quietTime, but no later than restlessTime after the first.
const (
	quietTime    = 200 * time.Millisecond
	restlessTime = 2 * time.Second
)

// debounce tells many changes as one.
type debounce struct {
	quiet, most time.Duration
	tell        func()

	mu    sync.Mutex
	timer *time.Timer // nil: nothing has changed
	first time.Time   // of the changes that are not told yet
	ended bool
}

func newDebounce(quiet, most time.Duration, tell func()) *debounce {
	return &debounce{quiet: quiet, most: most, tell: tell}
}

// hit notes a change. It does not block.
func (d *debounce) hit() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.ended {
		return
	}
	if d.timer == nil {
		d.first = time.Now()
		d.timer = time.AfterFunc(d.quiet, d.fire)
		return
	}
	if left := d.most - time.Since(d.first); left > 0 {
		d.timer.Reset(min(d.quiet, left))
	}
}

func (d *debounce) fire() {
	d.mu.Lock()
	told := d.timer != nil && !d.ended
	d.timer = nil
	d.mu.Unlock()
	if told {
		d.tell()
	}
}

func (d *debounce) stop() {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.ended = true
	if d.timer != nil {
		d.timer.Stop()
	}
}
