package dispatch

import (
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/event"
	"tabrelay/relay/fault"
)

// Whoever writes a plugin follows its calls. Nothing is made of them while nobody does.

// tellEnd says how a call ended; code is empty for one that succeeded.
func (r *run) tellEnd(code fault.Code, why string, took time.Duration) {
	if r.tool == nil || !r.Calls.Heard() {
		return
	}
	message, data := r.call.Tool+" answered in "+took.Round(time.Millisecond).String(), r.trail()
	data["durationMs"] = took.Milliseconds()
	if code != "" {
		message = r.call.Tool + " failed after " + took.Round(time.Millisecond).String() + " with " + string(code) + ": " + why
		data["code"] = code
	}
	r.Calls.Publish(event.Of(r.call.Session), event.Call, message, data)
}

// overheard lets those who follow read what a plugin logs, besides the caller.
func (r *run) overheard(caller func(call.LogEntry)) func(call.LogEntry) {
	if r.Calls == nil {
		return caller
	}
	return func(e call.LogEntry) {
		if r.tool != nil && r.Calls.Heard() {
			data := r.trail()
			data["level"] = e.Level
			r.Calls.Publish(event.Of(r.call.Session), event.Line, r.call.Tool+" "+e.Level+": "+e.Message, data)
		}
		if caller != nil {
			caller(e)
		}
	}
}

func (r *run) trail() map[string]any {
	return map[string]any{"plugin": r.tool.PluginName(), "tool": r.call.Tool, "correlationId": string(r.call.ID)}
}
