package builtin

import (
	"context"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/road/registry"
)

// Every client has it in its list, so it is short.
func TestBridgeHealthIsShort(t *testing.T) {
	spec := (&Sources{}).healthTool().Spec
	if n := registry.Tokens(string(spec.InputSchema) + string(spec.OutputSchema)); n >= 150 {
		t.Errorf("its schemas have %d tokens", n)
	}
}

// The relay is degraded while no browser is connected: before the first, and after the last has gone.
func TestStateFollowsTheBrowsers(t *testing.T) {
	const extension = "abcdefghijklmnopabcdefghijklmnop"
	secret := strings.Repeat("01", 32)
	h := hub.New(hub.Config{Secret: func() string { return secret }, ExtensionIDs: []string{extension},
		Log: zerolog.Nop()})
	news := make(chan hub.TabNews, 64)
	h.OnTabs(func(n hub.TabNews) { news <- n })
	server := httptest.NewServer(h.Handler())
	t.Cleanup(func() {
		ended, cancel := context.WithCancel(context.Background())
		cancel()
		h.Close(ended)
		server.Close()
	})
	await := func(state string) { // the test times out when it never comes
		for State(h) != state {
			<-news
		}
	}
	await(stateDegraded)
	b, err := hubtest.Connect(t.Context(), hubtest.Options{Address: strings.TrimPrefix(server.URL, "http://"),
		Secret: secret, ExtensionID: extension})
	if err != nil {
		t.Fatal(err)
	}
	await(stateFull)
	b.Close()
	await(stateDegraded)
}
