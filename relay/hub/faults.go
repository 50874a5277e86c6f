package hub

import (
	"fmt"
	"time"

	"tabrelay/relay/fault"
)

// refusal is what an extension was told when it was not let in.
type refusal struct {
	code    fault.Code
	message string
	at      time.Time
}

// refusalTime is how long a refusal explains that nobody is connected. A refused extension tries again every minute.
const refusalTime = 3 * time.Minute

// recently is how long a profile that went away counts as on its way back.
const recently = time.Minute

const restartHint = "Ask the person to run `tabrelay up`, which starts it again."

// absent says why no browser is connected, as far as a relay can know.
func (h *Hub) absent() *fault.Error {
	if r := h.refusal.Load(); r != nil && time.Since(r.at) < refusalTime {
		return fault.New(r.code, r.message)
	}
	var last *browser
	var left time.Time
	for _, b := range h.all() {
		if at := b.lastSeen(); at.After(left) {
			last, left = b, at
		}
	}
	switch {
	case last != nil && !last.connected() && h.ended(last):
		return fault.New(fault.BrowserNotRunning, fmt.Sprintf("The browser %q, which tabrelay started, has ended", last.label()),
			fault.WithHint(restartHint+" Then repeat the call."))
	case last != nil && time.Since(left) <= recently:
		return fault.New(fault.WorkerAsleep, fmt.Sprintf("The browser %q went away within the last minute and is not back yet", last.label()))
	case last != nil:
		return fault.New(fault.BrowserNotRunning, fmt.Sprintf("No browser is connected; %q was the last, %s ago", last.label(), ago(left)))
	case h.cfg.ConnectedBefore || len(h.all()) > 0:
		return fault.New(fault.ExtensionNotConnected, "No browser has connected since the relay started "+ago(h.started)+" ago")
	}
	return fault.New(fault.ExtensionNotInstalled, "No browser with the tabrelay extension has ever connected")
}

// ago is how long ago t was, as people say it.
func ago(t time.Time) string {
	d := time.Since(t)
	switch {
	case d < time.Minute:
		return fmt.Sprintf("%d s", int(d.Seconds()))
	case d < time.Hour:
		return fmt.Sprintf("%d min", int(d.Minutes()))
	}
	return fmt.Sprintf("%d h", int(d.Hours()))
}

// neverSent is the failure of a call whose connection ended before its frame left.
func neverSent(b *browser) *fault.Error {
	return fault.New(fault.ExtensionLost, "The link to the browser was lost before the call was sent", b.at(0),
		fault.WithOutcome(fault.NotExecuted), fault.WithRetryable(true), fault.WithHint("Nothing happened: the call can be repeated."))
}

// neverStarted is the failure of a call that the extension has proven never to have started.
func neverStarted(b *browser, f *flight) *fault.Error {
	return fault.New(fault.ExtensionLost, "The link to the browser was lost before the tool started", b.at(f.tabID),
		fault.WithOutcome(fault.NotExecuted), fault.WithRetryable(true), fault.WithHint("The tool never started, so the call can be repeated."))
}

// tabClosed is the extension's word for a tab that was closed under a call. Agents read TAB_NOT_FOUND, which is what
// they can act on; the outcome says the rest.
const tabClosed = "TAB_CLOSED"

// closedFault is the failure of a call whose tab was closed.
func closedFault(b *browser, f *flight, message string, outcome fault.Outcome) *fault.Error {
	options := []fault.Option{b.at(f.tabID), fault.WithOutcome(outcome)}
	if outcome != fault.NotExecuted {
		options = append(options, fault.WithHint("The action may have happened: check in another tab before repeating it."))
	}
	return fault.New(fault.TabNotFound, message, options...)
}

// lostFault is the failure of a call whose end nobody knows. reason is what the extension says of it, a code or empty.
func lostFault(b *browser, f *flight, reason string) *fault.Error {
	unknown := fault.WithOutcome(fault.Unknown)
	if reason == tabClosed {
		return closedFault(b, f, "The tab was closed while the link to the browser was lost", fault.Unknown)
	}
	switch code := fault.Code(reason); code {
	case fault.TabChanged:
		return fault.New(code, "The tab went to another page while the link to the browser was lost", b.at(f.tabID), unknown)
	case fault.TabUnresponsive:
		return fault.New(code, "The page does not answer since the link to the browser was lost", b.at(f.tabID), unknown)
	}
	return fault.New(fault.ExtensionLost, "The link to the browser was lost after the call was sent, and its end could not be learned",
		b.at(f.tabID), unknown)
}

// endedFault is the failure of a call that was sent to a browser whose process ended before it said what became of the call.
func endedFault(b *browser, f *flight) *fault.Error {
	return fault.New(fault.ExtensionLost,
		fmt.Sprintf("The browser %q, which tabrelay started, ended after the call was sent", b.label()), b.at(f.tabID),
		fault.WithOutcome(fault.Unknown), fault.WithHint(restartHint+" Read the page before repeating the action."))
}

// abandonedFault is the failure of a call that its caller gave up.
func abandonedFault(b *browser, f *flight) *fault.Error {
	return fault.New(fault.Cancelled, "The call was given up while it ran", b.at(f.tabID), fault.WithOutcome(fault.Unknown))
}

func tooLargeToSend(size, limit int) *fault.Error {
	return fault.New(fault.InputTooLarge, fmt.Sprintf("The arguments have %d bytes; what is sent to a browser may have %d", size, limit))
}

// withTail adds the console tail to a failure.
func withTail(e *fault.Error, tail string) *fault.Error {
	if tail != "" {
		fault.WithConsoleTail(tail)(e)
	}
	return e
}
