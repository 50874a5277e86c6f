package policy

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/state/config"
)

// oldRules are random rules as they were before there were rules about a tool on a site: of a person, some of which
// end, and of a configuration.
func oldRules(r *rand.Rand, end time.Time) (personal []call.Rule, configured map[string]map[string]string) {
	targets := append(append([]string{Default, "shop", "wiki", demoPlugin}, modelTools...), modelOrigins...)
	for k, mode := range modelRules(r, targets) {
		rule := call.Rule{Target: k.target, Client: k.client, Mode: mode}
		if r.IntN(3) == 0 {
			rule.Until = end
		}
		personal = append(personal, rule)
	}
	configured = map[string]map[string]string{}
	for k, mode := range modelRules(r, targets) {
		if k.client == "" {
			k.client = everyClient
		}
		if configured[k.target] == nil {
			configured[k.target] = map[string]string{}
		}
		configured[k.target][k.client] = string(mode)
	}
	return personal, configured
}

// For any rules, carried over they allow nobody more than before, nowhere, now and after some have ended.
func TestCarriedOverNeverWider(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	end := time.Now().Add(time.Hour)
	for range 1000 {
		personal, configured := oldRules(r, end)
		before := newTable(personal, configured, false)
		m := newMemory()
		p := &Policy{options: Options{Store: m}}
		carried, err := p.carryOver(t.Context(), personal, configured)
		if err != nil {
			t.Fatal(err)
		}
		after := newTable(carried, configured, false)
		check := func(a call.Access) {
			for _, now := range []int64{time.Now().UnixNano(), end.UnixNano()} {
				was, is := before.modeInOldOrder(&a, now), after.resolve(&a, now)
				if permissive[is.mode] > permissive[was] {
					t.Fatalf("%v %v: %s of %s on %s was %s and is %s (%s)", personal, configured, a.Tool,
						a.Session.Client, a.At.Origin, was, is.mode, is.why())
				}
			}
		}
		eachModelAccess(check)
		eachModelAccess(func(a call.Access) {
			a.Plugin, a.Tool, a.Shipped = demoPlugin, "demo__hello", true
			check(a)
		})
		if again, _ := p.carryOver(t.Context(), personal, configured); len(again) != len(personal) {
			t.Fatal("rules are carried over twice")
		}
	}
}

// What an update made stricter is told once, until the person has seen it: in the panel, and at every start.
func TestNarrowedIsTold(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		for _, r := range []call.Rule{{Target: "wiki", Mode: call.Auto}, {Target: "https://bank.example",
			Mode: call.Off},
			{Target: "https://bank.example", Client: "ann", Mode: call.Auto}} {
			m.rules[key{r.Target, r.Client}] = r
		}
		var recorded []string
		start := func() *Policy {
			p, err := New(t.Context(), Options{Store: m, Tools: accessible, Used: true, Audit: func(e call.Entry) {
				recorded = append(recorded, e.Detail)
			}})
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Start(t.Context()); err != nil {
				t.Fatal(err)
			}
			return p
		}
		const want = "every tool of wiki on https://bank.example: auto → off"
		for range 2 {
			p := start()
			if got := p.Narrowed(); !strings.Contains(got, want) {
				t.Errorf("told %q", got)
			}
			if m.rules[key{"https://bank.example", "ann"}].Mode != call.Off {
				t.Errorf("the rule of ann is %+v", m.rules[key{"https://bank.example", "ann"}])
			}
			p.Close()
		}
		p := start()
		list := slices.DeleteFunc(p.Changes(), func(c PendingChange) bool { return c.Kind == ChangeStart })
		if len(list) == 0 || list[0].Kind != ChangeCarried {
			t.Fatalf("the panel shows %+v", list)
		}
		if err := p.Answer(t.Context(), list[0].ID, "", call.Decision{Allow: true, By: ByTerminal,
			Digest: list[0].Digest}); err != nil || p.Narrowed() != "" {
			t.Errorf("seen: %v, %q", err, p.Narrowed())
		}
		p.Close()
		if p = start(); p.Narrowed() != "" {
			t.Errorf("told again: %q", p.Narrowed())
		}
		p.Close()
		if text := strings.Join(recorded, "\n"); !strings.Contains(text, want) || strings.Count(text, want) > 1 ||
			!strings.Contains(text, "had no effect before") {
			t.Errorf("the audit log has\n%s", text)
		}
	})
}

