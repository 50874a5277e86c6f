package dispatch

import (
	"encoding/json"
	"maps"

	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

// looker is the tool whose rules say where a call may look at the page to which it took its tab.
const looker = plugin.Browser + "__snapshot"

// looksOnArrival reports whether the call asks for a look at the page that it navigates to.
func (r *run) looksOnArrival() bool {
	members, _ := rawjson.Members(r.args)
	asks := string(rawjson.Get(members, "look")) == "true" || rawjson.Get(members, "until") != nil
	return r.tool.Browses && r.tool.AddressArgument != "" && asks
}

// whereReadable narrows what a call may touch to where its session may look, too: elsewhere it is told no more than of
// a site that it has to ask about. What is off for the call itself stays off, and nothing else becomes it.
func (r *run) whereReadable(sites call.Sites, at *call.Target) call.Sites {
	reading := call.Sites{Rest: call.SiteAsk}
	if tool, ok := r.Tools.Snapshot().Find(looker); ok && r.mayCall(tool) {
		reading = r.Policy.Sites(r.accessOf(tool, at))
	}
	return combine(sites, reading, func(own, read call.SiteState) call.SiteState {
		if own == call.SiteOpen && read != call.SiteOpen {
			return call.SiteAsk
		}
		return own
	})
}

// combine makes the state of each site of those in two lists.
func combine(own, other call.Sites, one func(own, other call.SiteState) call.SiteState) call.Sites {
	both := call.Sites{Rest: one(own.Rest, other.Rest), Origins: map[string]call.SiteState{}}
	if own.Within != nil {
		within := *own.Within
		rest := other.Rest
		if other.Within != nil {
			rest = other.Within.Rest
		}
		within.Rest, both.Within = one(within.Rest, rest), &within
	}
	for _, origins := range []map[string]call.SiteState{own.Origins, other.Origins} {
		for origin := range maps.Keys(origins) {
			both.Origins[origin] = one(own.Of(origin), other.Of(origin))
		}
	}
	return both
}

// accessOf is a call of another tool, without arguments, as the policy sees it: nobody was asked about it.
func (r *run) accessOf(tool *registry.Tool, at *call.Target) call.Access {
	other := run{Dispatcher: r.Dispatcher, call: r.call, tool: tool, args: json.RawMessage(`{}`)}
	return other.access(at)
}
