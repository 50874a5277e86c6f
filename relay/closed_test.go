package relay

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"tabrelay/extension"
	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/hub/hubtest"
)

// What is for the person alone: the secrets, the files, the socket.

// Secrets that cannot be read, are gone, or lie open let nobody in, neither clients nor a browser; and it is over when
// they are mended.
func TestSpoiledSecretsLetNobodyIn(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes here")
	}
	w := newWorld(t)
	r, _ := w.relay()
	s := outsider{t, r.Address()}
	auth := "Authorization: Bearer " + r.secrets.Local()
	good, err := os.ReadFile(w.home.Secrets())
	if err != nil {
		t.Fatal(err)
	}
	options := hubtest.Options{Address: r.Address(), Secret: r.secrets.Pairing(), ExtensionID: extension.ID,
		Label: "Chrome 1"}
	for name, spoil := range map[string]func() error{
		"gone":    func() error { return os.Remove(w.home.Secrets()) },
		"open":    func() error { return os.Chmod(w.home.Secrets(), 0o644) },
		"empty":   func() error { return os.WriteFile(w.home.Secrets(), nil, 0o600) },
		"damaged": func() error { return os.WriteFile(w.home.Secrets(), good[:len(good)/2], 0o600) },
		"no token": func() error {
			return os.WriteFile(w.home.Secrets(), []byte(`{"pairing":"","local":"","clients":[]}`), 0o600)
		},
		"a folder": func() error {
			return errors.Join(os.Remove(w.home.Secrets()), os.Mkdir(w.home.Secrets(), 0o700))
		},
	} {
		t.Run(name, func(t *testing.T) {
			if err := spoil(); err != nil {
				t.Fatal(err)
			}
			for _, header := range []string{auth, "Authorization: Bearer ", "Authorization: Bearer " +
				strings.Repeat("0", 64)} {
				if res, body := s.ask("GET", "/api/v1/tools", header); res.StatusCode != http.StatusUnauthorized {
					t.Errorf("%d %s", res.StatusCode, body)
				}
			}
			for _, secret := range []string{options.Secret, strings.Repeat("0", 64)} {
				o := options
				o.Secret = secret
				if b, err := hubtest.Connect(t.Context(), o); err == nil {
					b.Close()
					t.Error("a browser was let in")
				}
			}
			if err := errors.Join(os.RemoveAll(w.home.Secrets()),
				os.WriteFile(w.home.Secrets(), good, 0o600)); err != nil {
				t.Fatal(err)
			}
			if res, body := s.ask("GET", "/api/v1/tools", auth); res.StatusCode != http.StatusOK {
				t.Errorf("mended: %d %s", res.StatusCode, body)
			}
		})
	}
}

// What a relay writes is for its person alone, whatever the process's mask of modes.
func TestFilesAreClosedToOthers(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("files have no modes here")
	}
	w := newWorld(t)
	r, end := w.relay()
	w.browser(func(c *hubtest.Call) { c.Return(json.RawMessage(`{}`)) })
	if res, err := join.HTTP(w.home).Post("http://127.0.0.1/api/v1/tools/shop__pay/call", "application/json",
		strings.NewReader(`{"arguments":{}}`)); err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(res, err)
	}
	if _, err := r.secrets.Add("ann"); err != nil {
		t.Fatal(err)
	}
	look := func() {
		err := filepath.WalkDir(string(w.home), func(name string, entry fs.DirEntry, err error) error {
			if err != nil {
				return err
			}
			info, err := entry.Info()
			if errors.Is(err, fs.ErrNotExist) {
				return nil // a file that the relay wrote beside its place is there by now
			}
			if err != nil {
				return err
			}
			inner, _ := filepath.Rel(string(w.home), name)
			public := strings.HasPrefix(inner, "extension"+string(filepath.Separator)) &&
				filepath.Base(name) != "pairing.json"
			if open := info.Mode().Perm() & 0o077; open != 0 && !public && inner != "." {
				t.Errorf("%s has the mode %s", inner, info.Mode())
			}
			return nil
		})
		if err != nil {
			t.Error(err)
		}
	}
	look()
	end()
	look()
}

// A stranger who can reach the socket's folder, but is not the person, cannot open the socket; whoever can, and says
// what is no attachment, is told so and nothing else.
func TestSocketOfThePerson(t *testing.T) {
	w := newWorld(t)
	w.relay()
	info, err := os.Stat(w.home.Socket())
	if err != nil || runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("%v %v", info, err)
	}
	for _, said := range []string{
		`{"attach":{"key":"x","version":"0.1.0","client":"cli"}}`, `{"attach":{"key":"` + strings.Repeat("ab", 16) +
			`","version":"0.1.0","client":"cli"}}`,
		`{"attach":{"key":"` + strings.Repeat("ab", 16) + `","version":"0.1.0","client":"panel"}}`,
		`{"attach":{"key":"` + strings.Repeat("ab", 16) + `","version":"0.1.0","token":"tabrelay_wrong"}}`,
		`{}`, `{"attach":null}`, `{"attach":[]}`, "{" + strings.Repeat("x", 1<<20),
	} {
		ctx, cancel := context.WithTimeout(t.Context(), 15*time.Second)
		conn, err := join.Dial(ctx, w.home)
		if err != nil {
			t.Fatal(err)
		}
		go func() { _, _ = fmt.Fprintln(conn, said) }() // the relay may close before it has read all
		answer, _ := bufio.NewReader(conn).ReadString('\n')
		_ = conn.Close() // it has been refused
		cancel()
		if strings.Contains(answer, `"attached"`) || strings.Contains(answer, string(w.home)) {
			t.Errorf("%.100s: %s", said, answer)
		}
	}
}
