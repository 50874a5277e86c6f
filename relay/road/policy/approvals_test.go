package policy

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// A panel sees and answers the questions of its own profile, and those without a tab.
func TestOnlyTheOwnerIsAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, call.Rule{Target: "default", Mode: call.Ask}, call.Rule{Target: "relay", Mode: call.Ask})
		q, end := f.asks(t.Context(), pay())
		own := call.Access{Session: call.Session{ID: "session", Client: "ann"}, Tool: "browser__open_tab",
			Plugin:  "relay",
			BuiltIn: true}
		_, everywhere := f.asks(t.Context(), own)
		if n1, n2, all := len(f.Pending("p1")), len(f.Pending("p2")), len(f.Pending("")); n1 != 2 || n2 != 1 ||
			all != 2 {
			t.Errorf("p1 is asked %d, p2 %d, the terminal %d", n1, n2, all)
		}
		if err := f.Answer(t.Context(), q.ID, "p2", yes("once")); !errors.Is(err, ErrNotYours) {
			t.Errorf("the other profile: %v", err)
		}
		if err := f.Answer(t.Context(), q.ID, "p1", yes("for ever")); !errors.Is(err, ErrAnswer) {
			t.Errorf("an answer without sense: %v", err)
		}
		if err := f.Answer(t.Context(), q.ID, "p1", yes("once")); err != nil || <-end != nil {
			t.Error(err)
		}
		if err := f.Answer(t.Context(), f.Pending("p2")[0].ID, "p2", no); err != nil || <-everywhere == nil {
			t.Error(err)
		}
	})
}

// A tab that was closed just before the question about it was put is not asked about.
func TestATabThatIsGoneIsNotAskedAbout(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
		f.options.TabGone = func(profileID string, tabID int) bool {
			return profileID == "p1" &&
				tabID == pay().At.TabID
		}
		failure := f.ask(t.Context(), pay(), nil, nil)
		if failure == nil || failure.Code != fault.TabNotFound || failure.Outcome != fault.NotExecuted ||
			!slices.Equal(f.recorded, []string{"ended with the tab by relay"}) {
			t.Errorf("%v; recorded %v", failure, f.recorded)
		}
	})
}

// One client cannot keep the others from asking.
func TestQuestionsAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
		ctx, cancel := context.WithCancel(t.Context())
		var calls sync.WaitGroup
		for range maxCalls / 4 {
			calls.Go(func() { f.ask(ctx, pay(), nil, nil) })
		}
		synctest.Wait()
		if failure := f.ask(ctx, pay(), nil, nil); failure == nil || failure.Code != fault.Overloaded ||
			failure.Outcome != fault.NotExecuted {
			t.Errorf("one too many: %v", failure)
		}
		bob := pay()
		bob.Session.Client = "bob"
		f.asks(ctx, bob)
		cancel()
		calls.Wait()
		synctest.Wait()
		if n := len(f.Pending("")); n != 0 {
			t.Errorf("%d are left", n)
		}
	})
}

// A question, and what becomes of it when it is missed, ends by a clock that nobody sets.
func TestQuestionsDoNotEndByTheSystemsClock(t *testing.T) {
	cfg := answeredWithin(time.Minute)
	cfg.Approvals.Missed = 10 * time.Minute
	p, err := New(t.Context(), Options{Store: newMemory(), Config: cfg})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	one := &pending{call: p.newQuestion(pay())}
	if failure := p.add(one, func(map[string]*pending) *fault.Error { return nil }); failure != nil {
		t.Fatal(failure)
	}
	p.keepMissed(one)
	for _, one := range []*pending{one, p.approvals.missed[0].pending} {
		if one.until == one.until.Round(0) {
			t.Errorf("it ends at %s of the system's clock", one.until)
		}
		if told := one.call.Until; told != told.Round(0) || told.Location() != time.UTC {
			t.Errorf("people are told %s", told)
		}
	}
}

