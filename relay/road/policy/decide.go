package policy

import (
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/config"
)

// Allow decides by rules and approvals whether a call may run, fails, or needs a question. It is called twice for a
// tool that runs in a page: before the tab is known, when only a failure counts, and with the tab.
func (p *Policy) Allow(a call.Access) (says call.Verdict, failure *fault.Error) {
	t := p.rules.Load()
	if t.paused {
		return says, stopped()
	}
	if a.Opens != "" && !p.Readable(a.Opens) {
		return says, unreadable(&a)
	}
	v := t.resolve(&a, time.Now().UnixNano())
	says.Mode, says.Why = v.mode, v.why()
	switch {
	case v.enabledSomewhere():
		return call.Verdict{Mode: call.Ask, Why: enabledThere, Ask: true}, nil
	case v.dependsOnOrigin && v.mode != call.Off:
		says.Ask = true
	case v.mode == call.Off:
		return says, forbidden(&a, v, p.managed())
	case v.mode == call.Ask:
		says.Ask = !p.approved(&a, v)
	}
	return says, nil
}

const enabledThere = "a rule about a site enables it there"

// Mode returns the mode of a tool by the rules, and why. Where the tab is not known it is off only if it is off on
// every site.
func (p *Policy) Mode(a call.Access) (mode call.Mode, why string) {
	t := p.rules.Load()
	v := t.resolve(&a, time.Now().UnixNano())
	if v.enabledSomewhere() {
		return call.Ask, enabledThere
	}
	return v.mode, v.why()
}

// Visible reports whether a tool is to be listed: it is not off. It is [Policy.Mode] without the words.
func (p *Policy) Visible(a call.Access) bool {
	t := p.rules.Load()
	v := t.resolve(&a, time.Now().UnixNano())
	return v.mode != call.Off || v.enabledBySite
}

// AccessOf is a tool as the rules see it, for a client that has not called it.
func AccessOf(s call.Session, t *registry.Tool) call.Access {
	a := call.Access{Session: s, Tool: t.Name, Plugin: t.Group, ReadOnly: t.ReadOnly, BuiltIn: t.Plugin == nil}
	if t.Plugin != nil {
		a.Hash, a.Shipped = t.Plugin.Hash, t.Plugin.Shipped
	}
	if t.Page != nil { // it runs on one site, in whatever tab
		a.OfPage, a.At = true, &call.Target{Origin: t.Page.Origin}
	}
	return a
}

// ToolMode is the mode of a tool, and why, for a client that no rule names.
func (p *Policy) ToolMode(t *registry.Tool) (call.Mode, string) {
	return p.Mode(AccessOf(call.Session{Client: nobody}, t))
}

// Accesses are tools as rules see them, for a client that no rule names.
func Accesses(tools []*registry.Tool) (list []call.Access) {
	for _, t := range tools {
		list = append(list, AccessOf(call.Session{}, t))
	}
	return list
}

// Permissions is everything that holds, as a person reads it.
type Permissions struct {
	Default Defaults `json:"default"`
	Rules   []Rule   `json:"rules"`
	Grants  []Grant  `json:"grants"`

	Policy *config.Managed `json:"policy,omitempty"` // of an administrator
}

// Defaults are the modes of tools that no rule names.
type Defaults struct {
	ReadOnly call.Mode `json:"readOnly"`
	Other    call.Mode `json:"other"`
}

// Permissions lists rules and grants.
func (p *Policy) Permissions() Permissions {
	t := p.rules.Load()
	rules := slices.DeleteFunc(t.list(time.Now()),
		func(r Rule) bool { return r.From == fromBuiltIn && p.isOff(r.Target) })
	return Permissions{Default: p.Default(), Rules: p.explain(t, rules), Grants: p.grants.list(),
		Policy: p.managed()}
}

// isOff reports whether a name is that of a group whose capability is switched off.
func (p *Policy) isOff(name string) bool {
	return name != RelayPlugin && IsFree(name) &&
		!slices.ContainsFunc(p.options.Tools(), func(a call.Access) bool { return a.BuiltIn && a.Plugin == name })
}

