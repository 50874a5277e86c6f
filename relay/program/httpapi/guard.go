package httpapi

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/lib/access"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/state/config"
)

const (
	// bodyTime is how long a sender may take for the body of a request. On this machine it takes a moment.
	bodyTime = 30 * time.Second

	// mcpPath is where MCP is spoken.
	mcpPath = "/mcp"

	// maxTarget bounds path and query of a request, in bytes.
	maxTarget = 8 << 10
)

// Tokens knows who has a token.
type Tokens interface {
	// Identify returns the session of whoever has a token, and notes that they are here.
	Identify(token string) (s call.Session, ok bool)

	// Expired says that a token has expired, with a hint; nil: it is of nobody, or good.
	Expired(token string) error

	// Enter has end called when a token does not hold any more. leave must be called when the request has ended.
	Enter(token string, end func()) (leave func())
}

// Challenger is for [Tokens] of which some are issued elsewhere: it says how a client gets one, and why one is refused.
type Challenger interface {
	// Challenge completes the header WWW-Authenticate of the answer to a request whose token is not known; empty: that
	// answer has none. The refusal is nil where the guard's own says all.
	Challenge(token string) (params string, refusal *Refusal)
}

// guard decides who may send requests. Every route is behind it.
type guard struct {
	origins  []string // of web pages, besides those of this machine
	tokens   Tokens
	limiter  *Limiter
	failures *access.Failures // requests without a token that is known
}

// wrongTokens are answered at once while they are few, as from a client whose token was rotated.
var wrongTokens = access.Budget{Burst: 20, Every: 500 * time.Millisecond, Pause: time.Second}

func newGuard(origins []string, tokens Tokens, limiter *Limiter, log zerolog.Logger) *guard {
	return &guard{origins: origins, tokens: tokens, limiter: limiter, failures: access.NewFailures(wrongTokens,
		func(slowed int) {
			log.Warn().Int("slowed", slowed).Msg("many requests without a token that is known; their answers are " +
				"held back")
		})}
}

