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

// hiddenGrace is how much later the relay gives up on a page that is not in front: after five minutes there Chrome lets
// its timers go off once a minute, so that progress, and the page's own report, can come that late.
const hiddenGrace = 65 * time.Second

// errDeadline is the cause of a call's context when one of its clocks ran out.
var errDeadline = errors.New("the call's deadline passed")

// clock enforces the time limits of one call. Two timers run from when the page starts the tool: idleTimer, which
// progress restarts, and maxTimer, which it does not. Until then idleTimer bounds how long the call may wait to start.
type clock struct {
	timeout time.Duration // of the page; the relay's is grace longer
	longest time.Duration
	grace   time.Duration // the relay's clocks run that much longer than the page's; 0: there is no page
	extends bool
	created time.Time // later by the time the call was held

	ctx          context.Context // of all attempts: ends with the caller's, by a timer, or by shutdown
	cancel       context.CancelCauseFunc
	stopWatching func() bool

	mu           lock.Mutex
	started      time.Time // zero until the page started the tool
	lastProgress time.Time // last progress, or the start
	idleTimer    *time.Timer
	maxTimer     *time.Timer // nil until started
	reason       fault.Reason
	hidden       bool      // the page is not in front
	startBy      time.Time // when the call has waited too long to start
	heldSince    time.Time // since when the call waits for its turn; zero: it does not
	pauses       int       // open calls of pause
	pausedSince  time.Time // set while pauses > 0
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
	c.timeout, c.longest, c.extends, c.created = min(timeout, longest), longest, r.ProgressExtends, time.Now()
	if r.tool.Run == nil {
		c.grace = grace
	}
	c.ctx, c.cancel = context.WithCancelCause(r.ctx)
	c.stopWatching = context.AfterFunc(r.Dispatcher.stop, func() { c.cancel(errShutdown) })
	most := c.timeout + c.grace + r.ReconnectWait
	c.startBy = c.created.Add(most)
	c.idleTimer = time.AfterFunc(most, func() { c.expire(c.timeoutReason()) })
}

// timeoutReason is the reason to report when the timeout passes.
func (c *clock) timeoutReason() fault.Reason {
	if c.extends {
		return fault.Idle
	}
	return fault.Fixed
}

// start starts both timers; only the first attempt does.
func (c *clock) start() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.started.IsZero() || c.ctx.Err() != nil {
		return
	}
	c.started = time.Now()
	c.lastProgress = c.started
	c.idleTimer.Reset(c.timeout + c.grace)
	if c.extends {
		c.maxTimer = time.AfterFunc(c.longest+c.grace, func() { c.expire(fault.MaxExceeded) })
	}
}

// hold stops the timer of a call that waits for its turn or for a person, until release. It does nothing once the page
// has started the tool: see pause.
func (c *clock) hold() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started.IsZero() && c.ctx.Err() == nil && c.idleTimer.Stop() {
		c.heldSince = time.Now()
	}
}

// release ends hold.
func (c *clock) release() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.heldSince.IsZero() {
		return
	}
	waited := time.Since(c.heldSince)
	c.heldSince, c.created, c.startBy = time.Time{}, c.created.Add(waited), c.startBy.Add(waited)
	if c.ctx.Err() == nil {
		c.idleTimer.Reset(time.Until(c.startBy))
	}
}

// pause stops both timers of a call that has started, while a person is asked. They go on when every pause has resumed.
func (c *clock) pause() (resume func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started.IsZero() || c.ctx.Err() != nil {
		return func() {}
	}
	if c.pauses++; c.pauses == 1 {
		c.pausedSince = time.Now()
		c.idleTimer.Stop()
		if c.maxTimer != nil {
			c.maxTimer.Stop()
		}
	}
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		if c.pauses--; c.pauses > 0 || c.ctx.Err() != nil {
			return
		}
		now := time.Now()
		since := c.pausedSince
		c.started, c.lastProgress = c.started.Add(now.Sub(since)), c.lastProgress.Add(now.Sub(since))
		c.idleTimer.Reset(c.timeout + c.grace - now.Sub(c.lastProgress))
		if c.maxTimer != nil {
			c.maxTimer.Reset(c.longest + c.grace - now.Sub(c.started))
		}
	}
}

// progressed restarts the timeout.
func (c *clock) progressed() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.extends && !c.started.IsZero() && c.ctx.Err() == nil && c.pauses == 0 {
		c.lastProgress = time.Now()
		c.idleTimer.Reset(c.timeout + c.grace)
	}
}

// noteHidden extends the grace for a page that is not in front, whose timers Chrome slows down.
func (c *clock) noteHidden() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.hidden || c.grace == 0 || c.ctx.Err() != nil {
		return
	}
	c.hidden, c.grace = true, hiddenGrace
	if c.started.IsZero() {
		return // start sets the clocks
	}
	now := time.Now()
	c.idleTimer.Reset(c.timeout + c.grace - now.Sub(c.lastProgress))
	if c.maxTimer != nil {
		c.maxTimer.Reset(c.longest + c.grace - now.Sub(c.started))
	}
}

// wasHidden reports whether the page was ever not in front, and for how long the tool has run.
func (c *clock) wasHidden() (bool, time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.hidden && !c.started.IsZero(), time.Since(c.started)
}

// hiddenNotice is how long a tool must run in a hidden page before the answer says that this may be why.
const hiddenNotice = 10 * time.Second

func (r *run) warnHidden() {
	if slow, ran := r.clock.wasHidden(); slow && ran > hiddenNotice {
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

// remaining returns the time that the page has until its timeout, and until its maximum.
func (c *clock) remaining() (timeout, longest time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started.IsZero() {
		return c.timeout, c.longest
	}
	now := time.Now()
	longest = c.longest - now.Sub(c.started)
	return min(c.timeout-now.Sub(c.lastProgress), longest), longest
}

// remainingForRetry is how long another attempt may be delayed. Before the tool has started, the page still has its
// whole timeout, but the time since the call was made counts for the caller.
func (c *clock) remainingForRetry() time.Duration {
	timeout, _ := c.remaining()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.started.IsZero() {
		timeout -= time.Since(c.created)
	}
	return timeout
}

// stop stops the timers and cancels the context.
func (c *clock) stop() {
	if c.ctx == nil {
		return
	}
	c.mu.Lock()
	c.idleTimer.Stop()
	if c.maxTimer != nil {
		c.maxTimer.Stop()
	}
	c.mu.Unlock()
	c.stopWatching()
	c.cancel(nil)
}

// timedOut renders a timeout. The page reports only the reason of its own.
func (r *run) timedOut(f *fault.Error, reason fault.Reason) *fault.Error {
	if reason == "" {
		reason = r.clock.timeoutReason()
	}
	hint := r.advice(f.Outcome)
	if reason != fault.MaxExceeded {
		hint += askForMore
	}
	if slow, _ := r.clock.wasHidden(); slow {
		hint += bringToFront
	}
	return fault.TimedOut(reason, r.clock.timeout, r.clock.longest, r.clock.extends, "", append(r.carriedOver(f),
		fault.WithHint(hint), fault.WithSuggestion(r.tool.Spec.TimeoutHint))...)
}
