package relay

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/program/builtin"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault/faulttest"
)

// tabs are the tabs as the panel gets them.
func tabs(t *testing.T, b *hubtest.Browser) (list []httpapi.TabStatus) {
	t.Helper()
	answer, err := b.Ask(t.Context(), http.MethodGet, "/api/v1/tabs", nil)
	var got httpapi.Tabs
	if err == nil {
		err = json.Unmarshal(answer.Body, &got)
	}
	if err != nil || answer.Status != http.StatusOK {
		t.Fatalf("%d %s: %v", answer.Status, answer.Body, err)
	}
	return got.Tabs
}

// ownerIn is who owns the tab 7.
func ownerIn(t *testing.T, b *hubtest.Browser) string {
	t.Helper()
	for _, tab := range tabs(t, b) {
		if tab.TabID == 7 && tab.Owner != nil {
			return tab.Owner.Name
		}
	}
	return ""
}

// Who owns a tab is told to others, listed, and taken away by a person, once.
func TestTabsAndTheirOwners(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	b := w.browser(func(c *hubtest.Call) { c.Started(); c.Return([]byte(`{}`)) })
	ann, bob := w.agent(nobodyStarts), w.agentWith(nobodyStarts, &join.Proxy{Client: "bob"})
	ann.call(1, "shop__pay", `{}`)
	ann.hears(`"id":1,`, `"profileId":"`+b.ProfileID()+`"`)
	bob.call(2, "shop__pay", `{}`)
	bob.hears(`"id":2,`, `code=TAB_OWNED`, `the client \"ann\"`, `tabrelay tabs release 7`)
	bob.call(3, "shop__read", `{}`)
	bob.hears(`"id":3,`, `"text":"{}"`)
	bob.call(4, "browser__list_tabs", `{}`)
	bob.hears(`"id":4,`, `\"owner\":\"ann\"`)
	ann.call(5, "browser__list_tabs", `{}`)
	ann.hears(`"id":5,`, `\"owner\":\"ann\",\"yours\":true`)
	bob.call(6, "bridge_health", `{"details":true}`)
	bob.hears(`"id":6,`, `"owners":[{"tabId":7,"profile":"Chrome 1","owner":"ann","since":`)
	if list := tabs(t, b); len(list) != 1 || list[0].Owner == nil || list[0].Owner.Client != "ann" ||
		list[0].Owner.Session == "" || list[0].Profile != "Chrome 1" {
		t.Errorf("got %+v", list)
	}
	path := fmt.Sprintf("/api/v1/tabs/%s/7/owner", b.ProfileID())
	for _, want := range []struct {
		path   string
		status int
		says   string
	}{
		{path, http.StatusOK, `"client":"ann"`},
		{path, http.StatusNotFound, "No agent owns the tab 7"},
		{strings.Replace(path, "7/owner", "x/owner", 1), http.StatusBadRequest, "is not the id of a tab"},
	} {
		answer, err := b.Ask(t.Context(), http.MethodDelete, want.path, nil)
		if err != nil || answer.Status != want.status || !strings.Contains(string(answer.Body), want.says) {
			t.Errorf("%s: %d %s, %v", want.path, answer.Status, answer.Body, err)
		}
	}
	bob.call(7, "shop__pay", `{}`)
	bob.hears(`"id":7,`, `"text":"{}"`)
	if got := ownerIn(t, b); got != "bob" {
		t.Errorf("the owner is %q", got)
	}
	r.hub.SessionLeft("nobody's")
	if got := ownerIn(t, b); got != "bob" {
		t.Errorf("the owner is %q", got)
	}
}

