package relay

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/lib/random"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
)

// ann and bob are two clients.
var (
	ann = call.Session{ID: "session-a", Client: "ann", Via: "stdio"}
	bob = call.Session{ID: "session-b", Client: "bob", Via: "stdio"}
)

// use calls a built-in tool as a client.
func use(t *testing.T, r *Relay, c call.Call, tool, arguments string) (answer map[string]any, f *fault.Error) {
	t.Helper()
	c.ID, c.Tool, c.Arguments = call.ID(random.Hex(16)), tool, json.RawMessage(arguments)
	result, f := r.calls.Do(t.Context(), c)
	if f != nil {
		return nil, f
	}
	if err := json.Unmarshal(result.Output, &answer); err != nil {
		t.Fatalf("%s: %v", result.Output, err)
	}
	return answer, nil
}

// losing is a browser that refuses every call in a way that leaves its outcome open, until it is told to behave.
func losing(behaves *atomic.Bool) func(*hubtest.Call) {
	return func(c *hubtest.Call) {
		c.Started()
		if behaves.Load() {
			c.Return(json.RawMessage(`{"paid":true}`))
			return
		}
		c.Refuse(wire.Refusal{Code: string(fault.TabChanged), Message: "the tab went away",
			Outcome: string(fault.Unknown)})
	}
}

func TestDeadLettersOfAClient(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	var behaves atomic.Bool
	w.browser(losing(&behaves))
	events, stop := r.events.Subscribe()
	defer stop()
	_, f := use(t, r, call.Call{Session: ann}, "shop__pay", `{"sum":7}`)
	if f == nil || f.Outcome != fault.Unknown {
		t.Fatal(f)
	}
	for e := range events {
		if e.Kind == event.Error && e.Data["deadLetter"] == f.CorrelationID {
			break
		}
	}
	id := `"id":"` + f.CorrelationID + `"`
	list, problem := use(t, r, call.Call{Session: ann}, "relay__dead_letters", `{"action":"list"}`)
	if letters, _ := list["letters"].([]any); problem != nil || len(letters) != 1 {
		t.Fatal(list, problem)
	}
	if list, _ := use(t, r, call.Call{Session: bob}, "relay__dead_letters",
		`{"action":"list"}`); len(list["letters"].([]any)) != 0 {
		t.Error("a client sees another's letters:", list)
	}
	for _, action := range []string{"show", "replay"} {
		if _, f := use(t, r, call.Call{Session: bob}, "relay__dead_letters", `{"action":"`+action+`",`+id+
			`}`); f == nil || f.Code != fault.NotFoundCode {
			t.Error("a client uses another's letter:", f)
		}
	}
	shown, _ := use(t, r, call.Call{Session: ann}, "relay__dead_letters", `{"action":"show",`+id+`}`)
	if shown["outcome"] != "unknown" || shown["code"] != "TAB_CHANGED" || shown["asks"] != true ||
		shown["replayable"] != true || shown["arguments"].(map[string]any)["sum"] != 7.0 {
		t.Error(shown)
	}
	for _, wrong := range []string{`{"action":"show"}`, `{"action":"burn"}`, `{"action":"list","cursor":"nothing"}`} {
		if _, f := use(t, r, call.Call{Session: ann}, "relay__dead_letters", wrong); f == nil ||
			f.Code != fault.ValidationError {
			t.Error(wrong, f)
		}
	}
}