// check refuses, before anything else looks at a request, what a web page elsewhere could make a browser send: its
// Origin gives it away, after DNS rebinding its Host does, and where a browser sends no Origin, as for an image or a
// link, it says by Sec-Fetch-Site (https://www.w3.org/TR/fetch-metadata/) that another site asks. What it refuses with
// says nothing about the path or the token. The extension's own route checks its one Origin itself.
func (g *guard) check(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		isolate(w.Header())
		g.limiter.asks(r.Context())
		origins := r.Header.Values("Origin")
		page := r.URL.Path != ExtensionPath
		remote := elsewhere(r.Context())
		switch {
		case remote != nil && !remote.names(r.Host):
			Refuse(w, http.StatusForbidden, fault.New(fault.PermissionDenied,
				"Requests for the host "+fault.Excerpt(r.Host)+" are not answered here",
				fault.WithHint("Use a name that is in the relay's certificate.")))
		case remote != nil && !page:
			Refuse(w, http.StatusForbidden, fault.New(fault.PermissionDenied,
				"Browsers connect to the relay of their own machine only",
				fault.WithHint("Install tabrelay where the browser is.")))
		case remote == nil && !access.LocalHost(r.Host):
			Refuse(w, http.StatusForbidden, fault.New(fault.PermissionDenied,
				"Requests for the host "+fault.Excerpt(r.Host)+" are not answered here",
				fault.WithHint("Use 127.0.0.1 or localhost.")))
		case r.RequestURI == "*":
			Refuse(w, http.StatusBadRequest, fault.New(fault.InvalidRequest,
				"Requests that name no path are not answered here",
				fault.WithHint("Name one, for example /healthz.")))
		case page && (len(origins) > 1 || len(origins) == 1 && !g.allows(origins[0], remote != nil)):
			Refuse(w, http.StatusForbidden, fault.New(fault.PermissionDenied,
				"Requests from the origin "+fault.Excerpt(strings.Join(origins, ", "))+" are not allowed",
				fault.WithHint("A person who trusts this origin can add it to allowedOrigins in config.json.")))
		case page && len(origins) == 0 && fromElsewhere(r.Header.Values("Sec-Fetch-Site")):
			Refuse(w, http.StatusForbidden, fault.New(fault.PermissionDenied,
				"Requests that another web page makes a browser send are not answered here",
				fault.WithHint("Open the address itself, or send the request from a program.")))
		case len(origins) == 1 && slices.Contains(g.origins, origins[0]) && shareWith(origins[0], w, r):
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// isolate keeps what is answered from being shown or read inside a page of somebody else.
func isolate(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
}

// fromElsewhere reports whether a browser says that a page of another site, or of another port here, asks.
func fromElsewhere(sites []string) bool {
	return slices.ContainsFunc(sites, func(site string) bool { return site != "same-origin" && site != "none" })
}

// allows reports whether a page of that origin may send requests. They need a token all the same. One of another
// machine is no local one, whatever its address says there.
func (g *guard) allows(origin string, remote bool) bool {
	return !remote && access.LocalOrigin(origin) || slices.Contains(g.origins, origin)
}

// shareWith lets a page that a person allowed read the answers. It reports whether the request was only the
// browser's question whether it may.
func shareWith(origin string, w http.ResponseWriter, r *http.Request) (asked bool) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, "+
		"Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID")
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// Who sends a request, as the guard found out.
type (
	senderKey struct{}
	socketKey struct{}
)

// Sender is the session of a request that has passed the guard.
func Sender(ctx context.Context) call.Session {
	s, _ := ctx.Value(senderKey{}).(call.Session)
	return s
}

// OverSocket marks what comes over relay.sock: whoever may open it needs no token.
func OverSocket(ctx context.Context) context.Context {
	return context.WithValue(ctx, socketKey{}, true)
}

func cameOverSocket(ctx context.Context) bool {
	local, _ := ctx.Value(socketKey{}).(bool)
	return local
}

// bearer is the token that a request carries, empty when it has none.
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return token
}

// identify finds out who sends a request. Over the socket it is the person, unless the request says that it is somebody
// else's: then it is theirs, or nobody's.
func (g *guard) identify(r *http.Request) (call.Session, bool) {
	if s, ok := fromPanel(r.Context()); ok {
		return s, true
	}
	if len(r.Header.Values("Authorization")) == 0 && cameOverSocket(r.Context()) {
		return call.Session{ID: config.LocalClient, Client: config.LocalClient, Via: call.ViaSocket}, true
	}
	if token := bearer(r); token != "" {
		s, ok := g.tokens.Identify(token)
		if s.Remote && elsewhere(r.Context()) != nil { // through SSH, its address is one of this machine
			s.Machine, _, _ = net.SplitHostPort(r.RemoteAddr)
		}
		return s, ok && (s.Remote || elsewhere(r.Context()) == nil)
	}
	return call.Session{}, false
}

// admit lets a route's requests in as its access says, and tells next who sends them.
func (g *guard) admit(access Access, next http.Handler) http.Handler {
	switch access {
	case Client:
		return g.known(next)
	case Machine:
		known := g.known(next)
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if elsewhere(r.Context()) != nil {
				known.ServeHTTP(w, r)
				return
			}
			next.ServeHTTP(w, r)
		})
	case Remote:
		return g.known(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if s := Sender(r.Context()); !s.Remote {
				Refuse(w, http.StatusForbidden, fault.New(fault.PermissionDenied, "The client "+fault.Excerpt(s.Client)+
					" is one of this machine, and cannot attach from another one",
					fault.WithHint("Use the token of a client that was added with: tabrelay clients add --remote "+
						"NAME")))
				return
			}
			next.ServeHTTP(w, r)
		}))
	case Panel:
		return g.known(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if _, ok := fromPanel(r.Context()); !ok {
				Refuse(w, http.StatusForbidden, fault.New(fault.PermissionDenied,
					"Only tabrelay's side panel may do that",
					fault.WithHint("Ask the person to do it there, or with `tabrelay` in a terminal.")))
				return
			}
			next.ServeHTTP(w, r)
		}))
	case Person:
		return g.known(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if s := Sender(r.Context()); !policy.IsPerson(s) {
				Refuse(w, http.StatusForbidden, fault.New(fault.PermissionDenied,
					"The client "+fault.Excerpt(s.Client)+" may not do that: it is for the person",
					fault.WithHint("Ask the person to do it in tabrelay's side panel, or with `tabrelay` in a "+
						"terminal.")))
				return
			}
			next.ServeHTTP(w, r)
		}))
	}
	return next
}

