package policy

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
)

// managedBy is a Policy under the policy of an administrator.
func managedBy(t *testing.T, m *config.Managed, rules ...call.Rule) *fixture {
	t.Helper()
	f := open(t, rules...)
	f.manage(m)
	return f
}

// manage has the relay read another policy.
func (f *fixture) manage(m *config.Managed) {
	f.t.Helper()
	next := f.options.Config
	next.Managed = m
	if _, err := f.Configure(f.t.Context(), next); err != nil {
		f.t.Fatal(err)
	}
}

// Of a policy's rules and everybody else's the stricter counts: whatever the person, config.json or an answer allows.
func TestPolicyIsNeverLoosened(t *testing.T) {
	auto := []call.Rule{{Target: Default, Mode: call.Auto}, {Target: "shop", Mode: call.Auto},
		{Target: "shop__pay", Mode: call.Auto}, {Target: "https://shop.example", Mode: call.Auto},
		{Target: "shop__pay@https://shop.example", Mode: call.Auto},
		{Target: "shop__pay@https://shop.example", Client: "ann", Mode: call.Auto}}
	every := func(rules map[string]string) map[string]map[string]string {
		all := map[string]map[string]string{}
		for target, mode := range rules {
			all[target] = map[string]string{config.EveryClient: mode}
		}
		return all
	}
	const shop = "https://shop.example"
	allow := func(patterns ...string) config.ManagedSites {
		return config.ManagedSites{Allow: append([]string{}, patterns...)}
	}
	deny := func(patterns ...string) config.ManagedSites { return config.ManagedSites{Deny: patterns} }
	for name, test := range map[string]struct {
		rules  map[string]string
		sites  config.ManagedSites
		origin string
		want   call.Mode
	}{
		"nothing":               {nil, config.ManagedSites{}, shop, call.Auto},
		"the default":           {map[string]string{"default": "ask"}, config.ManagedSites{}, shop, call.Ask},
		"all, as it is written": {map[string]string{"*": "ask"}, config.ManagedSites{}, shop, call.Ask},
		"a plugin":              {map[string]string{"shop": "off"}, config.ManagedSites{}, shop, call.Off},
		"a tool":                {map[string]string{"shop__pay": "ask"}, config.ManagedSites{}, shop, call.Ask},
		"a tool that it leaves": {map[string]string{"default": "off", "shop__pay": "auto"}, config.ManagedSites{}, shop,
			call.Auto},
		"a site": {map[string]string{shop: "off"}, config.ManagedSites{}, shop, call.Off},
		"a site, spelled other": {map[string]string{"https://Shop.Example:443": "off"}, config.ManagedSites{}, shop,
			call.Off},
		"a site, to the root": {map[string]string{shop: "off"}, config.ManagedSites{}, shop + ".", call.Off},
		"written to the root": {map[string]string{shop + ".": "off"}, config.ManagedSites{}, shop, call.Off},
		"a tool on a site":    {map[string]string{"shop__pay@" + shop: "ask"}, config.ManagedSites{}, shop, call.Ask},
		"on another site": {map[string]string{"shop__pay@https://other.example": "ask"}, config.ManagedSites{}, shop,
			call.Auto},
		"a site that is denied":  {nil, deny("*://*.example/*"), shop, call.Off},
		"denied, to the root":    {nil, deny("*://*.example/*"), shop + ".:8443", call.Off},
		"denied, another port":   {nil, deny(shop + "/*"), shop + ":8443", call.Off},
		"another is denied":      {nil, deny("*://bank.example/*"), shop, call.Auto},
		"a site that is allowed": {nil, allow("https://*.example/*"), shop, call.Auto},
		"none is allowed":        {nil, allow(), shop, call.Off},
		"another is allowed":     {nil, allow("https://wiki.example/*"), shop, call.Off},
		"over another scheme":    {nil, allow("https://*.example/*"), "http://shop.example", call.Off},
		"without an address":     {nil, deny("https://bank.example/*"), "null", call.Off},
		"allowed and denied": {nil, config.ManagedSites{Allow: []string{"*://*.example/*"},
			Deny: []string{"*://shop.example/*"}}, shop, call.Off},
	} {
		t.Run(name, func(t *testing.T) {
			m := &config.Managed{Rules: every(test.rules), Sites: test.sites}
			f := managedBy(t, m, auto...)
			a := pay()
			a.At = shopAt(test.origin)
			if mode, why := f.mode(a); mode != test.want {
				t.Errorf("it is %s, because %s", mode, why)
			}
			f.options.Config.Permissions = every(map[string]string{"default": "auto", "shop__pay": "auto",
				shop: "auto"})
			f.manage(m)
			if mode, why := f.mode(a); mode != test.want {
				t.Errorf("with such a config.json it is %s, because %s", mode, why)
			}
			state := map[call.Mode]call.SiteState{call.Auto: call.SiteOpen, call.Ask: call.SiteAsk,
				call.Off: call.SiteOff}
			if sites := f.Sites(a); sites.Of(test.origin) != state[test.want] {
				t.Errorf("documents of it are %s, by %+v", sites.Of(test.origin), sites)
			}
			outside := test.sites.Allow != nil || test.sites.Deny != nil
			if shows := f.ShowsTab(a.Session, *a.At); outside && shows == (test.want == call.Off) {
				t.Errorf("its tab is listed: %t", shows)
			}
		})
	}
	f := managedBy(t, &config.Managed{Rules: map[string]map[string]string{Default: {"ann": "off"}}}, auto...)
	other := pay()
	other.Session.Client = "bob"
	if mode, _ := f.mode(pay()); mode != call.Off {
		t.Errorf("a client of the policy: %s", mode)
	}
	if mode, _ := f.mode(other); mode != call.Auto {
		t.Errorf("another client: %s", mode)
	}
}

