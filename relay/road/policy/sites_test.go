package policy

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"tabrelay/relay/road/call"
)

// What a call is told of each site is what would be decided if its tab showed that site.
func TestSitesAgreeWithAllow(t *testing.T) {
	const seeds = 200
	tools := []string{"browser__click", "browser__snapshot", "browser-dev__evaluate"}
	targets := []string{"default", "browser", "browser-dev", "browser__click", "https://a.example", "https://b.example",
		"https://c.example", "browser__click@https://a.example", "browser__snapshot@https://b.example"}
	modes := []call.Mode{call.Off, call.Ask, call.Auto}
	origins := []string{"https://a.example", "https://b.example", "https://c.example", "https://d.example"}
	for seed := range uint64(seeds) {
		chance := rand.New(rand.NewPCG(seed, 25))
		var rules []call.Rule
		for range chance.IntN(6) {
			rules = append(rules, call.Rule{
				Target: targets[chance.IntN(len(targets))], Mode: modes[chance.IntN(len(modes))],
				Client: []string{"", "claude-code", "cursor"}[chance.IntN(3)],
			})
		}
		f := open(t, rules...)
		a := call.Access{
			Session: call.Session{ID: "s", Client: "claude-code"}, Tool: tools[chance.IntN(len(tools))],
			Plugin: "browser",
			Hash:   "h", Shipped: true, At: &call.Target{ProfileID: "p", TabID: 1, Origin: origins[chance.IntN(4)]},
			ReadOnly: chance.IntN(2) == 0,
		}
		if chance.IntN(2) == 0 {
			a.Approved = bind(&a)
		}
		if chance.IntN(2) == 0 {
			granted := a
			granted.At = &call.Target{ProfileID: "p", TabID: 1, Origin: origins[chance.IntN(4)]}
			f.grants.add(&granted, bindSession(&granted, f.rules.Load().resolve(&granted, time.Now().UnixNano())), 0)
		}
		sites := f.Sites(a)
		for _, origin := range origins {
			there := a
			at := *a.At
			at.Origin, there.At = origin, &at
			want := call.SiteOpen
			if says, failure := f.Allow(there); failure != nil {
				want = call.SiteOff
			} else if says.Ask {
				want = call.SiteAsk
			}
			got, named := sites.Origins[origin]
			if !named {
				got = sites.Rest
			}
			if got != want {
				t.Errorf("seed %d: %s at %s is told as %s, and decided as %s; rules %+v", seed, a.Tool, origin, got,
					want,
					rules)
			}
		}
		f.Close()
	}
}

// Nobody uses what was allowed by asking what is.
func TestSitesKeepNoGrantAlive(t *testing.T) {
	f := open(t)
	a := call.Access{Session: call.Session{ID: "s", Client: "c"}, Tool: "browser__read", Plugin: "browser",
		ReadOnly: true, At: &call.Target{ProfileID: "p", TabID: 1, Origin: "https://a.example"}}
	f.grants.add(&a, bindSession(&a, verdict{mode: call.Ask}), 0)
	before := f.Grants()[0].Until
	if got := f.Sites(a).Origins["https://a.example"]; got != call.SiteOpen {
		t.Fatalf("the site is told as %q", got)
	}
	if after := f.Grants()[0].Until; !after.Equal(before) {
		t.Errorf("the grant lasts until %s in place of %s", after, before)
	}
}

// However many sites the rules name, none that is left out is told as more than it is.
func TestManySitesAreBounded(t *testing.T) {
	var rules []call.Rule
	for i := range maxSites + 50 {
		rules = append(rules, call.Rule{Target: fmt.Sprintf("https://s%d.example", i), Mode: call.Off})
	}
	rules = append(rules, call.Rule{Target: "https://own.example", Mode: call.Auto})
	f := open(t, rules...)
	sites := f.Sites(call.Access{Session: call.Session{ID: "s", Client: "c"}, Tool: "browser__read", Plugin: "browser",
		At: &call.Target{Origin: "https://own.example"}})
	if len(sites.Origins) != maxSites || sites.Rest != call.SiteOff {
		t.Errorf("%d sites are named, and of the rest %s is told", len(sites.Origins), sites.Rest)
	}
	if got := sites.Origins["https://own.example"]; got != call.SiteOpen {
		t.Errorf("the call's own site is told as %q", got)
	}
}
