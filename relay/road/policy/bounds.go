package policy

import (
	"fmt"
	"slices"
	"strings"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
)

// outside says why the bounds of a session do not cover a tool that the scope of its client does; empty: they do. The
// relay's own tools that only read are for every agent.
func outside(d *call.Bounds, t *registry.Tool) string {
	switch {
	case d == nil:
		return ""
	case t.ForClients:
		return "it is for clients, and not for agents that act for one"
	case d.ReadOnly && !t.ReadOnly:
		return "it may only call tools that read, and " + t.Name + " does not say that it only reads"
	case len(d.Tools) == 0, registry.ForEverybody(t) && t.ReadOnly, slices.Contains(d.Tools, t.Name),
		slices.Contains(d.Tools, t.Group):
		return ""
	}
	return "it may only use " + fault.Sanitize(strings.Join(d.Tools, ", "))
}

// refuseErrand says why an agent that acts for a client may not call a tool, nil when it may as far as its errand goes.
func refuseErrand(s call.Session, t *registry.Tool) *fault.Error {
	why := outside(s.Bounds, t)
	if why == "" {
		return nil
	}
	return errandFailure(s, t.Name+" is outside the errand of the agent "+fault.Excerpt(s.Bounds.Agent)+": "+why)
}

// errandFailure is the failure of what an errand does not cover.
func errandFailure(s call.Session, message string) *fault.Error {
	return fault.New(fault.PermissionDenied, message, fault.WithOutcome(fault.NotExecuted),
		fault.WithHint("Do not look for a way around it; say in your answer what you could not do. "+
			fault.Excerpt(s.Client)+" bounds the errand with `metadata`."))
}

// errandKey is what tells views apart by what errands cover.
func errandKey(d *call.Bounds) string {
	if d == nil {
		return ""
	}
	return fmt.Sprintf("\x00errand %t %q", d.ReadOnly, d.Tools)
}
