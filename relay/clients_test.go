package relay

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault/faulttest"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/config"
	"tabrelay/relay/state/store"
)

// confirming sends what a person does at a terminal, who confirms everything.
type confirming struct{ http.RoundTripper }

func (c confirming) RoundTrip(req *http.Request) (*http.Response, error) {
	res, err := c.RoundTripper.RoundTrip(req)
	if err != nil || res.StatusCode != http.StatusPreconditionRequired {
		return res, err
	}
	defer res.Body.Close() // only read from
	var asked httpapi.Unconfirmed
	if err := json.NewDecoder(res.Body).Decode(&asked); err != nil {
		return nil, err
	}
	again := req.Clone(req.Context())
	if again.Body, err = req.GetBody(); err != nil {
		return nil, err
	}
	again.Header.Set(httpapi.ConfirmedHeader, asked.Digest)
	return c.RoundTripper.RoundTrip(again)
}

// asPerson asks over the socket as the command line does, for a person who confirms everything at their terminal.
func (w *world) asPerson() *http.Client {
	c := join.HTTP(w.home)
	c.Transport = confirming{c.Transport}
	return c
}

// person asks over the socket, as the command line does.
func (w *world) person(t *testing.T, method, path, body string) (status int, answer string) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	res, err := w.asPerson().Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() // only read from
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, strings.TrimSpace(string(text))
}

// token admits a client before a relay starts, so that nothing is told of it while a test listens.
func (w *world) token(name string, scope call.Scope) string {
	w.t.Helper()
	secrets, err := config.OpenSecrets(w.home)
	if err != nil {
		w.t.Fatal(err)
	}
	token, err := secrets.AddWithin(name, scope)
	if err != nil {
		w.t.Fatal(err)
	}
	return token
}

// scopedAgent is a client with a token and a scope, over HTTP.
func (w *world) scopedAgent(t *testing.T, r *Relay, name string, scope call.Scope) modern {
	t.Helper()
	token, err := r.secrets.AddWithin(name, scope)
	if err != nil {
		t.Fatal(err)
	}
	return modern{t, "http://" + r.Address() + "/mcp", token}
}

// What is outside a client's scope is not listed to it, and refused at every way in.
func TestScopes(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	w.browser(func(c *hubtest.Call) { c.Return(c.Arguments) })
	all := w.scopedAgent(t, r, "all", call.Scope{})
	reads := w.scopedAgent(t, r, "reads", call.Scope{ReadOnly: true})
	elsewhere := w.scopedAgent(t, r, "elsewhere", call.Scope{Plugins: "wiki"})
	gateway := w.scopedAgent(t, r, "gateway", call.Scope{Toolset: "gateway", Plugins: "shop", ReadOnly: true})
	lists := func(m modern, want, not string) {
		t.Helper()
		if list := string(m.ask("tools/list", "")); !strings.Contains(list, want) || strings.Contains(list, not) {
			t.Errorf("the list has no %s, or %s: %s", want, not, list)
		}
	}
	lists(all, `"shop__pay"`, `"relay__doctor"`) // which the gateway finds
	lists(reads, `"shop__read"`, `"shop__pay"`)
	lists(elsewhere, `"bridge_health"`, `"shop__`)
	lists(gateway, `"relay__call_tool"`, `"shop__`)

	refused := func(m modern, params string) {
		t.Helper()
		answer := m.ask("tools/call", params)
		faulttest.Answered(t, "rule-forbids", answer, true)
		if !strings.Contains(string(answer), "outside the scope") ||
			!strings.Contains(string(answer), "tabrelay clients scope") {
			t.Errorf("refused without the reason: %s", answer)
		}
	}
	refused(reads, `"name":"shop__pay","arguments":{}`)
	// whatever the arguments: nothing is told of the tool
	refused(elsewhere, `"name":"shop__read","arguments":{"what":5}`)
	refused(gateway, `"name":"relay__call_tool","arguments":{"name":"shop__pay"}`)
	refused(gateway, `"name":"relay__describe_tool","arguments":{"name":"browser__open_tab"}`)
	if answer := string(gateway.ask("tools/call",
		`"name":"relay__call_tool","arguments":{"name":"shop__read","arguments":{"what":"tea"}}`)); !strings.Contains(
		answer, "tea") {
		t.Errorf("within the scope: %s", answer)
	}
	if answer := string(gateway.ask("tools/call", `"name":"relay__search_tools","arguments":{}`)); !strings.Contains(
		answer, "shop__read") || strings.Contains(answer, "shop__pay") || strings.Contains(answer, "more tool") {
		t.Errorf("found: %s", answer) // what a scope hides, no rule enables
	}

	s := outsider{t, r.Address()}
	bearer := "Authorization: Bearer " + reads.token
	if _, list := s.ask("GET", "/api/v1/tools", bearer); !strings.Contains(list, "shop__read") ||
		strings.Contains(list, "shop__pay") {
		t.Errorf("the API lists %s", list)
	}
	if _, answer := s.ask("POST", "/api/v1/tools/shop__pay/call", bearer); !strings.Contains(answer,
		`"code":"PERMISSION_DENIED"`) {
		t.Errorf("the API calls: %s", answer)
	}
}

