package httpapi

import (
	"context"
	"encoding/json"
	"net"
	"net/http"
	"testing"

	"github.com/rs/zerolog"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/program/httpapi/apitest"
	"tabrelay/relay/road/call"
	"tabrelay/relay/state/config"
)

// What somebody with a token sends.
const (
	token         = "tabrelay_known"
	authorization = "Authorization: Bearer " + token
)

// Of the extension that may connect.
const (
	extensionID = "abcdefghijklmnopabcdefghijklmnop"
	secret      = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
)

// oneToken knows one token.
type oneToken struct{}

func (oneToken) Identify(sent string) (call.Session, bool) {
	return call.Session{ID: "http:ann", Client: "ann", Via: "http"}, sent == token
}
func (oneToken) Expired(string) error                { return nil }
func (oneToken) Enter(string, func()) (leave func()) { return func() {} }

// site is a server at a port, as a program on this machine sees it that has no token, no pairing, and cannot open the
// person's files: another user's, or one in a box that may use the network.
type site struct {
	t       *testing.T
	address string
	limiter *Limiter
	hub     *hub.Hub
}

// serve serves routes that answer with a tool behind the guard and the limiter, and a hub for browsers.
func serve(t *testing.T, change ...func(*Options)) *site {
	t.Helper()
	o := Options{Tokens: oneToken{}, Limiter: NewLimiter(), Config: config.Default(), Log: zerolog.Nop()}
	for _, c := range change {
		c(&o)
	}
	browsers := hub.New(hub.Config{
		Secret: func() string { return secret }, ExtensionIDs: []string{extensionID}, Log: zerolog.Nop(),
	})
	answer := func(w http.ResponseWriter, _ *http.Request) {
		Reply(w, http.StatusOK, json.RawMessage(`{"tool":"shop__read"}`))
	}
	api := newAPI(o)
	api.Routes = []Route{
		{ExtensionPath, Extension, browsers.Handler().ServeHTTP}, {"/mcp", Client, answer},
		{"GET /healthz", Anyone, answer},
		{"GET /api/v1/status", Client, answer}, {"GET /api/v1/tools", Client, answer},
		{"POST /api/v1/stop", Person, answer},
		{apiPath, Client, nothing}, {"/", Anyone, nothing},
	}
	listener, err := Listen(t.Context(), "127.0.0.1:0", o.Limiter)
	if err != nil {
		t.Fatal(err)
	}
	base := func(net.Listener) context.Context { return t.Context() }
	server := NewServer(api.Handler(), o.Limiter, base, zerolog.Nop())
	go func() { _ = server.Serve(listener) }() // ends with Close
	t.Cleanup(func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		browsers.Close(ended)
		_ = server.Close() // the test is over
	})
	return &site{t, listener.Addr().String(), o.Limiter, browsers}
}

// on is the same server in another test.
func (s *site) on(t *testing.T) *site { return &site{t, s.address, s.limiter, s.hub} }

// browser connects a browser.
func (s *site) browser() *hubtest.Browser {
	s.t.Helper()
	b, err := hubtest.Connect(s.t.Context(), hubtest.Options{Address: s.address, Secret: secret,
		ExtensionID: extensionID})
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(b.Close)
	return b
}

// ask sends one request with exactly these headers and returns the status, headers and body.
func (s *site) ask(method, path string, headers ...string) (*http.Response, string) {
	s.t.Helper()
	return apitest.Ask(s.t, s.address, method, path, headers...)
}
