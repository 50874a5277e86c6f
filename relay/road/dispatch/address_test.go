package dispatch_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

// leading are calls that load an address: of a browser's tool in a tab at https://forum.example, and of one of the
// relay's own.
func leading(t *testing.T, w *warden,
	test func(do func(tool, arguments string) *fault.Error, sent *[]call.Invocation)) {
	t.Helper()
	sent := []call.Invocation{}
	browser := &roaming{page: func(_ context.Context, r call.Invocation) (*call.Reply, *fault.Error) {
		sent = append(sent, r)
		return &call.Reply{Output: json.RawMessage(`{}`), TabID: 7}, nil
	}, places: []call.Target{spot("https://forum.example", 7)}}
	change := func(o *dispatch.Options) {
		o.Policy, o.Browser = w, browser
		tools := registry.New([]registry.Tool{{
			Name: "browser__open_tab", AddressArgument: "url",
			Spec: plugin.Tool{Name: "open_tab", Description: "Open.", InputSchema: schemaOf("url")},
			Run: func(context.Context, call.Call, json.RawMessage) (*call.Result, *fault.Error) {
				sent = append(sent, call.Invocation{})
				return &call.Result{Output: json.RawMessage(`{}`)}, nil
			},
		}})
		own := plugin.Plugin{Shipped: true, Hash: strings.Repeat("f", 64), Manifest: plugin.Manifest{
			Name: plugin.Browser, World: plugin.Isolated, URLPatterns: []string{"https://*/*"},
			Tools: []plugin.Tool{
				{Name: "navigate", Description: "Go.", InputSchema: schemaOf("to")},
				{Name: "snapshot", Description: "Look.", InputSchema: schemaOf("ref"),
					Annotations: plugin.Annotations{ReadOnlyHint: yes()}},
			}}}
		if err := tools.Replace([]plugin.Plugin{own}, nil); err != nil {
			t.Fatal(err)
		}
		o.Tools = tools
	}
	bench(t, nil, change, func(_ *testing.T, do func(tool, arguments string) *fault.Error) { test(do, &sent) })
}

func schemaOf(argument string) json.RawMessage {
	return json.RawMessage(`{"type":"object","properties":{"` + argument + `":{"type":"string"}}}`)
}

// Who loads an address is asked about its site, once, and not about the one that the tab happens to show.
func TestAnAddressIsOfItsOwnSite(t *testing.T) {
	off := fault.New(fault.PermissionDenied, "off", fault.WithOutcome(fault.NotExecuted))
	for _, test := range []struct {
		name, tool, arguments string
		ask, off              string // origins
		asked                 string // origins that the person was asked about
		code                  fault.Code
	}{
		{"off", "browser__open_tab", `{"url":"https://Bank.example:443/a?b#c"}`, "", "https://bank.example", "",
			fault.PermissionDenied},
		{"asked about", "browser__open_tab", `{"url":"https://bank.example/a"}`, "https://bank.example", "",
			"https://bank.example", ""},
		{"open", "browser__open_tab", `{"url":"https://bank.example/a"}`, "https://forum.example", "", "", ""},
		{"another spelling", "browser__open_tab", `{"url":"http://0x7f.1/"}`, "", "", "", fault.ValidationError},
		{"other letters", "browser__open_tab", `{"url":"https://bänk.example/"}`, "", "", "", fault.ValidationError},
		{"a path that is no text", "browser__open_tab", `{"url":"https://bank.example/100%"}`, "https://bank.example",
			"", "https://bank.example", ""},
		{"a tab to a path that is no text", "browser__navigate", `{"to":"https://bank.example/100%"}`, "",
			"https://bank.example", "", fault.PermissionDenied},
		{"no host for some", "browser__navigate", `{"to":"https:///bank.example/pay"}`, "", "", "",
			fault.ValidationError},
		{"an escaped host", "browser__navigate", `{"to":"https://bank%2eexample/"}`, "", "", "", fault.ValidationError},
		{"a host within", "browser__navigate", `{"to":"https://bank.example\\@x/"}`, "", "", "", fault.ValidationError},
		{"a host with a tab", "browser__navigate", `{"to":"https://bank\t.example/"}`, "", "", "",
			fault.ValidationError},
		{"an empty port", "browser__navigate", `{"to":"https://bank.example:/"}`, "", "", "", fault.ValidationError},
		{"an odd port", "browser__open_tab", `{"url":"https://bank.example:0443/"}`, "", "", "", fault.ValidationError},
		{"a tab to a site that is off", "browser__navigate", `{"to":"https://bank.example/"}`, "",
			"https://bank.example", "", fault.PermissionDenied},
		{"a tab that is off", "browser__navigate", `{"to":"https://bank.example/"}`, "https://bank.example",
			"https://forum.example", "", fault.PermissionDenied},
		{"a tab to one that is asked about", "browser__navigate", `{"to":"https://bank.example/"}`,
			"https://bank.example", "", "https://bank.example", ""},
		{"away from one that is asked about", "browser__navigate", `{"to":"https://bank.example/"}`,
			"https://forum.example", "", "https://forum.example", ""},
		{"both", "browser__navigate", `{"to":"https://bank.example/"}`, "https://forum.example https://bank.example",
			"", "https://bank.example", ""},
		{"within a site", "browser__navigate", `{"to":"https://forum.example/next"}`, "https://forum.example", "",
			"https://forum.example", ""},
		{"back", "browser__navigate", `{"to":"back"}`, "https://forum.example", "", "https://forum.example", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &warden{allow: func(a call.Access) (bool, *fault.Error) {
				if a.At != nil && a.At.Origin == test.off {
					return false, off
				}
				return a.At != nil && strings.Contains(test.ask, a.At.Origin), nil
			}}
			leading(t, w, func(do func(tool, arguments string) *fault.Error, sent *[]call.Invocation) {
				failure := do(test.tool, test.arguments)
				var asked []string
				for _, a := range w.asked {
					asked = append(asked, a.At.Origin)
					if a.Opens == "" && strings.Contains(test.arguments, "//") {
						t.Errorf("the question does not say what is opened: %+v", a)
					}
				}
				if got := strings.Join(asked, " "); got != test.asked {
					t.Errorf("asked about %q, want %q", got, test.asked)
				}
				switch {
				case test.code == "" && (failure != nil || len(*sent) != 1):
					t.Errorf("%v after %d attempts", failure, len(*sent))
				case test.code != "" && (failure == nil || failure.Code != test.code || len(*sent) != 0 ||
					failure.Outcome != fault.NotExecuted):
					t.Errorf("%v after %d attempts", failure, len(*sent))
				}
			})
		})
	}
}

