package relay

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/plugin/review"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/policy"
)

// openPanels makes a browser say that so many side panels are open, and waits until the relay knows.
func openPanels(t *testing.T, r *Relay, b *hubtest.Browser, open int) {
	t.Helper()
	b.Send(&wire.Panels{Open: open})
	// Frames are taken in their order: an answer to a later request says that this one was.
	if _, err := b.Ask(t.Context(), http.MethodGet, "/api/v1/paused", nil); err != nil {
		t.Fatal(err)
	}
	if r.hub.PanelsOpen() != (open > 0) {
		t.Fatalf("with %d panels, an open one is known: %t", open, r.hub.PanelsOpen())
	}
}

// changes are what a panel shows.
func changes(t *testing.T, b *hubtest.Browser) (list httpapi.Approvals) {
	t.Helper()
	answer, err := b.Ask(t.Context(), http.MethodGet, "/api/v1/approvals", nil)
	if err == nil {
		err = json.Unmarshal(answer.Body, &list)
	}
	if err != nil {
		t.Fatal(err)
	}
	return list
}

// asked waits for a change that a panel is asked about.
func asked(t *testing.T, b *hubtest.Browser) policy.PendingChange {
	t.Helper()
	for t.Context().Err() == nil {
		for _, one := range changes(t, b).Changes {
			if one.Kind == policy.ChangeAsked {
				return one
			}
		}
	}
	t.Fatal("nothing was asked")
	return policy.PendingChange{}
}

// With a panel open, whatever is asked for elsewhere is a question there; a terminal's word is not taken in its place.
func TestAnOpenPanelIsAsked(t *testing.T) {
	w := newWorld(t)
	r := w.guarded(nil)
	b := w.browser(func(c *hubtest.Call) { c.Started(); c.Return([]byte(`{}`)) })
	openPanels(t, r, b, 1)
	for _, test := range []struct {
		answer string
		status int
		mode   string
	}{{"deny", http.StatusForbidden, "ask"}, {"allow", http.StatusOK, "auto"}} {
		done := make(chan int, 1)
		go func() {
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPut, "http://127.0.0.1/api/v1/permissions",
				strings.NewReader(`{"target":"default","mode":"auto"}`))
			if err != nil {
				t.Error(err)
			}
			rule := call.Rule{Target: "default", Mode: call.Auto}
			// what a person at a terminal would send
			req.Header.Set(httpapi.ConfirmedHeader, r.policy.RuleChange(rule, 0).Digest())
			res, err := join.HTTP(w.home).Do(req)
			if err != nil {
				t.Error(err)
				done <- 0
				return
			}
			_ = res.Body.Close() // its status is enough
			done <- res.StatusCode
		}()
		q := asked(t, b)
		if q.Command != "tabrelay permit set default auto" || q.From == "" || len(q.Differences) != 1 ||
			q.Differences[0].After != "auto" {
			t.Errorf("the panel shows %+v", q)
		}
		if status, body := w.person(t, http.MethodPost, "/api/v1/approvals/"+q.ID,
			`{"answer":"allow"}`); status != http.StatusForbidden {
			t.Errorf("a program answers the panel's question: %d %s", status, body)
		}
		if answer, err := b.Ask(t.Context(), http.MethodPost, "/api/v1/approvals/"+q.ID,
			[]byte(`{"answer":"`+test.answer+`"}`)); err != nil || answer.Status != http.StatusOK {
			t.Fatalf("%d %s %v", answer.Status, answer.Body, err)
		}
		if got := <-done; got != test.status {
			t.Errorf("%s: %d, want %d", test.answer, got, test.status)
		}
		if other := r.policy.Default().Other; string(other) != test.mode {
			t.Errorf("after %s the default is %s", test.answer, other)
		}
	}
	// What the panel itself does is not asked about, and less is free for everybody.
	if answer, err := b.Ask(t.Context(), http.MethodPut, "/api/v1/permissions",
		[]byte(`{"target":"shop","mode":"auto"}`)); err != nil || answer.Status != http.StatusOK {
		t.Errorf("the panel: %d %s %v", answer.Status, answer.Body, err)
	}
	if res, err := join.HTTP(w.home).Do(request(t, http.MethodPut, "/api/v1/permissions",
		`{"target":"default","mode":"off"}`)); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("less: %v %v", res, err)
	}
	// Without an open panel, a connected browser is nobody to ask.
	openPanels(t, r, b, 0)
	if res, err := join.HTTP(w.home).Do(request(t, http.MethodPut, "/api/v1/permissions",
		`{"target":"default","mode":"auto"}`)); err != nil || res.StatusCode != http.StatusPreconditionRequired {
		t.Errorf("without a panel: %v %v", res, err)
	}
}

