package dispatch

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"tabrelay/relay/breaker"
	"tabrelay/relay/call"
	"tabrelay/relay/event"
	"tabrelay/relay/fault"
)

// Limits is how much may go on at once. A zero Running or RunningPerPlugin means the default.
type Limits struct {
	Running          int           // calls at once; 50
	RunningPerPlugin int           // of one plugin; 25
	Waiting          int           // at the gate, until they can run
	Wait             time.Duration // at the gate, at the most
	WaitingPerTab    int           // of one lane, in the line before one tab
}

func (l Limits) orDefault() Limits {
	l.Running = cmp.Or(l.Running, 50)
	l.RunningPerPlugin = cmp.Or(l.RunningPerPlugin, 25)
	return l
}

// turn is what a call must have before it may be sent: its turn in the tab's line, which it keeps until it has ended
// however often it is tried, a place of the gate, which it has only while it runs, and the breaker's leave. It
// belongs to the goroutine of Do, which is the one that Browser calls Enter in.
type turn struct {
	at      call.Place
	stand   stand
	joined  bool // stand is for at
	seated  bool // at the gate
	gateOf  string
	pass    breaker.Pass // invalid: the breaker was not asked
	refused bool         // by the relay itself, for its own protection
}

// enter is the Invocation's Enter.
func (r *run) enter(at call.Place) (wait func(context.Context) error, err error) {
	t := &r.turn
	if t.at.ProfileID != at.ProfileID || t.at.TabID != at.TabID {
		r.leaveLine()
		if t.at.ProfileID != at.ProfileID {
			r.settle(breaker.Nothing)
		}
	}
	t.at = at
	r.arrive(at)
	if wait, failure := r.permit(&at); wait != nil || failure != nil {
		return wait, asError(failure)
	}
	if !t.joined {
		full, retry := r.lines.join(&t.stand, tabKey{at.ProfileID, at.TabID}, cmp.Or(r.call.Session.Lane, r.call.Session.Client), !r.tool.ReadOnly)
		if full {
			return nil, r.overloaded(retry, fmt.Sprintf("%d calls are waiting for tab %d already", r.Limits.WaitingPerTab, at.TabID))
		}
		t.joined = true
		if r.call.Placed != nil {
			r.call.Placed()
		}
	}
	key := breaker.Key{Kind: "plugin", Name: r.tool.PluginName(), Where: at.ProfileID}
	var left time.Duration
	if !t.stand.has() {
		r.rise() // the line may be another one than before, and waiting in line takes no place at the gate
	}
	switch {
	case !t.stand.has() || !r.sit():
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

// await waits for the call's turn in the line of its tab, and then for a place of the gate. It is not what the
// timeout is about: the clock stands still meanwhile, but waiting in line ends after as long as the call may run.
func (r *run) await(ctx context.Context) error {
	t := &r.turn
	r.clock.hold()
	defer r.clock.release()
	if !t.stand.has() {
		late := time.NewTimer(r.clock.timeout)
		defer late.Stop()
		select {
		case <-t.stand.turn:
		case <-ctx.Done():
			return unsent(ctx)
		case <-late.C:
			return r.overloaded(r.Limits.Wait, fmt.Sprintf("The call waited %s for its turn in tab %d, and others are still before it", r.clock.timeout, t.at.TabID))
		}
	}
	return r.awaitSeat(ctx)
}

func (r *run) awaitSeat(ctx context.Context) error {
	t := &r.turn
	if !t.seated {
		t.gateOf = r.pluginOf()
		t.seated = r.gate.wait(ctx, t.gateOf)
	}
	switch {
	case t.seated:
		return nil
	case ctx.Err() != nil:
		return unsent(ctx)
	}
	spread := time.Duration(r.Jitter() * float64(r.Limits.Wait)) // so that they do not come back together
	return r.overloaded(max(r.Limits.Wait/2, 100*time.Millisecond)+spread, "The relay is running as many calls as it may")
}

// unsent is the failure of a call that ended while it waited.
func unsent(ctx context.Context) *fault.Error {
	return fault.New(fault.Cancelled, "The call ended before it was sent", fault.WithOutcome(fault.NotExecuted), fault.WithCause(context.Cause(ctx)))
}

// sit takes a place of the gate, if it has one.
func (r *run) sit() bool {
	t := &r.turn
	if !t.seated {
		t.gateOf = r.pluginOf()
		t.seated = r.gate.take(t.gateOf)
	}
	return t.seated
}

// pluginOf is the plugin that the gate counts the call for; built-in tools have none.
func (r *run) pluginOf() string {
	if r.tool.Plugin == nil {
		return ""
	}
	return r.tool.PluginName()
}

// rise gives the place at the gate back, after an attempt.
func (r *run) rise() {
	if r.turn.seated {
		r.turn.seated = false
		r.gate.leave(r.turn.gateOf)
	}
}

func (r *run) leaveLine() {
	if r.turn.joined {
		r.turn.joined = false
		r.lines.leave(&r.turn.stand)
	}
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
	r.rise()
	r.settle(verdictOf(failure))
	r.leaveLine()
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
	d.tell(event.Breaker, message, map[string]any{"name": c.Key.String(), "state": c.State.String()})
}

// tell publishes an event, when somebody listens.
func (d *Dispatcher) tell(kind event.Kind, message string, data map[string]any) {
	if d.Events != nil {
		d.Events(kind, message, data)
	}
}

// Load is what is going on.
type Load struct {
	Running int       `json:"running"` // calls that hold a place of the gate
	Waiting int       `json:"waiting"` // calls that wait for one
	Tabs    []TabLoad `json:"tabs"`    // those in which a call that writes has its turn
}

// TabLoad is the line before one tab.
type TabLoad struct {
	ProfileID string `json:"profileId"`
	TabID     int    `json:"tabId"`
	Waiting   int    `json:"waiting"` // for their turn
}

// Load says what is going on at this moment.
func (d *Dispatcher) Load() Load {
	l := Load{Tabs: d.lines.load()}
	l.Running, l.Waiting = d.gate.load()
	slices.SortFunc(l.Tabs, func(a, b TabLoad) int {
		return cmp.Or(cmp.Compare(a.ProfileID, b.ProfileID), cmp.Compare(a.TabID, b.TabID))
	})
	return l
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