// Default is what is done about tools that no rule names.
func (p *Policy) Default() Defaults {
	t := p.rules.Load()
	now := time.Now().UnixNano()
	mode := func(a call.Access) call.Mode { return t.resolve(&a, now).mode }
	return Defaults{ReadOnly: mode(call.Access{ReadOnly: true}), Other: mode(call.Access{})}
}

// Errors of [Policy.ParseRule].
var (
	ErrTarget = errors.New("no such target") // nothing of the name exists
	ErrRule   = errors.New("that is not a rule")
)

// LongestRule is for how long a rule can be made at the most that ends by itself.
const LongestRule = 365 * 24 * time.Hour

// NewRule is a rule that somebody wants to make.
type NewRule struct {
	Target string    `json:"target"`
	Mode   call.Mode `json:"mode"`
	Client string    `json:"client,omitempty"` // empty: every client
	For    string    `json:"for,omitempty"`    // a time such as 1h; empty: for ever
}

// ParseRule validates a rule and returns it as it is stored, with how long it lasts (0: for ever).
func (p *Policy) ParseRule(n NewRule, by string) (rule call.Rule, lasts time.Duration, err error) {
	target, err := readTarget(n.Target, p.options.Known)
	if err != nil {
		return rule, 0, err
	}
	if n.Mode != call.Off && n.Mode != call.Ask && n.Mode != call.Auto {
		return rule, 0, fmt.Errorf("%w: a mode is off, ask or auto", ErrRule)
	}
	if n.For != "" {
		if lasts, err = time.ParseDuration(n.For); err != nil || lasts < time.Second || lasts > LongestRule {
			return rule, 0, fmt.Errorf("%w: a rule applies for one second to one year, such as 30m or 12h", ErrRule)
		}
	}
	rule = call.Rule{Target: target, Client: config.Spelled(n.Client), Mode: n.Mode, By: by}
	return rule, lasts, p.refuseLooser(rule)
}

// Misspelt lists the rules of the configuration whose target does not exist, which therefore do nothing.
func (p *Policy) Misspelt() (problems []string) {
	for _, target := range slices.Sorted(maps.Keys(p.rules.Load().config)) {
		if target == builtInDefault {
			continue
		}
		if _, err := readTarget(target, p.options.Known); err != nil {
			problems = append(problems, "`permissions` in the configuration has a rule that does nothing: "+err.Error())
		}
	}
	return problems
}

func stopped() *fault.Error {
	return fault.New(fault.PermissionDenied, "The person has stopped all agents", fault.WithHint(
		"Do not try again by yourself. The person can let agents go on in tabrelay's side panel, or with: tabrelay "+
			"resume"))
}

// forbidden says which rule forbids a call, and what the person could do about that rule.
func forbidden(a *call.Access, v verdict, managed *config.Managed) *fault.Error {
	target := a.Tool
	if v.level == onSite || v.level == onToolAndSite {
		target = v.rule.target
	}
	hint := "Do not look for a way around it. The person can enable it in tabrelay's side panel (Rules), or with: " +
		"tabrelay permit set " + target + " ask" + clientFlag(v.rule.client)
	if v.from == fromConfig {
		hint = "Do not look for a way around it. The person can change `permissions` in config.json."
	}
	message := fmt.Sprintf("%s is off: %s", a.Tool, v.why())
	if v.from == fromPolicy {
		hint = "Do not look for a way around it. " + managed.Ask()
	}
	if v.level == onSite || v.level == onManagedSites {
		message = fmt.Sprintf("%s may not touch %s: %s", a.Tool, v.rule.target, v.why())
	}
	return fault.New(fault.PermissionDenied, message, append(at(a), fault.WithHint(hint))...)
}

// at are the options that give a failure the tab of a call.
func at(a *call.Access) []fault.Option {
	if a.At == nil || a.At.TabID == 0 {
		return nil
	}
	return []fault.Option{fault.WithTab(a.At.TabID, a.At.Profile)}
}
