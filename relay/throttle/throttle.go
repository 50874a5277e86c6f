// Package throttle slows down who keeps failing to prove who they are, and tells the log of it once instead of every
// time. Whoever proves it never waits, whatever others do: there is only one remote address on this machine, so a budget
// for each sender would be a budget for all, and one that is used up must not shut anybody out.
package throttle

import (
	"context"
	"sync"
	"time"

	"golang.org/x/time/rate"
)

// tellEvery is how often the log hears that failures go on.
const tellEvery = time.Minute

// Budget is what a Failures allows before it slows down.
type Budget struct {
	Burst int           // failures in a row that are answered at once
	Every time.Duration // one more is allowed after each of these
	Pause time.Duration // how long the answer to every other one is held back
}

// Failures counts failed proofs. Its methods may be called concurrently.
type Failures struct {
	limit *rate.Limiter
	pause time.Duration
	tell  func(slowed int)

	mu     sync.Mutex
	slowed int       // since told
	told   time.Time // zero: never
}

// New makes a Failures. tell is called when the budget is used up, and then at most once a minute, with the number of
// failures that were slowed down since it was called last.
func New(b Budget, tell func(slowed int)) *Failures {
	return &Failures{limit: rate.NewLimiter(rate.Every(b.Every), b.Burst), pause: b.Pause, tell: tell}
}

// Note counts one failure, and returns when it may be answered: at once within the budget, else after the pause or when
// ctx ends. It reports whether the failure was slowed down; such a one deserves no line of its own in a log.
func (f *Failures) Note(ctx context.Context) (slowed bool) {
	if f.limit.Allow() {
		return false
	}
	f.count()
	pause := time.NewTimer(f.pause)
	defer pause.Stop()
	select {
	case <-pause.C:
	case <-ctx.Done():
	}
	return true
}

func (f *Failures) count() {
	f.mu.Lock()
	f.slowed++
	slowed, now := f.slowed, time.Now()
	due := f.told.IsZero() || now.Sub(f.told) >= tellEvery
	if due {
		f.slowed, f.told = 0, now
	}
	f.mu.Unlock()
	if due {
		f.tell(slowed)
	}
}
