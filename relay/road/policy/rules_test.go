package policy

import (
	"strings"
	"testing"
	"time"

	"tabrelay/relay/road/call"
)

// said reads rules as a person writes them: TARGET[!CLIENT]=MODE, separated by spaces; one with a + in front is of
// config.json, the others are of the person.
func said(t *testing.T, text string) *table {
	t.Helper()
	var personal []call.Rule
	config := map[string]map[string]string{}
	for word := range strings.FieldsSeq(text) {
		word, configured := strings.CutPrefix(word, "+")
		about, mode, ok := strings.Cut(word, "=")
		if !ok {
			t.Fatalf("%q is no rule", word)
		}
		target, client, _ := strings.Cut(about, "!")
		switch {
		case !configured:
			personal = append(personal, call.Rule{Target: target, Client: client, Mode: call.Mode(mode)})
		case config[target] == nil:
			config[target] = map[string]string{}
			fallthrough
		default:
			if client == "" {
				client = everyClient
			}
			config[target][client] = mode
		}
	}
	return newTable(personal, config, false)
}

func shopAt(origin string) *call.Target {
	return &call.Target{ProfileID: "p1", Profile: "Work", TabID: 7, Origin: origin, URL: origin + "/cart",
		Title: "Cart"}
}

// pay is ann's call of a tool that changes something.
func pay() call.Access {
	return call.Access{ID: "aa", Session: call.Session{ID: "session", Client: "ann", Via: "stdio"}, Tool: "shop__pay",
		Title: "Pay", Plugin: "shop",
		PluginTitle: "Shop", Arguments: []byte(`{"amount":5}`), At: shopAt("https://shop.example")}
}

func read() call.Access {
	a := pay()
	a.Tool, a.Title, a.ReadOnly, a.Idempotent = "shop__read", "Read", true, true
	return a
}