// A scope that changes holds at once, for attachments that are open too, and they hear that their list is another one.
func TestScopeChanges(t *testing.T) {
	w := newWorld(t)
	token := w.token("ann", call.Scope{})
	r, _ := w.relay()
	w.browser(func(c *hubtest.Call) { c.Return(c.Arguments) })
	a := w.agentWith(nobodyStarts, &join.Proxy{Token: token})
	a.call(1, "shop__pay", `{}`)
	a.hears(`"id":1,`, `"result"`)

	if status, answer := w.person(t, "PUT", "/api/v1/clients/ann",
		`{"scope":{"readOnly":true,"plugins":"shop, wiki"}}`); status != 200 ||
		!strings.Contains(answer, `"scope":{"plugins":"shop,wiki","readOnly":true}`) {
		t.Fatalf("%d %s", status, answer)
	}
	a.hears(`notifications/tools/list_changed`)
	a.call(2, "shop__pay", `{}`)
	a.hears(`"id":2,`, `PERMISSION_DENIED`)
	a.say(`{"jsonrpc":"2.0","id":3,"method":"tools/list"}`)
	if a.hears(`"id":3,`, `"shop__read"`); strings.Contains(a.out.Text(), `"shop__pay"`) {
		t.Error("the write is still listed")
	}

	for _, wrong := range []string{``, `{}`, `{"scope":{"read":true}}`, `{"scope":{"toolset":"../x"}}`,
		`{"scope":{}} {}`} {
		if status, answer := w.person(t, "PUT", "/api/v1/clients/ann", wrong); status != 400 ||
			!strings.Contains(answer, `"error"`) {
			t.Errorf("%s: %d %s", wrong, status, answer)
		}
	}
	if status, _ := w.person(t, "DELETE", "/api/v1/clients/anna", ""); status != 404 {
		t.Errorf("revoking a stranger: %d", status)
	}
	if status, _ := (outsider{t, r.Address()}).ask("DELETE", "/api/v1/clients/ann", "Authorization: Bearer "+
		token); status.StatusCode != 403 {
		t.Errorf("a client revokes: %d", status.StatusCode)
	}
	if status, answer := w.person(t, "DELETE", "/api/v1/clients/ann", ""); status != 200 ||
		strings.Contains(answer, `"registered":true`) {
		t.Errorf("%d %s", status, answer)
	}
	if _, ok := r.secrets.Verify(token); ok {
		t.Error("the token still holds")
	}
}

