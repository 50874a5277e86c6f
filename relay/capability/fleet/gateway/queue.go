package gateway

import (
	"context"
	"fmt"
	"time"

	"tabrelay/relay/capability/fleet/lease"
	"tabrelay/relay/capability/fleet/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// turn is a call that waits until its session may use a browser profile. The node keeps the session's place for as long
// as it is asked again and again; the call itself is not there before its turn.
type turn struct {
	since time.Time // it waits; zero: it has not waited yet
	waits bool      // the node has said so of what was sent last
	asked time.Time // when that was sent
	next  time.Time // when to ask again
	said  string    // to the client
}

// due reports whether the call is to be sent again at once.
func (t *turn) due() bool { return t.waits && !time.Now().Before(t.next) }

// called notes that the node says that its turn has come. A node that says so all the time is not asked all the time.
func (t *turn) called() { t.next = latest(time.Now(), t.asked.Add(turnPause)) }

const turnPause = 100 * time.Millisecond

func latest(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}

// over reports whether it has waited for as long as it may.
func (t *turn) over(most time.Duration) bool { return time.Since(t.since) >= most }

// waits notes that the node does not have the call, and tells the client for whom it waits.
func (f *flight) waits(r wire.Reply) {
	if f.turn.since.IsZero() {
		f.turn.since = time.Now()
	}
	if !f.mayRun() {
		f.sent = false // it is the answer to the only message that was sent since the last one like it
	}
	f.turn.waits, f.turn.next = true, time.Now().Add(lease.AskEvery)
	if left := f.Queue - time.Since(f.turn.since); left < lease.AskEvery {
		f.turn.next = time.Now().Add(max(0, left))
	}
	said := "waiting for its turn at " + f.node
	if l := r.Lease; l != nil {
		said = fmt.Sprintf("waiting for %s, which %s uses: %d before you", choice(f.node, l.Profile), l.Holder,
			r.Before)
	}
	if said != f.turn.said && f.call.Progress != nil {
		f.call.Progress(call.Progress{Message: said})
	}
	f.turn.said = said
}

// goesOn reports whether a call that waits for its turn is to be sent again later, although it has just reached nobody.
func (t *turn) goesOn(most time.Duration) bool {
	if t.since.IsZero() || t.over(most) {
		return false
	}
	t.waits, t.next = true, time.Now().Add(lease.AskEvery)
	return true
}

// tooLate is the failure of a call whose turn did not come in time. Its place is kept for a moment.
func (f *flight) tooLate(ctx context.Context) *fault.Error {
	why := fault.New(fault.Overloaded, fmt.Sprintf("The call was not begun within %s (fleet.gateway.queueMs): %s",
		f.Queue, f.turn.said), fault.WithOutcome(fault.NotExecuted), fault.WithRetryAfter(retryAfter),
		fault.WithHint("Repeat the call within 10 s to keep its place, or use another browser."))
	if !f.mayRun() {
		return why
	}
	if why.Outcome = fault.Unknown; f.withdraw(ctx, why).Outcome != fault.NotExecuted {
		fault.WithRetryable(false)(why)
	}
	return why
}

// retryAfter is when to come back for a place.
const retryAfter = 2 * time.Second