// The matrix: what the rules say about ann's call of shop__pay, and of shop__read, on https://shop.example.
func TestTheStricterOfToolAndSiteRulesCounts(t *testing.T) {
	for _, tt := range []struct {
		name, rules string
		pay, read   call.Mode
	}{
		{"nothing is said", "", "ask", "ask"},
		{"the default", "default=auto", "auto", "auto"},
		{"the default is off", "default=off", "off", "off"},
		{"the client before the default", "default=auto default!ann=off", "off", "off"},
		{"another client", "default!bob=auto", "ask", "ask"},
		{"a site where the default is off", "default!ann=off https://shop.example=auto", "auto", "auto"},
		{"another site", "https://shop.example:8443=auto http://shop.example=auto", "ask", "ask"},
		{"a site for the client", "https://shop.example=ask https://shop.example!ann=auto", "auto", "auto"},
		{"a site that is off for the client", "https://shop.example=auto https://shop.example!ann=off", "off", "off"},
		{"a site that is off for the others", "https://shop.example=off https://shop.example!ann=auto", "auto", "auto"},
		{"a site that is off, whatever the plugin", "https://shop.example=off shop=auto", "off", "off"},
		{"a site that is off, whatever the tool", "https://shop.example=off shop__pay!ann=auto", "off", "off"},
		{"a site that is asked about, whatever the tool", "https://shop.example=ask shop__pay=auto", "ask", "ask"},
		{"a tool that is off, whatever the site", "https://shop.example=auto shop__pay=off", "off", "auto"},
		{"a tool that is asked about, whatever the site", "https://shop.example=auto shop__pay=ask", "ask", "auto"},
		{"both allow", "https://shop.example=auto shop=auto default=off", "auto", "auto"},
		{"the tool on the site", "shop__pay@https://shop.example=auto", "auto", "ask"},
		{"the tool on another site", "shop__pay@https://bank.example=auto", "ask", "ask"},
		{"the tool on the site, the default off", "shop__pay@https://shop.example=auto default=off", "auto", "off"},
		{"the tool on the site before both", "shop__pay@https://shop.example=auto shop__pay=ask " +
			"https://shop.example=ask",
			"auto", "ask"},
		{"the tool on the site, off", "shop__pay@https://shop.example=off shop=auto https://shop.example=auto", "off",
			"auto"},
		{"the tool on the site, never against an off of the site",
			"shop__pay@https://shop.example!ann=auto https://shop.example=off", "off", "off"},
		{"the tool on the site, never against an off of the plugin", "shop__pay@https://shop.example!ann=auto shop=off",
			"off", "off"},
		{"the tool on the site, for the client", "shop__pay@https://shop.example!ann=auto " +
			"shop__pay@https://shop.example=off", "auto", "ask"},
		{"the tool before the plugin, and a site that is off in config.json",
			"+https://shop.example=off shop=off shop__pay!ann=auto", "off", "off"},
		{"client and plugin before the plugin", "shop=off shop!ann=auto", "auto", "auto"},
		{"the tool before client and plugin", "shop!ann=off shop__pay=ask", "ask", "off"},
		{"client and tool before the tool", "shop__pay=off shop__pay!ann=auto shop__read=auto shop__read!ann=ask",
			"auto",
			"ask"},
		{"all kinds", "shop__pay!ann=auto shop__pay=off shop!ann=off shop=off https://shop.example!ann=auto " +
			"https://shop.example=off default!ann=off default=off", "auto", "off"},
		{"a rule of config.json", "+shop=ask", "ask", "ask"},
		{"the person before config.json", "shop=auto +shop=ask", "auto", "auto"},
		{"off in config.json wins", "shop=auto +shop=off", "off", "off"},
		{"off of the person wins", "shop=off +shop=auto", "off", "off"},
		{"a more specific one of config.json", "shop=off +shop__pay=auto", "auto", "off"},
		{"config.json for a client", "+shop!ann=auto +shop!bob=off", "auto", "auto"},
		{"off in config.json for a site of a client", "+https://shop.example!ann=off https://shop.example!ann=auto",
			"off", "off"},
		{"a site as a person writes it in config.json", "+https://Shop.example:443=off", "off", "off"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			rules := said(t, tt.rules)
			one, two := pay(), read()
			if got := rules.resolve(&one, 0); got.mode != tt.pay {
				t.Errorf("pay is %s, want %s (%s)", got.mode, tt.pay, got.why())
			}
			if got := rules.resolve(&two, 0); got.mode != tt.read {
				t.Errorf("read is %s, want %s (%s)", got.mode, tt.read, got.why())
			}
		})
	}
}