// known admits who is known. Others hear that they are not; where many fail, a moment later.
func (g *guard) known(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, ok := g.identify(r)
		if ok && session.Bounds != nil && r.URL.Path != mcpPath {
			Refuse(w, http.StatusForbidden, fault.New(fault.PermissionDenied,
				"An agent that acts for a client may use tools over MCP and nothing else",
				fault.WithHint("Send MCP to "+mcpPath+".")))
			return
		}
		if ok {
			ctx, end := context.WithCancel(context.WithValue(r.Context(), senderKey{}, session))
			defer end()
			g.limiter.known(ctx)
			if token := bearer(r); token != "" {
				defer g.tokens.Enter(token, end)()
			}
			next.ServeHTTP(w, r.WithContext(ctx))
			return
		}
		g.failures.Note(r.Context())
		params := ""
		if c, ok := g.tokens.(Challenger); ok {
			var refusal *Refusal
			if params, refusal = c.Challenge(bearer(r)); refusal != nil {
				if params != "" {
					w.Header().Set("WWW-Authenticate", `Bearer realm="tabrelay", `+params)
				}
				refusal.Reply(w)
				return
			}
			if params != "" {
				params = ", " + params
			}
		}
		if err := g.tokens.Expired(bearer(r)); err != nil {
			w.Header().Set("WWW-Authenticate", `Bearer realm="tabrelay", error="invalid_token", `+join.TokenExpired)
			Refuse(w, http.StatusUnauthorized, fault.New(fault.Unauthorized, "The request is refused: "+err.Error(),
				fault.WithHint(fault.HintOf(err))))
			return
		}
		w.Header().Set("WWW-Authenticate", `Bearer realm="tabrelay"`+params)
		Refuse(w, http.StatusUnauthorized, fault.New(fault.Unauthorized, "The request has no token that is known",
			fault.WithHint("Send “Authorization: Bearer …” with a token from: tabrelay clients add NAME")))
	})
}

// bounded refuses requests whose target is too long, and gives the body a size and an end.
func bounded(maxBody int, next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if len(r.RequestURI) > maxTarget {
			Refuse(w, http.StatusRequestURITooLong, fault.New(fault.InvalidRequest,
				"The address of the request is too long",
				fault.WithHint("Send what is long in the body.")))
			return
		}
		if r.Body == nil || r.Body == http.NoBody {
			next.ServeHTTP(w, r)
			return
		}
		control := http.NewResponseController(w)
		// both listeners can; a connection that ended says so when read
		_ = control.SetReadDeadline(time.Now().Add(bodyTime))
		// One byte more than the handlers allow, so that it is they who say that a body is too large.
		limited := http.MaxBytesReader(w, r.Body, int64(maxBody)+1)
		// the server looks at its own request's body to see whether the rest is worth reading
		inner := r.WithContext(r.Context())
		inner.Body = &timedBody{ReadCloser: limited, done: func() { _ = control.SetReadDeadline(time.Time{}) }}
		next.ServeHTTP(w, inner)
	})
}

// timedBody lifts the deadline when the body is over: afterwards the same connection is watched for its end, for as
// long as the answer takes.
type timedBody struct {
	io.ReadCloser
	done func()
	once sync.Once
}

// Read implements io.Reader.
func (b *timedBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if errors.Is(err, io.EOF) {
		b.once.Do(b.done)
	}
	return n, err
}