func request(t *testing.T, method, path, body string) *http.Request {
	t.Helper()
	req, err := http.NewRequestWithContext(t.Context(), method, "http://127.0.0.1"+path, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	return req
}

// refusedUnconfirmed sends a request of a program, which must be refused.
func (w *world) refusedUnconfirmed(t *testing.T, method, path, body string) (asked string) {
	t.Helper()
	res, err := join.HTTP(w.home).Do(request(t, method, path, body))
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() // only read from
	answer, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	if res.StatusCode != http.StatusPreconditionRequired {
		t.Errorf("%s %s: %d", method, path, res.StatusCode)
	}
	return string(answer)
}

// A tab is taken from its owner, and a question about a call is answered, with a person's word only.
func TestReleaseAndAnswersAreConfirmed(t *testing.T) {
	w := newWorld(t)
	r := w.guarded(map[string]string{"shop": "ask"})
	b := w.browser(func(c *hubtest.Call) { c.Started(); c.Return([]byte(`{}`)) })
	next := questions(t, r)
	done := begin(t, r, ann, "shop__pay", `{}`, nil)
	id := next().ID
	openPanels(t, r, b, 1) // which shows the question itself
	w.refusedUnconfirmed(t, http.MethodPost, "/api/v1/approvals/"+id, `{"answer":"allow"}`)
	w.answers(t, id, `{"answer":"allow"}`, http.StatusOK)
	if failure := <-done; failure != nil {
		t.Fatal(failure)
	}
	openPanels(t, r, b, 0)
	path := "/api/v1/tabs/" + b.ProfileID() + "/7/owner"
	w.refusedUnconfirmed(t, http.MethodDelete, path, "")
	if got := ownerIn(t, b); got != "ann" {
		t.Errorf("the owner is %q", got)
	}
	if status, said := w.person(t, http.MethodDelete, path, ""); status != http.StatusOK {
		t.Errorf("confirmed: %d %s", status, said)
	}
}

// A review is accepted, and builds run unreviewed, with a person's word only. To refuse is free.
func TestReviewsAreConfirmed(t *testing.T) {
	w := newWorld(t)
	v := w.reviewer(t)
	p := w.put("tea", "1", nil)
	v.again()
	body := `{"hash":"` + p.Hash + `","verdict":"`
	w.refusedUnconfirmed(t, http.MethodPost, "/api/v1/reviews/tea", body+`accept"}`)
	w.refusedUnconfirmed(t, http.MethodPost, "/api/v1/reviews/tea/dev", body+`accept"}`)
	if res, err := join.HTTP(w.home).Do(request(t, http.MethodPost, "/api/v1/reviews/tea",
		body+`refuse"}`)); err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("refusing: %v %v", res, err)
	}
	v.decide("tea", p.Hash, "accept", http.StatusOK)
}

// Several plugins are accepted with one confirmation, which names each of them, and all or none.
func TestReviewsOfSeveral(t *testing.T) {
	w := newWorld(t)
	v := w.reviewer(t)
	tea, coffee := w.put("tea", "1", nil), w.put("coffee", "1", nil)
	v.again()
	both := []catalog.ContentID{{Plugin: "tea", Hash: tea.Hash}, {Plugin: "coffee", Hash: coffee.Hash}}
	body, err := json.Marshal(httpapi.Decisions{Plugins: both, Verdict: "accept"})
	if err != nil {
		t.Fatal(err)
	}
	asked := w.refusedUnconfirmed(t, http.MethodPost, "/api/v1/reviews", string(body))
	for _, words := range []string{"2 plugins may run", "The plugin tea may run", "The plugin coffee may run",
		tea.Hash[:12], coffee.Hash[:12], "tabrelay plugin review --all"} {
		if !strings.Contains(asked, words) {
			t.Errorf("the person is asked %s, without %q", asked, words)
		}
	}
	other := append(slices.Clone(both), catalog.ContentID{Plugin: "coffee", Hash: tea.Hash})
	for _, verdict := range []string{"accept", "refuse"} {
		wrong := httpapi.Decisions{Plugins: other, Verdict: verdict}
		if status, answer := v.ask("POST", "reviews", wrong); status != http.StatusConflict {
			t.Errorf("another content: %d %s", status, answer)
		}
	}
	for _, wrong := range []httpapi.Decisions{{Verdict: "accept"}, {Plugins: both}, {Plugins: both, Verdict: "maybe"}} {
		if status, answer := v.ask("POST", "reviews", wrong); status != http.StatusBadRequest {
			t.Errorf("%+v: %d %s", wrong, status, answer)
		}
	}
	v.runs("tea", "", review.Waiting)
	status, answer := v.ask("POST", "reviews", httpapi.Decisions{Plugins: both, Verdict: "accept"})
	var decided httpapi.Decided
	if err := json.Unmarshal(answer, &decided); err != nil || status != http.StatusOK || len(decided.Reviews) != 2 {
		t.Fatalf("%d %s %v", status, answer, err)
	}
	v.runs("tea", tea.Hash, review.Accepted)
	v.runs("coffee", coffee.Hash, review.Accepted)
	v.audited("accepted " + tea.Hash)
}