// The relay's own tools and the demo in the binary need no permission, unless somebody says so.
func TestFreeTools(t *testing.T) {
	own := call.Access{Session: call.Session{Client: "ann"}, Tool: "relay__read_result", Plugin: "relay", BuiltIn: true}
	opens := call.Access{Session: call.Session{Client: "ann"}, Tool: "browser__open_tab", Plugin: "browser",
		BuiltIn: true}
	lists := call.Access{Session: call.Session{Client: "ann"}, Tool: "browser__list_tabs", Plugin: "browser",
		BuiltIn: true, ReadOnly: true}
	shown := call.Access{Session: call.Session{Client: "ann"}, Tool: "demo__add", Plugin: "demo", Shipped: true,
		At: shopAt("http://127.0.0.1:7718")}
	forged := shown
	forged.Shipped = false // somebody's plugin that calls itself demo
	for _, tt := range []struct {
		rules               string
		own, shown, another call.Mode
	}{
		{"", "auto", "auto", "ask"},
		{"default=ask", "auto", "auto", "ask"},
		{"default=off", "off", "off", "off"},
		{"default!ann=off", "off", "off", "off"},
		{"default!bob=off", "auto", "auto", "ask"},
		{"relay=ask demo=off", "ask", "off", "off"},
		{"relay__read_result!ann=ask demo__add=ask", "ask", "ask", "ask"},
		{"default=off relay=auto", "auto", "off", "off"},
		{"http://127.0.0.1:7718=off", "auto", "off", "off"},
		{"http://127.0.0.1:7718=ask", "auto", "ask", "ask"},
		{"http://127.0.0.1:7718=auto default=off", "off", "off", "auto"},
	} {
		rules := said(t, tt.rules)
		for _, c := range []struct {
			access call.Access
			want   call.Mode
		}{{own, tt.own}, {shown, tt.shown}, {forged, tt.another}} {
			if got := rules.resolve(&c.access, 0); got.mode != c.want {
				t.Errorf("%q: %s (shipped %t) is %s, want %s", tt.rules, c.access.Tool, c.access.Shipped, got.mode,
					c.want)
			}
		}
	}
	none := said(t, "")
	counter := call.Access{Session: shown.Session, Tool: "demo__counter_increment", Plugin: "demo", Shipped: true}
	for rules, want := range map[string]call.Mode{"": call.Ask, "default=auto": call.Auto, "demo=auto": call.Auto} {
		if got := said(t, rules).resolve(&counter, 0); got.mode != want {
			t.Errorf("%q: the demo's counter is %s, want %s", rules, got.mode, want)
		}
		if v := said(t, rules).resolve(&counter, 0); want == call.Ask && choices(&counter, v)[0] != "session" {
			t.Errorf("the demo's counter asks more than once: %v", choices(&counter, v))
		}
	}
	if got, read := none.resolve(&opens, 0), none.resolve(&lists, 0); got.mode != call.Ask || read.mode != call.Ask {
		t.Errorf("what is done in a browser is %s, and what is read there %s", got.mode, read.mode)
	}
}

// A rule that was limited in time says nothing afterwards; the one of config.json is as before.
func TestRulesEnd(t *testing.T) {
	end := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	rules := newTable([]call.Rule{{Target: "shop", Mode: call.Auto, Until: end}},
		map[string]map[string]string{"shop": {"*": "ask"}}, false)
	a := pay()
	for _, tt := range []struct {
		at   time.Time
		want call.Mode
	}{{end.Add(-time.Nanosecond), call.Auto}, {end, call.Ask}} {
		if got := rules.resolve(&a, tt.at.UnixNano()); got.mode != tt.want {
			t.Errorf("at %s it is %s, want %s", tt.at, got.mode, tt.want)
		}
	}
}

// Before the tab is known, a rule about an origin leaves open what else would be said.
func TestOpenUntilTheTabIsKnown(t *testing.T) {
	for _, tt := range []struct {
		rules string
		mode  call.Mode
		open  bool
	}{
		{"", "ask", false},
		{"shop__pay@https://shop.example=auto", "ask", true},
		{"shop__read@https://shop.example=auto", "ask", false},
		{"https://shop.example=off shop=auto", "auto", true},
		{"https://shop.example=auto", "ask", true},
		{"https://shop.example=auto shop=off", "off", false},
		{"https://shop.example=off default=auto", "auto", true},
	} {
		a := pay()
		a.At = nil
		if got := said(t, tt.rules).resolve(&a, 0); got.mode != tt.mode || got.dependsOnOrigin != tt.open {
			t.Errorf("%q: %s, open %t; want %s, %t", tt.rules, got.mode, got.dependsOnOrigin, tt.mode, tt.open)
		}
	}
}

// Every verdict says in words where it comes from.
func TestAVerdictNamesTheRuleThatDecided(t *testing.T) {
	for rules, want := range map[string]string{
		"":                         "no rule says otherwise",
		"shop__pay=off":            "a rule about the tool shop__pay says so",
		"shop__pay!ann=off":        "a rule about the tool shop__pay and the client ann says so",
		"+shop=off":                "a rule about the plugin shop in config.json says so",
		"shop!ann=off":             "a rule about the plugin shop and the client ann says so",
		"https://shop.example=off": "a rule about the site https://shop.example says so",
		"https://shop.example!ann=off shop__pay=auto": "a rule about the site https://shop.example and the client " +
			"ann " +
			"says so",
		"shop__pay@https://shop.example=off": "a rule about the tool shop__pay on https://shop.example says so",
		"default!ann=off":                    "a rule about the client ann says so",
		"+default=off default=auto":          "the default in config.json says so",
	} {
		a := pay()
		if got := said(t, rules).resolve(&a, 0).why(); got != want {
			t.Errorf("%q: %q, want %q", rules, got, want)
		}
	}
}

