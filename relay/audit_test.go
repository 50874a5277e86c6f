package relay

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/state/audit"
	"tabrelay/relay/state/store"
)

// asks reads a path with a token.
func asks(t *testing.T, r *Relay, token, path string) (int, []byte) {
	t.Helper()
	return sends(t, r, http.MethodGet, token, path)
}

// sends sends a request without a body, with a token, and returns the answer.
func sends(t *testing.T, r *Relay, method, token, path string) (int, []byte) {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://"+r.Address()+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	req.Header.Set("Authorization", "Bearer "+token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() // only read from
	body, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, body
}

func auditOf(t *testing.T, r *Relay, token, query string) httpapi.AuditPage {
	t.Helper()
	status, body := asks(t, r, token, "/api/v1/audit"+query)
	var page httpapi.AuditPage
	if err := json.Unmarshal(body, &page); err != nil || status != http.StatusOK {
		t.Fatalf("%d %s %v", status, body, err)
	}
	return page
}

// brief is what of an entry the tests compare.
func brief(e audit.Row) string {
	return strings.TrimSpace(fmt.Sprintf("%s %s %s %s %s %s", e.Kind, e.Client, e.Tool, e.Outcome, e.Code, e.Origin))
}

func TestAuditOfCalls(t *testing.T) {
	w := newWorld(t)
	r, end := w.relay()
	w.browser(func(c *hubtest.Call) {
		if c.Tool == "pay" {
			c.Throw(json.RawMessage(`{"code":"DECLINED","message":"no money\u001b[31m"}`))
			return
		}
		c.Return(json.RawMessage(`{"tea":1}`))
	})
	m := w.modern(r)
	other, err := r.secrets.Add("eve")
	if err != nil {
		t.Fatal(err)
	}
	r.clients.Review() // from here on it is written down that two clients were added
	for _, params := range []string{
		`"name":"shop__read","arguments":{"what":"tea, token=abcd1234"}`,
		`"name":"shop__pay","arguments":{"card":"=1+1","pin":"1234"}`, `"name":"shop__read","arguments":{"no":1}`,
		`"name":"shop__nothing","arguments":{}`, `"name":"browser__list_tabs"`,
		`"name":"shop__absent","arguments":{}`,
	} {
		m.ask("tools/call", params)
	}
	page := auditOf(t, r, m.token, "?kind=call")
	var got []string
	for _, e := range page.Entries {
		got = append(got, brief(e))
	}
	want := []string{
		"call bob shop__absent not_executed UNKNOWN_TOOL",
		"call bob browser__list_tabs returned",
		"call bob shop__nothing not_executed UNKNOWN_TOOL",
		"call bob shop__read not_executed VALIDATION_ERROR",
		"call bob shop__pay executed DECLINED https://shop.example",
		"call bob shop__read returned  https://example.com",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	read := page.Entries[5]
	if read.Arguments != `{"what":"tea, token=[redacted]"}` || len(read.ArgumentsHash) != 64 || read.TabID != 7 ||
		read.Profile != "Chrome 1" || read.Via != "http" || read.CallID == "" ||
		read.DecidedBy != "rule" || !strings.HasPrefix(read.Decision, "auto: ") {
		t.Errorf("%+v", read)
	}
	if pay := page.Entries[4]; pay.Arguments != `{"card":"=1+1","pin":"[redacted]"}` ||
		strings.ContainsRune(pay.Detail, 0x1b) {
		t.Errorf("%+v", pay)
	}

	// Agents see what is their own, and nothing about the rest.
	if n := len(auditOf(t, r, other, "?kind=call").Entries); n != 0 {
		t.Errorf("eve sees %d entries", n)
	}
	if n := len(auditOf(t, r, other, "?client=bob").Entries); n != 0 {
		t.Errorf("eve sees %d entries of bob", n)
	}
	if status, _ := asks(t, r, other, "/api/v1/audit/verify"); status != http.StatusForbidden {
		t.Errorf("eve verifies: %d", status)
	}
	if _, body := asks(t, r, other, "/api/v1/audit?kind=call&format=jsonl"); len(body) != 0 {
		t.Errorf("eve exports %s", body)
	}

	person := r.secrets.Local()
	if n := len(auditOf(t, r, person, "?client=bob&tool=shop__read&outcome=returned&since=1h").Entries); n != 1 {
		t.Errorf("%d entries pass the filter", n)
	}
	for _, query := range []string{"?limit=0", "?limit=x", "?since=x", "?colour=red"} {
		status, body := asks(t, r, person, "/api/v1/audit"+query)
		if status != http.StatusBadRequest || strings.Contains(string(body), "jsonrpc") {
			t.Errorf("%s is answered with %d %s", query, status, body)
		}
	}
	first := auditOf(t, r, person, "?kind=call&limit=4")
	if rest := auditOf(t, r, person, fmt.Sprintf("?kind=call&limit=4&before=%d",
		first.Next)); len(first.Entries) != 4 || len(rest.Entries) != 2 || rest.Next != 0 {
		t.Errorf("pages of %d and %d", len(first.Entries), len(rest.Entries))
	}
	if status, body := asks(t, r, person, "/api/v1/audit?sinse=1h"); status != http.StatusBadRequest ||
		!strings.Contains(string(body), "no filter") {
		t.Errorf("%d %s", status, body)
	}
	_, text := asks(t, r, person, "/api/v1/audit?format=csv&kind=call")
	if records, err := csv.NewReader(strings.NewReader(string(text))).ReadAll(); err != nil || len(records) != 7 {
		t.Errorf("%d records, %v", len(records), err)
	}
	var report audit.Report
	if _, body := asks(t, r, person, "/api/v1/audit/verify"); json.Unmarshal(body, &report) != nil || !report.Whole ||
		report.Rows != 8 {
		t.Errorf("%+v", report)
	}
	end()
	if rows := w.auditRows(); len(rows) != 8 {
		t.Errorf("%d rows after the relay's end", len(rows))
	}
}

// auditRows reads the log of a home folder in which no relay runs.
func (w *world) auditRows() (rows []audit.Row) {
	w.t.Helper()
	log, err := store.OpenAudit(w.t.Context(), w.home.Database())
	if err != nil {
		w.t.Fatal(err)
	}
	defer log.Close() // only read from
	if err := log.Each(w.t.Context(), audit.Filter{Oldest: true},
		func(r *audit.Row) error { rows = append(rows, *r); return nil }); err != nil {
		w.t.Fatal(err)
	}
	return rows
}

// A decision has an entry of its own, and the call that it was about names it.
func TestAuditNamesTheDecision(t *testing.T) {
	w := newWorld(t)
	r, end := w.relay()
	s := call.Session{Client: "ann", Via: "stdio"}
	r.audit.Record(call.Entry{Kind: call.EntryDecision, Session: s, CallID: "1", Decision: "allowed once",
		DecidedBy: "panel"})
	r.audit.Record(call.Entry{Kind: call.EntryCall, Session: s, CallID: "1", Decision: "allowed", DecidedBy: "person",
		Outcome: "returned"})
	r.audit.Record(call.Entry{Kind: call.EntryCall, Session: s, CallID: "2", Decision: "auto: x", DecidedBy: "rule",
		Outcome: "returned", Duration: time.Second})
	r.audit.Record(call.Entry{Kind: call.EntryRule, Decision: "auto", DecidedBy: "terminal", Detail: "shop"})
	end()
	var got []string
	for _, e := range w.auditRows() {
		got = append(got, fmt.Sprintf("%s %s: %s, %s, %d", e.Kind, e.CallID, e.Decision, e.DecidedBy, e.DurationMs))
	}
	if diff := cmp.Diff([]string{
		"decision 1: allowed once, panel, 0", "call 1: allowed once, panel, 0", "call 2: auto: x, rule, 1000",
		"rule : auto, terminal, 0",
	}, got); diff != "" {
		t.Error(diff)
	}
}

// The end of a call that came late is another entry of it, with whose it was.
func TestAuditOfLateOutcomes(t *testing.T) {
	w := newWorld(t)
	r, end := w.relay()
	s := call.Session{Client: "ann", Via: "stdio", ID: "l"}
	const id call.ID = "00000000000000000000000000000001"
	if err := r.store.RecordSent(t.Context(), call.Record{ID: id, Session: s, Tool: "shop__pay", ProfileID: "p",
		TabID: 7, Epoch: "e", Dispatched: time.Now()}); err != nil {
		t.Fatal(err)
	}
	r.store.AddDeadLetter(call.DeadLetter{ID: id, Session: s, Tool: "shop__pay", Created: time.Now(), TabID: 7,
		Profile: "Work", Outcome: call.Unknown}, id)
	r.store.RecordEnd(id, call.Executed, nil, nil)
	if _, _, err := r.store.Find(t.Context(), id); err != nil { // in turn with the writes
		t.Fatal(err)
	}
	end()
	rows := w.auditRows()
	if len(rows) != 1 || rows[0].CallID != string(id) || rows[0].Client != "ann" || rows[0].Tool != "shop__pay" ||
		rows[0].TabID != 7 || rows[0].Outcome != "executed" || !strings.Contains(rows[0].Detail, "late") {
		t.Errorf("%+v", rows)
	}
}

// A relay that is stopped while a call runs says so of it.
func TestAuditOfCallsInFlight(t *testing.T) {
	w := newWorld(t)
	r, end := w.relay()
	started := make(chan struct{})
	w.browser(func(c *hubtest.Call) {
		c.Started()
		close(started) // and never ends
	})
	m := w.modern(r)
	go func() { _, _ = asksInVain(m, r) }()
	<-started
	end()
	rows := w.auditRows()
	if len(rows) == 0 {
		t.Fatal("nothing was written down")
	}
	last := rows[len(rows)-1]
	if last.Tool != "shop__read" || last.Outcome != "unknown" || !strings.Contains(last.Detail, "The relay ended") ||
		last.TabID != 7 {
		t.Errorf("%+v", last)
	}
}

// asksInVain calls a tool over HTTP and expects no answer.
func asksInVain(m modern, r *Relay) (int, error) {
	req, err := http.NewRequest(http.MethodPost, "http://"+r.Address()+"/api/v1/tools/shop__read/call",
		strings.NewReader(`{}`))
	if err != nil {
		return 0, err
	}
	req.Header.Set("Authorization", "Bearer "+m.token)
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return 0, err
	}
	return res.StatusCode, res.Body.Close()
}
