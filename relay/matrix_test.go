package relay

import (
	"cmp"
	"context"
	"encoding/json"
	"flag"
	"net/http"
	"net/http/httptest"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
	"time"

	gocmp "github.com/google/go-cmp/cmp"
	"github.com/rs/zerolog"

	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/program/httpapi/apitest"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/state/config"
)

var update = flag.Bool("update", false, "write testdata/routes.txt anew")

// keeper says who may use a route.
type keeper string

const (
	anyone   keeper = "anyone"
	attached keeper = "client"
	person   keeper = "person"
	browsers keeper = "extension"
	panels   keeper = "panel"
	machines keeper = "remote"
)

// forClients are the routes below /api/ that agents may use. A route that is not here is for the person.
var forClients = []string{
	"GET /api/v1/tools", "POST /api/v1/tools/{name}/call", "GET /api/v1/status", "GET /api/v1/events",
	"GET /api/v1/dead-letters",
	"GET /api/v1/dead-letters/{id}", "POST /api/v1/dead-letters/{id}/replay", "GET /api/v1/audit",
	"POST /api/v1/reload",
}

func keeperOf(pattern string) keeper {
	switch {
	case pattern == httpapi.ExtensionPath:
		return browsers
	case strings.HasSuffix(pattern, " /api/v1/addition"), strings.HasSuffix(pattern, " /api/v1/offers"),
		strings.Contains(pattern, " /api/v1/extension/"), strings.Contains(pattern, " /api/v1/installed-clients"),
		strings.HasPrefix(pattern, "POST /api/v1/doctor/"):
		return panels
	case strings.HasSuffix(pattern, " /api/v1/attach"):
		return machines
	case pattern == "/" || pattern == "GET /healthz":
		return anyone
	case pattern == "/mcp" || pattern == "GET /metrics" || pattern == "/api/" || slices.Contains(forClients, pattern):
		return attached
	}
	return person
}

// forgery is one request, by what can be forged about it.
type forgery struct {
	host, origin, site, token, method, path string
	socket                                  bool // it comes over relay.sock

	body        string // of what is not forged
	testedApart bool   // that a route needs a confirmation is tested by a test of its own
}

var (
	ownHosts     = []string{"127.0.0.1:7717", "localhost", "[::1]:7717", "LOCALHOST:7717"}
	foreignHosts = []string{"relay.example", "127.0.0.1.relay.example:7717", "localhost.relay.example", "0.0.0.0:7717",
		"10.0.0.1:7717", "2130706433", "127.0.0.1@relay.example", ""}
)

// matrix is a relay's access guard, with everything that is behind it.
type matrix struct {
	t       *testing.T
	relay   *Relay
	handler http.Handler
	routes  []string            // patterns
	methods map[string][]string // that a path takes, by its pattern without method
	agent   string              // Authorization of an agent
	person  string              // Authorization of the command line

	remote  *httpapi.Certificate // requests come from another machine; nil: from this one
	hosts   []string             // by which the relay is known there
	foreign []string
}

// newMatrix is the relay as programs of this machine find it.
func newMatrix(t *testing.T) *matrix { return newMatrixWith(t, func(*config.Config) {}) }

func newMatrixWith(t *testing.T, change func(*config.Config)) *matrix {
	w := newWorld(t)
	cfg := openConfig()
	cfg.Listen, cfg.Demo.Listen, cfg.AllowedOrigins = "127.0.0.1:0", "", []string{"https://allowed.example"}
	change(&cfg)
	r, err := New(t.Context(), cfg, Options{Home: w.home, Log: zerolog.Nop(), Plugins: []plugin.Plugin{shop()}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := r.Close(); err != nil {
			t.Error(err)
		}
	})
	token, err := r.secrets.Admit(config.Client{Name: "ann", Remote: true})
	if err != nil {
		t.Fatal(err)
	}
	m := &matrix{t: t, relay: r, handler: r.api.Handler(), methods: map[string][]string{}, agent: "Bearer " + token,
		person: "Bearer " + r.secrets.Local(), hosts: ownHosts, foreign: foreignHosts}
	for _, route := range r.api.Routes {
		m.routes = append(m.routes, route.Pattern)
	}
	slices.Sort(m.routes)
	for _, pattern := range m.routes {
		if method, at, ok := strings.Cut(pattern, " "); ok {
			m.methods[at] = append(m.methods[at], method)
			if method == http.MethodGet {
				m.methods[at] = append(m.methods[at], http.MethodHead)
			}
		}
	}
	return m
}

