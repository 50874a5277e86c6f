package relay

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/program/httpapi/apitest"
	"tabrelay/relay/state/config"
)

// outsider sends requests as a program, or a page in a browser, could.
type outsider struct {
	t       *testing.T
	address string
}

// ask sends one request with exactly these headers and returns the status, headers and body.
func (s outsider) ask(method, path string, headers ...string) (*http.Response, string) {
	s.t.Helper()
	return apitest.Ask(s.t, s.address, method, path, headers...)
}

// TestAccess is the matrix of matrix_test.go in small, over a connection.
func TestAccess(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	token, err := r.secrets.Add("ann")
	if err != nil {
		t.Fatal(err)
	}
	s := outsider{t, r.Address()}
	bearer := "Authorization: Bearer " + token
	port := r.Address()[strings.LastIndexByte(r.Address(), ':'):]
	for _, path := range []string{"/mcp", "/metrics", "/healthz", "/api/v1/tools", "/.well-known/x", "/nothing"} {
		for _, foreign := range []string{
			"Host: relay.example", "Host: relay.example" + port, "Host: 127.0.0.1.example" + port, "Host: 0.0.0.0" +
				port, "Origin: https://example.com", "Origin: null", "Sec-Fetch-Site: cross-site",
		} {
			if res, body := s.ask("GET", path, foreign, bearer); res.StatusCode != http.StatusForbidden ||
				strings.Contains(body, "shop__") {
				t.Errorf("GET %s with %s: %d %s", path, foreign, res.StatusCode, body)
			}
		}
	}
	for _, auth := range []string{"X-None: 1", "Authorization: Bearer", "Authorization: Bearer wrong",
		"Authorization: " + token, "Authorization: Basic " + token, "Authorization: Bearer " + token + "x",
		"Cookie: token=" + token} {
		res, body := s.ask("GET", "/api/v1/tools", auth)
		if res.StatusCode != http.StatusUnauthorized || !strings.HasPrefix(res.Header.Get("WWW-Authenticate"),
			"Bearer") {
			t.Errorf("%s: %d %s", auth, res.StatusCode, body)
		}
	}
	for _, known := range [][]string{{bearer}, {bearer, "Host: localhost" + port}, {bearer, "Host: [::1]" + port},
		{bearer, "Origin: http://localhost:5173"}, {"Authorization: bearer " + token}} {
		if res, body := s.ask("GET", "/api/v1/tools", known...); res.StatusCode != http.StatusOK ||
			!strings.Contains(body, "shop__read") {
			t.Errorf("%v: %d %s", known, res.StatusCode, body)
		}
	}
}

// Whoever can open the socket needs no token; whoever lost theirs is out at once.
func TestSocketAndRevokedToken(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	res, err := join.HTTP(w.home).Get("http://127.0.0.1/api/v1/status")
	if err != nil || res.StatusCode != http.StatusOK {
		t.Errorf("over the socket: %v, %v", res, err)
	}
	token, err := r.secrets.Add("ann")
	if err != nil {
		t.Fatal(err)
	}
	s := outsider{t, r.Address()}
	if res, _ := s.ask("GET", "/api/v1/status", "Authorization: Bearer "+token); res.StatusCode != http.StatusOK {
		t.Errorf("known: %d", res.StatusCode)
	}
	other, err := config.OpenSecrets(w.home)
	if err == nil {
		err = other.Revoke("ann")
	}
	if err != nil {
		t.Fatal(err)
	}
	if res, _ := s.ask("GET", "/api/v1/status", "Authorization: Bearer "+
		token); res.StatusCode != http.StatusUnauthorized {
		t.Errorf("revoked: %d", res.StatusCode)
	}
}

