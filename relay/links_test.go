package relay

import (
	"os"
	"path/filepath"
	"testing"

	"tabrelay/relay/state/config"
)

// A profile comes back by the command that starts its browser, stopped or not; one that tabrelay did not start has
// none.
func TestCommandThatStartsAProfile(t *testing.T) {
	home := config.Home(t.TempDir())
	for name, noted := range map[string]string{"": `{"pid":0,"profile":"p1"}`, "work": `{"pid":0,"profile":"p2"}`} {
		folder := home.Browser(name)
		if err := os.MkdirAll(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, "browser.json"), []byte(noted), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	r := &Relay{Options: Options{Home: home}}
	for profile, want := range map[string]string{
		"p1": "tabrelay up", "p2": "tabrelay up --profile work", "p3": "", "": "",
	} {
		if got := r.startCommand(profile); got != want {
			t.Errorf("%q is started by %q, want %q", profile, got, want)
		}
	}
}