// A site that config.json spells in another way than browsers do had no effect before an update: what such a rule
// allows waits for the person, and what it forbids is forbidden.
func TestOtherwiseSpelledSitesWait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, kept := range []string{"", `{"inEffect":{"permissions":{"https://Shop.example:443":{"*":"auto"},` +
			`"https://Bank.example":{"*":"off"}},"shipped":[]}}`} {
			m, f := newMemory(), &fixture{t: t}
			if kept != "" {
				m.switches[rightsSwitch] = kept
			}
			cfg := answeredWithin(50 * time.Second)
			cfg.Permissions = map[string]map[string]string{
				"https://Shop.example:443": {everyClient: "auto"}, "https://Bank.example": {everyClient: "off"}}
			start := func(used bool) {
				p, err := New(t.Context(), Options{Store: m, Config: cfg, Tools: accessible, Used: used})
				if err != nil {
					t.Fatal(err)
				}
				t.Cleanup(p.Close)
				if f.Policy = p; p.Start(t.Context()) != nil {
					t.Fatal("it does not start")
				}
			}
			bank := pay()
			bank.At = shopAt("https://bank.example")
			for range 2 {
				start(true)
				c := f.rights.Load().waits
				if c == nil || !strings.Contains(c.difference(), "permissions.https://Shop.example:443") {
					t.Fatalf("%q: %+v waits", kept, c)
				}
				if shop := f.allowed(pay()); shop != "ask" || f.allowed(bank) == "ask" {
					t.Errorf("%q: the shop: %s, the bank: %s", kept, shop, f.allowed(bank))
				}
				f.Close()
			}
			start(true)
			c := f.rights.Load().waits
			if err := f.Answer(t.Context(), ChangeConfig, "", call.Decision{Allow: true, By: ByTerminal,
				Digest: c.Digest()}); err != nil || f.allowed(pay()) != "runs" {
				t.Errorf("%q: once allowed: %v, %s", kept, err, f.allowed(pay()))
			}
			f.Close()
			if start(true); f.allowed(pay()) != "runs" || f.rights.Load().waits != nil {
				t.Errorf("%q: at the next start: %s", kept, f.allowed(pay()))
			}
			f.Close()
			m.switches = map[string]string{}
			if start(false); f.allowed(pay()) != "runs" {
				t.Errorf("in a new home folder: %s", f.allowed(pay()))
			}
			f.Close()
		}
	})
}

// While rules may be missing, nothing runs without a question, nothing that was off is on, and no grant counts or is
// given, also after a restart, until the person has looked.
func TestLostRules(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := newMemory()
		for target, mode := range map[string]call.Mode{"shop": call.Auto, "wiki": call.Off, Default: call.Auto} {
			m.rules[key{target, ""}] = call.Rule{Target: target, Mode: mode}
		}
		f := &fixture{t: t}
		start := func(lost string) {
			p, err := New(t.Context(), Options{Store: m, Config: answeredWithin(50 * time.Second), Lost: lost})
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(p.Close)
			f.Policy = p
		}
		start("3 changes are not in the database")
		if a := pay(); f.allowed(a) != "ask" {
			t.Errorf("a rule counts: %s", f.allowed(a))
		}
		off := pay()
		off.Plugin, off.Tool = "wiki", "wiki__edit"
		if mode, _ := f.mode(off); mode != call.Off {
			t.Errorf("what is off is %s", mode)
		}
		q, end := f.asks(t.Context(), read())
		if len(q.Choices) != 1 || f.Answer(t.Context(), q.ID, "", yes("session")) == nil {
			t.Errorf("it can be allowed for longer: %v", q.Choices)
		}
		if err := f.Answer(t.Context(), q.ID, "", yes("once")); err != nil || <-end != nil {
			t.Error(err)
		}
		f.Close()
		start("")
		if f.allowed(pay()) != "ask" || f.Lost() != "3 changes are not in the database" {
			t.Errorf("after a restart: %s, %q", f.allowed(pay()), f.Lost())
		}
		if err := f.Set(t.Context(), call.Rule{Target: "shop__read", Mode: call.Auto}, 0); err != nil ||
			f.allowed(read()) != "ask" {
			t.Errorf("a new rule counts before the person has looked, %v", err)
		}
		c := f.AnswerChange(ChangeLost, call.Session{Client: config.LocalClient, Via: call.ViaSocket}, "",
			call.Decision{Allow: true})
		if c == nil || !strings.Contains(c.Text, "shop__read: auto") || !strings.Contains(c.Text, "wiki: off") {
			t.Fatalf("the person reads %+v", c)
		}
		if err := f.Answer(t.Context(), ChangeLost, "", call.Decision{Allow: true, By: ByTerminal}); err == nil {
			t.Error("it is allowed unread")
		}
		if list := f.Changes(); len(list) != 1 || list[0].Aside {
			t.Errorf("before it is put aside: %+v", list)
		}
		if err := f.Answer(t.Context(), ChangeLost, "", call.Decision{By: ByPanel}); err != nil {
			t.Error(err)
		}
		if list := f.Changes(); len(list) != 1 || !list[0].Aside || f.allowed(pay()) != "ask" || f.Lost() == "" {
			t.Errorf("put aside: %+v, %s, %q", list, f.allowed(pay()), f.Lost())
		}
		if err := f.Answer(t.Context(), ChangeLost, "", call.Decision{Allow: true, By: ByTerminal,
			Digest: c.Digest()}); err != nil || f.allowed(pay()) != "runs" || f.Lost() != "" {
			t.Errorf("after the person has looked: %v, %s", err, f.allowed(pay()))
		}
		f.Close()
		if start(""); f.allowed(pay()) != "runs" {
			t.Error("it is lost again")
		}
	})
}
