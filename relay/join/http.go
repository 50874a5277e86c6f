package join

import (
	"context"
	"net"
	"net/http"

	"tabrelay/relay/config"
)

// HTTP is a client for the relay's own HTTP routes, over the socket. The host of its URLs is 127.0.0.1; no token is
// needed, and none can end up with a stranger who took the relay's port.
func HTTP(home config.Home) *http.Client {
	return &http.Client{Transport: &http.Transport{
		DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) { return Dial(ctx, home) },
	}}
}
