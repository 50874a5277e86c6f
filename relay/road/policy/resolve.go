package policy

import (
	"tabrelay/relay/road/call"
)

// source is whose rule a verdict comes from.
type source string

const (
	fromPerson  source = "person"
	fromConfig  source = "config"
	fromBuiltIn source = "built-in"
	fromPolicy  source = "policy" // of an administrator
)

// verdict is the result of the rules for an access.
type verdict struct {
	mode  call.Mode
	from  source // empty: no rule said anything, and the mode is what is done without one
	rule  key    // of a rule of the person or of the configuration
	level level

	dependsOnOrigin bool // the tab is not known, and a rule about its origin may say something else
	enabledBySite   bool // it is off, and a rule about an origin may enable it there

	fixed bool // the policy says so, whatever rules of the person would allow
}

// level is the kind of target of the rule that decided.
type level int

const (
	noRule level = iota
	onToolAndSite
	onTool
	onPlugin
	onSite
	onBuiltIn
	onClient
	onDefault
	onLost
	onGuest
	onManagedSites
	onManagedPlugins
)

// singlesOutTool reports whether the rule that decides is about one tool.
func (v verdict) singlesOutTool() bool { return v.level == onTool || v.level == onToolAndSite }

// enabledSomewhere reports whether it is off here, but not on every site.
func (v verdict) enabledSomewhere() bool { return v.mode == call.Off && v.enabledBySite }

// resolve evaluates the rules. While a configuration waits for the person, the configurations before it limit the
// result; the policy of an administrator always does. While rules may be missing, the person is asked about whatever
// would run, except for the relay's own tools that show an agent what is wrong; and so they are about whatever would
// run for a guest by a rule for everybody.
func (t *table) resolve(a *call.Access, now int64) verdict {
	v := t.resolveBounded(a, now)
	if t.lost && v.mode == call.Auto && !diagnoses(a) {
		return verdict{mode: call.Ask, from: fromBuiltIn, level: onLost, dependsOnOrigin: v.dependsOnOrigin}
	}
	return v
}

// resolveBounded leaves out that rules may be missing.
func (t *table) resolveBounded(a *call.Access, now int64) verdict {
	v := t.resolveLayer(a, now).forGuest(a)
	if t.older != nil {
		v = v.within(t.older.resolveBounded(a, now))
	}
	return t.managed.bound(v, a, now)
}

// forGuest asks about what would run for a guest by a rule for everybody.
func (v verdict) forGuest(a *call.Access) verdict {
	if v.mode != call.Auto || !a.Session.Guest || v.rule.client != "" || diagnoses(a) {
		return v
	}
	return verdict{mode: call.Ask, from: fromBuiltIn, level: onGuest, dependsOnOrigin: v.dependsOnOrigin}
}

// diagnoses reports whether a tool is one of the relay's own that show an agent what is wrong.
func diagnoses(a *call.Access) bool { return a.BuiltIn && a.ReadOnly && a.Plugin == RelayPlugin }

// within is the stricter of two verdicts.
func (v verdict) within(w verdict) verdict {
	depends := v.dependsOnOrigin || w.dependsOnOrigin
	opens := (v.enabledBySite || v.mode != call.Off) && (w.enabledBySite || w.mode != call.Off)
	if permissive[w.mode] < permissive[v.mode] {
		v = w
	}
	v.dependsOnOrigin, v.enabledBySite = depends, opens && v.mode == call.Off
	return v
}