// Programs without a name share one, and a delegated agent has its client's: each sees the letters of its own calls.
func TestDeadLettersOfOneSession(t *testing.T) {
	nameless := func(id string) call.Session {
		return call.Session{ID: id, Client: call.Unnamed, Via: "stdio"}
	}
	errand := ann
	errand.ID, errand.Bounds = "errand", &call.Bounds{}
	for _, test := range []struct {
		of          call.Session
		sees, never []call.Session
	}{
		{nameless("stdio:a/first"), []call.Session{nameless("stdio:a"), nameless("stdio:a/second")},
			[]call.Session{nameless("stdio:b"), nameless("stdio:ab"), nameless("stdio"), ann}},
		{ann, []call.Session{ann}, []call.Session{errand, bob}},
		{errand, []call.Session{errand, ann}, []call.Session{bob}},
	} {
		w := newWorld(t)
		r, _ := w.relay()
		w.browser(losing(new(atomic.Bool)))
		_, f := use(t, r, call.Call{Session: test.of}, "shop__pay", `{"sum":7}`)
		if f == nil || f.Outcome != fault.Unknown {
			t.Fatal(f)
		}
		sees := func(s call.Session) bool {
			list, _ := use(t, r, call.Call{Session: s}, "relay__dead_letters", `{"action":"list"}`)
			letters, _ := json.Marshal(list)
			shown, _ := use(t, r, call.Call{Session: s}, "relay__dead_letters",
				`{"action":"show","id":"`+f.CorrelationID+`"}`)
			listed := strings.Contains(string(letters), f.CorrelationID)
			if listed != (shown != nil) {
				t.Errorf("%s: listed %v, shown %v", s.ID, listed, shown)
			}
			return listed
		}
		for _, s := range test.sees {
			if !sees(s) {
				t.Errorf("%s does not see the letter of %s", s.ID, test.of.ID)
			}
		}
		for _, s := range test.never {
			if sees(s) {
				t.Errorf("%s sees the letter of %s", s.ID, test.of.ID)
			}
		}
	}
}

// A change is repeated only after the person has allowed it, and never behind their back.
func TestReplayAsks(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	var behaves atomic.Bool
	w.browser(losing(&behaves))
	_, f := use(t, r, call.Call{Session: ann}, "shop__pay", `{"sum":7}`)
	behaves.Store(true)
	replay := `{"action":"replay","id":"` + f.CorrelationID + `"}`
	for _, test := range []struct {
		name   string
		answer call.Answer
		err    error
		code   fault.Code // empty: it is repeated
	}{
		{"declined", call.Answer{Action: "decline"}, nil, fault.ApprovalDenied},
		{"closed", call.Answer{Action: "cancel"}, nil, fault.ApprovalDenied},
		{"sent without a tick", call.Answer{Action: "accept", Content: json.RawMessage(`{"repeat":false}`)}, nil,
			fault.ApprovalDenied},
		{"sent without anything", call.Answer{Action: "accept"}, nil, fault.ApprovalDenied},
		{"no answer", call.Answer{}, errors.New("gone"), fault.ApprovalTimeout},
		{"accepted", call.Answer{Action: "accept", Content: json.RawMessage(`{"repeat":true}`)}, nil, ""},
	} {
		asked := ""
		ask := func(_ context.Context, q call.Question) (call.Answer, error) {
			asked = q.Message
			return test.answer, test.err
		}
		answer, f := use(t, r, call.Call{Session: ann, Ask: ask}, "relay__dead_letters", replay)
		if !strings.Contains(asked, `Repeat a call of shop__pay`) || !strings.Contains(asked, `{"sum":7}`) ||
			!strings.Contains(asked, "Nobody knows whether it happened") {
			t.Errorf("%s: asked %q", test.name, asked)
		}
		switch {
		case test.code == "" && (f != nil || answer["paid"] != true):
			t.Errorf("%s: %v %v", test.name, answer, f)
		case test.code != "" && (f == nil || f.Code != test.code):
			t.Errorf("%s: %v %v", test.name, answer, f)
		}
	}
	if _, f := use(t, r, call.Call{Session: ann}, "relay__dead_letters", replay); f == nil ||
		f.Code != fault.PermissionDenied || !strings.Contains(f.Hint, "tabrelay dead-letters replay") {
		t.Error("a client that cannot ask repeated a change:", f)
	}
	l, _, err := r.store.DeadLetter(t.Context(), call.ID(f.CorrelationID))
	if err != nil || l.Replayed == "" {
		t.Error("the letter does not name its replay:", err)
	}
}

// A call with credentials is written down without them, and cannot be repeated.
func TestCredentialsAreNotKept(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	w.browser(losing(new(atomic.Bool)))
	_, f := use(t, r, call.Call{Session: ann}, "shop__pay", `{"password":"correct horse battery"}`)
	shown, _ := use(t, r, call.Call{Session: ann}, "relay__dead_letters", `{"action":"show","id":"`+f.CorrelationID+
		`"}`)
	if text, _ := json.Marshal(shown); strings.Contains(string(text), "horse") || shown["replayable"] != false ||
		shown["because"] == nil {
		t.Errorf("%s", text)
	}
	if _, again := use(t, r, call.Call{Session: ann}, "relay__dead_letters", `{"action":"replay","id":"`+
		f.CorrelationID+`"}`); again == nil || again.Code != fault.ValidationError {
		t.Error(again)
	}
}

