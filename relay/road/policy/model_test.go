package policy

import (
	"math/rand/v2"
	"strings"
	"testing"

	"tabrelay/relay/road/call"
)

// reference is the model as the documentation tells it, for the rules of one person that do not end: two questions, of
// each the most specific rule, the stricter answer; a rule about the tool on the site where neither is off; the
// default.
func reference(rules map[key]call.Mode, client, tool, plugin, origin string) call.Mode {
	first := func(targets ...string) call.Mode {
		for _, target := range targets {
			for _, c := range []string{client, ""} {
				if m := rules[key{target, c}]; m != "" {
					return m
				}
			}
		}
		return ""
	}
	which, where, both := first(tool, plugin), first(origin), first(tool+"@"+origin)
	switch {
	case which == call.Off || where == call.Off:
		return call.Off
	case both != "":
		return both
	case which == call.Ask || where == call.Ask:
		return call.Ask
	case which+where != "":
		return call.Auto
	}
	if m := first(Default); m != "" {
		return m
	}
	return call.Ask
}

var (
	modelClients = []string{"", "ann", "bob"}
	modelTools   = []string{"shop__pay", "shop__read", "wiki__edit"}
	modelOrigins = []string{"https://shop.example", "https://bank.example", "http://shop.example"}
)

// modelTargets are all targets of the model's rules.
func modelTargets() (list []string) {
	list = []string{Default, "shop", "wiki"}
	list = append(append(list, modelTools...), modelOrigins...)
	for _, tool := range modelTools {
		for _, origin := range modelOrigins {
			list = append(list, siteTarget(tool, origin))
		}
	}
	return list
}

// modelRules is a random set of rules.
func modelRules(r *rand.Rand, targets []string) map[key]call.Mode {
	rules := map[key]call.Mode{}
	for range r.IntN(14) {
		k := key{targets[r.IntN(len(targets))], modelClients[r.IntN(len(modelClients))]}
		rules[k] = []call.Mode{call.Off, call.Ask, call.Auto}[r.IntN(3)]
	}
	return rules
}

// eachModelAccess calls check for every access that the model's rules tell apart.
func eachModelAccess(check func(a call.Access)) {
	for _, client := range []string{"ann", "bob", "eve"} {
		for _, tool := range append([]string{"other__one"}, modelTools...) {
			for _, origin := range append([]string{"https://other.example"}, modelOrigins...) {
				plugin, _, _ := strings.Cut(tool, "__")
				check(call.Access{Session: call.Session{Client: client}, Tool: tool, Plugin: plugin,
					At: &call.Target{Origin: origin}})
			}
		}
	}
}

func TestAgainstTheReference(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	targets := modelTargets()
	for range 2000 {
		rules := modelRules(r, targets)
		table := tableOf(rules)
		eachModelAccess(func(a call.Access) {
			want := reference(rules, a.Session.Client, a.Tool, a.Plugin, a.At.Origin)
			got := table.resolve(&a, 0)
			if got.mode != want {
				t.Fatalf("%v: %s of %s on %s is %s (%s), want %s", rules, a.Tool, a.Session.Client, a.At.Origin,
					got.mode, got.why(), want)
			}
			// Before its tab is known, a call is not refused that would be let in there, nor hidden.
			a.At = nil
			if early := table.resolve(&a, 0); want != call.Off && early.mode == call.Off && !early.enabledBySite {
				t.Fatalf("%v: %s of %s is refused before its tab is known", rules, a.Tool, a.Session.Client)
			}
		})
	}
}

func tableOf(rules map[key]call.Mode) *table {
	var personal []call.Rule
	for k, m := range rules {
		personal = append(personal, call.Rule{Target: k.target, Client: k.client, Mode: m})
	}
	return newTable(personal, nil, false)
}

// Whatever somebody writes as a target either is refused, or has one spelling that reads as itself.
func FuzzTargets(f *testing.F) {
	for _, seed := range []string{"default", "*", "shop", "shop__pay", "https://shop.example", "http://[::1]:8080",
		"shop__pay@https://shop.example:443/", "https://b\u00fccher.example", "a__b@https://c@d", "https://x:99999",
		"a__b@a__b@https://x", "https://%41.example", "a__b@http://\u202eexample", "HTTPS://X", "x://y", "://", "@"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		spelled, err := readTarget(text, nil)
		if err != nil {
			return
		}
		again, err := readTarget(spelled, nil)
		if err != nil || again != spelled {
			t.Fatalf("%q is spelled %q, which reads as %q, %v", text, spelled, again, err)
		}
		tool, origin := splitTarget(spelled)
		joined := origin
		if tool != "" {
			joined = siteTarget(tool, origin)
		}
		if origin != "" && (joined != spelled || strings.Count(origin, "/") != 2 || strings.Contains(origin, "@")) {
			t.Fatalf("%q has the tool %q and the origin %q", spelled, tool, origin)
		}
	})
}
