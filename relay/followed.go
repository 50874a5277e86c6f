package relay

import (
	"fmt"
	"time"

	"tabrelay/relay/event"
	"tabrelay/relay/fault"
	"tabrelay/relay/wire"
)

// tellFollowers tells those who work on a plugin what its calls brought besides their outcomes. While nobody follows
// calls it goes nowhere.
func (r *Relay) tellFollowers(f *wire.Followed) {
	if !r.trail.Heard() {
		return
	}
	data := map[string]any{
		"plugin": f.Plugin, "tool": f.Plugin + "__" + f.Tool, "correlationId": string(f.ID),
	}
	said := fault.ConsoleLines(f.Text)
	if f.What == wire.ConsoleLine {
		r.trail.Publish(event.OfPerson(), event.Console, f.Plugin+"__"+f.Tool+" console: "+said, data)
		return
	}
	data["at"], data["kind"] = fault.Places(f.Places), string(f.What)
	r.trail.Publish(event.OfPerson(), event.Uncaught, uncaught(f)+": "+said, data)
}

// uncaught says of an error what it is, and when it came. Which call it came of nobody knows: a timer, a listener and a
// promise do not say who made them.
func uncaught(f *wire.Followed) string {
	if f.What == wire.EarlyError {
		return "error of " + f.Plugin + ", before its first call in the document"
	}
	what := "late error of " + f.Plugin
	if f.What == wire.Rejection {
		what = "late error of " + f.Plugin + ", in a promise that nobody awaits"
	}
	tool := f.Plugin + "__" + f.Tool
	if f.AfterMs == nil {
		return fmt.Sprintf("%s, outside of the handler while %s runs", what, tool)
	}
	return fmt.Sprintf("%s, %s after %s had ended", what, time.Duration(*f.AfterMs)*time.Millisecond, tool)
}