// Who is listed: those with tokens, when they were seen last, and those on the socket without one.
func TestClientsAreListed(t *testing.T) {
	w := newWorld(t)
	r, end := w.relay()
	m := w.scopedAgent(t, r, "web", call.Scope{Toolset: "gateway"})
	w.scopedAgent(t, r, "never", call.Scope{})
	m.ask("tools/list", "")
	w.agent(nobodyStarts) // ann, without a token
	_, answer := w.person(t, "GET", "/api/v1/clients", "")
	var list httpapi.ClientsView
	if err := json.Unmarshal([]byte(answer), &list); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, c := range list.Clients {
		got = append(got, fmt.Sprintf("%s registered=%t seen=%t attached=%d via=%v", c.Name, c.Registered,
			c.LastSeen != nil, c.Attached, c.Via))
	}
	want := "ann registered=false seen=true attached=1 via=[stdio]\nnever registered=true seen=false attached=0 " +
		"via=[]\nweb registered=true seen=true attached=0 via=[]"
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), want)
	}
	end()
	written, err := store.Open(t.Context(), w.home.Database(), store.LimitsOf(openConfig()), zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	defer written.Close() // only read from
	seen, err := written.ClientsSeen(t.Context())
	if err != nil || len(seen) != 1 || time.Since(seen["web"]) > time.Minute {
		t.Errorf("written down: %v, %v", seen, err)
	}
}

// Programs that share a name are told apart by since when they are there.
func TestRunningTellsProgramsOfOneNameApart(t *testing.T) {
	w := newWorld(t)
	w.relay()
	w.browser(func(c *hubtest.Call) { c.Started() })
	running := func(n int) (list httpapi.RunningCalls) {
		t.Helper()
		for t.Context().Err() == nil {
			_, answer := w.person(t, "GET", "/api/v1/running", "")
			if json.Unmarshal([]byte(answer), &list) == nil && len(list.Calls) == n {
				return list
			}
		}
		t.Fatal("the calls do not run")
		return list
	}
	for range 2 {
		w.agentWith(nobodyStarts, &join.Proxy{}).call(1, "shop__read", `{}`)
	}
	calls := running(2).Calls
	for _, c := range calls {
		if c.Client != call.Unnamed || c.Called != "ann" || c.Attached == nil {
			t.Errorf("%+v", c)
		}
	}
	if !t.Failed() && calls[0].Attached.Equal(*calls[1].Attached) {
		t.Errorf("both are there since %v", calls[0].Attached)
	}
	var status httpapi.Status
	_, answer := w.person(t, "GET", "/api/v1/status", "")
	if err := json.Unmarshal([]byte(answer), &status); err != nil || len(status.Clients) != 2 ||
		!status.Clients[0].Since.Before(status.Clients[1].Since) {
		t.Errorf("%v: %+v", err, status.Clients)
	}
}

// Without a token nobody has the name of a client that has one, of the person, or of the relay.
func TestNamesThatAreTaken(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	if _, err := r.secrets.AddWithin("claude-code", call.Scope{ReadOnly: true}); err != nil {
		t.Fatal(err)
	}
	for name, refused := range map[string]bool{"cli": true, "panel": true, " CLI": true, "relay": true,
		"claude-code": true, "Claude-Code": true, "claude code": true, "c1aude_code": true, "Tabrelay ": true,
		"tаbrelay": true, "claude\u200b-code": true, "claude-code\ntabrelay: allowed": true, "a\u202eb": true,
		strings.Repeat("x", 300): true, "claude": false, "Zed Agent": false, "": false} {
		conn, err := join.Dial(t.Context(), w.home)
		if err != nil {
			t.Fatal(err)
		}
		text, _ := json.Marshal(name)
		answer := introduce(t, conn, `{"attach":{"key":"`+strings.Repeat("0", 32)+`","version":"`+Version+`","client":`+
			string(text)+`}}`)
		if (answer.Refused != nil) != refused || refused && answer.Refused.Hint == "" {
			t.Errorf("%q: %+v", name, answer)
		}
		if refused && strings.ContainsAny(answer.Refused.Message+answer.Refused.Hint, "\n\u200b\u202e") {
			t.Errorf("%q is repeated: %q", name, answer.Refused.Message)
		}
		_ = conn.Close() // the test has its answer
	}
}

// A name that gets a token is no longer for the one who used it without.
func TestNameIsTakenAway(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	conn, err := join.Dial(t.Context(), w.home)
	if err != nil {
		t.Fatal(err)
	}
	in := bufio.NewReader(conn)
	if _, err := fmt.Fprintf(conn, "{\"attach\":{\"key\":%q,\"version\":%q,\"client\":\"bob\"}}\n",
		strings.Repeat("0", 32), Version); err != nil {
		t.Fatal(err)
	}
	if line, err := in.ReadString('\n'); err != nil || !strings.Contains(line, `"attached"`) {
		t.Fatal(line, err)
	}
	if _, err := r.secrets.Add("bob"); err != nil {
		t.Fatal(err)
	}
	if rest, err := io.ReadAll(in); err != nil && !strings.Contains(err.Error(), "reset") {
		t.Errorf("it was not shut out: %s %v", rest, err)
	}
}