// send returns the status of a request whose sender has left already: it goes all the way, and nothing waits for it.
func (m *matrix) send(f forgery) *httptest.ResponseRecorder {
	m.t.Helper()
	gone, leave := context.WithCancel(m.t.Context())
	leave()
	req := httptest.NewRequestWithContext(gone, f.method, "http://127.0.0.1"+f.path, strings.NewReader("{}"))
	req.Host = f.host
	if m.remote != nil {
		req = req.WithContext(httpapi.FromRemote(gone, m.remote))
	}
	if f.socket {
		req = req.WithContext(httpapi.OverSocket(gone))
	}
	for name, value := range map[string]string{"Origin": f.origin, "Sec-Fetch-Site": f.site, "Authorization": f.token,
		"Content-Type": "application/json"} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	w := httptest.NewRecorder()
	m.handler.ServeHTTP(w, req)
	return w
}

// newMatrixElsewhere is the relay as other machines find it. Its certificate has two names and an address.
func newMatrixElsewhere(t *testing.T) *matrix {
	c := apitest.MakeCertificate(t, time.Now().AddDate(0, 1, 0), "relay.test", "*.wide.test", "192.0.2.1")
	m := newMatrixWith(t, func(cfg *config.Config) {
		cfg.Remote = config.Remote{Listen: "127.0.0.1:0", Certificate: c.File, Key: c.Key}
		cfg.Metrics.Open = true // which is for programs of this machine
	})
	m.remote = m.relay.certificate
	m.hosts = []string{"relay.test:7719", "relay.test", "RELAY.test:7719", "one.wide.test", "192.0.2.1:7719"}
	m.foreign = slices.Concat(foreignHosts, ownHosts, []string{"relay.test.example", "a.relay.test", "*.wide.test",
		"a.b.wide.test", "wide.test", "192.0.2.2:7719", "relay.test:7719:7719", "me@relay.test"})
	return m
}

// No spelling of a path leads around the token.
func TestSpellingsOfPaths(t *testing.T) {
	for _, m := range []*matrix{newMatrix(t), newMatrixElsewhere(t)} {
		trySpellings(t, m)
	}
}

func trySpellings(t *testing.T, m *matrix) {
	for _, target := range []string{
		"//api/v1/status", "/api//v1/status", "/api/v1/../v1/status", "/./api/v1/status", "/healthz/../api/v1/status",
		"/API/V1/STATUS", "/api/v1/status/",
		"/%61pi/v1/status", "/api%2fv1%2fstatus", "/api/v1/status;x", "/api/v1/status%00", "/api/v1/status?token=" +
			strings.TrimPrefix(m.agent, "Bearer "), "/mcp/", "/mcp/x", "/metrics/",
		"/healthz/../metrics", "/extension/../mcp", "/extension/api/v1/status", "/.well-known/../metrics",
	} {
		w := m.send(forgery{host: m.hosts[0], method: http.MethodGet, path: target})
		// to the clean path, where the token is asked for
		moved := w.Code == http.StatusMovedPermanently || w.Code == http.StatusTemporaryRedirect
		if !moved && w.Code != http.StatusUnauthorized && w.Code != http.StatusNotFound {
			t.Errorf("%s: %d %s", target, w.Code, w.Body)
		}
		if to := w.Header().Get("Location"); moved && (!strings.HasPrefix(to, "/") || path.Clean(to) == "/healthz") {
			t.Errorf("%s leads to %s", target, to)
		}
	}
}

