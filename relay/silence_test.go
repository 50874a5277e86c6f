package relay

import (
	"context"
	"encoding/json"
	"errors"
	"net"
	"net/http"
	"strings"
	"sync"
	"testing"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/hub/hubtest"
)

// A relay that starts, serves a browser and an agent, and stops looks up no name and connects to nobody: there is no
// telemetry, and nothing updates itself.
func TestNobodyIsCalledHome(t *testing.T) {
	var mu sync.Mutex
	var dialled []string
	note := func(address string) error {
		mu.Lock()
		defer mu.Unlock()
		dialled = append(dialled, address)
		return errors.New("no network")
	}
	resolver, transport := net.DefaultResolver, http.DefaultTransport
	defer func() { net.DefaultResolver, http.DefaultTransport = resolver, transport }()
	net.DefaultResolver = &net.Resolver{PreferGo: true, Dial: func(_ context.Context, _, address string) (net.Conn,
		error) {
		return nil, note("name server " + address)
	}}
	http.DefaultTransport = &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn,
		error) {
		if host, _, err := net.SplitHostPort(address); err == nil && host == "127.0.0.1" {
			return (&net.Dialer{}).DialContext(ctx, network, address) // the test's own browser
		}
		return nil, note(address)
	}}

	w := newWorld(t)
	_, end := w.relay()
	w.browser(func(c *hubtest.Call) { c.Return(json.RawMessage(`{}`)) })
	res, err := join.HTTP(w.home).Post("http://127.0.0.1/api/v1/tools/shop__read/call", "application/json",
		strings.NewReader(`{"arguments":{}}`))
	if err != nil || res.StatusCode != http.StatusOK {
		t.Fatal(res, err)
	}
	end()
	if len(dialled) > 0 {
		t.Errorf("it called %v", dialled)
	}
}
