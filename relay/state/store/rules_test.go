package store

import (
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/road/call"
)

// Rules survive a restart, replace others of the same target and client, and expire.
func TestRulesSurviveRestartAndExpire(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	s := openStore(t, path)
	made := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	end := time.Now().Add(time.Hour).UTC().Truncate(time.Microsecond)
	for _, r := range []call.Rule{
		{Target: "wiki", Mode: call.Off, Created: made, By: "terminal"},
		{Target: "wiki", Mode: call.Ask, Created: made, By: "panel"},
		{Target: "wiki", Client: "ann", Mode: call.Auto, Until: end, Created: made, By: "panel"},
		{Target: "shop", Mode: call.Auto, Until: time.Now().Add(-time.Second), Created: made, By: "panel"},
	} {
		if err := s.SetRule(t.Context(), r); err != nil {
			t.Fatal(err)
		}
	}
	want := []call.Rule{
		{Target: "wiki", Mode: call.Ask, Created: made, By: "panel"},
		{Target: "wiki", Client: "ann", Mode: call.Auto, Until: end, Created: made, By: "panel"},
	}
	check := func(s *Store, want []call.Rule) {
		t.Helper()
		got, err := s.Rules(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("rules (-want +got)\n%s", diff)
		}
	}
	check(s, want)
	for _, there := range []bool{true, false} {
		if got, err := s.UnsetRule(t.Context(), "wiki", ""); err != nil || got != there {
			t.Errorf("taken away %t %v, want %t", got, err, there)
		}
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	check(openStore(t, path), want[1:])
}

func TestSwitchesKeepTheirLastValue(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	s := openStore(t, path)
	for _, want := range []string{"", "true", "false"} {
		if want != "" {
			if err := s.SetSwitch(t.Context(), "paused", want); err != nil {
				t.Fatal(err)
			}
		}
		if got, err := s.Switch(t.Context(), "paused"); err != nil || got != want {
			t.Errorf("it is %q %v, want %q", got, err, want)
		}
	}
}
