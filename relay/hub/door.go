package hub

import (
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"slices"
	"strconv"
	"strings"
	"time"

	"tabrelay/relay/wire"
)

const (
	maxGreetings = 16 // handshakes under way at once

	// Wrong proofs are throttled, so that a program that tries secrets fills neither a log nor a core. No rate
	// would make a secret of 256 bits guessable.
	failureBurst = 60
	failureEvery = time.Second
)

// Handler lets extensions in: GET /extension. Everything that can be checked before the upgrade is.
func (h *Hub) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status, reason := h.door(r); status != 0 {
			h.cfg.Log.Warn().Int("status", status).Str("host", r.Host).Str("origin", r.Header.Get("Origin")).
				Msg("extension refused at the door: " + reason)
			if status == http.StatusTooManyRequests || status == http.StatusServiceUnavailable {
				w.Header().Set("Retry-After", strconv.Itoa(int(failureEvery/time.Second)))
			}
			http.Error(w, reason, status)
			return
		}
		h.admit(w, r)
	})
}

// door returns the status to refuse an upgrade with, and why; 0 lets it pass.
func (h *Hub) door(r *http.Request) (status int, reason string) {
	if err := checkHost(r); err != nil {
		return http.StatusForbidden, err.Error()
	}
	origins := r.Header.Values("Origin")
	if len(origins) != 1 || !h.allows(origins[0]) {
		return http.StatusForbidden, "only the tabrelay extension may connect here"
	}
	if !offersSubprotocol(r) {
		return http.StatusForbidden, "the subprotocol " + wire.Subprotocol + " was not offered"
	}
	if h.isClosed() {
		return http.StatusServiceUnavailable, "the relay is shutting down"
	}
	if h.failures.Tokens() < 1 {
		return http.StatusTooManyRequests, "too many wrong proofs; try again in a moment"
	}
	return 0, ""
}

// checkHost refuses a request whose Host is not this machine's loopback and our own port. A page whose name an
// attacker lets resolve to 127.0.0.1 sends its own name as Host; a program that passes a handshake on sends another port.
func checkHost(r *http.Request) error {
	host, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		host, port = r.Host, "80"
	}
	if host != "localhost" {
		if addr, err := netip.ParseAddr(strings.Trim(host, "[]")); err != nil || !addr.IsLoopback() {
			return fmt.Errorf("the host %q is not loopback", r.Host)
		}
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return fmt.Errorf("the connection did not come over TCP")
	}
	if strconv.Itoa(local.Port) != port {
		return fmt.Errorf("the host %q names another port than %d", r.Host, local.Port)
	}
	return nil
}

func (h *Hub) allows(origin string) bool {
	id, ok := strings.CutPrefix(origin, "chrome-extension://")
	return ok && id != "" && slices.Contains(h.cfg.ExtensionIDs, id)
}

func offersSubprotocol(r *http.Request) bool {
	for _, line := range r.Header.Values("Sec-WebSocket-Protocol") {
		for offered := range strings.SplitSeq(line, ",") {
			if strings.TrimSpace(offered) == wire.Subprotocol {
				return true
			}
		}
	}
	return false
}
