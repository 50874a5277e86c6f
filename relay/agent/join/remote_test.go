package join_test

import (
	"bufio"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/program/httpapi/apitest"
)

const remoteToken = "tabrelay_of-another-machine"

// What is no address of a relay, or would show the token to others, is refused before anything is sent.
func TestAddressesOfRelaysElsewhere(t *testing.T) {
	for address, want := range map[string]string{
		"https://relay.example:7719": "", "https://relay.example": "", "http://127.0.0.1:7717": "",
		"http://localhost:7717/": "", "http://[::1]:7717": "", "unix:///run/user/1000/tabrelay.sock": "",
		"http://relay.example:7717": "readable for everybody on the way",
		"http://10.0.0.1:7717":      "readable for everybody on the way",
		"http://127.0.0.1":          "readable for everybody on the way",
		"http://0.0.0.0:7717":       "readable for everybody on the way",
		"relay.example:7719":        "is not the address of a relay", "": "is not the address of a relay",
		"https://me:secret@relay.example":   "is not the address of a relay",
		"https://relay.example/mcp":         "is not the address of a relay",
		"https://relay.example?token=x":     "is not the address of a relay",
		"unix://host/run/tabrelay.sock":     "is not the address of a relay",
		"ftp://relay.example":               "is not the address of a relay",
		"ws://127.0.0.1:7717":               "is not the address of a relay",
		"https://relay.example:7719#x":      "is not the address of a relay",
		"https://":                          "is not the address of a relay",
		"http://127.0.0.1.relay.example:80": "readable for everybody on the way",
	} {
		_, err := join.ParseRemote(address, "", remoteToken)
		if got := message(err); (want == "") != (err == nil) || !strings.Contains(got, want) {
			t.Errorf("%s: %q, want %q", address, got, want)
		}
		if err != nil && hint(err) == "" {
			t.Errorf("%s: no next step", address)
		}
	}
	_, err := join.ParseRemote("https://relay.example", "", "")
	if !strings.Contains(hint(err), "clients add --remote") {
		t.Errorf("without a token: %v", err)
	}
}

// A token is read from a file that only its owner can read.
func TestTokensInFiles(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(file, []byte(remoteToken+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if got, err := join.ReadToken(file); got != remoteToken || err != nil {
		t.Errorf("read %q, %v", got, err)
	}
	if err := os.Chmod(file, 0o640); err != nil {
		t.Fatal(err)
	}
	if got, err := join.ReadToken(file); got != "" || !strings.Contains(message(err), "can be read by other users") ||
		!strings.Contains(hint(err), "chmod 600") {
		t.Errorf("open to others: %q, %v", got, err)
	}
	if _, err := join.ReadToken(file + ".missing"); !strings.Contains(message(err), "no such file") {
		t.Errorf("missing: %v", err)
	}
}

// elsewhere is a server that is not the relay that was meant; it counts the tokens that it was shown.
type elsewhere struct {
	*httptest.Server
	shown int
}

func serveElsewhere(t *testing.T, c *apitest.Certificate, status int, body string) *elsewhere {
	t.Helper()
	e := &elsewhere{}
	e.Server = httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Header.Get("Authorization") == "Bearer "+remoteToken {
			e.shown++
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body) // the proxy may have left
	}))
	e.Config.ErrorLog = log.New(io.Discard, "", 0) // connections that end
	if c == nil {
		e.Start()
	} else {
		pair, err := tls.LoadX509KeyPair(c.File, c.Key)
		if err != nil {
			t.Fatal(err)
		}
		e.TLS = &tls.Config{Certificates: []tls.Certificate{pair}}
		e.StartTLS()
	}
	t.Cleanup(e.Close)
	return e
}

