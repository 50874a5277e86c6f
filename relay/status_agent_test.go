package relay

import (
	"bufio"
	"context"
	"encoding/json"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
)

// What an agent reads of the relay names no tab, no folder and nothing that other clients do.
func TestStatusForAgents(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	w.browser(func(c *hubtest.Call) { c.Return(c.Arguments) })
	token, err := r.secrets.Add("ann")
	if err != nil {
		t.Fatal(err)
	}
	w.agentWith(nobodyStarts, &join.Proxy{Client: "bob"})
	read := func(token string) (text string, s httpapi.Status) {
		t.Helper()
		status, body := asks(t, r, token, "/api/v1/status")
		if err := json.Unmarshal(body, &s); err != nil || status != http.StatusOK {
			t.Fatal(status, err)
		}
		return string(body), s
	}
	if text, s := read(r.secrets.Local()); len(s.Tabs) == 0 || len(s.Clients) == 0 ||
		!strings.Contains(text, string(r.Home)) {
		t.Fatalf("the person does not see what the agent is not to see: %s", text)
	}
	text, s := read(token)
	if !s.Running || len(s.Browsers) != 1 || len(s.Tabs) != 0 || len(s.Clients) != 0 ||
		strings.Contains(text, string(r.Home)) {
		t.Errorf("an agent reads %s", text)
	}
}

// An agent hears of its own calls and its own coming and going; everything else is the person's. Every kind of event is
// made by what makes it, for two clients, so that a new kind cannot be sent without this test.
func TestEventsForAgents(t *testing.T) {
	w := newWorld(t)
	r := w.guarded(map[string]string{"shop__read": "auto", "shop__pay": "ask", "relay": "auto"})
	var behaves atomic.Bool
	b := w.browser(func(c *hubtest.Call) {
		if strings.Contains(string(c.Arguments), "hung") {
			c.Refuse(wire.Refusal{Code: string(fault.TabUnresponsive), Outcome: string(fault.NotExecuted),
				Message: "A dialog is open"})
			return
		}
		losing(&behaves)(c)
	})
	tokens := map[string]string{"person": r.secrets.Local()}
	for _, s := range []call.Session{ann, bob} {
		token, err := r.secrets.Add(s.Client)
		if err != nil {
			t.Fatal(err)
		}
		tokens[s.Client] = token
		w.agentWith(nobodyStarts, &join.Proxy{Token: token})
		asked := questions(t, r)
		end := begin(t, r, s, "shop__pay", `{"sum":7}`, nil)
		w.answers(t, asked().ID, `{"answer":"allow"}`, http.StatusOK)
		lost := <-end // which makes a dead letter
		r.ownTools.Letters.Settled(call.DeadLetter{ID: call.ID(lost.CorrelationID), Session: s, Tool: "shop__pay",
			LateOutcome: call.Executed})
		w.person(t, http.MethodDelete, "/api/v1/tabs/"+b.ProfileID()+"/7/owner", "")
	}
	for range 6 { // a breaker counts them
		for _, s := range []call.Session{ann, bob} {
			<-begin(t, r, s, "shop__read", `{"what":"hung"}`, nil)
		}
	}
	for _, kind := range []hub.EventKind{hub.Paired, hub.Refused, hub.Corrupted} {
		r.linkChanged(hub.Event{Kind: kind, ProfileID: b.ProfileID(), Profile: "Chrome 1", Message: "as it is"})
	}
	r.configRefused(fault.New(fault.ConfigError, "it is broken"), &catalog.Refusal{Reason: "it is broken"})
	for _, paused := range []string{"true", "false"} {
		w.person(t, http.MethodPut, "/api/v1/paused", `{"paused":`+paused+`}`)
	}
	news, stop := r.events.Subscribe()
	defer stop()
	b.Close()
	for e := range news {
		if e.Kind == event.Reconnecting {
			break
		}
	}

	all := eventsSeen(t, r, tokens["person"])
	// which only the person can follow, in a stream of their own
	kinds := map[event.Kind]bool{event.Call: true, event.Line: true, event.Console: true, event.Uncaught: true}
	for _, e := range all {
		kinds[e.Kind] = true
		_, ofCall := e.Data["correlationId"]
		_, ofLetter := e.Data["deadLetter"]
		if ofCall || ofLetter {
			if e.Data["client"] != "ann" && e.Data["client"] != "bob" || e.Data["session"] == nil {
				t.Errorf("an event about a call does not say whose it is: %+v", e)
			}
		}
	}
	for kind := range kindsOfEvents(t) {
		if !kinds[kind] {
			t.Errorf("no event of the kind %s was made here: whose is it?", kind)
		}
	}
	set := r.attached.resources()
	for _, client := range []string{"ann", "bob"} {
		own := slices.DeleteFunc(slices.Clone(all), func(e event.Event) bool { return e.Data["client"] != client })
		for _, kind := range []event.Kind{event.Session, event.Approval, event.Error, event.Retry} {
			if !slices.ContainsFunc(own, func(e event.Event) bool { return e.Kind == kind }) {
				t.Errorf("there is no %s of %s", kind, client)
			}
		}
		if diff := cmp.Diff(own, eventsSeen(t, r, tokens[client]),
			cmpopts.IgnoreUnexported(event.Event{})); diff != "" {
			t.Errorf("%s hears by HTTP (-want +got)\n%s", client, diff)
		}
		s := ann
		if client == "bob" {
			s = bob
		}
		if set == nil {
			continue // without the capability
		}
		contents, failure := set.Read(t.Context(), s, "events://recent", nil)
		if failure != nil {
			t.Fatal(failure)
		}
		var read struct{ Events []event.Event }
		if err := json.Unmarshal([]byte(contents[0].Text), &read); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(own, read.Events, cmpopts.IgnoreUnexported(event.Event{})); diff != "" {
			t.Errorf("%s reads events://recent (-want +got)\n%s", client, diff)
		}
	}
}

// eventsSeen are the events that whoever has a token sees, in one answer and as a stream.
func eventsSeen(t *testing.T, r *Relay, token string) []event.Event {
	t.Helper()
	var answer struct{ Events []event.Event }
	if status, body := asks(t, r, token, "/api/v1/events?recent=500&once=1"); status != http.StatusOK ||
		json.Unmarshal(body, &answer) != nil {
		t.Fatal(status, string(body))
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+r.Address()+"/api/v1/events?recent=500", nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() // only read from
	var streamed []event.Event
	for lines := bufio.NewScanner(res.Body); len(streamed) < len(answer.Events) && lines.Scan(); {
		var e event.Event
		if text, ok := strings.CutPrefix(lines.Text(), "data: "); ok && json.Unmarshal([]byte(text), &e) == nil {
			streamed = append(streamed, e)
		}
	}
	if diff := cmp.Diff(answer.Events, streamed, cmpopts.IgnoreUnexported(event.Event{})); diff != "" {
		t.Errorf("the stream differs from the answer (-answer +stream)\n%s", diff)
	}
	return answer.Events
}

// kindsOfEvents are those the source of package event names.
func kindsOfEvents(t *testing.T) map[event.Kind]bool {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "road/event/event.go", nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	kinds := map[event.Kind]bool{}
	ast.Inspect(file, func(n ast.Node) bool {
		v, ok := n.(*ast.ValueSpec)
		if !ok {
			return true
		}
		if name, ok := v.Type.(*ast.Ident); ok && name.Name == "Kind" {
			kind, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			if err != nil {
				t.Fatal(err)
			}
			kinds[event.Kind(kind)] = true
		}
		return true
	})
	return kinds
}