// A rule that the policy leaves no effect is refused with the file and the contact; one that forbids more is not, nor
// one that has an effect somewhere.
func TestRulesThatThePolicyRefuses(t *testing.T) {
	m := &config.Managed{File: "/etc/tabrelay/policy.json", Contact: "it@example.org",
		Rules: map[string]map[string]string{"default": {config.EveryClient: "ask"},
			"wiki": {config.EveryClient: "auto"}, "shop": {config.EveryClient: "off"}},
		Sites: config.ManagedSites{Deny: []string{"*://bank.example/*"}}}
	f := managedBy(t, m)
	for _, test := range []struct {
		rule   NewRule
		refuse bool
	}{
		{NewRule{Target: "default", Mode: call.Auto}, false}, // it allows the tools of wiki
		{NewRule{Target: "mail", Mode: call.Auto}, true},
		{NewRule{Target: "mail", Mode: call.Auto, Client: "ann"}, true},
		{NewRule{Target: "mail", Mode: call.Auto, For: "1h"}, true},
		{NewRule{Target: "mail", Mode: call.Ask}, false},
		{NewRule{Target: "mail", Mode: call.Off}, false},
		{NewRule{Target: "wiki", Mode: call.Auto}, false},
		{NewRule{Target: "shop", Mode: call.Ask}, true},
		{NewRule{Target: "shop__pay@https://shop.example", Mode: call.Auto}, true},
		{NewRule{Target: "https://bank.example", Mode: call.Ask}, true},
		{NewRule{Target: "https://BANK.example:443", Mode: call.Auto}, true},
		{NewRule{Target: "https://bank.example.", Mode: call.Auto}, true},
		{NewRule{Target: "https://bank.example", Mode: call.Off}, false},
	} {
		rule, lasts, err := f.ParseRule(test.rule, ByTerminal)
		_, refused := errors.AsType[*config.ManagedError](err)
		if refused != test.refuse {
			t.Errorf("%+v: %v", test.rule, err)
			continue
		}
		if !refused {
			continue
		}
		if !strings.Contains(err.Error(), m.File) || !strings.Contains(fault.HintOf(err), m.Contact) {
			t.Errorf("%+v: %v, %s", test.rule, err, fault.HintOf(err))
		}
		if err := f.Set(t.Context(), rule, lasts); err == nil { // past the check, too
			t.Errorf("%+v is made", test.rule)
		}
	}
	if _, err := f.Unset(t.Context(), "shop", "", ByTerminal); err == nil || !strings.Contains(err.Error(), m.File) {
		t.Errorf("a rule of the policy is taken away: %v", err)
	}
	list := f.Permissions()
	if first := list.Rules[0]; list.Policy != m || first.From != fromPolicy || first.Target != "default" {
		t.Errorf("the rules are %+v", list.Rules)
	}
}

// Where the policy asks, no answer makes a rule, and no rule of the person hides that.
func TestWhatThePolicyAsksIsNotAllowedAlways(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := managedBy(t, &config.Managed{Contact: "it@example.org",
			Rules: map[string]map[string]string{"default": {config.EveryClient: "ask"}}},
			call.Rule{Target: "shop", Mode: call.Ask})
		q, end := f.asks(t.Context(), pay())
		if slices.Contains(q.Choices, "always") || !strings.Contains(q.Managed, "it@example.org") {
			t.Errorf("it can be allowed for %q: %q", q.Choices, q.Managed)
		}
		if err := f.Answer(t.Context(), q.ID, "", yes("always")); !errors.Is(err, ErrAnswer) {
			t.Errorf("always: %v", err)
		}
		if err := f.Answer(t.Context(), q.ID, "", yes("session")); err != nil || <-end != nil {
			t.Error(err)
		}
		f.manage(&config.Managed{Rules: map[string]map[string]string{"shop": {config.EveryClient: "off"}}})
		if _, failure := f.Allow(pay()); failure == nil || failure.Code != fault.PermissionDenied {
			t.Errorf("a stricter policy leaves what was allowed: %v", failure)
		}
	})
}

// What waits for the policy's answer ends when the policy forbids it.
func TestStricterPolicyEndsQuestions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
		_, end := f.asks(t.Context(), pay())
		f.manage(&config.Managed{File: "/etc/tabrelay/policy.json", Contact: "it@example.org",
			Sites: config.ManagedSites{Deny: []string{"*://shop.example/*"}}})
		failure := <-end
		if failure == nil || failure.Code != fault.PermissionDenied ||
			!strings.Contains(failure.Hint, "it@example.org") || !strings.Contains(failure.Message, "organization") {
			t.Errorf("it ended with %v", failure)
		}
	})
}

// Undoing what a start brought, and configurations that wait, leave the policy as it is.
func TestPolicyOutlastsUndo(t *testing.T) {
	f := managedBy(t, &config.Managed{Rules: map[string]map[string]string{"shop": {config.EveryClient: "off"}}})
	next := f.options.Config
	next.Managed, next.Permissions = f.managed(), map[string]map[string]string{"default": {config.EveryClient: "auto"}}
	if _, err := f.Configure(t.Context(), next); err != nil {
		t.Fatal(err)
	}
	for _, d := range []call.Decision{{Allow: true, By: ByPanel, Digest: f.rights.Load().waits.Digest()}} {
		if err := f.Answer(t.Context(), ChangeConfig, "p1", d); err != nil {
			t.Fatal(err)
		}
	}
	if mode, why := f.mode(pay()); mode != call.Off {
		t.Errorf("it is %s, because %s", mode, why)
	}
	f.manage(nil)
	if mode, _ := f.mode(pay()); mode == call.Off {
		t.Error("without the policy it is off")
	}
}
