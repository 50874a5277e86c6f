package script

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/state/config"
)

// keeps keeps a script, and returns what it is refused with.
func (s *stage) keeps(name, script string) *httpapi.Refusal {
	s.t.Helper()
	body, err := json.Marshal(Kept{Name: name, Script: script})
	if err != nil {
		s.t.Fatal(err)
	}
	req := httptest.NewRequestWithContext(s.t.Context(), http.MethodPost, scriptsPath, strings.NewReader(string(body)))
	req.Header.Set("Content-Type", "application/json")
	_, refusal := s.keep(httptest.NewRecorder(), req)
	return refusal
}

// runsAs runs a script as a client, and reports whether the person was asked about it.
func (s *stage) runsAs(client, via, script string) (asked bool) {
	s.t.Helper()
	before := len(s.asked)
	raw, err := json.Marshal(arguments{Script: script})
	if err != nil {
		s.t.Fatal(err)
	}
	session := call.Session{ID: "s", Client: client, Via: via}
	if _, f := s.call(s.t.Context(), call.Call{ID: scriptID, Session: session}, raw); f != nil {
		s.t.Fatalf("%s\nfailed with %v", script, f)
	}
	for _, a := range s.asked[before:] {
		asked = asked || a.Asks
	}
	return asked
}

// What a person approves by keeping a script is its text with the tools that it names, for commands. A change of
// either, and a tool that its text does not show, is asked about.
func TestKeptScriptsAreAskedAboutWhenTheyChange(t *testing.T) {
	const saves = "await tools.wiki.editPage({})"
	// It names one tool that writes, and reaches another one from what a value has.
	const reaches = saves + "\nconst k = 'constr' + 'uctor'\nawait [].at[k]('return tools')().wiki.dropPage({})"
	s := newStage(t, nil)
	var shown *policy.Change
	s.Scripts.core.Confirm = func(_ http.ResponseWriter, _ *http.Request, c *policy.Change) (string, *httpapi.Refusal) {
		shown = c
		return policy.ByTerminal, nil
	}
	edit, _ := s.Find("wiki__edit_page")
	drop := *edit
	drop.Name, drop.Spec.Name = "wiki__drop_page", "drop_page"
	s.tools = append(s.tools, &drop)
	s.does[drop.Name] = func(context.Context, call.Call) (*call.Result, *fault.Error) { return returns("{}"), nil }
	for name, script := range map[string]string{"saves": saves, "reaches": reaches} {
		if refused := s.keeps(name, script); refused != nil {
			t.Fatalf("%s is not kept: %+v", name, refused)
		}
		text := strings.Join(shown.Lines(), "\n")
		quoted := "\n| " + strings.ReplaceAll(script, "\n", "\n| ")
		if !strings.Contains(text, "wiki__edit_page") || !strings.Contains(text, quoted+"\nSHA-256 ") {
			t.Errorf("the person was shown\n%s", text)
		}
	}
	for _, one := range []struct {
		client, via, script string
		asked               bool
	}{
		{config.LocalClient, call.ViaSocket, saves, false},
		{config.LocalClient, call.ViaSocket, saves + " ", true},
		{config.LocalClient, call.ViaSocket, reaches, true},
		{config.LocalClient, call.ViaStdio, saves, true}, // an agent that calls itself so
		{"ann", call.ViaSocket, saves, true},
	} {
		if asked := s.runsAs(one.client, one.via, one.script); asked != one.asked {
			t.Errorf("%s over %s, asked about %q: %v", one.client, one.via, one.script, asked)
		}
	}
	// The plugin is another one by now.
	was := *edit
	of := *edit.Plugin
	of.Hash = "another"
	edit.Plugin = &of
	if !s.runsAs(config.LocalClient, call.ViaSocket, saves) {
		t.Error("a changed plugin is not asked about")
	}
	changed := func() (names []string) {
		for _, k := range s.listed() {
			if k.Changed {
				names = append(names, k.Name)
			}
		}
		return names
	}
	if got := changed(); !slices.Equal(got, []string{"reaches", "saves"}) {
		t.Errorf("changed are %q", got)
	}
	if *edit = was; len(changed()) > 0 {
		t.Error("the plugin of before is told as changed")
	}
	if s.runsAs(config.LocalClient, call.ViaSocket, saves) {
		t.Error("the plugin of before is asked about")
	}
	// Its tool is gone: the script fails as any other, and its kept text gives nothing.
	s.tools = s.tools[:0]
	if got := changed(); len(got) != 2 {
		t.Errorf("without their tool, changed are %q", got)
	}
	if _, f := s.run(saves); f == nil || f.Code != scriptFailed {
		t.Errorf("without its tool it came to %v", f)
	}
}

// Without the person's yes nothing is kept; nor is what they could not read, or what hides what it uses.
func TestWhatIsNotKept(t *testing.T) {
	s := newStage(t, nil)
	s.Scripts.core.Confirm = func(http.ResponseWriter, *http.Request, *policy.Change) (string, *httpapi.Refusal) {
		return "", httpapi.NewRefusal(http.StatusForbidden, fault.New(fault.ApprovalDenied, "No"))
	}
	for name, script := range map[string]string{
		"refused": "await tools.wiki.editPage({})", "hides": "const w = tools.wiki; 1", "evals": "eval('1')",
		"../up": "1", "a\nb": "1", "": "1", strings.Repeat("n", 65): "1", "bidi": "// a\u202eb\n1",
		"zero": "1 // \u200b", "none": "const a = ;",
		"large": "//" + strings.Repeat("x\n", s.settings.Load().ScriptBytes/2),
		"long":  "//" + strings.Repeat("x", 9000),
	} {
		if s.keeps(name, script) == nil {
			t.Errorf("%q is kept", name)
		}
	}
	req := httptest.NewRequestWithContext(t.Context(), http.MethodGet, scriptsPath, nil)
	if list, refused := s.list(nil, req); refused != nil || len(list.(KeptScripts).Scripts) > 0 {
		t.Error(list, refused)
	}
}