// What a person says of tools is confirmed where it lets agents do more, holds over an update, and changes nothing that
// an author said.
func TestHintsAreConfirmed(t *testing.T) {
	w := newWorld(t)
	v := w.reviewer(t)
	p := w.put("tea", "1", nil)
	v.again()
	v.decide("tea", p.Hash, "accept", http.StatusOK)
	const path = "plugins/tea/hints"
	hints := func(method string, body any, want int) (view catalog.HintsView) {
		t.Helper()
		status, answer := v.ask(method, path, body)
		if status != want {
			t.Fatalf("%v: %d %s", body, status, answer)
		}
		_ = json.Unmarshal(answer, &view) // a refusal has none
		return view
	}
	view := hints("GET", nil, http.StatusOK)
	want := []catalog.ToolHint{{Tool: "read", Says: "read"}, {Tool: "pay", Says: "nothing"}}
	if !slices.Equal(view.Tools, want) {
		t.Fatalf("the tools are %+v", view.Tools)
	}
	const tool = "pay"
	readOnly := func() bool {
		t.Helper()
		found, there := v.tools.Snapshot().Find("tea__" + tool)
		return there && found.ReadOnly
	}
	asked := w.refusedUnconfirmed(t, http.MethodPut, "/api/v1/"+path, `{"patterns":["*"],"effect":"read"}`)
	if !strings.Contains(asked, tool) || !strings.Contains(asked, "only read") || readOnly() {
		t.Errorf("the person is asked %s", asked)
	}
	for _, wrong := range []httpapi.Hinting{{}, {Patterns: []string{"*"}}, {Patterns: []string{"a b"}, Effect: "read"},
		{Patterns: []string{"*"}, Effect: "fly"}} {
		hints("PUT", wrong, http.StatusBadRequest)
	}
	hints("PUT", httpapi.Hinting{Patterns: []string{"nothing_*"}, Effect: "read"}, http.StatusUnprocessableEntity)
	view = hints("PUT", httpapi.Hinting{Patterns: []string{tool}, Effect: "read"}, http.StatusOK)
	if len(view.Hints) != 1 || view.Hints[0].By != "terminal" || view.Tools[1].Hinted != "read" || !readOnly() {
		t.Errorf("after it: %+v", view)
	}
	next := w.put("tea", "2", nil)
	v.again()
	v.decide("tea", next.Hash, "accept", http.StatusOK)
	if !readOnly() {
		t.Error("an update took the hint away")
	}
	hints("PUT", httpapi.Hinting{Patterns: []string{tool}, Effect: "none"}, http.StatusOK)
	if readOnly() {
		t.Error("a hint that was taken back still holds")
	}
}

