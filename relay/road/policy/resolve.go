package policy

import (
	"tabrelay/relay/road/call"
)

// source is where a verdict comes from.
type source string

const (
	fromPerson  source = "person"
	fromConfig  source = "config"
	fromBuiltIn source = "built-in"
)

// verdict is what the rules say about an access.
type verdict struct {
	mode  call.Mode
	from  source // empty: no rule said anything, and the mode is what is done without one
	rule  key    // of a rule of the person or of the configuration
	level level

	dependsOnOrigin bool // the tab is not known, and a rule about its origin may say something else
	opens           bool // it is off, and a rule about an origin may enable it there
}

// level is what kind of rule decided.
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
)

// singles reports whether the rule that decides is about one tool.
func (v verdict) singles() bool { return v.level == onTool || v.level == onToolAndSite }

// enabledSomewhere reports whether it is off here, but not on every site.
func (v verdict) enabledSomewhere() bool { return v.mode == call.Off && v.opens }

// resolve is what the rules say. Where a configuration waits for a person, it is what those before it said, if that is
// less. While rules may be missing, what would run is asked about, but for those tools of the relay that show an agent
// what is wrong with it.
func (t *table) resolve(a *call.Access, now int64) verdict {
	v := t.bounded(a, now)
	if t.lost && v.mode == call.Auto && !(a.BuiltIn && a.ReadOnly && a.Plugin == RelayPlugin) {
		return verdict{mode: call.Ask, from: fromBuiltIn, level: onLost, dependsOnOrigin: v.dependsOnOrigin}
	}
	return v
}

func (t *table) bounded(a *call.Access, now int64) verdict {
	v := t.own(a, now)
	if t.older == nil {
		return v
	}
	w := t.older.bounded(a, now)
	depends := v.dependsOnOrigin || w.dependsOnOrigin
	opens := (v.opens || v.mode != call.Off) && (w.opens || w.mode != call.Off)
	if permissive[w.mode] < permissive[v.mode] {
		v = w
	}
	v.dependsOnOrigin, v.opens = depends, opens && v.mode == call.Off
	return v
}

// own asks two questions: may this tool be used, and may this site be touched? Of the rules that answer one of them the
// most specific counts, and of the two answers the stricter. A rule about the tool on that very site answers both,
// where neither of them is off. Where nothing answers, the default does, and without one the person is asked.
func (t *table) own(a *call.Access, now int64) verdict {
	client := a.Session.Client
	tool := t.first(now, onTool, a.Tool, client)
	if tool.mode == "" {
		tool = t.first(now, onPlugin, a.Plugin, client)
	}
	var site, both verdict
	if a.At != nil && t.sites.some {
		site = t.first(now, onSite, a.At.Origin, client)
	}
	pairs := t.pairs[a.Tool]
	if a.At != nil && pairs.some {
		both = t.first(now, onToolAndSite, siteTarget(a.Tool, a.At.Origin), client)
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
	case free(a):
		v = t.unasked(a, site, now)
	case site.mode != "":
		v = site
	default:
		v = t.rest(a, now)
	}
	if a.At == nil && !a.BuiltIn {
		v.dependsOnOrigin = t.sites.some || pairs.some
		v.opens = v.mode == call.Off && (t.sites.opens || pairs.opens)
	}
	return v
}

// first is what the rules about one target say: that for the client, else that for all; an empty mode: nothing.
func (t *table) first(now int64, l level, target, client string) verdict {
	for _, k := range [...]key{{target, client}, {target, ""}} {
		if mode, from := t.cells[k].at(now); mode != "" {
			return verdict{mode: mode, from: from, rule: k, level: l}
		}
	}
	return verdict{}
}

// free reports whether a tool needs no permission of its own. The relay's own tools see and do nothing in a browser.
// Those of a capability may need none either: [AttachGroup]. The demo runs on a site of the relay's own; its counter
// asks all the same, so that a newcomer has answered once.
func free(a *call.Access) bool {
	return a.BuiltIn && IsFree(a.Plugin) && !a.Asks || ofDemo(a) && a.Tool != demoCounter
}

// ofDemo reports whether a tool is one of the demo that comes with tabrelay.
func ofDemo(a *call.Access) bool { return a.Shipped && a.Plugin == demoPlugin }

// unasked is what is done about a free tool that no rule names: it runs, unless the client or the default is off, or a
// rule about the site asks.
func (t *table) unasked(a *call.Access, site verdict, now int64) verdict {
	if v := t.rest(a, now); v.mode == call.Off && v.from != "" {
		return v
	}
	if site.mode != "" {
		return site
	}
	return verdict{mode: call.Auto, from: fromBuiltIn, level: onBuiltIn}
}

// rest is what is said of a client, by default, and without any rule.
func (t *table) rest(a *call.Access, now int64) verdict {
	v := t.first(now, onDefault, Default, a.Session.Client)
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
	if v.from == fromConfig {
		says = " in config.json says so"
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
	case onBuiltIn:
		return "the tool is one of the relay's own, or of the demo"
	case onLost:
		return "rules of the person may be missing, so everything is asked about until they have looked"
	}
	return "no rule says otherwise"
}