// The switch survives a restart; what is asked meanwhile is refused.
func TestPauseSurvivesARestart(t *testing.T) {
	m := newMemory()
	m.rules[key{"default", ""}] = call.Rule{Target: "default", Mode: call.Auto}
	for _, paused := range []bool{true, false} {
		p, err := New(t.Context(), Options{Store: m, Config: answeredWithin(time.Second)})
		if err != nil {
			t.Fatal(err)
		}
		if err := p.Pause(t.Context(), paused, "panel"); err != nil {
			t.Fatal(err)
		}
		p.Close()
		next, err := New(t.Context(), Options{Store: m, Config: answeredWithin(time.Second)})
		if err != nil {
			t.Fatal(err)
		}
		if _, failure := next.Allow(pay()); (failure != nil) != paused || next.Paused() != paused {
			t.Errorf("paused %t: %v", paused, failure)
		}
		next.Close()
	}
}

// A stop that cannot be written down is in effect and told, and the next one writes it down.
func TestPauseOnAFullDisk(t *testing.T) {
	m := newMemory()
	var told []string
	p, err := New(t.Context(), Options{Store: m, Config: answeredWithin(time.Second),
		Changed: func(topic string) { told = append(told, topic) }})
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	m.broken = errors.New("the disk is full")
	if err := p.Pause(t.Context(), true, "panel"); !errors.Is(err, m.broken) || !p.Paused() ||
		!slices.Equal(told, []string{TopicPermissions, TopicPaused}) {
		t.Errorf("%v, paused: %t, told of %q", err, p.Paused(), told)
	}
	if err := p.Pause(t.Context(), false, "panel"); !errors.Is(err, m.broken) || !p.Paused() {
		t.Errorf("resumed: %v, paused: %t", err, p.Paused())
	}
	m.broken = nil
	if err := p.Pause(t.Context(), true, "panel"); err != nil || m.switches[pausedSwitch] != "true" || len(told) != 2 {
		t.Errorf("again: %v, written %q, told of %q", err, m.switches[pausedSwitch], told)
	}
}

// What is always allowed is a rule before the call goes on: the next one of its agent is not asked about.
func TestAlwaysHoldsForTheNextCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
		written := make(chan struct{})
		f.options.Store.(*memory).slow = written
		q, end := f.asks(t.Context(), pay())
		answered := make(chan error, 1)
		go func() { answered <- f.Answer(t.Context(), q.ID, "", yes("always")) }()
		synctest.Wait()
		if len(end) != 0 {
			t.Error("the call goes on before there is a rule")
		}
		close(written)
		if err, failure := <-answered, <-end; err != nil || failure != nil {
			t.Error(err, failure)
		}
		if got := f.allowed(pay()); got != "runs" {
			t.Errorf("the next call: %s", got)
		}
	})
}

// Changing the rules takes back what was allowed under them.
func TestANewRuleTakesGrantsBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
		for _, target := range []string{"shop", "shop__pay", "https://shop.example", "default"} {
			q, end := f.asks(t.Context(), pay())
			if err := f.Answer(t.Context(), q.ID, "", yes("session")); err != nil || <-end != nil {
				t.Fatal(err)
			}
			if err := f.Set(t.Context(), call.Rule{Target: target, Mode: call.Ask}, 0); err != nil {
				t.Fatal(err)
			}
			if got := f.allowed(pay()); got != "ask" {
				t.Errorf("after a rule about %s it is %s", target, got)
			}
		}
		q, end := f.asks(t.Context(), pay())
		if err := f.Answer(t.Context(), q.ID, "", yes("session")); err != nil || <-end != nil {
			t.Fatal(err)
		}
		if g := f.Grants(); len(g) != 1 || !f.Revoke(g[0].ID, "panel") || f.allowed(pay()) != "ask" ||
			f.Revoke(g[0].ID, "panel") {
			t.Errorf("the grants are %+v", g)
		}
	})
}

func BenchmarkAllow(b *testing.B) {
	rules := map[string]map[string]string{"wiki": {"*": "ask"}, "https://bank.example": {"*": "off"},
		"default": {"*": "auto"}}
	config := answeredWithin(time.Minute)
	config.Permissions = rules
	p, err := New(b.Context(), Options{Store: newMemory(), Config: config})
	if err != nil {
		b.Fatal(err)
	}
	granted := pay()
	granted.Tool, granted.Plugin = "wiki__page", "wiki"
	p.grants.add(&granted, bindSession(&granted, verdict{}), 0)
	for name, a := range map[string]call.Access{"auto": pay(), "granted": granted} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if says, failure := p.Allow(a); says.Ask || failure != nil {
					b.Fatal(says, failure)
				}
			}
		})
	}
}
