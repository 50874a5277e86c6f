package relay

import (
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/rs/zerolog"

	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/program/httpapi/apitest"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/fault/faulttest"
)

// Everything stops: what runs is cancelled, what is asked is refused, what comes too, also after a restart.
func TestStopEverything(t *testing.T) {
	w := newWorld(t)
	r := w.guarded(map[string]string{"shop__read": "auto", "shop__pay": "ask"})
	reached := make(chan *hubtest.Call, 1)
	w.browser(func(c *hubtest.Call) {
		c.Started()
		reached <- c
	})
	asked := questions(t, r)
	running := begin(t, r, ann, "shop__read", `{}`, nil)
	<-reached
	waiting := begin(t, r, bob, "shop__pay", `{}`, nil)
	asked()
	if status, said := w.person(t, http.MethodPut, "/api/v1/paused", `{"paused":true}`); status != http.StatusOK ||
		said != `{"paused":true}` {
		t.Fatalf("%d %s", status, said)
	}
	if failure := <-running; failure == nil || failure.Code != fault.Cancelled ||
		!strings.Contains(failure.Message, "stopped all agents") {
		t.Errorf("what ran: %v", failure)
	}
	if failure := <-waiting; failure == nil || failure.Outcome != fault.NotExecuted {
		t.Errorf("what was asked: %v", failure)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	next := w.guarded(map[string]string{"default": "auto"})
	if failure := <-begin(t, next, ann, "browser__list_tabs", `{}`, nil); failure == nil ||
		failure.Code != fault.PermissionDenied || !strings.Contains(failure.Hint, "tabrelay resume") {
		t.Errorf("after the restart: %v", failure)
	}
	if status, said := w.person(t, http.MethodPut, "/api/v1/paused", `{"paused":false}`); status != http.StatusOK ||
		said != `{"paused":false}` {
		t.Fatalf("%d %s", status, said)
	}
	failure := <-begin(t, next, ann, "browser__list_tabs", `{}`, nil)
	if failure == nil || failure.Code != fault.ExtensionNotConnected { // there is no browser, and no pause either
		t.Errorf("after going on: %v", failure)
	}
}

// Of two profiles only the panel of the one with the tab sees the question, and it alone can answer.
func TestTwoProfilesOfWhichOneIsAsked(t *testing.T) {
	w := newWorld(t)
	r := w.guarded(map[string]string{"shop": "ask"})
	ran := make(chan string, 10)
	owner := w.browser(echoing(ran))
	other := dialIn(t, r, func(o *hubtest.Options) { o.Label = "Chrome 2" })
	asked := questions(t, r)
	end := begin(t, r, ann, "shop__pay", `{}`, nil)
	q := asked()
	path, allow := "/api/v1/approvals/"+q.ID, json.RawMessage(`{"answer":"allow"}`)
	for name, tt := range map[string]struct {
		browser      *hubtest.Browser
		method, path string
		body         json.RawMessage
		status       int
		says         string
	}{
		"the other sees nothing": {other, "GET", "/api/v1/approvals", nil, http.StatusOK, `{"approvals":[],`},
		"the other answers":      {other, "POST", path, allow, http.StatusForbidden, "another browser profile"},
		"the owner sees it":      {owner, "GET", "/api/v1/approvals", nil, http.StatusOK, q.ID},
		"the owner sends nonsense": {owner, "POST", path, json.RawMessage(`{"answer":"allow","for":"ages"}`),
			http.StatusBadRequest, "such as 1h"},
	} {
		got, err := tt.browser.Ask(t.Context(), tt.method, tt.path, tt.body)
		if err != nil || got.Status != tt.status || !strings.Contains(string(got.Body), tt.says) {
			t.Errorf("%s: %d %s %v", name, got.Status, got.Body, err)
		}
	}
	if got, err := owner.Ask(t.Context(), "POST", path, allow); err != nil || got.Status != http.StatusOK {
		t.Errorf("the owner answers: %d %s %v", got.Status, got.Body, err)
	}
	if failure := <-end; failure != nil || len(ran) != 1 {
		t.Errorf("%v; %d calls reached the page", failure, len(ran))
	}
	token, err := r.secrets.Add("eve")
	if err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"approvals", "permissions", "paused"} {
		if status, said := (outsider{t, r.Address()}).ask("GET", "/api/v1/"+path, "Authorization: Bearer "+
			token); status.StatusCode != http.StatusForbidden {
			t.Errorf("an agent reads %s: %s", path, said)
		}
	}
}

