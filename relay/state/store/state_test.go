package store

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/road/call"
	"tabrelay/relay/state/config"
)

func home(t *testing.T) config.Home { return config.Home(t.TempDir()) }

func TestProfilesKeepTheirLastLabel(t *testing.T) {
	h := home(t)
	if known, err := KnownProfiles(t.Context(), h); known != nil || err != nil {
		t.Errorf("without a database: %v, %v", known, err)
	}
	s := openStore(t, h.Database())
	for _, p := range [][2]string{{"a", "Home"}, {"b", "Work"}, {"a", "Flat"}} {
		if err := s.ProfileSeen(t.Context(), p[0], p[1]); err != nil {
			t.Fatal(err)
		}
	}
	known, err := KnownProfiles(t.Context(), h) // beside the relay
	if err != nil || len(known) != 2 || known[0].Label != "Flat" || known[1].Label != "Work" ||
		time.Since(known[0].Seen) > time.Minute {
		t.Errorf("got %+v, %v", known, err)
	}
	for n := range maxProfiles {
		if err := s.ProfileSeen(t.Context(), fmt.Sprint(n), "later"); err != nil {
			t.Fatal(err)
		}
	}
	if known, err = s.Profiles(t.Context()); err != nil || len(known) != maxProfiles {
		t.Errorf("%d are kept, %v", len(known), err)
	}
}

func TestClientsSeen(t *testing.T) {
	h := home(t)
	s := openStore(t, h.Database())
	at := time.Unix(1_800_000_000, 0)
	s.ClientSeen("web", at.Add(-time.Hour))
	s.ClientSeen("web", at.Add(time.Millisecond))
	s.ClientSeen("gone", at)
	s.ForgetClient("gone")
	seen, err := s.ClientsSeen(t.Context())
	if err != nil || !cmp.Equal(seen, map[string]time.Time{"web": at}) {
		t.Errorf("got %v, %v", seen, err)
	}
}

func TestLastTabs(t *testing.T) {
	path := filepath.Join(t.TempDir(), "tabrelay.db")
	s := openStore(t, path)
	now := time.Now().Truncate(time.Microsecond)
	work := func(session string, tab int, used time.Time) call.LastTab {
		return call.LastTab{Session: session, Plugin: "shop", ProfileID: "a", Profile: "Home", TabID: tab,
			Site: "https://shop.test", Used: used}
	}
	s.KeepLastTab(work("one", 1, now))
	s.KeepLastTab(work("one", 2, now))
	s.KeepLastTab(work("left", 3, now))
	s.KeepLastTab(work("yesterday", 4, now.Add(-keepLastTabs-time.Second)))
	s.ForgetLastTabs("left")
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	tabs, err := openStore(t, path).LastTabs(t.Context())
	if want := []call.LastTab{work("one", 2, now)}; err != nil || !cmp.Equal(tabs, want) {
		t.Errorf("got %+v, %v", tabs, err)
	}
}

// An import is repeated when it was cut short before the files were removed, and then changes nothing.
func TestImportCanBeRepeated(t *testing.T) {
	h := home(t)
	s := openStore(t, h.Database())
	files := h.OldState()
	write := func(file, content string) {
		t.Helper()
		if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	old := func() {
		write(files[0], `[{"id":"a","label":"Home","seen":"2026-01-02T03:04:05Z"}]`)
		write(files[1], `{"web":"2026-01-02T03:04:05Z"}`)
	}
	old()
	write(files[2], "{")
	if err := s.Import(t.Context(), h); err == nil || !strings.Contains(err.Error(), files[2]) {
		t.Errorf("a damaged file: %v", err)
	}
	if known, err := s.Profiles(t.Context()); len(known) != 0 || err != nil {
		t.Errorf("taken over with it: %v, %v", known, err)
	}
	write(files[2], "[]")
	for range 2 {
		if err := s.Import(t.Context(), h); err != nil {
			t.Fatal(err)
		}
		if err := s.ProfileSeen(t.Context(), "a", "Flat"); err != nil {
			t.Fatal(err)
		}
		old()
	}
	if err := s.Import(t.Context(), h); err != nil {
		t.Fatal(err)
	}
	if known, err := s.Profiles(t.Context()); err != nil || len(known) != 1 || known[0].Label != "Flat" {
		t.Errorf("profiles: %+v, %v", known, err)
	}
	want := map[string]time.Time{"web": time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)}
	if seen, err := s.ClientsSeen(t.Context()); err != nil || !cmp.Equal(seen, want) {
		t.Errorf("clients: %v, %v", seen, err)
	}
	for _, file := range files {
		if _, err := os.Stat(file); err == nil {
			t.Errorf("%s is still there", file)
		}
	}
}
