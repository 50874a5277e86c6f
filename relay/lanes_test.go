package relay

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"tabrelay/relay/call"
	"tabrelay/relay/hub"
	"tabrelay/relay/hub/hubtest"
	"tabrelay/relay/wire"
)

// An agent goes on with the next relay where it worked with the last one, however good another profile's tab is.
func TestSessionsOutliveTheRelay(t *testing.T) {
	w := newWorld(t)
	profile := func(r *Relay, label, id string, front bool) {
		dialIn(t, r, func(o *hubtest.Options) {
			o.Label, o.ProfileID = label, strings.Repeat(id, 32)
			o.Tabs = []wire.Tab{{ID: 1, WindowID: 1, URL: shopPage, Status: "complete", Active: front, Focused: front},
				{ID: 2, WindowID: 1, URL: shopPage + "?secret", Status: "complete"}}
			o.Answer = func(c *hubtest.Call) { c.Started(); c.Return([]byte(`{}`)) }
		})
	}
	where := func(r *Relay, arguments string) call.Meta {
		t.Helper()
		result, failure := r.calls.Do(t.Context(), call.Call{ID: call.ID(wire.NewID()), Tool: "shop__read",
			Arguments: json.RawMessage(arguments), Session: call.Session{ID: "http:ann", Client: "ann", Via: "http"}})
		if failure != nil {
			t.Fatal(failure)
		}
		return result.Meta
	}
	first, end := w.relay()
	profile(first, "Home", "1", false)
	profile(first, "Work", "2", true)
	if at := where(first, `{"profile":"Home","tabId":2}`); at.Profile != "Home" || at.TabID != 2 {
		t.Fatalf("it ran in %+v", at)
	}
	end()
	text, err := os.ReadFile(filepath.Join(string(w.home), "lanes.json"))
	if err != nil || strings.Contains(string(text), "secret") || strings.Contains(string(text), "cart") {
		t.Errorf("%v: kept %s", err, text)
	}
	second, _ := w.relay()
	profile(second, "Work", "2", true)
	profile(second, "Home", "1", false)
	if at := where(second, `{}`); at.Profile != "Home" || at.TabID != 2 {
		t.Errorf("it ran in %+v", at)
	}
}

// A file that cannot be used is not taken for one without sessions.
func TestSessionsThatCannotBeRead(t *testing.T) {
	w := &whereabouts{path: filepath.Join(t.TempDir(), "lanes.json"), log: zerolog.Nop(),
		sessions: func() []hub.LastTab { return nil }}
	if sessions, err := w.read(); sessions != nil || err != nil {
		t.Errorf("got %v, %v of no file", sessions, err)
	}
	if err := os.WriteFile(w.path, []byte("{"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := w.read(); err == nil {
		t.Error("half a file was read")
	}
	w.changed()
	w.close()
	w.changed() // after the end nothing is written
	if sessions, err := w.read(); len(sessions) != 0 || err != nil {
		t.Errorf("got %v, %v", sessions, err)
	}
}