// wideners say of each route that changes something for a person what it lets agents do more, as a request that does:
// its path and body. free are those that never do. A new route is in one of the two.
var (
	wideners = map[string]forgery{
		"PUT /api/v1/permissions":                   {body: `{"target":"default","mode":"auto"}`},
		"DELETE /api/v1/permissions":                {path: "/api/v1/permissions?target=https://example.org"},
		"PUT /api/v1/paused":                        {body: `{"paused":false}`},
		"POST /api/v1/pairing":                      {},
		"POST /api/v1/pairing/rotate":               {},
		"POST /api/v1/clients":                      {body: `{"name":"visitor"}`},
		"POST /api/v1/clients/{name}/rotate":        {path: "/api/v1/clients/bob/rotate"},
		"PUT /api/v1/clients/{name}":                {path: "/api/v1/clients/bob", body: `{"scope":{}}`},
		"POST /api/v1/approvals/{id}":               {path: "/api/v1/approvals/config", body: `{"answer":"allow"}`},
		"POST /api/v1/scripts":                      {body: `{"name":"orders","script":"1 + 1"}`},
		"POST /api/v1/reviews":                      {testedApart: true}, // TestReviewsOfSeveral
		"PUT /api/v1/plugins/{plugin}/hints":        {testedApart: true}, // TestHintsAreConfirmed
		"PUT /api/v1/hints":                         {testedApart: true}, // TestHintsOfManyPlugins
		"PUT /api/v1/plugins/{plugin}/settings":     {testedApart: true}, // TestSettingsInThePanel
		"POST /api/v1/reviews/{plugin}":             {testedApart: true}, // TestReviewsAreConfirmed
		"POST /api/v1/reviews/{plugin}/dev":         {testedApart: true}, // the same
		"POST /api/v1/dead-letters/{id}/replay":     {testedApart: true}, // TestReplayIsConfirmed
		"POST /api/v1/recordings":                   {testedApart: true}, // TestRecordingIsConfirmed
		"DELETE /api/v1/tabs/{profile}/{tab}/owner": {testedApart: true}, // TestReleaseIsConfirmed
	}
	free = []string{"DELETE /api/v1/clients/{name}", "DELETE /api/v1/profiles/{id}", "DELETE /api/v1/grants/{id}",
		"DELETE /api/v1/fleet/leases/{profile}",
		"DELETE /api/v1/running/{id}", "DELETE /api/v1/plugins/{plugin}", "DELETE /api/v1/recordings/{profile}/{tab}",
		"DELETE /api/v1/scripts/{name}",
		"DELETE /api/v1/sessions/{name}", // of commands, each of which may call itself of that session
		"POST /api/v1/stop", "POST /api/v1/tabs", "POST /api/v1/agents/{id}/test",
		"POST /api/v1/agents/sessions/{id}/stop",
		"POST /api/v1/handovers/{id}"}
)

// A route that changes something for a person says whether it lets agents do more.
func TestRoutesDeclareWhatTheyWiden(t *testing.T) {
	m := newMatrix(t)
	for _, pattern := range m.routes {
		_, widens := wideners[pattern]
		method, _, _ := strings.Cut(pattern, " ")
		changes := keeperOf(pattern) == person && method != http.MethodGet
		if changes && widens == slices.Contains(free, pattern) {
			t.Errorf("%s has to be in exactly one of wideners and free", pattern)
		}
	}
}

