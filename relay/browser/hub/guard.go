package hub

import (
	"container/list"
	"context"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"tabrelay/relay/browser/wire"
	"tabrelay/relay/lib/access"
	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/fault"
)

const (
	// maxHandshakes is how many may be under way. One more ends the oldest of them: a handshake takes milliseconds, and
	// a program that begins them and says nothing must not keep the extension out.
	maxHandshakes = 64

	// Of those who are turned away, the log names these many, and then one in each such time.
	complaints     = 20
	complaintEvery = 10 * time.Second
)

// wrongProofs are answered at once while they are few. No rate would make a secret of 256 bits guessable, but a program
// that tries is to fill neither a log nor a core.
var wrongProofs = access.Budget{Burst: 20, Every: 500 * time.Millisecond, Pause: time.Second}

// Handler lets extensions in: GET /extension. Everything that can be checked before the upgrade is.
func (h *Hub) Handler() http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if status, reason := h.refuse(r); status != 0 {
			h.rejectionLog.Do(func() {
				h.cfg.Log.Warn().Int("status", status).Str("host", quote(r.Host)).Str("origin",
					quote(r.Header.Get("Origin"))).
					Msg("extension refused before the upgrade: " + reason)
			})
			if status == http.StatusServiceUnavailable {
				w.Header().Set("Retry-After", "1")
			}
			http.Error(w, reason, status)
			return
		}
		h.admit(w, r)
	})
}

// refuse returns the status to refuse an upgrade with, and why; 0 lets it pass.
func (h *Hub) refuse(r *http.Request) (status int, reason string) {
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
	return 0, ""
}

// checkHost refuses a request whose Host is not this machine's loopback and our own port. A page whose name an
// attacker lets resolve to 127.0.0.1 sends its own name as Host; a program that passes a handshake on sends another
// port.
func checkHost(r *http.Request) error {
	if !access.LocalHost(r.Host) {
		return fmt.Errorf("the host %q is not loopback", quote(r.Host))
	}
	_, port, err := net.SplitHostPort(r.Host)
	if err != nil {
		port = "80"
	}
	local, ok := r.Context().Value(http.LocalAddrContextKey).(*net.TCPAddr)
	if !ok {
		return fmt.Errorf("the connection did not come over TCP")
	}
	if strconv.Itoa(local.Port) != port {
		return fmt.Errorf("the host %q names another port than %d", quote(r.Host), local.Port)
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

// quote is the beginning of what a stranger sent.
func quote(s string) string {
	return fault.Sanitize(clip.Bytes(s, 100))
}

// handshakes are those under way, the oldest in front.
type handshakes struct {
	mu   lock.Mutex
	list list.List // of context.CancelFunc
}

// enter notes a handshake that end ends, and ends the oldest when there are too many. leave must be called at its end.
func (g *handshakes) enter(end context.CancelFunc, most int) (leave func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	place := g.list.PushBack(end)
	if g.list.Len() > most {
		if oldest, ok := g.list.Remove(g.list.Front()).(context.CancelFunc); ok {
			oldest()
		}
	}
	return func() {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.list.Remove(place) // does nothing when it was removed already
	}
}
