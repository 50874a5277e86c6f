package policy

import (
	"crypto/sha256"
	"encoding/hex"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/plugin"
)

// bind is what a person allows when they allow a call: the one place where that is said. What was allowed of one call
// counts for no other session, tool, arguments, tab, document or target of an act.
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

// bindSession is what they allow for more than one call: all tools of the plugin that can do as much, with any
// arguments, in any tab with documents of that origin. A tool that a rule singles out, or of plugin.OptIn, is asked
// about by itself.
func bindSession(a *call.Access, v verdict) call.Binding {
	b := call.Binding{Session: a.Session.ID, Plugin: a.Plugin, PluginHash: a.Hash, Risk: Risk(a)}
	if v.singles() || a.Plugin == plugin.OptIn {
		b.Tool = a.Tool
	}
	if a.At != nil {
		b.ProfileID, b.Origin = a.At.ProfileID, a.At.Origin
	}
	return b
}

// approved reports whether a person has allowed a call, or more than one of which it is one. Nobody else decides that.
// What was allowed for a while lasts on.
func (p *Policy) approved(a *call.Access, v verdict) bool { return p.allowed(a, v, p.grants.use) }

// holds is [Policy.approved] for who only wants to know.
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