// A scope that somebody edited until it means nothing lets nothing through.
func TestScopeThatCannotBeRead(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	if _, err := r.secrets.AddWithin("ann", call.Scope{Toolset: "no such;thing"}); err != nil {
		t.Fatal(err)
	}
	for _, tool := range r.tools.Snapshot().Tools {
		if f := r.policy.Refuse(call.Session{Client: "ann"}, tool); (f == nil) != (tool.ReadOnly &&
			registry.ForEverybody(tool) || tool.Name == "bridge_health") {
			t.Errorf("%s: %v", tool.Name, f)
		}
	}
}

const nothingRuns = `{"calls":[]}`

// The person sees what runs, and ends it: the page is told to stop, the agent that they did it.
func TestCancelRunningCall(t *testing.T) {
	w := newWorld(t)
	w.relay()
	begun := make(chan *hubtest.Call, 1)
	w.browser(func(c *hubtest.Call) { c.Started(); begun <- c })
	a := w.agent(nobodyStarts)
	a.call(1, "shop__pay", `{}`)
	<-begun
	var list httpapi.RunningCalls
	for len(list.Calls) == 0 || list.Calls[0].State != "running" { // the browser's word is on its way
		_, answer := w.person(t, "GET", "/api/v1/running", "")
		if err := json.Unmarshal([]byte(answer), &list); err != nil {
			t.Fatal(err)
		}
	}
	c := list.Calls[0]
	if c.Client != "ann" || c.Via != "stdio" || c.Tool != "shop__pay" || c.Title != "Pay" || c.TabID != 7 ||
		c.Profile != "Chrome 1" || c.ProfileID == "" || c.Origin != "https://shop.example" {
		t.Errorf("listed as %+v", c)
	}
	if status, answer := w.person(t, "DELETE", "/api/v1/running/"+string(c.ID), ""); status != 200 {
		t.Fatalf("%d %s", status, answer)
	}
	a.hears(`"id":1,`, `code=CANCELLED`, `The person cancelled the call in a terminal`, `"isError":true`)
	faulttest.Answered(t, "interrupted-by-person", a.out.Bytes(), false)
	if status, answer := w.person(t, "DELETE", "/api/v1/running/"+string(c.ID), ""); status != 404 ||
		!strings.Contains(answer, "may have ended") {
		t.Errorf("a second time: %d %s", status, answer)
	}
	if _, answer := w.person(t, "GET", "/api/v1/running", ""); answer != nothingRuns {
		t.Errorf("still listed: %s", answer)
	}
}

// A client that is revoked while it works stops working, however it is connected.
func TestRevokedClientStops(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	begun := make(chan *hubtest.Call, 1)
	w.browser(func(c *hubtest.Call) { c.Started(); begun <- c })
	m := w.scopedAgent(t, r, "web", call.Scope{})
	answered := make(chan []byte, 1)
	ctx, leave := context.WithCancel(t.Context())
	defer leave()
	go func() {
		req, _ := http.NewRequestWithContext(ctx, "POST", "http://"+r.Address()+"/api/v1/tools/shop__pay/call", nil)
		req.Header.Set("Authorization", "Bearer "+m.token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			answered <- []byte(err.Error())
			return
		}
		defer res.Body.Close() // only read from
		text, _ := io.ReadAll(res.Body)
		answered <- text
	}()
	<-begun
	if status, answer := w.person(t, "DELETE", "/api/v1/clients/web", ""); status != 200 {
		t.Fatal(status, answer)
	}
	if text := <-answered; bytes.Contains(text, []byte(`"output"`)) {
		t.Errorf("it was answered: %s", text)
	}
	for {
		if _, answer := w.person(t, "GET", "/api/v1/running", ""); answer == nothingRuns {
			return
		}
	}
}
