package config

import (
	"errors"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/road/call"
)

func open(t *testing.T, home Home) *Secrets {
	t.Helper()
	s, err := OpenSecrets(home)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestSecretsVerifyRotateAndRevokeTokens(t *testing.T) {
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
	for _, name := range []string{"", "cli", "panel", "relay", "A", "a b", "../x", strings.Repeat("a", 65)} {
		if _, err := cli.Add(name); err == nil {
			t.Errorf("client name %q was accepted", name)
		}
	}
	bounds := call.Scope{Plugins: "wiki", ReadOnly: true}
	if err := cli.SetScope("claude-code", bounds); err != nil || relay.Clients()[0].Scope != bounds {
		t.Errorf("scope %+v, %v", relay.Clients(), err)
	}
	if err := cli.SetScope("claude", bounds); err == nil || !strings.Contains(err.Error(), "no client is called") {
		t.Errorf("scope of a stranger: %v", err)
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
	if relay.Clients()[0].Scope != bounds {
		t.Error("a new token changed the scope")
	}
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

// A file of a relay without scopes, and with two clients: rotating one leaves the other as it is.
func TestSecretsOfBefore(t *testing.T) {
	home := Home(t.TempDir())
	old := `{"pairing":"` + strings.Repeat("a", 64) + `","local":"tabrelay_` + strings.Repeat("b", 64) +
		`","clients":[` +
		`{"name":"ann","tokenHash":"` + hashed("t1") + `","created":"2026-01-02T03:04:05Z"},{"name":"bob",` +
		`"tokenHash":"` + hashed("t2") + `","created":"2026-01-02T03:04:05Z"}]}`
	if err := os.WriteFile(home.Secrets(), []byte(old), 0o600); err != nil {
		t.Fatal(err)
	}
	s := open(t, home)
	if c := s.Clients(); len(c) != 2 || c[0].Scope != (call.Scope{}) {
		t.Fatalf("read %+v", c)
	}
	if _, err := s.Rotate("ann"); err != nil {
		t.Fatal(err)
	}
	if who, ok := s.Verify("t2"); who != "bob" || !ok {
		t.Error("bob's token does not hold any more")
	}
	if _, ok := s.Verify("t1"); ok {
		t.Error("ann's old token holds")
	}
	if data, _ := os.ReadFile(home.Secrets()); strings.Contains(string(data), "scope") {
		t.Errorf("a scope was written that nobody set: %s", data)
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
	for _, text := range []string{"", "{}", `{"pairing":"x","local":"y"}`, `{"extra":`} {
		home := Home(t.TempDir())
		if err := os.WriteFile(home.Secrets(), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := OpenSecrets(home); err == nil || !strings.Contains(err.Error(), "damaged") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

// An older program does not take what a newer one has written for damaged: its person would throw good tokens away.
func TestSecretsOfANewerProgram(t *testing.T) {
	home := Home(t.TempDir())
	open(t, home)
	text, err := os.ReadFile(home.Secrets())
	if err != nil {
		t.Fatal(err)
	}
	newer := strings.Replace(string(text), "{", `{"extra":1,`, 1)
	if err := os.WriteFile(home.Secrets(), []byte(newer), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err = OpenSecrets(home)
	failure, ok := errors.AsType[*FileError](err)
	if !ok || !strings.Contains(failure.Error(), "newer tabrelay") || !strings.Contains(failure.Next, "update") {
		t.Errorf("%v", err)
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

// A token that has an end lets its client in until then, and its holder is told why not afterwards.
func TestTokensThatExpire(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := open(t, Home(t.TempDir()))
		end := time.Now().Add(time.Hour)
		token, err := s.Admit(Client{Name: "guest", Remote: true, Expires: end})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Add("ann"); err != nil {
			t.Fatal(err)
		}
		data, _ := os.ReadFile(s.path)
		if strings.Count(string(data), `"expires"`) != 1 {
			t.Errorf("an end was written that nobody set: %s", data)
		}
		holds := func(token string, want bool) {
			t.Helper()
			who, ok := s.Verify(token)
			_, expired := s.Expired(token)
			if ok != want || expired == want || ok != (who == "guest") {
				t.Errorf("let in: %t as %q, expired: %t", ok, who, expired)
			}
		}
		time.Sleep(time.Hour - time.Nanosecond)
		holds(token, true)
		token, err = s.Rotate("guest")
		if err != nil {
			t.Fatal(err)
		}
		holds(token, true)
		time.Sleep(time.Nanosecond)
		holds(token, false)
		if _, ok := s.Expired("tabrelay_of-nobody"); ok {
			t.Error("the token of nobody has expired")
		}
		var expired *ExpiredError
		if _, err := s.Rotate("guest"); !errors.As(err, &expired) || !strings.Contains(expired.Hint(), "--expires") {
			t.Errorf("rotated without a new end: %v", err)
		}
		for _, expires := range []time.Time{time.Now().Add(1), {}} {
			if token, err = s.RotateUntil("guest", expires); err != nil {
				t.Fatal(err)
			}
			holds(token, true)
		}
		time.Sleep(24 * 365 * time.Hour)
		holds(token, true)
	})
}

func TestReadExpiry(t *testing.T) {
	now := time.Date(2026, 11, 26, 12, 0, 0, 500, time.UTC)
	for text, want := range map[string]time.Duration{"1m": time.Minute, "90m": 90 * time.Minute,
		"30d": 30 * 24 * time.Hour, "3650d": 3650 * 24 * time.Hour} {
		if got, err := ReadExpiry(text, now); err != nil || !got.Equal(now.Add(want).Truncate(time.Second)) {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	if got, err := ReadExpiry("never", now); err != nil || !got.IsZero() {
		t.Errorf("never: %v, %v", got, err)
	}
	for _, text := range []string{"", "30", "59s", "-1h", "3651d", "99999999d", "1.5d", "d", "soon", "Never"} {
		if got, err := ReadExpiry(text, now); err == nil {
			t.Errorf("%q: %v", text, got)
		}
	}
}