// resolveLayer evaluates the rules of one configuration. The most specific rule about the tool and the most specific
// rule about the site both count, and the stricter of the two wins. A rule about the tool on that very site replaces
// both, unless one of them is off. Where there is no rule, the default counts, and without one the person is asked.
func (t *table) resolveLayer(a *call.Access, now int64) verdict {
	client := a.Session.Client
	tool := t.ruleFor(now, onTool, a.Tool, client)
	if tool.mode == "" {
		tool = t.ruleFor(now, onPlugin, a.Plugin, client)
	}
	var site, both verdict
	if a.At != nil && t.sites.some {
		site = t.ruleFor(now, onSite, call.Site(a.At.Origin), client)
	}
	pairs := t.pairs[a.Tool]
	if a.At != nil && pairs.some {
		both = t.ruleFor(now, onToolAndSite, siteTarget(a.Tool, call.Site(a.At.Origin)), client)
	}
	switch {
	case tool.mode == call.Off:
		return tool
	case site.mode == call.Off:
		return site
	case both.mode != "":
		return both
	case tool.mode != "" && site.mode != "":
		if permissive[site.mode] < permissive[tool.mode] {
			return site
		}
		return tool
	}
	v := tool
	switch {
	case v.mode != "":
	case needsNoPermission(a):
		v = t.freeVerdict(a, site, now)
	case site.mode != "":
		v = site
	default:
		v = t.defaultVerdict(a, now)
	}
	if a.At == nil && !a.BuiltIn {
		v.dependsOnOrigin = t.sites.some || pairs.some
		v.enabledBySite = v.mode == call.Off && (t.sites.enables || pairs.enables)
	}
	return v
}

// ruleFor is the verdict of the rules about one target: of that for the client, else that for all clients. Its mode is
// empty where there is none.
func (t *table) ruleFor(now int64, l level, target, client string) verdict {
	for _, k := range [...]key{{target, client}, {target, ""}} {
		if mode, from := t.cells[k].at(now); mode != "" {
			return verdict{mode: mode, from: from, rule: k, level: l}
		}
	}
	return verdict{}
}

// needsNoPermission reports whether a tool runs without a permission of its own: the relay's own tools, which read and
// do nothing in a browser; those of capabilities that say so ([AttachGroup]); and the demo, which runs on a site of the
// relay's own. The demo's counter asks all the same, so that a newcomer sees a question once.
func needsNoPermission(a *call.Access) bool {
	return a.BuiltIn && IsFree(a.Plugin) && !a.Asks || ofDemo(a) && a.Tool != demoCounter
}

// ofDemo reports whether a tool is one of the demo that comes with tabrelay.
func ofDemo(a *call.Access) bool { return a.Shipped && a.Plugin == demoPlugin }

// freeVerdict is the verdict for a tool that needs no permission and that no rule names: it runs, unless the client or
// the default is off, or a rule about the site asks.
func (t *table) freeVerdict(a *call.Access, site verdict, now int64) verdict {
	if v := t.defaultVerdict(a, now); v.mode == call.Off && v.from != "" {
		return v
	}
	if site.mode != "" {
		return site
	}
	return verdict{mode: call.Auto, from: fromBuiltIn, level: onBuiltIn}
}

// defaultVerdict is the verdict where no rule is about the tool or the site: by the rule for the client, the default,
// or what is built in.
func (t *table) defaultVerdict(a *call.Access, now int64) verdict {
	v := t.ruleFor(now, onDefault, Default, a.Session.Client)
	switch {
	case v.mode == "":
		return verdict{mode: t.base.of(a)}
	case v.rule.client != "":
		v.level = onClient
	}
	return v
}

// why is a verdict in words, after "because".
func (v verdict) why() string {
	says := " says so"
	switch v.from {
	case fromConfig:
		says = " in config.json says so"
	case fromPolicy:
		says = " in your organization's policy says so"
	}
	if v.rule.client != "" && v.level != onClient {
		says = " and the client " + v.rule.client + says
	}
	switch v.level {
	case onToolAndSite:
		tool, origin := splitTarget(v.rule.target)
		return "a rule about the tool " + tool + " on " + origin + says
	case onTool:
		return "a rule about the tool " + v.rule.target + says
	case onPlugin:
		return "a rule about the plugin " + v.rule.target + says
	case onSite:
		return "a rule about the site " + v.rule.target + says
	case onClient:
		return "a rule about the client " + v.rule.client + says
	case onDefault:
		return "the default" + says
	case onManagedSites:
		return "your organization's policy does not let agents use this site"
	case onManagedPlugins:
		return "your organization's policy does not let agents use the plugin " + v.rule.target
	case onBuiltIn:
		return "the tool is one of the relay's own, or of the demo"
	case onLost:
		return "rules of the person may be missing, so everything is asked about until they have looked"
	case onGuest:
		return "the client is a guest, and only a rule for this very client lets it do something without a question"
	}
	return "no rule says otherwise"
}