// A tab that is opened belongs to who opened it, is in the background, and in the profile where they work.
func TestOpenedTab(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	answer := func(c *hubtest.Call) { c.Started(); c.Return([]byte(`{}`)) }
	opens := func(profile string, id int) *hubtest.Browser {
		var b *hubtest.Browser
		b = dialIn(t, r, func(o *hubtest.Options) {
			o.Label, o.Answer = profile, answer
			o.Tabs = []wire.Tab{{ID: id, WindowID: 1, URL: shopPage, Status: "complete"}}
			o.Command = func(c *wire.Command) *wire.Reply {
				if c.Name != "tabs.create" {
					return &wire.Reply{OK: true}
				}
				if !strings.Contains(string(c.Params), `"active":false,`) ||
					!strings.Contains(string(c.Params), `"url":"https://shop.example/new"`) {
					return &wire.Reply{Error: &wire.ReplyError{Code: "VALIDATION_ERROR", Message: string(c.Params)}}
				}
				b.Put(wire.Tab{ID: id + 1, WindowID: 1, URL: "https://shop.example/new", Status: "complete"})
				return &wire.Reply{OK: true, Result: fmt.Appendf(nil, `{"tabId":%d,"windowId":1}`, id+1)}
			}
		})
		return b
	}
	ann := w.agent(nobodyStarts)
	opens("Work", 20)
	ann.call(1, "browser__open_tab", `{"url":"https://shop.example/new"}`)
	ann.hears(`"id":1,`, `\"tabId\":21,`, `\"profile\":\"Work\"`)
	opens("Home", 30)
	bob := w.agentWith(nobodyStarts, &join.Proxy{Client: "bob"})
	bob.call(2, "browser__open_tab", `{"url":"https://shop.example/new"}`)
	bob.hears(`"id":2,`, `code=VALIDATION_ERROR`, `2 browser profiles are connected`, `(Home)`, `(Work)`)
	bob.call(3, "shop__read", `{"profile":"Home"}`)
	bob.hears(`"id":3,`, `"profile":"Home"`)
	bob.call(4, "browser__open_tab", `{"url":"https://shop.example/new"}`)
	bob.hears(`"id":4,`, `\"tabId\":31,`, `\"profile\":\"Home\"`) // where it works
	bob.call(41, "shop__read", `{}`)
	bob.hears(`"id":41,`, `"tabId":31,`) // not the one it read before
	bob.call(42, "shop__read", `{"tabId":30}`)
	bob.hears(`"id":42,`, `"tabId":30,`)
	bob.call(43, "shop__read", `{}`)
	bob.hears(`"id":43,`, `"tabId":30,`) // it went back by itself
	ann.call(5, "shop__pay", `{"tabId":31}`)
	ann.hears(`"id":5,`, `code=TAB_OWNED`, `the client \"bob\"`, `tabrelay tabs release 31 --profile`)
	ann.call(6, "shop__pay", `{}`)
	ann.hears(`"id":6,`, `"tabId":21,`) // its own comes first
}

// What becomes of the page is said, also that it does not load.
func TestOpenedTabTellsWhatItShows(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	replies := map[string]*wire.Reply{}
	var b *hubtest.Browser
	b = dialIn(t, r, func(o *hubtest.Options) {
		o.Answer = func(c *hubtest.Call) { c.Started(); c.Return([]byte(`{}`)) }
		o.Tabs = []wire.Tab{{ID: 20, WindowID: 1, URL: shopPage, Status: "complete"}}
		o.Command = func(c *wire.Command) *wire.Reply {
			var p struct{ URL string }
			if err := json.Unmarshal(c.Params, &p); err != nil || c.Name != "tabs.create" {
				return &wire.Reply{OK: true}
			}
			if p.URL == "https://shop.example/redirected" {
				b.Put(wire.Tab{ID: 21, WindowID: 1, URL: "https://shop.example/final", Title: "The end",
					Status: "complete"})
			}
			return replies[p.URL]
		}
	})
	ann := w.agent(nobodyStarts)
	ann.call(1, "shop__read", `{}`)
	ann.hears(`"id":1,`, `"tabId":20,`)
	replies["https://shop.example/redirected"] = &wire.Reply{OK: true,
		Result: []byte(`{"tabId":21,"windowId":1,"status":"complete","begun":true,"httpStatus":404}`)}
	ann.call(2, "browser__open_tab", `{"url":"https://shop.example/redirected"}`)
	ann.hears(`"id":2,`, `\"url\":\"https://shop.example/final\"`, `\"title\":\"The end\"`, `\"status\":\"complete\"`,
		`\"httpStatus\":404`)
	ann.call(3, "shop__read", `{}`)
	ann.hears(`"id":3,`, `"tabId":21,`)
	replies["https://shop.example/slow"] = &wire.Reply{OK: true,
		Result: []byte(`{"tabId":22,"windowId":1,"status":"loading","begun":false}`)}
	ann.call(4, "browser__open_tab", `{"url":"https://shop.example/slow"}`)
	ann.hears(`"id":4,`, `\"url\":\"https://shop.example/slow\"`, `\"status\":\"loading\"`)
	for reason, words := range map[string]string{
		"net::ERR_NAME_NOT_RESOLVED": "the name of the server is not known",
		"net::ERR_SOMETHING":         "does not load: net::ERR_SOMETHING",
	} {
		replies["https://shop.example/gone"] = &wire.Reply{Error: &wire.ReplyError{Code: "PAGE_NOT_LOADED",
			Message: reason}}
		_, failure := builtin.TabsOf(r.hub).Open(t.Context(), call.Call{},
			builtin.NewTab{URL: "https://shop.example/gone"})
		faulttest.Provoked(t, "page-not-loaded", failure)
		if !strings.Contains(failure.Message, words) || !strings.Contains(failure.Message, "https://shop.example") {
			t.Errorf("got %q", failure.Message)
		}
	}
}

