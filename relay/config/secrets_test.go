package config

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
)

func open(t *testing.T, home Home) *Secrets {
	t.Helper()
	s, err := OpenSecrets(home)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSecrets(t *testing.T) {
	home := Home(t.TempDir())
	relay, cli := open(t, home), open(t, home)
	if !pairingForm.MatchString(relay.Pairing()) || relay.Pairing() != cli.Pairing() {
		t.Fatalf("pairing %q and %q", relay.Pairing(), cli.Pairing())
	}
	if info, _ := os.Stat(home.Secrets()); info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
	expect := func(token, client string) {
		t.Helper()
		if got, ok := relay.Verify(token); got != client || ok != (client != "") {
			t.Errorf("Verify: got %q %v, want %q", got, ok, client)
		}
	}
	expect("", "")
	expect(cli.Local(), LocalClient)

	token, err := cli.Add("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	expect(token, "claude-code")
	expect(token+"0", "")
	if _, err := cli.Add("claude-code"); err == nil || !strings.Contains(err.Error(), "clients rotate") {
		t.Errorf("added twice: %v", err)
	}
	for _, name := range []string{"", "cli", "A", "a b", "../x", strings.Repeat("a", 65)} {
		if _, err := cli.Add(name); err == nil {
			t.Errorf("client name %q was accepted", name)
		}
	}
	data, _ := os.ReadFile(home.Secrets())
	if strings.Contains(string(data), token) {
		t.Error("the token itself is kept")
	}

	renewed, err := cli.Rotate("claude-code")
	if err != nil {
		t.Fatal(err)
	}
	expect(token, "")
	expect(renewed, "claude-code")
	if err := cli.Revoke("claude-cod"); err == nil || !strings.Contains(err.Error(), "did you mean claude-code?") {
		t.Errorf("revoked a stranger: %v", err)
	}
	if err := cli.Revoke("claude-code"); err != nil {
		t.Fatal(err)
	}
	expect(renewed, "")
	old := relay.Pairing()
	if err := cli.RotatePairing(); err != nil || relay.Pairing() == old {
		t.Errorf("pairing not rotated: %v", err)
	}
}

func TestSecretsOthersCanRead(t *testing.T) {
	home := Home(t.TempDir())
	s := open(t, home)
	local := s.Local()
	if err := os.Chmod(home.Secrets(), 0o640); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Verify(local); ok {
		t.Error("a token was accepted from a file others can read")
	}
	var file *FileError
	if err := s.Check(); !errors.As(err, &file) || !strings.Contains(file.Hint(), "chmod 600") {
		t.Errorf("Check: %v", err)
	}
	if _, err := OpenSecrets(home); err == nil {
		t.Error("opened")
	}
	if err := os.Chmod(home.Secrets(), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, ok := s.Verify(local); !ok {
		t.Error("not accepted after the repair")
	}
}

func TestSecretsDamaged(t *testing.T) {
	for _, text := range []string{"", "{}", `{"pairing":"x","local":"y"}`, `{"extra":1}`} {
		home := Home(t.TempDir())
		if err := os.WriteFile(home.Secrets(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenSecrets(home); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

func TestSecretsChangedAtOnce(t *testing.T) {
	home := Home(t.TempDir())
	var wg sync.WaitGroup
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		s := open(t, home)
		wg.Go(func() {
			if _, err := s.Add(name); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if got := len(open(t, home).Clients()); got != 6 {
		t.Errorf("%d clients, want 6", got)
	}
}