// confirms has the person say yes to what is kept.
func (s *stage) confirms() {
	s.Scripts.core.Confirm = func(_ http.ResponseWriter, req *http.Request,
		_ *policy.Change) (string, *httpapi.Refusal) {
		return policy.Answerer(httpapi.Sender(req.Context())), nil
	}
}

// listed are the kept scripts as they are listed.
func (s *stage) listed() []Kept {
	s.t.Helper()
	list, refused := s.list(nil, httptest.NewRequestWithContext(s.t.Context(), http.MethodGet, scriptsPath, nil))
	if refused != nil {
		s.t.Fatal(refused)
	}
	return list.(KeptScripts).Scripts
}

// told is how a refusal is answered; 200 for none.
func told(refused *httpapi.Refusal) (status int, text string) {
	w := httptest.NewRecorder()
	if refused != nil {
		refused.Reply(w)
	}
	return w.Code, w.Body.String()
}

// So many scripts are kept and no more, also where the last place is taken while the person reads.
func TestKeptScriptsAreLimited(t *testing.T) {
	s := newStage(t, func(c *settings) { c.Kept = 2 })
	s.confirms()
	for _, name := range []string{"b", "a"} {
		if refused := s.keeps(name, "1"); refused != nil {
			t.Fatal(refused)
		}
	}
	const full = "2 scripts are kept already (scripts.kept)"
	if status, said := told(s.keeps("c", "1")); status != http.StatusConflict || !strings.Contains(said, full) {
		t.Errorf("a third is answered with %d %s", status, said)
	}
	if list := s.listed(); len(list) != 2 || list[0].Name != "a" || list[1].Name != "b" || list[0].Ran != nil ||
		list[0].Uses != "It uses no tools." {
		t.Errorf("%+v", list)
	}
	req := httptest.NewRequestWithContext(t.Context(), http.MethodDelete, scriptsPath+"/a", nil)
	req.SetPathValue("name", "a")
	if _, refused := s.forget(nil, req); refused != nil {
		t.Fatal(refused)
	}
	yes := s.Scripts.core.Confirm
	s.Scripts.core.Confirm = func(w http.ResponseWriter, req *http.Request,
		c *policy.Change) (string, *httpapi.Refusal) {
		s.confirms()
		if refused := s.keeps("meanwhile", "1"); refused != nil {
			t.Error(refused)
		}
		return yes(w, req, c)
	}
	if status, said := told(s.keeps("c", "1")); status != http.StatusConflict || !strings.Contains(said, full) {
		t.Errorf("without room by the time of the yes it is answered with %d %s", status, said)
	}
	if list := s.listed(); len(list) != 2 || list[1].Name != "meanwhile" {
		t.Errorf("%+v", list)
	}
}

// Reading what is to be kept takes one of the places of scripts, and gives it back before the person is asked.
func TestReadingWhatIsKeptTakesAPlace(t *testing.T) {
	s := newStage(t, func(c *settings) { c.Running = 1 })
	s.confirms()
	s.running.Add(1)
	if status, said := told(s.keeps("a", "1")); status != http.StatusTooManyRequests {
		t.Errorf("while as many run as may, it is answered with %d %s", status, said)
	}
	s.running.Add(-1)
	s.Scripts.core.Confirm = func(http.ResponseWriter, *http.Request, *policy.Change) (string, *httpapi.Refusal) {
		if n := s.running.Load(); n != 0 {
			t.Errorf("%d places are taken while the person reads", n)
		}
		return policy.ByPanel, nil
	}
	if refused := s.keeps("a", "1"); refused != nil {
		t.Error(refused)
	}
}

// The audit log has that a script was kept, by whom, and each run whose question was left out for that; the list has
// the last run.
func TestKeptScriptsAreInTheAuditLog(t *testing.T) {
	const saves = "await tools.wiki.editPage({})"
	s := newStage(t, nil)
	s.confirms()
	if refused := s.keeps("saves", saves); refused != nil {
		t.Fatal(refused)
	}
	want := []string{"kept by terminal: The script saves. It may change something with wiki__edit_page; on " +
		"https://wiki.example/*. Each call of a tool is asked about as always."}
	said := func() (list []string) {
		for _, e := range s.audit {
			if e.Kind != call.EntryDecision || e.Tool != toolName {
				t.Errorf("%+v", e)
			}
			list = append(list, e.Decision+" by "+e.DecidedBy+": "+e.Detail)
		}
		return list
	}
	if s.runsAs("ann", call.ViaSocket, saves); !slices.Equal(said(), want) {
		t.Errorf("an agent's run, which was asked about, is in %q", said())
	}
	if list := s.listed(); list[0].Ran != nil {
		t.Error("its run counts as one of a command")
	}
	s.runsAs(config.LocalClient, call.ViaSocket, saves)
	want = append(want, "allowed as the kept script saves by rule: The script was run without a question. It may "+
		"change something with wiki__edit_page; on https://wiki.example/*. Each call of a tool is asked about as "+
		"always.")
	if !slices.Equal(said(), want) || s.audit[1].CallID != scriptID {
		t.Errorf("got  %q\nwant %q", said(), want)
	}
	if list := s.listed(); list[0].Ran == nil || list[0].Ran.Before(list[0].Kept) {
		t.Errorf("%+v", list)
	}
	// A rule has the person asked about each script: their answer is what the log has.
	s.tells = true
	if s.runsAs(config.LocalClient, call.ViaSocket, saves); len(s.audit) != 2 {
		t.Errorf("%q", said())
	}
}