func TestTargetsAreNormalizedOrRefused(t *testing.T) {
	known := func(name string) (bool, string) { return name == "shop" || name == "shop__pay", "shop" }
	for text, want := range map[string]string{
		"default": Default, "all": Default, "*": Default, "shop": "shop",
		"https://Shop.example/": "https://shop.example", "https://shop.example:443": "https://shop.example",
		"http://localhost:8080": "http://localhost:8080", "http://[::1]:80/": "http://[::1]",
		"https://bücher.example": "https://xn--bcher-kva.example", "HTTPS://shop.example": "https://shop.example",
		"shop__pay@https://Shop.example:443/": "shop__pay@https://shop.example", "shop@https://shop.example": "",
		"shop__pay@": "", "@https://shop.example": "", "shop__pay@shop.example": "", "shpo__pay@https://a.example": "",
		"shop__pay@https://ann:secret@shop.example": "", "https://shop.example@bank.example": "",
		"shpo": "", "https://shop.example/cart": "", "ftp://shop.example": "", "https://*.example": "",
		"https://ann:secret@shop.example": "", "": "", "https://": "",
		"https://shop.example:0444": "", "https://0x7f.1": "", "http://[0:0:0:0:0:0:0:1]": "",
	} {
		got, err := readTarget(text, known)
		if got != want || (err == nil) != (want != "") {
			t.Errorf("%q: %q %v, want %q", text, got, err, want)
		}
	}
	if _, err := readTarget("shpo", known); err == nil || !strings.Contains(err.Error(), "did you mean shop?") {
		t.Errorf("no suggestion: %v", err)
	}
}

// A rule is about the client whatever capitals and spaces it has: clients are called without them, also those that a
// rule was made for when they still had theirs.
func TestNamesOfClientsInRules(t *testing.T) {
	off, ask, auto := call.Off, call.Ask, call.Auto
	later := time.Now().Add(time.Hour)
	rule := func(client string, mode call.Mode, until time.Time) call.Rule {
		return call.Rule{Target: "shop", Client: client, Mode: mode, Until: until}
	}
	for name, test := range map[string]struct {
		rules     []call.Rule
		config    map[string]string
		want, end call.Mode // now, and when the rule for a time has ended
	}{
		"of the person": {rules: []call.Rule{rule("Claude Desktop", off, time.Time{})}, want: off, end: off},
		"configured":    {config: map[string]string{"Claude Desktop": "off"}, want: off, end: off},
		"two": {rules: []call.Rule{rule("Claude Desktop", off, time.Time{}), rule("claude-desktop", auto, time.Time{})},
			want: off, end: off},
		"two configured": {config: map[string]string{"Claude Desktop": "off", "claude-desktop": "auto"},
			want: off, end: off},
		"one for a time": {want: off, end: off,
			rules: []call.Rule{rule("Claude Desktop", off, later), rule("claude-desktop", ask, time.Time{})}},
		"both for a time": {rules: []call.Rule{rule("Claude Desktop", off, later), rule("claude-desktop", auto, later)},
			want: off, end: ask},
	} {
		rules := newTable(test.rules, map[string]map[string]string{"shop": test.config}, false)
		a := pay()
		a.Session.Client = "claude-desktop"
		now, end := rules.resolve(&a, time.Now().UnixNano()).mode, rules.resolve(&a, later.UnixNano()).mode
		if now != test.want || end != test.end {
			t.Errorf("%s: %s, then %s; want %s, then %s", name, now, end, test.want, test.end)
		}
	}
}