// What the person allowed of an address is what the browser is told of its site, too.
func TestAnAllowedAddressIsOpen(t *testing.T) {
	w := &warden{allow: func(a call.Access) (bool, *fault.Error) { return true, nil }}
	leading(t, w, func(do func(tool, arguments string) *fault.Error, sent *[]call.Invocation) {
		if failure := do("browser__navigate", `{"to":"https://bank.example/"}`); failure != nil || len(*sent) != 1 {
			t.Fatalf("%v after %d attempts", failure, len(*sent))
		}
		if sites := (*sent)[0].Sites; sites.Of("https://bank.example") != call.SiteOpen ||
			sites.Of("https://other.example") != call.SiteAsk {
			t.Errorf("got %+v", sites)
		}
	})
}

// Where a call looks at the page that it leads to, it needs what a look needs there, also where the tab was led on.
func TestALookOnArrivalIsALook(t *testing.T) {
	off := call.Sites{Rest: call.SiteOff, Origins: map[string]call.SiteState{}}
	open := call.Sites{Rest: call.SiteOpen, Origins: map[string]call.SiteState{"https://bank.example": call.SiteOff}}
	asks := call.Sites{Rest: call.SiteAsk, Origins: map[string]call.SiteState{"https://shop.example": call.SiteOpen}}
	for _, test := range []struct {
		name, arguments  string
		goes, looks      call.Sites
		shop, bank, rest call.SiteState
	}{
		{"no look", `{"to":"https://shop.example/"}`, open, off, call.SiteOpen, call.SiteOff, call.SiteOpen},
		{"a look that is off", `{"to":"https://shop.example/","look":true}`, open, off,
			call.SiteAsk, call.SiteOff, call.SiteAsk},
		{"words before it", `{"to":"back","until":""}`, open, off, call.SiteAsk, call.SiteOff, call.SiteAsk},
		{"a look at one site", `{"to":"https://shop.example/","look":true}`, open, asks,
			call.SiteOpen, call.SiteOff, call.SiteAsk},
		{"a look everywhere", `{"to":"https://shop.example/","look":true}`, asks, open,
			call.SiteOpen, call.SiteAsk, call.SiteAsk},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := &warden{
				allow: func(call.Access) (bool, *fault.Error) { return false, nil },
				sites: func(a call.Access) call.Sites {
					if a.Tool == "browser__snapshot" {
						return test.looks
					}
					return test.goes
				},
			}
			leading(t, w, func(do func(tool, arguments string) *fault.Error, sent *[]call.Invocation) {
				if failure := do("browser__navigate", test.arguments); failure != nil || len(*sent) != 1 {
					t.Fatalf("%v after %d attempts", failure, len(*sent))
				}
				sites := (*sent)[0].Sites
				shop, bank := sites.Of("https://shop.example"), sites.Of("https://bank.example")
				got := [...]call.SiteState{shop, bank, sites.Rest}
				if want := [...]call.SiteState{test.shop, test.bank, test.rest}; got != want {
					t.Errorf("got %v, want %v", got, want)
				}
			})
		})
	}
}
