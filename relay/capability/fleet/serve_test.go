package fleet

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/capability/fleet/local"
	"tabrelay/relay/capability/fleet/signin"
	"tabrelay/relay/program/httpapi/apitest"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
)

// served is a gateway at a server of its own, with a client that may only read and one on another machine.
func served(t *testing.T, change func(*settings)) (v *serving, tokens map[string]string, secrets *config.Secrets) {
	t.Helper()
	home := config.Home(t.TempDir())
	if err := home.Create(); err != nil {
		t.Fatal(err)
	}
	l, err := local.Start(filepath.Join(t.TempDir(), "fleet"), []string{"gateway"}, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(l.Stop)
	if secrets, err = config.OpenSecrets(home); err != nil {
		t.Fatal(err)
	}
	tokens = map[string]string{"cli": secrets.Local()}
	for _, one := range []config.Client{{Name: "claude", Scope: call.Scope{ReadOnly: true}},
		{Name: "devbox", Remote: true}} {
		if tokens[one.Name], err = secrets.Admit(one); err != nil {
			t.Fatal(err)
		}
	}
	s := settings{URL: l.URL, Gateway: gatewaySettings{Listen: "127.0.0.1:0",
		Credentials: config.KeySource{File: l.GatewayKey("gateway")}}}
	change(&s)
	v, err = serve(t.Context(), home, config.Default(), s, "1.0.0", zerolog.Nop())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(v.close)
	return v, tokens, secrets
}

const hello = `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
	`"capabilities":{},"clientInfo":{"name":"x","version":"1"}}}`

// asks begins a session, and returns status, body and header.
func asks(t *testing.T, client *http.Client, url string, header map[string]string) (int, string, http.Header) {
	t.Helper()
	return asksFor(t, client, url, header, hello)
}

func asksFor(t *testing.T, client *http.Client, url string, header map[string]string, body string,
) (int, string, http.Header) {
	t.Helper()
	req := httptest.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	req.RequestURI = ""
	for name, value := range header {
		if name == "Host" {
			req.Host = value
		}
		req.Header.Set(name, value)
	}
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	res, err := client.Do(req)
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close()
	text, err := io.ReadAll(res.Body)
	if err != nil {
		t.Fatal(err)
	}
	return res.StatusCode, string(text), res.Header
}

// The door of a gateway is that of a relay: Host, Origin, token. A token that is revoked ends what was begun with it.
func TestTheDoorOfAGateway(t *testing.T) {
	v, tokens, secrets := served(t, func(*settings) {})
	bearer := func(name string) string { return "Bearer " + tokens[name] }
	for what, c := range map[string]struct {
		header map[string]string
		status int
	}{
		"its client":                {map[string]string{"Authorization": bearer("claude")}, http.StatusOK},
		"nobody":                    {nil, http.StatusUnauthorized},
		"a wrong token":             {map[string]string{"Authorization": "Bearer x"}, http.StatusUnauthorized},
		"the programs of the relay": {map[string]string{"Authorization": bearer("cli")}, http.StatusUnauthorized},
		"another host": {map[string]string{"Authorization": bearer("claude"), "Host": "evil.example"},
			http.StatusForbidden},
		"a web page": {map[string]string{"Authorization": bearer("claude"), "Origin": "https://evil.example"},
			http.StatusForbidden},
	} {
		if status, said, _ := asks(t, http.DefaultClient, v.URL(), c.header); status != c.status {
			t.Errorf("%s: %d %s", what, status, said)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer v.door.Enter(tokens["claude"], cancel)()
	if err := secrets.Revoke("claude"); err != nil {
		t.Fatal(err)
	}
	<-ctx.Done()
	if status, _, h := asks(t, http.DefaultClient, v.URL(),
		map[string]string{"Authorization": bearer("claude")}); status != http.StatusUnauthorized {
		t.Errorf("revoked, it gets %d", status)
	} else if got := h.Get("WWW-Authenticate"); got != `Bearer realm="tabrelay"` {
		t.Errorf("revoked, it is told %s", got)
	}
}

// Beyond this machine a gateway speaks TLS, for clients of other machines only.
func TestAGatewayForOtherMachines(t *testing.T) {
	c := apitest.MakeCertificate(t, time.Now().AddDate(0, 1, 0), "127.0.0.1")
	v, tokens, _ := served(t, func(s *settings) { s.Gateway.Certificate, s.Gateway.Key = c.File, c.Key })
	client := apitest.Trusting(t, c)
	for name, want := range map[string]int{"devbox": http.StatusOK, "claude": http.StatusUnauthorized} {
		status, said, _ := asks(t, client, v.URL(), map[string]string{"Authorization": "Bearer " + tokens[name]})
		if status != want {
			t.Errorf("%s: %d %s", name, status, said)
		}
	}
	home := config.Home(t.TempDir())
	if err := home.Create(); err != nil {
		t.Fatal(err)
	}
	_, err := serve(t.Context(), home, config.Default(), settings{URL: "nats://127.0.0.1:1",
		Gateway: gatewaySettings{Listen: "0.0.0.0:0"}}, "1", zerolog.Nop())
	if err == nil || !strings.Contains(err.Error(), "readable for everybody") || fault.HintOf(err) == "" {
		t.Errorf("without a certificate: %v", err)
	}
}

// People sign in with a provider: who has no token is told where, and what a token of the provider says is who calls.
// Here no provider is there, which is no reason to refuse the clients that have tokens of the gateway's own.
func TestSigningInAtAGateway(t *testing.T) {
	v, tokens, _ := served(t, func(s *settings) {
		s.Gateway.SignIn = signInSettings{Issuer: "http://127.0.0.1:1/team", Resource: "http://127.0.0.1:7720/mcp",
			Person: "sub", Scopes: []signin.Scope{{Scope: "tabrelay"}, {Scope: "tabrelay:read", ReadOnly: true}}}
	})
	for what, c := range map[string]struct {
		token     string
		status    int
		challenge string
	}{
		"nobody": {"", http.StatusUnauthorized, `Bearer realm="tabrelay", resource_metadata="http://127.0.0.1:7720` +
			`/.well-known/oauth-protected-resource/mcp", scope="tabrelay"`},
		"a client of its own": {tokens["claude"], http.StatusOK, ""},
		"no token at all": {"a.b.c", http.StatusUnauthorized, `Bearer realm="tabrelay", error="invalid_token", ` +
			`resource_metadata="http://127.0.0.1:7720/.well-known/oauth-protected-resource/mcp", ` +
			`scope="tabrelay"`},
		"a token that nobody can read": {"opaque", http.StatusUnauthorized, `Bearer realm="tabrelay", ` +
			`error="invalid_token", resource_metadata="http://127.0.0.1:7720/.well-known/oauth-protected-resource` +
			`/mcp", scope="tabrelay"`},
		"while the provider is away": {"eyJhbGciOiJFUzI1NiJ9.e30.x", http.StatusServiceUnavailable, ""},
	} {
		header := map[string]string{}
		if c.token != "" {
			header["Authorization"] = "Bearer " + c.token
		}
		status, _, h := asks(t, http.DefaultClient, v.URL(), header)
		if got := h.Get("WWW-Authenticate"); status != c.status || got != c.challenge {
			t.Errorf("%s: %d, %s", what, status, got)
		}
	}
	for _, path := range []string{signin.RootMetadataPath, signin.RootMetadataPath + "/mcp"} {
		address := strings.TrimSuffix(v.URL(), "/mcp") + path
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet, address, http.NoBody)
		if err != nil {
			t.Fatal(err)
		}
		res, err := http.DefaultClient.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(res.Body)
		res.Body.Close()
		if want := `{"resource":"http://127.0.0.1:7720/mcp","authorization_servers":["http://127.0.0.1:1/team"],` +
			`"scopes_supported":["tabrelay","tabrelay:read"],"bearer_methods_supported":["header"],` +
			`"resource_name":"tabrelay"}`; err != nil || string(text) != want {
			t.Errorf("%s: %s, %v", path, text, err)
		}
	}
}

// A session has the scope that it began with. What is allowed less meanwhile does not go on in it.
func TestASessionOfAGatewayHasItsScope(t *testing.T) {
	v, tokens, secrets := served(t, func(*settings) {})
	header := map[string]string{"Authorization": "Bearer " + tokens["claude"]}
	_, _, h := asks(t, http.DefaultClient, v.URL(), header)
	header["Mcp-Session-Id"] = h.Get("Mcp-Session-Id")
	const list = `{"jsonrpc":"2.0","id":2,"method":"tools/list"}`
	if status, said, _ := asksFor(t, http.DefaultClient, v.URL(), header, list); status != http.StatusOK {
		t.Fatalf("in its session: %d %s", status, said)
	}
	if err := secrets.SetScope("claude", call.Scope{ReadOnly: true, Plugins: "demo"}); err != nil {
		t.Fatal(err)
	}
	if status, said, _ := asksFor(t, http.DefaultClient, v.URL(), header, list); status != http.StatusNotFound {
		t.Errorf("with another scope: %d %s", status, said)
	}
	delete(header, "Mcp-Session-Id")
	if status, said, _ := asks(t, http.DefaultClient, v.URL(), header); status != http.StatusOK {
		t.Errorf("a session with it: %d %s", status, said)
	}
}
