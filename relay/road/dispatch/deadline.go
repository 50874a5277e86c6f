package dispatch

import (
	"context"
	"errors"
	"fmt"
	"time"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/fault"
)

// grace is how much later than the page the relay gives up, so that the page normally reports first.
const grace = 2 * time.Second

// slowGrace is how much later the relay gives up on a page that is not in front: after five minutes there Chrome lets
// its timers go off once a minute, so that progress, and the page's own report, can come that late.
const slowGrace = 65 * time.Second

// errDeadline is the cause of a call's context when one of its clocks ran out.
var errDeadline = errors.New("the call's deadline passed")

// clock is the time one call has, from setDeadline on. Two clocks run: idle, which every progress sets back, and
// longest, which nothing does. Both start when the page starts the tool; what the call waited for before that is not
// counted, but bounded.
type clock struct {
	timeout time.Duration // of the page; the relay's is grace longer
	longest time.Duration
	grace   time.Duration // the relay's clocks run that much longer than the page's; 0: there is no page
	extends bool
	made    time.Time // moved on by the time the call was held

	ctx    context.Context // of the delivery: ends with the caller's, by a clock, or by shutdown
	cancel context.CancelCauseFunc
	unstop func() bool

	mu      lock.Mutex
	started time.Time // zero until the page started the tool
	touched time.Time // last progress, or the start
	idle    *time.Timer
	total   *time.Timer // nil until started
	reason  fault.Reason
	slowed  bool      // the page is not in front
	bound   time.Time // until the start: when the call has waited too long for it
	held    time.Time // since when the call waits for its turn; zero: it does not
	pauses  int       // that have not ended
	paused  time.Time // since when, where there are some
}

// setDeadline decides how much time the call has: the caller's wish, else the tool's, else the default, and
// never more than the maximum. Until the page has started the tool, the time it may queue is added.
func (r *run) setDeadline() {
	longest := r.MaxTimeout
	if own := time.Duration(r.tool.Spec.MaxTimeoutMs) * time.Millisecond; own > 0 {
		longest = min(longest, own)
	}
	timeout := r.Timeout
	if own := time.Duration(r.tool.Spec.TimeoutMs) * time.Millisecond; own > 0 {
		timeout = own
	}
	if r.call.Timeout > 0 {
		timeout = r.call.Timeout
		if timeout > longest {
			r.warn(fmt.Sprintf("A timeout of %d ms was asked for and lowered to the maximum of %d ms.",
				timeout.Milliseconds(), longest.Milliseconds()))
		}
	}
	c := &r.clock
	c.timeout, c.longest, c.extends, c.made = min(timeout, longest), longest, r.ProgressExtends, time.Now()
	if r.tool.Run == nil {
		c.grace = grace
	}
	c.ctx, c.cancel = context.WithCancelCause(r.ctx)
	c.unstop = context.AfterFunc(r.Dispatcher.stop, func() { c.cancel(errShutdown) })
	most := c.timeout + c.grace + r.ReconnectWait
	c.bound = c.made.Add(most)
	c.idle = time.AfterFunc(most, func() { c.expire(c.short()) })
}

// short is the reason when the timeout passes.
func (c *clock) short() fault.Reason {
	if c.extends {
		return fault.Idle
	}
	return fault.Fixed
}

// start starts the clocks. A second attempt of the call does not start them again.
func (c *clock) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.started.IsZero() || c.ctx.Err() != nil {
		return
	}
	c.started = time.Now()
	c.touched = c.started
	c.idle.Reset(c.timeout + c.grace)
	if c.extends {
		c.total = time.AfterFunc(c.longest+c.grace, func() { c.expire(fault.MaxExceeded) })
	}
}

// hold stops the clock for a call that waits for its turn. Once the page has started the tool nothing does.
func (c *clock) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started.IsZero() && c.ctx.Err() == nil && c.idle.Stop() {
		c.held = time.Now()
	}
}

