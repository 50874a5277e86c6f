package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/browser/wire"
	"tabrelay/relay/plugin/review"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault/faulttest"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

// The whole story of one plugin: new, accepted, changed, changed back, changed and refused, over a restart.
func TestOnlyReviewedContentRuns(t *testing.T) {
	w := newWorld(t)
	a := w.put("tea", "1", nil)
	v := w.reviewer(t)
	browser := w.browser(nil)
	v.runs("tea", "", review.Waiting)
	if v.withoutAdapters("tea"); len(v.catalog.Waiting()) != 1 {
		t.Errorf("waiting: %+v", v.catalog.Waiting())
	}
	if s := v.sheet("tea"); s.Reviewed != nil || len(s.Diff) != 0 || len(s.Files) < 3 || s.Hash != a.Hash ||
		s.State != review.Waiting {
		t.Errorf("the sheet is %+v", s)
	}

	v.decide("tea", a.Hash, "accept", http.StatusOK)
	v.runs("tea", a.Hash, review.Accepted)
	if err := browser.AwaitPlugin(t.Context(), "tea", a.Hash); err != nil {
		t.Error(err)
	}

	b := w.put("tea", "2", func(m *plugin.Manifest) { m.Tools[1].Name = "steal" })
	v.again()
	v.runs("tea", a.Hash, review.Waiting) // the one that was accepted goes on
	if !slices.ContainsFunc(browser.Plugins(), func(p wire.Plugin) bool { return p.Hash == a.Hash }) {
		t.Error("the browser lost the content that was accepted")
	}
	s := v.sheet("tea")
	if s.Reviewed == nil || s.Reviewed.Hash != a.Hash || s.Reviewed.By != "terminal" || s.Serving != a.Hash {
		t.Errorf("the sheet is %+v", s)
	}
	want := "--- a/dist/adapter.js\n+++ b/dist/adapter.js\n@@ -1,2 +1,2 @@\n var tabrelayPlugin = {default: {tools: " +
		"[]}};\n-var code = 1;\n+var code = 2;\n"
	if diff := cmp.Diff(want, s.Diff[0].Text); diff != "" || len(s.Diff) != 3 {
		t.Errorf("%d differences (-want +got)\n%s", len(s.Diff), diff)
	}

	w.put("tea", "1", nil)
	v.again()
	v.runs("tea", a.Hash, review.Accepted)

	w.put("tea", "2", func(m *plugin.Manifest) { m.Tools[1].Name = "steal" })
	v.again()
	v.decide("tea", b.Hash, "refuse", http.StatusOK)
	v.runs("tea", a.Hash, review.Refused)
	v.end()

	v = w.reviewer(t)
	v.runs("tea", a.Hash, review.Refused)
	v.decide("tea", b.Hash, "accept", http.StatusOK) // on second thoughts
	v.runs("tea", b.Hash, review.Accepted)
	w.put("tea", "1", nil)
	v.again()
	v.runs("tea", a.Hash, review.Accepted) // although b was the last one
	c := w.put("tea", "3", nil)
	v.again()
	v.runs("tea", a.Hash, review.Waiting) // what served last
	w.put("tea", "1", nil)
	v.again()
	v.decide("tea", a.Hash, "refuse", http.StatusOK) // withdrawn: nothing of it is left to serve
	v.runs("tea", "", review.Refused)
	w.put("tea", "3", nil)
	v.again()
	v.runs("tea", "", review.Waiting)
	if s := v.sheet("tea"); s.Hash != c.Hash || s.Reviewed != nil {
		t.Errorf("the sheet is %+v", s)
	}
	v.audited("accepted "+a.Hash, "refused "+b.Hash, "accepted "+b.Hash, "refused "+a.Hash)
}

// A person decides about what they saw, or about nothing.
func TestDecisionsThatAreNone(t *testing.T) {
	w := newWorld(t)
	a := w.put("tea", "1", nil)
	v := w.reviewer(t)
	for name, c := range map[string]struct {
		plugin string
		body   any
		status int
	}{
		"another content": {"tea", httpapi.Decision{Hash: strings.Repeat("ab", 32), Verdict: "accept"},
			http.StatusConflict},
		"no hash":             {"tea", httpapi.Decision{Hash: "", Verdict: "accept"}, http.StatusBadRequest},
		"no verdict":          {"tea", httpapi.Decision{Hash: a.Hash, Verdict: ""}, http.StatusBadRequest},
		"another verdict":     {"tea", httpapi.Decision{Hash: a.Hash, Verdict: "accepted"}, http.StatusBadRequest},
		"no object":           {"tea", "yes", http.StatusBadRequest},
		"much":                {"tea", strings.Repeat("a", 2000), http.StatusBadRequest},
		"no such plugin":      {"coffee", httpapi.Decision{Hash: a.Hash, Verdict: "accept"}, http.StatusNotFound},
		"one of the binary":   {"mediawiki", httpapi.Decision{Hash: a.Hash, Verdict: "accept"}, http.StatusNotFound},
		"a path in the place": {"..%2ftea", httpapi.Decision{Hash: a.Hash, Verdict: "accept"}, http.StatusNotFound},
	} {
		if status, answer := v.ask("POST", "reviews/"+c.plugin, c.body); status != c.status ||
			!bytes.Contains(answer, []byte(`"hint":`)) {
			t.Errorf("%s: HTTP %d %s, want %d", name, status, answer, c.status)
		}
	}
	v.runs("tea", "", review.Waiting)
}