// What is said of the tools of several plugins is confirmed once, and holds for all of them or for none.
func TestHintsOfManyPlugins(t *testing.T) {
	w := newWorld(t)
	v := w.reviewer(t)
	for _, name := range []string{"tea", "coffee"} {
		p := w.put(name, "1", nil)
		v.again()
		v.decide(name, p.Hash, "accept", http.StatusOK)
	}
	readOnly := func(name string) bool {
		found, there := v.tools.Snapshot().Find(name + "__pay")
		return there && found.ReadOnly
	}
	const body = `{"plugins":{"tea":["pay"],"coffee":["pay"]},"effect":"read"}`
	asked := w.refusedUnconfirmed(t, http.MethodPut, "/api/v1/hints", body)
	if !strings.Contains(asked, "tea: pay") || !strings.Contains(asked, "coffee: pay") ||
		!strings.Contains(asked, "Tools of 2 plugins only read (2)") || readOnly("tea") || readOnly("coffee") {
		t.Errorf("the person is asked %s", asked)
	}
	for _, wrong := range []httpapi.HintingMany{{Effect: "read"},
		{Plugins: map[string][]string{"tea": {}}, Effect: "read"},
		{Plugins: map[string][]string{"tea": {"pay"}}, Effect: "fly"}} {
		if status, answer := v.ask("PUT", "hints", wrong); status != http.StatusBadRequest {
			t.Errorf("%+v: %d %s", wrong, status, answer)
		}
	}
	none := httpapi.HintingMany{Plugins: map[string][]string{"tea": {"pay"}, "coffee": {"nothing_*"}}, Effect: "read"}
	if status, answer := v.ask("PUT", "hints", none); status != http.StatusUnprocessableEntity || readOnly("tea") {
		t.Errorf("a plugin without such tools: %d %s", status, answer)
	}
	many := httpapi.HintingMany{Plugins: map[string][]string{"tea": {"pay"}, "coffee": {"p*"}}, Effect: "read"}
	status, answer := v.ask("PUT", "hints", many)
	if status != http.StatusOK || !readOnly("tea") || !readOnly("coffee") {
		t.Errorf("%d %s", status, answer)
	}
}

// A letter of a call that changes something is replayed with a person's word only.
func TestReplayIsConfirmed(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	w.browser(losing(new(atomic.Bool)))
	_, f := use(t, r, call.Call{Session: ann}, "shop__pay", `{"sum":7}`)
	w.refusedUnconfirmed(t, http.MethodPost, "/api/v1/dead-letters/"+f.CorrelationID+"/replay", `{"confirmed":true}`)
}