// release lets the clock go on where it was held.
func (c *clock) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.held.IsZero() {
		return
	}
	waited := time.Since(c.held)
	c.held, c.made, c.bound = time.Time{}, c.made.Add(waited), c.bound.Add(waited)
	if c.ctx.Err() == nil {
		c.idle.Reset(time.Until(c.bound))
	}
}

// pause stops the clocks of a call that has started while a person is asked; resume lets them go on, once nothing else
// has stopped them.
func (c *clock) pause() (resume func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started.IsZero() || c.ctx.Err() != nil {
		return func() {}
	}
	if c.pauses++; c.pauses == 1 {
		c.paused = time.Now()
		c.idle.Stop()
		if c.total != nil {
			c.total.Stop()
		}
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.pauses--; c.pauses > 0 || c.ctx.Err() != nil {
			return
		}
		now := time.Now()
		since := c.paused
		c.started, c.touched = c.started.Add(now.Sub(since)), c.touched.Add(now.Sub(since))
		c.idle.Reset(c.timeout + c.grace - now.Sub(c.touched))
		if c.total != nil {
			c.total.Reset(c.longest + c.grace - now.Sub(c.started))
		}
	}
}

// progressed gives the call its timeout anew.
func (c *clock) progressed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.extends && !c.started.IsZero() && c.ctx.Err() == nil && c.pauses == 0 {
		c.touched = time.Now()
		c.idle.Reset(c.timeout + c.grace)
	}
}

// slow gives a page that is not in front more time to report.
func (c *clock) slow() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.slowed || c.grace == 0 || c.ctx.Err() != nil {
		return
	}
	c.slowed, c.grace = true, slowGrace
	if c.started.IsZero() {
		return // start sets the clocks
	}
	now := time.Now()
	c.idle.Reset(c.timeout + c.grace - now.Sub(c.touched))
	if c.total != nil {
		c.total.Reset(c.longest + c.grace - now.Sub(c.started))
	}
}

// wasSlow reports whether the page was not in front, and for how long the tool has run.
func (c *clock) wasSlow() (bool, time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.slowed && !c.started.IsZero(), time.Since(c.started)
}

// slowNotice is from when on an answer says why it may have taken so long.
const slowNotice = 10 * time.Second

func (r *run) warnSlow() {
	if slow, ran := r.clock.wasSlow(); slow && ran > slowNotice {
		r.warn("The tab was not in front, where Chrome slows the timers of its page: in front the call may be faster.")
	}
}

func (c *clock) expire(reason fault.Reason) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() == nil {
		c.reason = reason
		c.cancel(errDeadline)
	}
}

// left is what remains for the page: until its timeout, and until its maximum.
func (c *clock) left() (timeout, longest time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started.IsZero() {
		return c.timeout, c.longest
	}
	now := time.Now()
	longest = c.longest - now.Sub(c.started)
	return min(c.timeout-now.Sub(c.touched), longest), longest
}

// forRetry is how long another attempt may be put off. A page that has not started the tool has all its time before
// it, but the attempts that it never answered have taken the caller's.
func (c *clock) forRetry() time.Duration {
	timeout, _ := c.left()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started.IsZero() {
		timeout -= time.Since(c.made)
	}
	return timeout
}

// stop ends the clocks; the context ends with them.
func (c *clock) stop() {
	if c.ctx == nil {
		return
	}
	c.mu.Lock()
	c.idle.Stop()
	if c.total != nil {
		c.total.Stop()
	}
	c.mu.Unlock()
	c.unstop()
	c.cancel(nil)
}

// timedOut words a timeout. The page reports its own by reason only.
func (r *run) timedOut(f *fault.Error, reason fault.Reason) *fault.Error {
	if reason == "" {
		reason = r.clock.short()
	}
	hint := r.advice(f.Outcome)
	if reason != fault.MaxExceeded {
		hint += askForMore
	}
	if slow, _ := r.clock.wasSlow(); slow {
		hint += bringToFront
	}
	return fault.TimedOut(reason, r.clock.timeout, r.clock.longest, r.clock.extends, "", append(r.carriedOver(f),
		fault.WithHint(hint), fault.WithSuggestion(r.tool.Spec.TimeoutHint))...)
}