// instructions are what a client is told by a proxy whose relay elsewhere lets it in for no reason that time mends.
func instructions(t *testing.T, address, roots string) string {
	t.Helper()
	remote, err := join.ParseRemote(address, roots, remoteToken)
	if err != nil {
		t.Fatal(err)
	}
	in, said := io.Pipe()
	heard, out := io.Pipe()
	p := &join.Proxy{Remote: remote, Version: "1", In: in, Out: out, Log: zerolog.Nop(),
		Start: func(context.Context) (join.State, error) { return join.State{}, errors.New("nobody starts one here") }}
	ended := make(chan error, 1)
	go func() { ended <- p.Run(t.Context()); _ = out.Close() }()
	go func() {
		_, _ = io.WriteString(said, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":`+
			`{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"ann","version":"1"}}}`+"\n")
		_ = said.Close()
	}()
	answers := bufio.NewScanner(heard)
	answers.Scan()
	answer := answers.Text()
	_, _ = io.Copy(io.Discard, heard)
	<-ended
	return answer
}

// Nothing is sent to what does not prove to be the relay that was meant; the client is told why, and what to do.
func TestRelaysThatDoNotProveWhoTheyAre(t *testing.T) {
	soon, past := time.Now().AddDate(0, 0, 30), time.Now().AddDate(0, 0, -1)
	good := apitest.MakeCertificate(t, soon, "127.0.0.1", "localhost")
	other := apitest.MakeCertificate(t, soon, "relay.example")
	expired := apitest.MakeCertificate(t, past, "127.0.0.1")
	for name, test := range map[string]struct {
		of    *apitest.Certificate
		roots string
		want  []string
	}{
		"unknown authority": {&good, other.Authority, []string{
			"signed by nobody that this machine trusts", "--ca FILE"}},
		"the system's own authorities": {&good, "", []string{"signed by nobody that this machine trusts",
			"--ca FILE"}},
		"wrong name": {&other, other.Authority, []string{"is for other names", "127.0.0.1", "se a name in the " +
			"certificate"}},
		"expired": {&expired, expired.Authority, []string{"has expired", "enew it where the browser is"}},
		"no TLS":  {nil, good.Authority, []string{"speaks no TLS", "remote.listen"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := serveElsewhere(t, test.of, http.StatusOK, "")
			address := "https://" + e.Listener.Addr().String()
			got := instructions(t, address, test.roots)
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("told %s\nwithout %s", got, want)
				}
			}
			if e.shown != 0 {
				t.Error("it was shown the token")
			}
		})
	}
}

// A relay, or another server, that does not let the proxy in: why, and the next step.
func TestRelaysThatRefuse(t *testing.T) {
	c := apitest.MakeCertificate(t, time.Now().AddDate(0, 0, 30), "127.0.0.1")
	for name, test := range map[string]struct {
		status int
		body   string
		want   []string
	}{
		"token": {401, `{"error":{"code":"UNAUTHORIZED","message":"The request has no token that is known"}}`,
			[]string{"does not know the token, or no longer", "clients add --remote", "clients rotate"}},
		"client": {403, `{"error":{"code":"PERMISSION_DENIED","message":"The client ann is one of this machine",` +
			`"hint":"Use another token"}}`, []string{"ann is one of this machine", "Use another token"}},
		"another server":   {200, "<html>", []string{"is no relay that other machines can attach to (status 200)"}},
		"another server's": {401, "<html>", []string{"is no relay that other machines can attach to (status 401)"}},
		"an older relay": {404, `{"error":{"code":"RESOURCE_NOT_FOUND","message":"There is nothing at"}}`,
			[]string{"is no relay that other machines can attach to (status 404)", "or a newer one"}},
	} {
		t.Run(name, func(t *testing.T) {
			e := serveElsewhere(t, &c, test.status, test.body)
			got := instructions(t, e.URL, c.Authority)
			for _, want := range test.want {
				if !strings.Contains(got, want) {
					t.Errorf("told %s\nwithout %s", got, want)
				}
			}
			if strings.Contains(got, remoteToken) {
				t.Error("the token is told")
			}
		})
	}
}

// Where nobody listens, the client is told so, and that it is tried again.
func TestRelayElsewhereIsNotThere(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	address := "http://" + listener.Addr().String()
	_ = listener.Close() // its port is free now
	got := instructions(t, address, "")
	for _, want := range []string{address + " cannot be reached", "tried again by itself"} {
		if !strings.Contains(got, want) {
			t.Errorf("told %s\nwithout %s", got, want)
		}
	}
}

func message(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}

func hint(err error) string {
	var hinted interface{ Hint() string }
	if errors.As(err, &hinted) {
		return hinted.Hint()
	}
	return ""
}
