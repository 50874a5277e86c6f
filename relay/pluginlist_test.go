package relay

import (
	"encoding/json"
	"strings"
	"sync/atomic"
	"testing"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
)

// A plugin goes through its states as its web app and the rules about it do.
func TestStatesOfAPlugin(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	is := func(when string, profileID string, state catalog.State, reason string) {
		t.Helper()
		for _, p := range r.catalog.List(profileID) {
			if p.Name == "shop" && (p.State != state || !strings.Contains(p.Reason, reason) || p.Title != "Shop" ||
				p.Hash == "") {
				t.Errorf("%s: %+v, want %s because %s", when, p, state, reason)
			}
		}
	}
	is("no browser", "", catalog.NotOpen, "no tab")

	var signedOut atomic.Bool
	w.browser(func(c *hubtest.Call) {
		c.Started()
		if signedOut.Load() {
			c.Throw(json.RawMessage(`{"code":"AUTH_ERROR","category":"auth","message":"Sign in first"}`))
			return
		}
		c.Return(c.Arguments)
	})
	session := call.Session{ID: "x", Client: "ann", Via: "stdio"}
	use(t, r, call.Call{Session: session}, "shop__read", `{}`) // waits until the browser has told its tabs
	profile := r.hub.Browsers()[0].ProfileID
	is("its tab is open", profile, catalog.Ready, "")
	is("in another profile", "other", catalog.NotOpen, "no tab")

	signedOut.Store(true)
	use(t, r, call.Call{Session: session}, "shop__read", `{}`)
	is("the web app wants a sign-in", profile, catalog.SignedOut, "sign in")
	is("at any profile", "", catalog.SignedOut, "sign in")
	signedOut.Store(false)
	use(t, r, call.Call{Session: session}, "shop__read", `{}`)
	is("signed in again", profile, catalog.Ready, "")

	if status, answer := w.person(t, "PUT", "/api/v1/permissions", `{"target":"shop","mode":"off"}`); status != 200 {
		t.Fatal(status, answer)
	}
	is("switched off", profile, catalog.Off, "every tool of it is off: a rule about the plugin shop says so")
	_, answer := w.person(t, "GET", "/api/v1/plugins", "")
	var list httpapi.PluginsView
	if err := json.Unmarshal([]byte(answer), &list); err != nil || len(list.Plugins) != 1 {
		t.Fatal(answer, err)
	}
	if tools := list.Plugins[0].Tools; len(tools) != 2 || tools[0].Name != "shop__pay" || tools[0].Mode != call.Off ||
		tools[0].ReadOnly || !tools[1].ReadOnly {
		t.Errorf("tools: %+v", tools)
	}
}

// What is off by a rule is not listed, and a call of it says so; what could be enabled is said in one line. When the
// rule changes, clients hear of it.
func TestWhatIsOff(t *testing.T) {
	w := newWorld(t)
	token := w.token("web", call.Scope{Toolset: "gateway"})
	r := w.relayWith(recipes())
	a := w.agentWith(nobodyStarts, &join.Proxy{Toolset: "all"})
	m := modern{t, "http://" + r.Address() + "/mcp", token}
	if status, answer := w.person(t, "PUT", "/api/v1/permissions",
		`{"target":"shop__pay","mode":"off"}`); status != 200 {
		t.Fatal(status, answer)
	}
	a.hears(`list_changed`) // of the tools and of the prompts, in either order
	a.hears(`list_changed`)
	a.say(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`)
	if a.hears(`"id":1,`, `"shop__read"`); strings.Contains(a.out.Text(), `"shop__pay"`) {
		t.Error("what is off is listed")
	}
	a.call(2, "shop__pay", `{}`)
	a.hears(`"id":2,`, `code=PERMISSION_DENIED`, `shop__pay is off`)
	found := string(m.ask("tools/call", `"name":"relay__search_tools","arguments":{"query":"shop"}`))
	if !strings.Contains(found, "1 more tool of shop is off; the person can enable") ||
		strings.Contains(found, "shop__pay") {
		t.Errorf("found: %s", found)
	}
	if answer := string(m.ask("tools/call", `"name":"relay__describe_tool",`+
		`"arguments":{"name":"shop__pay"}`)); !strings.Contains(answer, "PERMISSION_DENIED") {
		t.Errorf("described: %s", answer)
	}
	p := string(m.ask("prompts/list", ""))
	if !strings.Contains(p, "shop__echo") {
		t.Errorf("prompts: %s", p)
	}
	if status, answer := w.person(t, "PUT", "/api/v1/permissions",
		`{"target":"shop__read","mode":"off","client":"web"}`); status != 200 {
		t.Fatal(status, answer)
	}
	a.hears(`list_changed`)
	a.hears(`list_changed`)
	if p = string(m.ask("prompts/list", "")); strings.Contains(p, "shop__echo") {
		t.Errorf("the prompts of a plugin of which everything is off: %s", p)
	}
	if p = string(m.ask("prompts/get", `"name":"shop__echo","arguments":{"x":"1"}`)); !strings.Contains(p,
		"UNKNOWN_PROMPT") || !strings.Contains(p, "every tool of shop is off") {
		t.Errorf("a prompt of a plugin of which everything is off: %s", p)
	}
	if status, answer := w.person(t, "DELETE", "/api/v1/permissions?target=shop__pay", ""); status != 200 {
		t.Fatal(status, answer)
	}
	a.hears(`list_changed`)
	a.hears(`list_changed`)
	a.say(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
	a.hears(`"id":3,`, `"shop__pay"`)
}
