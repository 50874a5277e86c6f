package policy

import (
	"crypto/sha256"
	"encoding/hex"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/plugin"
)

// bind returns what an approval of a call is for: this session, tool, arguments, tab, origin, and targets of an act. An
// approval holds for nothing else; no other code decides that.
func bind(a *call.Access) call.Binding {
	sum := sha256.Sum256(a.Arguments)
	b := call.Binding{Session: a.Session.ID, Tool: a.Tool, ArgumentsHash: hex.EncodeToString(sum[:])}
	if a.Deeds.Targets != nil {
		targets := sha256.Sum256(a.Deeds.Targets)
		b.Targets = hex.EncodeToString(targets[:])
	}
	if a.At != nil {
		b.ProfileID, b.TabID, b.Origin = a.At.ProfileID, a.At.TabID, a.At.Origin
	}
	return b
}

// bindSession returns what a grant is for: all tools of the plugin with the same risk, with any arguments, in any tab
// whose page has that origin. A tool that a rule singles out, or of plugin.OptIn, has a grant of its own.
func bindSession(a *call.Access, v verdict) call.Binding {
	b := call.Binding{Session: a.Session.ID, Plugin: a.Plugin, PluginHash: a.Hash, Risk: Risk(a)}
	if v.singlesOutTool() || a.Plugin == plugin.OptIn {
		b.Tool = a.Tool
	}
	if a.At != nil {
		b.ProfileID, b.Origin = a.At.ProfileID, a.At.Origin
	}
	return b
}

// approved reports whether a person has approved a call, or a grant covers it, whose lifetime this extends.
func (p *Policy) approved(a *call.Access, v verdict) bool { return p.allowed(a, v, p.grants.use) }

// holds is [Policy.approved] without extending a grant.
func (p *Policy) holds(a *call.Access, v verdict) bool { return p.allowed(a, v, p.grants.holds) }

func (p *Policy) allowed(a *call.Access, v verdict, granted func(call.Binding) bool) bool {
	switch {
	case a.At == nil && !a.BuiltIn:
		return false // its tab is not known yet
	case !p.rules.Load().lost && granted(bindSession(a, v)):
		return true
	}
	return a.Approved != (call.Binding{}) && a.Approved == bind(a)
}

// BindingOf returns the binding that approves a exactly as it is. It asks nobody: the caller must know that the person
// allowed it (Call.Consent).
func (p *Policy) BindingOf(a call.Access) call.Binding { return bind(&a) }
