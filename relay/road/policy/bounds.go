package policy

import (
	"fmt"
	"slices"
	"strings"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
)

// outsideBounds says why the bounds of a session do not cover a tool that its client's scope covers; empty: they do.
// The relay's own tools that only read are for every agent.
func outsideBounds(d *call.Bounds, t *registry.Tool) string {
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

// refuseOutsideBounds refuses a call of an agent to a tool outside the bounds of its session; nil: it is within them.
func refuseOutsideBounds(s call.Session, t *registry.Tool) *fault.Error {
	why := outsideBounds(s.Bounds, t)
	if why == "" {
		return nil
	}
	return outsideBoundsFailure(s, t.Name+" is outside the errand of the agent "+fault.Excerpt(s.Bounds.Agent)+": "+why)
}

// outsideBoundsFailure is the failure of a call outside the bounds of a session.
func outsideBoundsFailure(s call.Session, message string) *fault.Error {
	return fault.New(fault.PermissionDenied, message, fault.WithOutcome(fault.NotExecuted),
		fault.WithHint("Do not look for a way around it; say in your answer what you could not do. "+
			fault.Excerpt(s.Client)+" bounds the errand with `metadata`."))
}

// boundsKey is the part of the key of a view that stands for bounds.
func boundsKey(d *call.Bounds) string {
	if d == nil {
		return ""
	}
	return fmt.Sprintf("\x00errand %t %q", d.ReadOnly, d.Tools)
}
