package script

import (
	"time"

	"tabrelay/relay/lib/lock"
)

// clock is the time that a script has. It stands still while a person is asked.
type clock struct {
	mu     lock.Mutex
	timer  *time.Timer
	left   time.Duration
	since  time.Time // of a clock that runs
	pauses int
	ended  bool
	outer  func() (resume func()) // stops the clock of the call that the script is; may be nil
	resume func()                 // of that, while there are pauses
}

// newClock makes a clock that runs, and calls over when its time is.
func newClock(left time.Duration, outer func() (resume func()), over func()) *clock {
	return &clock{left: left, since: time.Now(), outer: outer, timer: time.AfterFunc(left, over)}
}

// pause stops the clock until resume; several may overlap.
func (c *clock) pause() (resume func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pauses++; c.pauses == 1 {
		if !c.ended {
			c.timer.Stop()
			c.left -= time.Since(c.since)
		}
		if c.outer != nil {
			c.resume = c.outer()
		}
	}
	return c.unpause
}

func (c *clock) unpause() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.pauses--; c.pauses > 0 {
		return
	}
	if c.resume != nil {
		c.resume()
	}
	if !c.ended {
		c.since = time.Now()
		c.timer.Reset(max(c.left, 0))
	}
}

func (c *clock) stop() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	c.timer.Stop()
}
