package dispatch

import (
	"errors"
	"fmt"
	"strconv"
	"time"

	"tabrelay/relay/road/breaker"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/schedule"
)

// enter acquires what a call needs before it is sent: its turn in the tab, which it keeps over all attempts, a slot,
// which it holds only while an attempt runs, and a pass of the breaker. waited: it had to wait, and the tab may show
// another page by now.
func (r *run) enter(at call.Target) (waited bool, failure *fault.Error) {
	ready, retry, err := r.ticket.Join(schedule.Tab{ProfileID: at.ProfileID, TabID: at.TabID})
	if err != nil {
		message := fmt.Sprintf("%d calls are waiting for tab %d already", r.Limits.WaitingPerTab, at.TabID)
		return false, r.overloaded(retry, message)
	}
	key := breaker.Key{Kind: "plugin", Name: r.tool.Group, Where: at.ProfileID}
	var left time.Duration
	switch {
	case r.pass != nil:
	case ready:
		r.pass, left = r.breakers.Allow(key)
	default:
		left = r.breakers.Wait(key) // an open breaker would refuse it after the wait
	}
	switch {
	case left > 0:
		return false, r.heldBack(at, left)
	case ready:
		return false, nil
	}
	return true, r.await()
}

// await waits for the call's turn in its tab, and then for a slot. The call's clock is stopped meanwhile, but the wait
// for a turn is limited to the call's timeout.
func (r *run) await() *fault.Error {
	r.clock.hold()
	defer r.clock.release()
	switch err := r.ticket.Await(r.clock.ctx, r.clock.timeout); {
	case err == nil:
		return nil
	case errors.Is(err, schedule.ErrTurnLate):
		message := fmt.Sprintf("The call waited %s for its turn in tab %d, and others are still before it",
			r.clock.timeout, r.status.at.TabID)
		return r.overloaded(r.Limits.Wait, message)
	case errors.Is(err, schedule.ErrNoSlot):
		spread := time.Duration(r.Jitter() * float64(r.Limits.Wait)) // so that they do not come back together
		retry := max(r.Limits.Wait/2, 100*time.Millisecond) + spread
		return r.overloaded(retry, "The relay is at its limit of running calls")
	}
	return fault.CallEnded(r.clock.ctx, "before it was sent")
}

func (r *run) overloaded(retry time.Duration, message string) *fault.Error {
	r.refused = true
	at := r.status.at
	return fault.New(fault.Overloaded, message, fault.WithRetryAfter(retry), fault.WithTab(at.TabID, at.Profile))
}

func (r *run) heldBack(at call.Target, left time.Duration) *fault.Error {
	r.refused = true
	message := fmt.Sprintf("Calls of %s to the browser profile %q are held back, because the last ones failed",
		r.tool.Group, at.Profile)
	return fault.New(fault.CircuitOpen, message, fault.WithRetryAfter(left), fault.WithTab(at.TabID, at.Profile),
		fault.WithHint("Wait as long as retryAfterMs says, then repeat the call. "+
			"Meanwhile ask the person to look at the tab: it may show a dialog or hang."))
}

// reportToBreaker tells the breaker what the call says about its plugin in its profile.
func (r *run) reportToBreaker(v breaker.Verdict) {
	if r.pass != nil {
		r.pass(v)
		r.pass = nil
	}
}

// verdictOf is what a call's end means for the breaker. A page that answers, even with a failure, is a success. Busy or
// not ready counts as neither: such answers come at once, so that holding calls back would protect nothing.
func verdictOf(f *fault.Error) breaker.Verdict {
	switch {
	case f == nil, f.FromPage, f.Code == fault.InvalidOutput, f.Code == fault.OutputTooLarge:
		return breaker.Success
	case f.Code == fault.TimeoutCode, f.Code == fault.TabUnresponsive, f.Code == fault.ExtensionLost:
		return breaker.Failure
	case f.Code == fault.InternalError && f.Class == fault.Transient: // by a configured pattern
		return breaker.Failure
	}
	return breaker.Nothing
}

// breakerChanged tells everybody who wants to know.
func (d *Dispatcher) breakerChanged(c breaker.Change) {
	d.Meter.Breaker(c.Key.String(), int(c.State))
	if c.Made {
		return
	}
	d.Log.Warn().Str("breaker", c.Key.String()).Stringer("state", c.State).Msg("a circuit breaker changed its state")
	name, state := c.Key.String(), c.State.String()
	message := "Calls to " + name + " pass again"
	switch c.State {
	case breaker.Open:
		seconds := strconv.FormatFloat(c.For.Seconds(), 'f', -1, 64)
		message = "Calls to " + name + " are held back for " + seconds + " s, because the last ones failed"
	case breaker.HalfOpen:
		message = "One call to " + name + " is let through, to see whether it works again"
	}
	d.Events(event.OfPerson(), event.Breaker, message, map[string]any{"name": name, "state": state})
}

// BreakerState is one circuit breaker at one moment.
type BreakerState struct {
	Name       string `json:"name"`
	Plugin     string `json:"plugin"`
	ProfileID  string `json:"profileId"`
	State      string `json:"state"`                // closed, half_open or open
	HalfOpenMs int64  `json:"halfOpenMs,omitempty"` // of an open one: until it lets a call through
}

// Breakers lists the circuit breakers there are. Each comes to be with the first call to its place.
func (d *Dispatcher) Breakers() []BreakerState {
	list := []BreakerState{}
	for _, s := range d.breakers.List() {
		list = append(list, BreakerState{
			Name: s.Key.String(), Plugin: s.Key.Name, ProfileID: s.Key.Where, State: s.State.String(),
			HalfOpenMs: s.Wait.Milliseconds(),
		})
	}
	return list
}
