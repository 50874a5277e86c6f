package policy

import (
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"

	"tabrelay/relay/road/call"
	"tabrelay/relay/state/config"
)

// pageTools is a capability that databases knew before there were capabilities.
var pageTools = &config.Section[struct{}]{Capability: "pages", Switch: "webmcp.enabled", Right: "noPageTools",
	About: "Whether agents get the tools that pages register."}

func init() { config.Attach(pageTools) }

// A program that does more without any rule than the one before it, or has plugins that one did not have, is a
// difference to be shown and undone, although nobody changed a file.
func TestUpdatesThatWiden(t *testing.T) {
	tools := func() []call.Access {
		return append(accessible(), call.Access{Tool: "browser__click", Plugin: "browser", Shipped: true})
	}
	first := `{"inEffect":{"permissions":{"wiki__read":{"*":"auto"}},"plugins":{"browser-dev":{"off":true}}}}`
	later := `{"inEffect":{"permissions":{},"noPageTools":false,"plugins":{"browser-dev":{"off":true}}}}`
	for name, test := range map[string]struct {
		kept string // of the earlier program
		used bool
		want []string
	}{
		"nothing was kept, as by the first programs": {"", true, []string{
			"permissions.built-in default for tools that change something: off → ask",
			"plugins.browser.enabled: not there → true", "webmcp.enabled: false → true"}},
		"rights without what holds without rules": {first, true, []string{
			"permissions.built-in default for tools that change something: off → ask",
			"plugins.browser.enabled: not there → true", "webmcp.enabled: false → true"}},
		"rights of a later program": {later, true, nil},
		"a new home folder":         {"", false, nil},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				m := newMemory()
				if test.kept != "" {
					m.switches[rightsSwitch] = test.kept
				}
				cfg := answeredWithin(0)
				cfg.Review.Required = true
				if test.kept == first {
					cfg.Permissions = map[string]map[string]string{"wiki__read": {"*": "auto"}}
				}
				start := func() *Policy {
					p, err := New(t.Context(), Options{Store: m, Config: cfg, Tools: tools, Used: test.used})
					if err != nil {
						t.Fatal(err)
					}
					t.Cleanup(p.Close)
					if err := p.Start(t.Context()); err != nil {
						t.Fatal(err)
					}
					return p
				}
				p := start()
				told := p.Widened()
				for _, want := range test.want {
					if !strings.Contains(told, want) {
						t.Errorf("told %q, which lacks %q", told, want)
					}
				}
				if len(test.want) == 0 {
					if told != "" {
						t.Errorf("told %q", told)
					}
					return
				}
				p.Close()
				p = start() // until somebody has seen it
				if p.Widened() != told {
					t.Errorf("at the next start: %q", p.Widened())
				}
				if err := p.Answer(t.Context(), ChangeStart, "", call.Decision{By: ByPanel}); err != nil {
					t.Fatal(err)
				}
				undone := func(when string) {
					edit, read := accessible()[1], call.Access{Tool: "other__read", Plugin: "other", ReadOnly: true}
					mode, _ := p.Mode(edit)
					reads, _ := p.Mode(read)
					c := p.Config()
					if mode != call.Off || reads != call.Ask || c.Plugin("browser").Enabled ||
						c.Has(pageTools.Capability) {
						t.Errorf("%s: changing is %s, reading %s, the browser's tools %t", when, mode, reads,
							c.Plugin("browser").Enabled)
					}
				}
				undone("undone")
				p.Close()
				p = start()
				undone("after a restart")
				if c := p.rights.Load().waits; c == nil || !strings.Contains(c.difference(), "built-in default") {
					t.Errorf("what waits is %v", c)
				}
				d := call.Decision{Allow: true, By: ByPanel, Digest: p.rights.Load().waits.Digest()}
				if err := p.Answer(t.Context(), ChangeConfig, "", d); err != nil {
					t.Fatal(err)
				}
				if mode, _ := p.Mode(accessible()[1]); mode != call.Ask {
					t.Errorf("confirmed it is %s", mode)
				}
				p.Close()
				if p = start(); p.Widened() != "" || p.Unapplied() != "" {
					t.Errorf("then told %q, %q", p.Widened(), p.Unapplied())
				}
			})
		})
	}
}

// An earlier program wrote down no sites of settings, and put them into effect: the first start of this one takes them
// over. Another one at a later start is shown, and undone for good.
func TestSitesOfSettingsAtAStart(t *testing.T) {
	m := newMemory()
	m.switches[rightsSwitch] = `{"inEffect":{"permissions":{},"shipped":[],"plugins":{"browser-dev":{"off":true},` +
		`"wiki":{"off":false,"urlPatterns":null}}}}`
	start := func(site string) *Policy {
		t.Helper()
		cfg := answeredWithin(0)
		cfg.Plugins = map[string]config.Plugin{"wiki": {Enabled: true, Settings: json.RawMessage(site)}}
		p, err := New(t.Context(), Options{Store: m, Config: cfg, Used: true})
		if err == nil {
			t.Cleanup(p.Close)
			err = p.Start(t.Context())
		}
		if err != nil {
			t.Fatal(err)
		}
		return p
	}
	const wiki, bank = `{"site":"https://wiki.example/"}`, `{"site":"https://bank.example/"}`
	p := start(wiki)
	if told := p.Widened(); strings.Contains(told, "site") {
		t.Errorf("the update: %q", told)
	}
	p.Close()
	p = start(bank)
	const grown = "plugins.wiki.settings.site: *://wiki.example/* → *://bank.example/*"
	if told := p.Widened(); !strings.Contains(told, grown) {
		t.Errorf("another site: %q", told)
	}
	// To save what is in effect answers nothing: nobody was asked about that.
	if err := p.AllowSites("wiki", map[string][]string{"site": {"*://bank.example/*"}}); err != nil {
		t.Fatal(err)
	}
	p.Close()
	p = start(bank)
	if told := p.Widened(); !strings.Contains(told, grown) {
		t.Errorf("another site, saved once more: %q", told)
	}
	if err := p.Answer(t.Context(), ChangeStart, "", call.Decision{By: ByPanel}); err != nil {
		t.Fatal(err)
	}
	p.Close()
	p = start(bank)
	if c := p.Config(); string(c.Plugins["wiki"].Settings) != `{}` || !strings.Contains(p.Unapplied(), grown) {
		t.Errorf("undone, the settings are %s, and %q waits", c.Plugins["wiki"].Settings, p.Unapplied())
	}
	// What a person then sets in the panel is theirs, at the next start, too.
	if err := p.AllowSites("wiki", map[string][]string{"site": {"*://bank.example/*"}}); err != nil {
		t.Fatal(err)
	}
	p.Close()
	p = start(bank)
	if c := p.Config(); string(c.Plugins["wiki"].Settings) != bank || strings.Contains(p.Unapplied(), "site") {
		t.Errorf("confirmed, the settings are %s, and %q waits", c.Plugins["wiki"].Settings, p.Unapplied())
	}
}