// A client that asks for lines gets the progress before the answer.
func TestStreamedCall(t *testing.T) {
	w := newWorld(t)
	w.relay()
	w.browser(func(c *hubtest.Call) {
		c.Started()
		c.Progress(1, "one\nline")
		c.Return(json.RawMessage(`{"read":true}`))
	})
	req, err := http.NewRequestWithContext(t.Context(), http.MethodPost,
		"http://127.0.0.1/api/v1/tools/shop__read/call", strings.NewReader(`{"arguments":{}}`))
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Accept", "application/x-ndjson")
	res, err := join.HTTP(w.home).Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() // only read from
	if got := res.Header.Get("Content-Type"); got != "application/x-ndjson" {
		t.Error(got)
	}
	var lines []string
	for scanner := bufio.NewScanner(res.Body); scanner.Scan(); {
		lines = append(lines, scanner.Text())
	}
	if len(lines) != 2 || lines[0] != `{"progress":{"progress":1,"message":"one line"}}` ||
		!strings.HasPrefix(lines[1], `{"answer":{"output":{"read":true},`) {
		t.Error(strings.Join(lines, "\n"))
	}
}

// What was too large for an answer is read by the client whose call it was, in pieces that are no larger than an
// answer.
func TestReadResult(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	w.browser(func(c *hubtest.Call) {
		c.Started()
		c.Return(json.RawMessage(`{"rows":[` + strings.TrimSuffix(strings.Repeat(`{"n":1,`+
			`"text":"abcdefghijklmnopqrstuvwxyz"},`, 5000), ",") + `]}`))
	})
	result, f := r.calls.Do(t.Context(), call.Call{ID: call.ID(random.Hex(16)), Session: ann, Tool: "shop__read"})
	if f != nil || result.Meta.ResultID == "" {
		t.Fatal(result, f)
	}
	seen, offset := 0, "0"
	for pieces := 0; ; pieces++ {
		read, f := r.calls.Do(t.Context(), call.Call{
			ID: call.ID(random.Hex(16)), Session: ann, Tool: "relay__read_result",
			Arguments: json.RawMessage(`{"id":"` + result.Meta.ResultID + `","arrayPath":".rows","offset":` + offset +
				`}`),
		})
		if f != nil {
			t.Fatal(f)
		}
		if len(read.Output) > r.config.MaxBytes || len(read.Warnings) > 0 || read.Meta.ResultID != "" {
			t.Fatalf("a piece of %d bytes, %q", len(read.Output), read.Warnings)
		}
		var p struct {
			Result     []any
			NextOffset json.Number
		}
		if err := json.Unmarshal(read.Output, &p); err != nil {
			t.Fatal(err)
		}
		seen += len(p.Result)
		if offset = p.NextOffset.String(); offset == "" {
			if pieces < 2 || seen != 5000 {
				t.Errorf("%d items in %d pieces", seen, pieces+1)
			}
			break
		}
	}
	if _, f := use(t, r, call.Call{Session: ann}, "relay__read_result", `{"id":"nothing"}`); f == nil ||
		f.Code != fault.NotFoundCode || f.Hint == "" {
		t.Error(f)
	}
	errand := ann
	errand.ID, errand.Bounds = "errand", &call.Bounds{}
	for _, other := range []call.Session{bob, errand} {
		if got, f := use(t, r, call.Call{Session: other}, "relay__read_result", `{"id":"`+result.Meta.ResultID+
			`"}`); f == nil || f.Code != fault.NotFoundCode {
			t.Errorf("%s, who knows the id of another's result, got %v %v", other.ID, got, f)
		}
	}
	if got, f := use(t, r, call.Call{Session: ann, MaxBytes: 300}, "relay__read_result", `{"id":"`+result.Meta.ResultID+
		`","jq":".rows[:100]"}`); f != nil || got["truncated"] != true {
		t.Error(got, f)
	}
}
