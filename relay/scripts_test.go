package relay

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"tabrelay/relay/browser/hub/hubtest"
	_ "tabrelay/relay/capability/script" // which these tests are about
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault/faulttest"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/state/audit"
	"tabrelay/relay/state/config"
)

// runs makes a call of relay__run.
func (a *mcpClient) runs(id int, script string, more ...string) {
	a.t.Helper()
	text, err := json.Marshal(script)
	if err != nil {
		a.t.Fatal(err)
	}
	a.call(id, "relay__run", `{"script":`+string(text)+strings.Join(more, "")+`}`)
}

// A script's calls are calls of its session: they reach the browser in its order, each is in the audit log with the
// script that made it, and the answer has the value and the ledger.
func TestScriptOverMCP(t *testing.T) {
	w := newWorld(t)
	_, end := w.relay()
	w.browser(func(c *hubtest.Call) {
		c.Started()
		c.Return(c.Arguments)
	})
	a := w.agent(nobodyStarts)
	a.runs(1, "const all = []\nfor (const what of ['tea', 'milk']) all.push((await tools.shop.read({what})).what)\n"+
		"await tools.shop.pay({n: 1})\nlog('paid'); all")
	a.hears(`"id":1`, `{\"value\":[\"tea\",\"milk\"],\"log\":[\"paid\"],\"calls\":[`+
		`{\"tool\":\"shop__read\",\"count\":2,`,
		`{\"tool\":\"shop__pay\",\"ms\":`, `"tabrelay/untrusted":true`)
	end()
	rows := slices.DeleteFunc(w.auditRows(), func(row audit.Row) bool { return row.Kind != "call" })
	slices.SortStableFunc(rows, func(a, b audit.Row) int { return a.At.Compare(b.At) })
	var script string
	for _, row := range rows {
		if row.Tool == "relay__run" {
			script = string(row.CallID)
		}
	}
	var made []string
	for _, row := range rows {
		if strings.HasPrefix(row.Detail, "The script "+script+" made it") {
			made = append(made, row.Tool+" "+row.Outcome)
		}
	}
	want := []string{"shop__read returned", "shop__read returned", "shop__pay returned"}
	if script == "" || !slices.Equal(made, want) {
		t.Errorf("the script %s made %v, of\n%+v", script, made, rows)
	}
}

// A browser that is lost in the middle of a write: the ledger says what is known, and the script is not called
// retryable.
func TestScriptLosesItsBrowser(t *testing.T) {
	w := newWorld(t)
	w.relayAs(func(c *config.Config) { c.ReconnectWait = 0 })
	var b *hubtest.Browser
	b = w.browser(func(c *hubtest.Call) {
		c.Started()
		if strings.Contains(string(c.Arguments), "2") {
			go b.Close()
			return
		}
		c.Return(c.Arguments)
	})
	a := w.agent(nobodyStarts)
	a.runs(1, "await tools.shop.pay({n: 1})\nawait tools.shop.pay({n: 2})\nawait tools.shop.pay({n: 3})")
	a.hears(`"id":1`, "code=SCRIPT_FAILED", "retryable=false outcome=unknown", "Line 2, column",
		`Calls executed: shop__pay\nCalls unknown: shop__pay (line 2, `)
}

// The person is asked once about a script that changes something, with its text, and stops it as any other call.
func TestPersonAndScripts(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relayAs(func(c *config.Config) {
		c.Permissions = map[string]map[string]string{"shop": {config.EveryClient: "auto"}}
	})
	reached := make(chan *hubtest.Call, 2)
	questions := questions(t, r)
	w.browser(func(c *hubtest.Call) { c.Started(); reached <- c })
	a := w.agent(nobodyStarts)
	a.runs(1, "await tools.shop.pay({n: 1})")
	asked := questions()
	if q := asked; q.Tool != "relay__run" || !strings.Contains(string(q.Arguments), "tools.shop.pay") ||
		!strings.Contains(q.Note, "shop__pay; on https://shop.example/*") || !slices.Equal(q.Choices, []string{"once",
		"session", "always"}) {
		t.Errorf("the person is asked %+v", q)
	}
	if err := r.policy.Answer(t.Context(), asked.ID, "", call.Decision{Allow: true, For: "session",
		By: policy.ByTerminal}); err != nil {
		t.Fatal(err)
	}
	(<-reached).Return(json.RawMessage(`"paid"`))
	a.hears(`"id":1`, `"text":"paid"`)
	a.runs(2, "await tools.shop.pay({n: 2})\nawait tools.shop.pay({n: 3})") // which the session may
	running := <-reached
	for _, one := range r.calls.Running() {
		if one.Tool == "relay__run" {
			if status, said := w.person(t, http.MethodDelete, "/api/v1/running/"+string(one.ID), ""); status != 200 {
				t.Fatal(status, said)
			}
		}
	}
	<-running.Cancelled()
	a.hears(`"id":2`, "code=CANCELLED", "outcome=unknown", "The person cancelled the call",
		"Calls unknown: shop__pay (line 1, CANCELLED)")
}

// What goes wrong with a script, as its agent hears it.
func TestScriptSituations(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	m := w.modern(r)
	for id, script := range map[string]string{
		"script-fails":          "null.x",
		"script-needs-too-much": "'x'.repeat(1e5)",
	} {
		answer := m.ask("tools/call", fmt.Sprintf(`"name":"relay__run","arguments":{"script":%q}`, script))
		faulttest.Answered(t, id, answer, true)
	}
}

// A call in a script waits for the person: the client that sent the script, and gave a progress token, is told what
// they are asked and where they answer.
func TestQuestionsOfAScriptReachItsClient(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relayAs(func(c *config.Config) {
		c.Permissions = map[string]map[string]string{"shop": {config.EveryClient: "ask"},
			"relay__run": {config.EveryClient: "auto"}}
	})
	next := questions(t, r)
	w.browser(func(c *hubtest.Call) { c.Started(); c.Return(c.Arguments) })
	a := w.agent(nobodyStarts)
	a.say(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"relay__run","arguments":{"script":` +
		`"await Promise.all([1, 2].map(n => tools.shop.pay({n})))"},"_meta":{"progressToken":"p"}}}`)
	answers := []call.Approval{next(), next()}
	for _, q := range answers {
		if q.Tool != "shop__pay" {
			t.Errorf("the person is asked %+v", q)
		}
		if err := r.policy.Answer(t.Context(), q.ID, "", call.Decision{Allow: true, For: "once",
			By: policy.ByTerminal}); err != nil {
			t.Fatal(err)
		}
	}
	answer, before := a.hearsUntil(`"id":1`)
	a.expects(before, `"progressToken":"p"`, "(shop__pay) on https://shop.example (",
		"The person answers in tabrelay's side panel, or in a terminal with: tabrelay permit pending",
		"No question to the person is open any more")
	a.expects(answer, `\"tool\":\"shop__pay\",\"count\":2`)
}