// Over the socket and with the local token, nothing widens without a person's confirmation; a wrong one is none.
func TestNothingWidensUnconfirmed(t *testing.T) {
	m := newMatrix(t)
	r := m.relay
	if err := r.policy.Set(t.Context(), call.Rule{Target: "https://example.org", Mode: call.Off}, 0); err != nil {
		t.Fatal(err)
	}
	if err := r.policy.Pause(t.Context(), true, "test"); err != nil {
		t.Fatal(err)
	}
	if _, err := r.secrets.AddWithin("bob", call.Scope{ReadOnly: true}); err != nil {
		t.Fatal(err)
	}
	next := r.config
	next.Permissions = map[string]map[string]string{"https://example.org": {"ann": "auto"}}
	if _, err := r.policy.Configure(t.Context(), next); err != nil {
		t.Fatal(err)
	}

	state := func() string {
		text, err := json.Marshal(map[string]any{"rules": r.policy.Permissions().Rules, "paused": r.policy.Paused(),
			"clients": r.secrets.Clients(), "pairing": r.secrets.Pairing(), "code": r.pairings.Code(),
			"waits": r.policy.Unapplied()})
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	before := state()
	for pattern, f := range wideners {
		method, at, _ := strings.Cut(pattern, " ")
		if f.testedApart {
			continue // it has a test of its own
		}
		f.method = method
		if f.path == "" {
			f.path = at
		}
		for _, mark := range []string{"", strings.Repeat("0", 64)} {
			for _, socket := range []bool{true, false} {
				w := m.act(f, mark, socket)
				if w.Code != http.StatusPreconditionRequired {
					t.Errorf("%s with %q, over the socket %t: %d %s", pattern, mark, socket, w.Code, w.Body)
				}
			}
		}
		var asked httpapi.Unconfirmed
		if err := json.Unmarshal(m.act(f, "", false).Body.Bytes(), &asked); err != nil ||
			len(asked.Change.Differences) == 0 {
			t.Errorf("%s does not say what would be different: %+v, %v", pattern, asked.Change, err)
		}
		if w := m.act(f, asked.Digest, false); w.Code != http.StatusPreconditionRequired {
			t.Errorf("%s is confirmed over the port: %d", pattern, w.Code)
		}
	}
	if after := state(); after != before {
		t.Errorf("something was changed:\n%s\n%s", before, after)
	}
	for pattern, f := range wideners { // what is confirmed is done
		method, at, _ := strings.Cut(pattern, " ")
		if f.testedApart || pattern == "POST /api/v1/pairing/rotate" {
			continue
		}
		f.method, f.path = method, cmp.Or(f.path, at)
		var asked httpapi.Unconfirmed
		if err := json.Unmarshal(m.act(f, "", true).Body.Bytes(), &asked); err != nil {
			t.Fatal(err)
		}
		if w := m.act(f, asked.Digest, true); w.Code != http.StatusOK {
			t.Errorf("%s, confirmed: %d %s", pattern, w.Code, w.Body)
		}
	}
	if r.policy.Paused() || r.policy.Unapplied() != "" || len(r.secrets.Clients()) != 3 {
		t.Errorf("not everything was done: %s", state())
	}
}

// act sends what somebody does who acts for the person: over the socket, or with the local token over the port.
func (m *matrix) act(f forgery, mark string, socket bool) *httptest.ResponseRecorder {
	m.t.Helper()
	ctx := m.t.Context()
	if socket {
		ctx = httpapi.OverSocket(ctx)
	}
	req := httptest.NewRequestWithContext(ctx, f.method, "http://127.0.0.1"+f.path,
		strings.NewReader(cmp.Or(f.body, "{}")))
	req.Host = ownHosts[0]
	if !socket {
		req.Header.Set("Authorization", m.person)
	}
	if mark != "" {
		req.Header.Set(httpapi.ConfirmedHeader, mark)
	}
	w := httptest.NewRecorder()
	m.handler.ServeHTTP(w, req)
	return w
}

// TestRoutesAreListed keeps the list that the same matrix is run from against the built binary
// (e2e/specs/access.spec.ts).
func TestRoutesAreListed(t *testing.T) {
	m := newMatrix(t)
	var lines []string
	for _, pattern := range m.routes {
		lines = append(lines, string(keeperOf(pattern))+" "+pattern)
	}
	got := strings.Join(lines, "\n") + "\n"
	if *update {
		if err := os.WriteFile("testdata/routes.txt", []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/routes.txt")
	if err != nil {
		t.Fatal(err)
	}
	if diff := gocmp.Diff(string(want), got); diff != "" {
		t.Errorf("who may use a route has changed: go test ./relay -run TestRoutesAreListed -update\n%s", diff)
	}
}
