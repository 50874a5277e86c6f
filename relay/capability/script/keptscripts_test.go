package script

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
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
		if !strings.Contains(text, "wiki__edit_page") || !strings.HasSuffix(text, quoted) {
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
	if *edit = was; s.runsAs(config.LocalClient, call.ViaSocket, saves) {
		t.Error("the plugin of before is asked about")
	}
	// Its tool is gone: the script fails as any other, and its kept text gives nothing.
	s.tools = s.tools[:0]
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
