package policy

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/road/call"
)

// maxSites is how many origins a call is told at the most. Where the rules name more, it is told the strictest ones,
// and what is left out counts as the strictest of it.
const maxSites = 1000

// Sites is what a call may do with the documents of each origin: exactly what [Policy.Allow] would say if its tab
// showed a page of that origin.
func (p *Policy) Sites(a call.Access) call.Sites {
	at := call.Target{}
	if a.At != nil {
		at = *a.At
	}
	state := func(origin string) call.SiteState {
		there, one := at, a
		there.Origin, one.At = origin, &there
		return p.stateOf(one)
	}
	sites := call.Sites{Rest: state(nobody), Origins: map[string]call.SiteState{}}
	if m := p.rules.Load().managed; m != nil && m.boundsSites() {
		sites.Within = &call.SitePatterns{Allow: m.allow, Deny: append([]string{}, m.deny...), Rest: sites.Rest}
		sites.Rest = call.SiteOff
	}
	named := p.rules.Load().namedOrigins()
	p.grants.origins(a.Session.ID, named)
	if at.Origin != "" {
		named[at.Origin] = true
	}
	for origin := range named {
		if says := state(origin); says != sites.Of(origin) {
			sites.Origins[origin] = says
		}
	}
	return boundedSites(sites, at.Origin)
}

// stateOf is [Policy.Allow] as the state of the site that the call would run in.
func (p *Policy) stateOf(a call.Access) call.SiteState {
	t := p.rules.Load()
	if t.paused {
		return call.SiteOff
	}
	v := t.resolve(&a, time.Now().UnixNano())
	switch {
	case v.mode == call.Off:
		return call.SiteOff
	case v.mode == call.Ask && !p.holds(&a, v):
		return call.SiteAsk
	}
	return call.SiteOpen
}

// strictness orders the states of sites.
var strictness = map[call.SiteState]int{call.SiteOpen: 0, call.SiteAsk: 1, call.SiteOff: 2}

// boundedSites leaves at most [maxSites] origins, the call's own among them.
func boundedSites(sites call.Sites, own string) call.Sites {
	if len(sites.Origins) <= maxSites {
		return sites
	}
	byStrictness := slices.SortedFunc(maps.Keys(sites.Origins), func(a, b string) int {
		if own == a || own == b {
			return cmp.Or(btoi(own == b)-btoi(own == a), strings.Compare(a, b))
		}
		return cmp.Or(strictness[sites.Origins[b]]-strictness[sites.Origins[a]], strings.Compare(a, b))
	})
	for _, origin := range byStrictness[maxSites:] {
		left := sites.Origins[origin]
		if strictness[left] > strictness[sites.Rest] {
			sites.Rest = left
		}
		if w := sites.Within; w != nil && strictness[left] > strictness[w.Rest] {
			w.Rest = left
		}
		delete(sites.Origins, origin)
	}
	return sites
}

func btoi(is bool) int {
	if is {
		return 1
	}
	return 0
}

// namedOrigins are the origins that the rules name, those of earlier configurations included.
func (t *table) namedOrigins() map[string]bool {
	named := map[string]bool{}
	for one := range t.layers() {
		for k := range one.cells {
			if _, origin := splitTarget(k.target); origin != "" {
				named[origin] = true
			}
		}
	}
	return named
}