// A client whose token is rotated or revoked is thrown out of what it has open: a stream, and an attachment.
func TestRevokedClientLeaves(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	for name, end := range map[string]func(name string) error{
		"ann": r.secrets.Revoke,
		"bob": func(name string) error { _, err := r.secrets.Rotate(name); return err },
	} {
		token, err := r.secrets.Add(name)
		if err != nil {
			t.Fatal(err)
		}
		req, err := http.NewRequestWithContext(t.Context(), "GET", "http://"+r.Address()+"/api/v1/events", nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		stream, err := http.DefaultClient.Do(req)
		if err != nil || stream.StatusCode != http.StatusOK {
			t.Fatal(err, stream)
		}
		in, said := io.Pipe()
		heard, out := io.Pipe()
		proxy := &join.Proxy{Home: w.home, Token: token, In: in, Out: out, Log: zerolog.Nop(),
			Start: func(context.Context) (join.State, error) {
				return join.State{}, errors.New("nobody starts a relay here")
			}}
		ended := make(chan error, 1)
		go func() { ended <- proxy.Run(t.Context()) }()
		answers := bufio.NewScanner(heard)
		ask := func(id int) string {
			_, _ = fmt.Fprintf(said, `{"jsonrpc":"2.0","id":%d,"method":"tools/list",`+
				`"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
				`"io.modelcontextprotocol/clientCapabilities":{}}}}`+"\n", id)
			answers.Scan()
			return answers.Text()
		}
		answers.Buffer(nil, 1<<20)
		if got := ask(0); !strings.Contains(got, `"result"`) {
			t.Fatalf("%s is not served: %s", name, got)
		}
		if err := end(name); err != nil {
			t.Fatal(err)
		}
		_, _ = io.Copy(io.Discard, stream.Body) // until it ends
		_ = stream.Body.Close()
		for id := 1; ; id++ {
			if got := ask(id); strings.Contains(got, `"code":"UNAUTHORIZED"`) &&
				strings.Contains(got, "is not known to the relay") {
				break
			}
		}
		_ = said.Close() // a pipe closes without failure
		<-ended
	}
}

func TestOpenRoutes(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	s := outsider{t, r.Address()}
	if _, body := s.ask("GET", "/healthz"); body != `{"name":"tabrelay","status":"ok"}` {
		t.Errorf("/healthz says %s", body)
	}
	if _, body := s.ask("GET", "/healthz", "Authorization: Bearer "+r.secrets.Local()); !strings.Contains(body,
		`"version"`) {
		t.Errorf("/healthz says %s to who is known", body)
	}
	for _, path := range []string{"/.well-known/oauth-protected-resource",
		"/.well-known/oauth-authorization-server/mcp", "/", "/nothing"} {
		res, body := s.ask("GET", path)
		if res.StatusCode != http.StatusNotFound || res.Header.Get("Content-Type") != "application/json" ||
			!strings.HasPrefix(body, `{"error":{`) {
			t.Errorf("%s: %d %s %s", path, res.StatusCode, res.Header.Get("Content-Type"), body)
		}
	}
}

// A body that is announced as too large is refused before it comes.
func TestBodyAnnouncedAsEnormous(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	conn, err := net.Dial("tcp", r.Address())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() // it has been answered
	_, err = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer %s\r\n"+
		"Content-Type: application/json\r\nContent-Length: 99999999999\r\n\r\n{", r.secrets.Local())
	if err != nil {
		t.Fatal(err)
	}
	status, err := bufio.NewReader(conn).ReadString('\n')
	if err != nil || !strings.Contains(status, " 413 ") {
		t.Errorf("it is answered %q, %v", status, err)
	}
}

func TestMethods(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	s := outsider{t, r.Address()}
	bearer := "Authorization: Bearer " + r.secrets.Local()
	for _, test := range []struct{ method, path, allow string }{
		{"POST", "/healthz", "GET"}, {"DELETE", "/metrics", "GET"}, {"POST", "/api/v1/tools", "GET"},
		{"PUT", "/api/v1/status", "GET"},
		{"GET", "/api/v1/tools/bridge_health/call", "POST"}, {"GET", "/api/v1/stop", "POST"},
		{"PATCH", "/mcp", "POST, GET, DELETE"},
	} {
		res, body := s.ask(test.method, test.path, bearer)
		if res.StatusCode != http.StatusMethodNotAllowed || res.Header.Get("Allow") != test.allow {
			t.Errorf("%s %s: %d, Allow %q, %s", test.method, test.path, res.StatusCode, res.Header.Get("Allow"), body)
		}
	}
	for _, path := range []string{"/api/v1/stop", "/api/v1/nothing"} {
		if res, _ := s.ask("GET", path); res.StatusCode != http.StatusUnauthorized {
			t.Errorf("GET %s without a token: %d", path, res.StatusCode)
		}
	}
	if res, _ := s.ask("POST", "/extension", bearer); res.StatusCode != http.StatusForbidden {
		t.Errorf("POST /extension: %d", res.StatusCode)
	}
}

// What the CLI and other programs see of calls over HTTP.
func TestAPI(t *testing.T) {
	w := newWorld(t)
	r, _ := w.relay()
	for _, test := range []struct {
		tool, body string
		status     int
		says       string
	}{
		{"bridge_health", `{}`, 200, `"output":{"healthy":false`},
		{"bridge_health", ``, 200, `"output":{`},
		{"bridge_health", `{"arguments":{"x":1}}`, 200, `VALIDATION_ERROR`},
		{"shop__read", `{"arguments":{}}`, 200, `"text":["[ERROR code=`},
		{"shop__read", `[]`, 400, `INVALID_REQUEST`},
		{"bridge_health", `null`, 400, `The body is not a JSON object`},
		{"bridge_health", `{"timeoutMs":9223372036855}`, 200, `"output":{`},
		{"shop__read", `{"what":"x"}`, 400, `unknown field \"what\"`},
		{"shop__read", `{"timeoutMs":-1}`, 400, `timeoutMs is not a whole number`},
		{"shop__read", `{"timeoutMs":"1s"}`, 400, `timeoutMs is not a whole number`},
		{"shop__steal", `{}`, 404, `There is no tool named \"shop__steal\"","`},
		{"shop__raed", `{}`, 404, `There is no tool named \"shop__raed\"; did you mean shop__read?`},
	} {
		res, err := join.HTTP(w.home).Post("http://127.0.0.1/api/v1/tools/"+test.tool+"/call", "application/json",
			strings.NewReader(test.body))
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(res.Body)
		if err != nil || res.StatusCode != test.status || !strings.Contains(string(body), test.says) {
			t.Errorf("%s %s: %d %s %v", test.tool, test.body, res.StatusCode, body, err)
		}
	}
	big := fmt.Sprintf(`{"arguments":{"what":%q}}`, strings.Repeat("x", r.config.BodyBytes))
	res, err := join.HTTP(w.home).Post("http://127.0.0.1/api/v1/tools/shop__read/call", "application/json",
		strings.NewReader(big))
	if err != nil || res.StatusCode != http.StatusRequestEntityTooLarge {
		t.Errorf("a body too large: %v %v", res, err)
	}
}