// An agent's token opens none of the routes, and a call of a tool that is off is refused with the reason.
func TestAgentsCannotReview(t *testing.T) {
	w := newWorld(t)
	a := w.put("tea", "1", nil)
	token := w.token("bob", call.Scope{})
	v := w.reviewer(t)
	m := modern{t, "http://" + v.Address() + "/mcp", token}
	body, err := json.Marshal(httpapi.Decision{Hash: a.Hash, Verdict: "accept"})
	if err != nil {
		t.Fatal(err)
	}
	for _, route := range [][2]string{{"GET", "reviews"}, {"GET", "reviews/tea"}, {"POST", "reviews/tea"},
		{"POST", "reviews/tea/dev"}} {
		req, err := http.NewRequestWithContext(t.Context(), route[0], "http://"+v.Address()+"/api/v1/"+route[1],
			bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+m.token)
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		answer, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != http.StatusForbidden ||
			!bytes.Contains(answer, []byte("it is for the person")) {
			t.Errorf("%v: HTTP %d %s %v", route, res.StatusCode, answer, err)
		}
		_ = res.Body.Close() // only read from
	}
	v.runs("tea", "", review.Waiting)

	answer := m.ask("tools/call", `"name":"tea__read","arguments":{}`)
	faulttest.Answered(t, "plugin-not-reviewed", answer, true)
	if !bytes.Contains(answer, []byte("nobody has reviewed the plugin tea as it is now")) {
		t.Errorf("the answer is %s", answer)
	}
	agent := w.agent(nil)
	agent.call(1, "tea__pay", "{}")
	agent.hears(`"id":1`, "PLUGIN_NOT_REVIEWED", "tabrelay plugin review")
}

// What lies in the database is not trusted for lying there.
func TestKeptContentThatIsAnother(t *testing.T) {
	w := newWorld(t)
	a := w.put("tea", "1", nil)
	v := w.reviewer(t)
	v.decide("tea", a.Hash, "accept", http.StatusOK)
	b := w.put("tea", "2", nil)
	packed, err := review.Read(b).Pack()
	if err == nil {
		err = v.store.KeepContent(t.Context(), "tea", a.Hash, packed)
	}
	if err != nil {
		t.Fatal(err)
	}
	v.again()
	v.runs("tea", "", review.Waiting)
}

// A plugin of the binary stays until the one that is to take its place is accepted.
func TestShippedPluginStandsIn(t *testing.T) {
	w := newWorld(t)
	v := w.reviewer(t)
	shipped := func() *registry.Site {
		for _, site := range v.tools.Snapshot().Sites {
			if site.Plugin.Manifest.Name == "demo" {
				return site
			}
		}
		return nil
	}
	before := shipped()
	if before == nil {
		t.Skip("the plugins of the binary were not built")
	}
	name := before.Plugin.Manifest.Name
	a := w.put(name, "1", nil)
	v.again()
	if after := shipped(); after == nil || after.Plugin.Hash != before.Plugin.Hash {
		t.Errorf("%+v serves in place of the shipped plugin", after)
	}
	v.decide(name, a.Hash, "accept", http.StatusOK)
	v.runs(name, a.Hash, review.Accepted)
}

// While its author works on a plugin its builds run; when they end, what was accepted does.
func TestDevelopedContentRunsWhileItsAuthorWorks(t *testing.T) {
	w := newWorld(t)
	v := w.reviewer(t)
	changed := make(chan struct{}, 1000)
	defer v.tools.OnChange(func(*registry.Snapshot) { changed <- struct{}{} })()
	work := func(hash string) (end func()) {
		ctx, cancel := context.WithCancel(t.Context())
		body, err := json.Marshal(httpapi.Decision{Hash: hash})
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(ctx, "POST", "http://127.0.0.1/api/v1/reviews/tea/dev",
			bytes.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		res, err := w.asPerson().Do(req)
		if err != nil || res.StatusCode != http.StatusOK {
			t.Fatal(err, res)
		}
		return func() {
			cancel()
			_ = res.Body.Close() // only read from
		}
	}
	// until waits for that content to be offered.
	until := func(hash string) {
		t.Helper()
		for v.serving("tea") != hash {
			<-changed
		}
	}
	a := w.put("tea", "1", nil)
	v.again()
	v.runs("tea", "", review.Waiting)
	endA := work(a.Hash)
	v.again()
	v.runs("tea", a.Hash, review.Developing)

	b := w.put("tea", "2", nil)
	v.again()
	v.runs("tea", a.Hash, review.Waiting) // until the session says that it knows this one
	endB := work(b.Hash)
	v.again()
	v.runs("tea", b.Hash, review.Developing)
	v.audited("accepted while plugin dev runs "+a.Hash, "accepted while plugin dev runs "+b.Hash)
	endA()
	until(b.Hash)
	v.runs("tea", b.Hash, review.Developing)
	endB()
	until("")
	v.runs("tea", "", review.Waiting)
}

// Where no review is required everything runs, and the status says so.
func TestReviewsNotRequired(t *testing.T) {
	w := newWorld(t)
	a := w.put("tea", "1", nil)
	v := &reviewer{world: w, Relay: w.relayWith(), t: t}
	v.again()
	v.runs("tea", a.Hash, review.NotRequired)
	if s := v.api.Status(t.Context()); !s.Unreviewed || len(v.catalog.Waiting()) > 0 {
		t.Errorf("the status is %+v", s)
	}
}