// Two profiles with the same name are told apart by their ids.
func TestProfilesOfOneName(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	same := func(o *hubtest.Options) {
		o.Label, o.Tabs = "Chrome", []wire.Tab{{ID: 7, WindowID: 1, URL: shopPage, Status: "complete"}}
		o.Answer = func(c *hubtest.Call) { c.Started(); c.Return([]byte(`{}`)) }
	}
	one, two := dialIn(t, r, same), dialIn(t, r, same)
	w.awaitTabs(one)
	w.awaitTabs(two)
	ann := w.agent(nobodyStarts)
	ann.call(1, "shop__read", `{"profile":"Chrome"}`)
	ann.hears(`"id":1,`, `code=VALIDATION_ERROR`, one.ProfileID(), two.ProfileID())
	ann.call(2, "shop__read", `{"profile":"`+two.ProfileID()+`"}`)
	ann.hears(`"id":2,`, `"profile":"Chrome","profileId":"`+two.ProfileID()+`"`)
	ann.call(3, "browser__list_tabs", `{"profile":"Chrome"}`)
	ann.hears(`"id":3,`, one.ProfileID(), two.ProfileID())
}

// A session over HTTP that is deleted leaves nothing owned behind, and agents do not manage tabs.
func TestSessionsOverHTTPAndTabs(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	b := w.browser(func(c *hubtest.Call) { c.Started(); c.Return([]byte(`{}`)) })
	token, err := r.secrets.Add("ann")
	if err != nil {
		t.Fatal(err)
	}
	send := func(method, path, session, body string) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), method, "http://"+r.Address()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		req.Header.Set("Content-Type", "application/json")
		req.Header.Set("Accept", "application/json, text/event-stream")
		if session != "" {
			req.Header.Set("Mcp-Session-Id", session)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_, err = io.Copy(io.Discard, res.Body) // a call has ended when its whole answer is there
		if err := errors.Join(err, res.Body.Close()); err != nil {
			t.Fatal(err)
		}
		return res
	}
	begun := send(http.MethodPost, "/mcp", "",
		`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},`+
			`"clientInfo":{"name":"x","version":"1"}}}`)
	session := begun.Header.Get("Mcp-Session-Id")
	send(http.MethodPost, "/mcp", session, `{"jsonrpc":"2.0","method":"notifications/initialized"}`)
	pay := `{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"shop__pay","arguments":{}}}`
	if res := send(http.MethodPost, "/mcp", session, pay); res.StatusCode != http.StatusOK {
		t.Fatal(res.Status)
	}
	if got := ownerIn(t, b); got != "ann" {
		t.Errorf("the owner is %q", got)
	}
	for _, refused := range []struct{ method, path string }{
		{http.MethodGet, "/api/v1/tabs"}, {http.MethodDelete, "/api/v1/tabs/" + b.ProfileID() + "/7/owner"},
	} {
		if res := send(refused.method, refused.path, "", ""); res.StatusCode != http.StatusForbidden {
			t.Errorf("%s %s: %s", refused.method, refused.path, res.Status)
		}
	}
	send(http.MethodDelete, "/mcp", session, "")
	if got := ownerIn(t, b); got != "" {
		t.Errorf("the owner is %q after its session", got)
	}
	r.hub.Give(call.Session{Client: "ann", ID: "http:ann/session:x", Via: "http"}, b.ProfileID(), 7)
	if got := ownerIn(t, b); got != "ann" {
		t.Errorf("the owner is %q", got)
	}
	if err := r.secrets.Revoke("ann"); err != nil {
		t.Fatal(err)
	}
	r.clients.Review()
	if got := ownerIn(t, b); got != "" {
		t.Errorf("the owner is %q after it was revoked", got)
	}
}
