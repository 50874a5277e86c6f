package dispatch

import (
	"math"
	"sync"

	"tabrelay/relay/call"
	"tabrelay/relay/untrusted"
)

// How many bytes of what a page says on the way are passed on: of a step of progress, and of a line of its log.
const (
	mostStep   = 500
	mostLogged = 4000
	mostData   = 16 << 10 // of JSON
)

// feed passes progress and log entries on to the caller: one at a time, progress only upwards, nothing after the
// call's end. The zero value passes nothing on but keeps time.
type feed struct {
	mu     sync.Mutex
	closed bool
	tell   func(call.Progress) // may be nil
	write  func(call.LogEntry) // may be nil
	last   float64
	moved  bool // last is the value of a progress that was passed on
}

// progress passes a step on and reports whether the call still runs.
func (f *feed) progress(p call.Progress) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	if f.tell != nil {
		p.Progress = f.upwards(p)
		f.last, f.moved = p.Progress, true
		p.Message = untrusted.Line(p.Message, mostStep) // clients print it to terminals
		f.tell(p)
	}
	return true
}

// upwards is the step's value, or a little more than the one before: MCP wants every value to exceed the last,
// and pages report messages without a value, or start again from nothing.
func (f *feed) upwards(p call.Progress) float64 {
	ok := !math.IsNaN(p.Progress) && !math.IsInf(p.Progress, 0)
	switch {
	case ok && (!f.moved || p.Progress > f.last):
		return p.Progress
	case !f.moved:
		return 0
	}
	if p.Total != nil {
		if step := (*p.Total - f.last) / 1024; step > 0 && f.last+step > f.last {
			return f.last + step // never reaches the total
		}
	}
	if next := f.last + 1; p.Total == nil && next > f.last {
		return next
	}
	return math.Nextafter(f.last, math.Inf(1))
}

// announce tells what the relay itself does meanwhile. It moves the value as little as it can, and it is not a
// sign of life of the tool.
func (f *feed) announce(message string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || f.tell == nil {
		return
	}
	if f.moved {
		f.last = max(f.last+1.0/1024, math.Nextafter(f.last, math.Inf(1)))
	}
	f.moved = true
	f.tell(call.Progress{Progress: f.last, Message: message})
}

func (f *feed) log(e call.LogEntry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed && f.write != nil {
		e.Message = untrusted.Line(e.Message, mostLogged)
		if len(e.Data) > mostData {
			e.Data, e.Message = nil, e.Message+" (with data that are too large to pass on)"
		}
		f.write(e)
	}
}

// close returns once nothing is being passed on, and nothing will be.
func (f *feed) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
}

// progress is what a running tool reports to.
func (r *run) progress(p call.Progress) {
	if r.feed.progress(p) {
		r.clock.progressed()
		r.steps(p)
	}
}