// That a script asks about what it changes is a rule like others: who switches it off is a person.
func TestLettingScriptsChangeThingsIsConfirmed(t *testing.T) {
	w := newWorld(t)
	r := w.guarded(nil)
	for _, target := range []string{"relay__run", "script"} {
		w.refusedUnconfirmed(t, http.MethodPut, "/api/v1/permissions", `{"target":"`+target+`","mode":"auto"}`)
	}
	text := `{"permissions":{"relay__run":"auto"}}`
	if err := os.WriteFile(w.home.Config(), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, failure := r.catalog.Reload(); failure != nil {
		t.Fatal(failure)
	}
	if s := r.api.Status(t.Context()); s.Unapplied != "permissions.relay__run: no rule → auto" {
		t.Errorf("the status says %q", s.Unapplied)
	}
}

// What is written into config.json while the relay runs: less is in effect at once, more when a person has said so.
func TestConfigurationWaitsForThePerson(t *testing.T) {
	t.Setenv("TABRELAY_REVIEW_REQUIRED", "false")
	w := newWorld(t)
	r := w.guarded(map[string]string{"shop__read": "auto"})
	b := w.browser(echoing(make(chan string, 10)))
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(w.home.Config(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, failure := r.catalog.Reload(); failure != nil {
			t.Fatal(failure)
		}
	}
	modes := func() string {
		var list []string
		for _, tool := range []string{"shop__read", "shop__pay"} {
			found, _ := r.tools.Snapshot().Find(tool)
			mode, _ := r.policy.Mode(policy.AccessOf(ann, found))
			list = append(list, string(mode))
		}
		return strings.Join(list, " ")
	}
	write(`{"permissions":{"shop__read":"off","shop__pay":"auto"}}`)
	if got := modes(); got != "off ask" {
		t.Errorf("before the person said so: %s", got)
	}
	if s := r.api.Status(t.Context()); s.Unapplied != "permissions.shop__pay: no rule → auto" {
		t.Errorf("the status says %q", s.Unapplied)
	}
	w.refusedUnconfirmed(t, http.MethodPost, "/api/v1/approvals/config", `{"answer":"allow"}`)
	shown := changes(t, b).Changes
	if len(shown) != 1 || shown[0].Kind != policy.ChangeConfig {
		t.Fatalf("the panel shows %+v", shown)
	}
	stale := shown[0].Digest
	write(`{"permissions":{"shop__read":"off","shop__pay":"auto","default":"auto"}}`)
	if answer, err := b.Ask(t.Context(), http.MethodPost, "/api/v1/approvals/config",
		[]byte(`{"answer":"allow","digest":"`+stale+`"}`)); err != nil || answer.Status != http.StatusConflict {
		t.Errorf("what was read before the last change: %d %s %v", answer.Status, answer.Body, err)
	}
	write(`{"permissions":{"shop__read":"off","shop__pay":"auto"}}`)
	if answer, err := b.Ask(t.Context(), http.MethodPost, "/api/v1/approvals/config",
		[]byte(`{"answer":"allow","digest":"`+stale+`"}`)); err != nil || answer.Status != http.StatusOK {
		t.Errorf("%d %s %v", answer.Status, answer.Body, err)
	}
	if got := modes(); got != "off auto" || len(changes(t, b).Changes) != 0 {
		t.Errorf("after the person said so: %s", got)
	}
	write(`{"permissions":{"shop__read":"off"},"plugins":{"shop":{"urlPatterns":["https://bank.example/*"]}}}`)
	if got := modes(); got != "off ask" {
		t.Errorf("less waits: %s", got)
	}
	if s := r.api.Status(t.Context()); s.Unapplied != "plugins.shop.urlPatterns: none → https://bank.example/*" {
		t.Errorf("the status says %q", s.Unapplied)
	}
	for _, site := range r.tools.Snapshot().Sites {
		if strings.Contains(strings.Join(site.Matches, " "), "bank.example") {
			t.Error("the plugin works on the new pages")
		}
	}
	write(`{"permissions":{"shop__read":"off"}}`)
	if s := r.api.Status(t.Context()); s.Unapplied != "" || len(changes(t, b).Changes) != 0 {
		t.Errorf("what was taken out again still waits: %q", s.Unapplied)
	}
}

// A site that a plugin's setting names in config.json is one where agents may use the plugin: another one waits for the
// person, fewer are in effect at once, and what a person sets in the panel is confirmed there.
func TestSitesOfSettingsWaitForThePerson(t *testing.T) {
	w := newWorld(t)
	p := w.put("tea", "1", func(m *plugin.Manifest) { m.ConfigSchema = json.RawMessage(teaSettings) })
	const north, south, bank = "*://n.example/*", "*://s.example/*", "*://bank.example/*"
	v := w.reviewer(t)
	v.decide("tea", p.Hash, "accept", http.StatusOK)
	own := v.reaches("tea")
	write := func(settings string) {
		t.Helper()
		text := `{"plugins":{"tea":{"settings":` + settings + `}}}`
		if err := os.WriteFile(w.home.Config(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, failure := v.catalog.Reload(); failure != nil {
			t.Fatal(failure)
		}
	}
	is := func(waits string, sites ...string) {
		t.Helper()
		if got := v.reaches("tea"); !slices.Equal(got, append(slices.Clone(own), sites...)) {
			t.Errorf("the plugin works on %v, want %v", got, sites)
		}
		if s := v.api.Status(t.Context()); s.Unapplied != waits {
			t.Errorf("the status says %q, want %q", s.Unapplied, waits)
		}
	}
	apply := func() {
		t.Helper()
		if status, said := w.person(t, http.MethodPost, "/api/v1/approvals/config",
			`{"answer":"allow"}`); status != http.StatusOK {
			t.Fatalf("apply: %d %s", status, said)
		}
	}
	write(`{"token":"x","site":"https://n.example/"}`)
	is("plugins.tea.settings.site: none → " + north)
	apply()
	is("", north)
	write(`{"token":"x","site":"https://n.example/other/path"}`)
	is("", north)
	write(`{"token":"x","site":"https://bank.example/"}`)
	is("plugins.tea.settings.site: none → " + bank)
	write(`{"token":"x","site":{"a":"https://n.example/","b":"https://bank.example/"}}`)
	is("plugins.tea.settings.site: none → " + north + ", " + bank)
	apply()
	is("", north, bank)
	write(`{"token":"x","site":{"a":"https://n.example/"}}`)
	is("", north)

	// While one waits, others that the panel sets are in effect, before and after the next change of config.json.
	write(`{"token":"x","site":{"a":"https://n.example/","b":"https://bank.example/"}}`)
	is("plugins.tea.settings.site: "+north+" → "+north+", "+bank, north)
	set := map[string]any{"settings": values{"site": "https://s.example/"}}
	status, answer := v.panelOf("PUT", "plugins/tea/settings", set)
	var asked httpapi.Unconfirmed
	if err := json.Unmarshal(answer, &asked); err != nil || status != http.StatusPreconditionRequired {
		t.Fatalf("the panel: %d %s", status, answer)
	}
	set["digest"] = asked.Digest
	if status, answer := v.panelOf("PUT", "plugins/tea/settings", set); status != http.StatusOK {
		t.Fatalf("the panel: %d %s", status, answer)
	}
	is("", south)
	write(`{"token":"y","site":"https://s.example/"}`)
	is("", south)
	write(`{"token":"https://bank.example/","site":"https://s.example/"}`)
	is("plugins.tea.settings.token: none → "+bank, south)
}

// With a panel open, what a terminal wants to apply is a question there, and its answer puts it into effect.
func TestAnOpenPanelAppliesTheConfiguration(t *testing.T) {
	w := newWorld(t)
	r := w.guarded(nil)
	b := w.browser(func(c *hubtest.Call) { c.Started(); c.Return([]byte(`{}`)) })
	openPanels(t, r, b, 1)
	path := w.home.Config()
	if err := os.WriteFile(path, []byte(`{"permissions":{"shop__pay":"auto"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, failure := r.catalog.Reload(); failure != nil {
		t.Fatal(failure)
	}
	done := make(chan string, 1)
	go func() {
		status, body := w.person(t, http.MethodPost, "/api/v1/approvals/config", `{"answer":"allow"}`)
		done <- fmt.Sprint(status, " ", body)
	}()
	if answer, err := b.Ask(t.Context(), http.MethodPost, "/api/v1/approvals/"+asked(t, b).ID,
		[]byte(`{"answer":"allow"}`)); err != nil || answer.Status != http.StatusOK {
		t.Fatalf("%d %s %v", answer.Status, answer.Body, err)
	}
	if got := <-done; !strings.HasPrefix(got, "200") {
		t.Errorf("the terminal is told: %s", got)
	}
	if s := r.api.Status(t.Context()); s.Unapplied != "" {
		t.Errorf("it still waits: %s", s.Unapplied)
	}
}

// What is there at a start is in effect, is shown with what it was before, and can be taken back for good.
func TestWidenedStart(t *testing.T) {
	w := newWorld(t)
	first := w.guarded(nil)
	if s := first.api.Status(t.Context()); s.Widened != "" {
		t.Errorf("the very first start: %q", s.Widened)
	}
	end := func(r *Relay) {
		t.Helper()
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	end(first)
	wide := map[string]string{"default": "auto"}
	for range 2 { // nobody looked: it is still shown after another start
		r := w.guarded(wide)
		if s := r.api.Status(t.Context()); s.Widened != "permissions.default: no rule → auto" {
			t.Errorf("the status says %q", s.Widened)
		}
		if other := r.policy.Default().Other; other != call.Auto {
			t.Errorf("the default is %s", other)
		}
		end(r)
	}
	r := w.guarded(wide)
	w.refusedUnconfirmed(t, http.MethodPost, "/api/v1/approvals/start", `{"answer":"allow"}`)
	if status, said := w.person(t, http.MethodPost, "/api/v1/approvals/start",
		`{"answer":"deny"}`); status != http.StatusOK {
		t.Errorf("undo: %d %s", status, said)
	}
	undone := func(r *Relay) {
		t.Helper()
		s := r.api.Status(t.Context())
		if other := r.policy.Default().Other; other != call.Ask || s.Widened != "" ||
			s.Unapplied != "permissions.default: no rule → auto" {
			t.Errorf("the default is %s, the status %q, %q", other, s.Widened, s.Unapplied)
		}
	}
	undone(r)
	end(r)
	r = w.guarded(wide)
	undone(r)
	if status, said := w.person(t, http.MethodPost, "/api/v1/approvals/config",
		`{"answer":"allow"}`); status != http.StatusOK {
		t.Errorf("apply: %d %s", status, said)
	}
	end(r)
	r = w.guarded(wide)
	if other := r.policy.Default().Other; other != call.Auto || r.policy.Unapplied() != "" || r.policy.Widened() != "" {
		t.Errorf("what was confirmed is not in effect: %s, %q, %q", other, r.policy.Unapplied(), r.policy.Widened())
	}
}