// A client of the new era is answered with the question; the panel answers first. The call goes on when the client
// comes back, whatever it says then, and its result reaches the client once.
func TestThePanelAnswersBeforeAClientOfTheNewEra(t *testing.T) {
	w := newWorld(t)
	r := w.guarded(map[string]string{"shop": "ask"})
	ran := make(chan string, 10)
	w.browser(echoing(ran))
	asked := questions(t, r)
	m := w.modern(r)
	const params = `"name":"shop__pay","arguments":{"sum":7}`
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"bob","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}},`
	send := func(more string) []byte {
		_, answer := m.post(fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{%s%s%s}}`, meta,
			params, more), "tools/call", params, "2026-07-28")
		return answer
	}
	var first struct {
		Result struct {
			ResultType, RequestState string
			InputRequests            map[string]struct{ Params struct{ Message string } }
		}
	}
	if answer := send(""); json.Unmarshal(answer, &first) != nil || first.Result.ResultType != "input_required" ||
		!strings.Contains(first.Result.InputRequests["question-1"].Params.Message, "“Pay” (shop__pay)") {
		t.Fatalf("the client is answered %s", answer)
	}
	w.answers(t, asked().ID, `{"answer":"allow"}`, http.StatusOK)
	if len(ran) != 0 {
		t.Error("it ran for nobody")
	}
	answer := send(`,"requestState":"` + first.Result.RequestState +
		`","inputResponses":{"question-1":{"action":"decline"}}`)
	if !strings.Contains(string(answer), `\"sum\":7`) || len(ran) != 1 {
		t.Errorf("the client that comes back is answered %s; %d calls reached the page", answer, len(ran))
	}

	// The client's own answer counts as well.
	if err := json.Unmarshal(send(""), &first); err != nil {
		t.Fatal(err)
	}
	asked()
	answer = send(`,"requestState":"` + first.Result.RequestState +
		`","inputResponses":{"question-1":{"action":"accept","content":{"answer":"Deny"}}}`)
	faulttest.Answered(t, "person-said-no", answer, true)
}

// Whoever allowed a replay is not asked a second time whether it is meant.
func TestAReplayIsAskedOnce(t *testing.T) {
	w := newWorld(t)
	r := w.guarded(map[string]string{"shop": "ask"})
	var fails atomic.Bool
	fails.Store(true)
	b := w.browser(func(c *hubtest.Call) {
		c.Started()
		if fails.Load() {
			c.Refuse(wire.Refusal{Code: string(fault.TabChanged), Message: "gone", Outcome: string(fault.Unknown)})
			return
		}
		c.Return(json.RawMessage(`{}`))
	})
	asked := questions(t, r)
	end := begin(t, r, ann, "shop__pay", `{"sum":7}`, nil)
	w.answers(t, asked().ID, `{"answer":"allow"}`, http.StatusOK)
	failure := <-end
	fails.Store(false)
	end = begin(t, r, ann, "relay__dead_letters", `{"action":"replay","id":"`+failure.CorrelationID+`"}`, nil)
	q := asked()
	if !strings.Contains(q.Note, "Nobody knows whether it happened") {
		t.Errorf("the question does not say that it is a repetition: %+v", q)
	}
	w.answers(t, q.ID, `{"answer":"allow"}`, http.StatusOK)
	if failure := <-end; failure != nil {
		t.Error(failure)
	}
	// The person repeats it in their shell, and has said so there.
	fails.Store(true)
	end = begin(t, r, ann, "shop__pay", `{"sum":8}`, nil)
	w.answers(t, asked().ID, `{"answer":"allow"}`, http.StatusOK)
	failure = <-end
	fails.Store(false)
	if status, said := w.person(t, http.MethodDelete, "/api/v1/tabs/"+b.ProfileID()+"/7/owner",
		""); status != http.StatusOK {
		t.Fatalf("ann keeps the tab: %d %s", status, said)
	}
	if status, said := w.person(t, http.MethodPost, "/api/v1/dead-letters/"+failure.CorrelationID+"/replay",
		`{"confirmed":true}`); status != http.StatusOK || strings.Contains(said, `"error"`) {
		t.Errorf("%d %s", status, said)
	}
}

// Allowing the tool that replays names no call: the one that it repeats is asked about as well.
func TestAllowingToReplayAllowsNoCall(t *testing.T) {
	w := newWorld(t)
	r := w.guarded(map[string]string{"shop": "ask", "relay__dead_letters": "ask"})
	w.browser(losing(new(atomic.Bool)))
	asked := questions(t, r)
	end := begin(t, r, ann, "shop__pay", `{"sum":7}`, nil)
	w.answers(t, asked().ID, `{"answer":"allow"}`, http.StatusOK)
	lost := <-end
	end = begin(t, r, ann, "relay__dead_letters", `{"action":"replay","id":"`+lost.CorrelationID+`"}`, nil)
	w.answers(t, asked().ID, `{"answer":"allow"}`, http.StatusOK)
	second := make(chan call.Approval, 1)
	go func() { second <- asked() }()
	select {
	case q := <-second:
		if q.Tool != "shop__pay" {
			t.Errorf("asked about %+v", q)
		}
		w.answers(t, q.ID, `{"answer":"deny"}`, http.StatusOK)
	case failure := <-end:
		t.Fatalf("it was repeated without a question of its own: %v", failure)
	}
	if failure := <-end; failure == nil || failure.Code != fault.ApprovalDenied {
		t.Error(failure)
	}
}

// A relay that stops does not wait for a client of the new era that was asked and has not come back.
func TestTheRelayStopsWhileAClientOfTheNewEraIsAsked(t *testing.T) {
	w, log := newWorld(t), &apitest.Log{}
	w.log = zerolog.New(log)
	r := w.guarded(map[string]string{"shop": "ask"})
	ran := make(chan string, 10)
	w.browser(echoing(ran))
	const params = `"name":"shop__pay","arguments":{}`
	meta := `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientInfo":{"name":"bob","version":"1"},` +
		`"io.modelcontextprotocol/clientCapabilities":{"elicitation":{}}},`
	_, answer := w.modern(r).post(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{`+meta+params+`}}`,
		"tools/call", params, "2026-07-28")
	if !strings.Contains(string(answer), "input_required") {
		t.Fatalf("the client is answered %s", answer)
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if strings.Contains(log.String(), stillInFlight) || len(ran) != 0 {
		t.Errorf("%d calls reached the page; the relay said:\n%s", len(ran), log)
	}
}
