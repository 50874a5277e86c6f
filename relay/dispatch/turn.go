package dispatch

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"tabrelay/relay/breaker"
	"tabrelay/relay/call"
	"tabrelay/relay/event"
	"tabrelay/relay/fault"
	"tabrelay/relay/schedule"
)

// turn is what a call must have before it may be sent: its turn in the tab, which it keeps until it has ended however
// often it is tried, a slot, which it has only while it runs, and the breaker's pass. It belongs to the goroutine of Do.
type turn struct {
	schedule.Ticket
	at      call.Target
	pass    breaker.Pass // invalid: the breaker was not asked
	refused bool         // by the relay itself, for its own protection
}

// enter decides whether the call may run at a target. With a wait, that is called next; after it the target may be
// another one, so enter is asked again.
func (r *run) enter(at call.Target) (wait func(context.Context) *fault.Error, failure *fault.Error) {
	t := &r.turn
	if t.at.ProfileID != at.ProfileID {
		r.settle(breaker.Nothing)
	}
	t.at = at
	r.arrive(at)
	if wait, failure := r.permit(&at); wait != nil || failure != nil {
		return wait, failure
	}
	ready, retry, err := t.Join(schedule.Tab{ProfileID: at.ProfileID, TabID: at.TabID})
	if err != nil {
		return nil, r.overloaded(retry, fmt.Sprintf("%d calls are waiting for tab %d already", r.Limits.WaitingPerTab, at.TabID))
	}
	key := breaker.Key{Kind: "plugin", Name: r.tool.PluginName(), Where: at.ProfileID}
	var left time.Duration
	switch {
	case !ready:
		if !t.pass.Valid() {
			left = r.breakers.Wait(key) // waiting would be in vain
		}
		wait = r.await
	case !t.pass.Valid():
		t.pass, left = r.breakers.Allow(key)
	}
	if left > 0 {
		return nil, r.heldBack(left)
	}
	return wait, nil
}

// await waits for the call's turn in its tab, and then for a slot. It is not what the timeout is about: the clock stands
// still meanwhile, but waiting for a turn ends after as long as the call may run.
func (r *run) await(ctx context.Context) *fault.Error {
	t := &r.turn
	r.clock.hold()
	defer r.clock.release()
	switch err := t.Await(ctx, r.clock.timeout); {
	case err == nil:
		return nil
	case errors.Is(err, schedule.ErrTurnLate):
		return r.overloaded(r.Limits.Wait, fmt.Sprintf(
			"The call waited %s for its turn in tab %d, and others are still before it", r.clock.timeout, t.at.TabID))
	case errors.Is(err, schedule.ErrNoSlot):
		spread := time.Duration(r.Jitter() * float64(r.Limits.Wait)) // so that they do not come back together
		return r.overloaded(max(r.Limits.Wait/2, 100*time.Millisecond)+spread, "The relay is running as many calls as it may")
	}
	return fault.CallEnded(ctx, "before it was sent")
}

// settle tells the breaker what the call says about its place.
func (r *run) settle(v breaker.Verdict) {
	if r.turn.pass.Valid() {
		r.turn.pass.Done(v)
		r.turn.pass = breaker.Pass{}
	}
}

// depart ends the call's turn.
func (r *run) depart(failure *fault.Error) {
	r.settle(verdictOf(failure))
	r.turn.Leave()
}

// verdictOf is what a call's end says about the plugin in its profile. What answers is well, be it with a failure.
// Being busy or not ready yet is neither: it is said at once, so that holding calls back would protect nobody.
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

func (r *run) overloaded(retry time.Duration, message string) *fault.Error {
	r.turn.refused = true
	return fault.New(fault.Overloaded, message, fault.WithRetryAfter(retry), fault.WithTab(r.turn.at.TabID, r.turn.at.Profile))
}

func (r *run) heldBack(left time.Duration) *fault.Error {
	r.turn.refused = true
	return fault.New(fault.CircuitOpen, fmt.Sprintf("Calls of %s to the browser profile %q are held back, because the last ones failed", r.tool.PluginName(), r.turn.at.Profile),
		fault.WithRetryAfter(left), fault.WithTab(r.turn.at.TabID, r.turn.at.Profile),
		fault.WithHint("Wait as long as retryAfterMs says, then repeat the call. Meanwhile ask the person to look at the tab: it may show a dialog or hang."))
}

// breakerChanged tells everybody who wants to know.
func (d *Dispatcher) breakerChanged(c breaker.Change) {
	d.Meter.Breaker(c.Key.String(), int(c.State))
	if c.Made {
		return
	}
	d.Log.Warn().Str("breaker", c.Key.String()).Stringer("state", c.State).Msg("a circuit breaker changed its state")
	message := "Calls to " + c.Key.String() + " pass again"
	switch c.State {
	case breaker.Open:
		message = "Calls to " + c.Key.String() + " are held back for " + strconv.FormatFloat(c.For.Seconds(), 'f', -1, 64) + " s, because the last ones failed"
	case breaker.HalfOpen:
		message = "One call to " + c.Key.String() + " is let through, to see whether it works again"
	}
	d.tell(event.OfPerson(), event.Breaker, message, map[string]any{"name": c.Key.String(), "state": c.State.String()})
}

// tell publishes an event, when somebody listens.
func (d *Dispatcher) tell(owner event.Owner, kind event.Kind, message string, data map[string]any) {
	if d.Events != nil {
		d.Events(owner, kind, message, data)
	}
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
			Name: s.Key.String(), Plugin: s.Key.Name, ProfileID: s.Key.Where, State: s.State.String(), HalfOpenMs: s.Wait.Milliseconds(),
		})
	}
	return list
}
