package relay

import (
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"time"

	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/state/store"
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
	second, _ := w.relay()
	kept, err := second.store.LastTabs(t.Context())
	if len(kept) != 1 || err != nil || kept[0].Site != "https://shop.example" { // neither path nor query
		t.Errorf("kept %+v, %v", kept, err)
	}
	profile(second, "Work", "2", true)
	profile(second, "Home", "1", false)
	if at := where(second, `{}`); at.Profile != "Home" || at.TabID != 2 {
		t.Errorf("it ran in %+v", at)
	}
}

// What earlier versions kept in files is taken over by the first start, and is there for the second.
func TestOldStateIsTakenOver(t *testing.T) {
	w := newWorld(t)
	now := time.Now().UTC().Format(time.RFC3339)
	files := w.home.OldState()
	for file, content := range map[string]string{
		files[0]: `[{"id":"` + strings.Repeat("1", 32) + `","label":"Home","seen":"` + now + `"}]`,
		files[1]: `{"web":"` + now + `"}`,
		files[2]: `[{"lane":"http:ann","plugin":"shop","profileId":"` + strings.Repeat("1", 32) +
			`","profile":"Home","tabId":2,"site":"https://shop.test","used":"` + now + `"}]`,
	} {
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	for range 2 {
		r, end := w.relay()
		tabs, err := r.store.LastTabs(t.Context())
		if err != nil || len(tabs) != 1 || tabs[0].Session != "http:ann" || tabs[0].TabID != 2 {
			t.Errorf("sessions: %+v, %v", tabs, err)
		}
		if at := r.seen.At("web"); at.UTC().Format(time.RFC3339) != now {
			t.Errorf("the client was seen %s", at)
		}
		known, err := store.KnownProfiles(t.Context(), w.home)
		if err != nil || len(known) != 1 || known[0].Label != "Home" {
			t.Errorf("profiles: %+v, %v", known, err)
		}
		for _, file := range files {
			if _, err := os.Stat(file); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is still there: %v", file, err)
			}
		}
		end()
	}
}
