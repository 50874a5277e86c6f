package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/call"
	"tabrelay/relay/config"
	"tabrelay/relay/fault"
	"tabrelay/relay/loopback"
	"tabrelay/relay/throttle"
)

// door decides who may come in over HTTP. Every route is behind it.
type door struct {
	origins []string // of web pages, besides those of this machine
	tokens  *config.Secrets
	inside  *passes
	arrived func(client string) call.Scope // notes that a client is here, and says its scope; may be nil

	visitors *visitors
	failures *throttle.Failures // requests without a token that is known
}

// wrongTokens are answered at once while they are few, as from a client whose token was rotated.
var wrongTokens = throttle.Budget{Burst: 20, Every: 500 * time.Millisecond, Pause: time.Second}

func newDoor(origins []string, tokens *config.Secrets, inside *passes, open *visitors, log zerolog.Logger) *door {
	return &door{origins: origins, tokens: tokens, inside: inside, visitors: open, failures: throttle.New(wrongTokens, func(slowed int) {
		log.Warn().Int("slowed", slowed).Msg("many requests without a token that is known; their answers are held back")
	})}
}

// guard refuses, before anything else looks at a request, what a web page elsewhere could make a browser send: its
// Origin gives it away, after DNS rebinding its Host does, and where a browser sends no Origin, as for an image or a
// link, it says by Sec-Fetch-Site (https://www.w3.org/TR/fetch-metadata/) that another site asks. What it refuses with
// says nothing about the path or the token. The extension's own route checks its one Origin itself.
func (d *door) guard(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		closed(w.Header())
		d.visitors.asks(r.Context())
		origins := r.Header.Values("Origin")
		switch {
		case !loopback.Host(r.Host):
			refuse(w, http.StatusForbidden, fault.New(fault.PermissionDenied, "Requests for the host "+excerpt(r.Host)+" are not answered here",
				fault.WithHint("Use 127.0.0.1 or localhost.")))
		case r.RequestURI == "*":
			refuse(w, http.StatusBadRequest, fault.New(fault.InvalidRequest, "Requests that name no path are not answered here",
				fault.WithHint("Name one, for example /healthz.")))
		case r.URL.Path != extensionPath && (len(origins) > 1 || len(origins) == 1 && !d.allows(origins[0])):
			refuse(w, http.StatusForbidden, fault.New(fault.PermissionDenied, "Requests from the origin "+excerpt(strings.Join(origins, ", "))+" are not allowed",
				fault.WithHint("A person who trusts this origin can add it to allowedOrigins in config.json.")))
		case r.URL.Path != extensionPath && len(origins) == 0 && fromElsewhere(r.Header.Values("Sec-Fetch-Site")):
			refuse(w, http.StatusForbidden, fault.New(fault.PermissionDenied, "Requests that another web page makes a browser send are not answered here",
				fault.WithHint("Open the address itself, or send the request from a program.")))
		case len(origins) == 1 && slices.Contains(d.origins, origins[0]) && d.shareWith(origins[0], w, r):
		default:
			next.ServeHTTP(w, r)
		}
	})
}

// closed keeps what is answered from being shown or read inside a page of somebody else.
func closed(h http.Header) {
	h.Set("Content-Security-Policy", "default-src 'none'; frame-ancestors 'none'")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("X-Content-Type-Options", "nosniff")
}

// fromElsewhere reports whether a browser says that a page of another site, or of another port here, asks.
func fromElsewhere(sites []string) bool {
	return slices.ContainsFunc(sites, func(site string) bool { return site != "same-origin" && site != "none" })
}

// allows reports whether a page of that origin may send requests. They need a token all the same.
func (d *door) allows(origin string) bool {
	return loopback.Origin(origin) || slices.Contains(d.origins, origin)
}

// shareWith lets a page that a person allowed read the answers. It reports whether the request was only the
// browser's question whether it may.
func (d *door) shareWith(origin string, w http.ResponseWriter, r *http.Request) (asked bool) {
	h := w.Header()
	h.Set("Access-Control-Allow-Origin", origin)
	h.Add("Vary", "Origin")
	h.Set("Access-Control-Expose-Headers", "Mcp-Session-Id, Mcp-Protocol-Version, WWW-Authenticate")
	if r.Method != http.MethodOptions || r.Header.Get("Access-Control-Request-Method") == "" {
		return false
	}
	h.Set("Access-Control-Allow-Methods", "GET, POST, DELETE")
	h.Set("Access-Control-Allow-Headers", "Authorization, Content-Type, Accept, Mcp-Session-Id, Mcp-Protocol-Version, Mcp-Method, Mcp-Name, Last-Event-ID")
	h.Set("Access-Control-Max-Age", "600")
	w.WriteHeader(http.StatusNoContent)
	return true
}

// Who sends a request, as the door found out.
type (
	senderKey struct{}
	localKey  struct{}
)

// sender is the session of a request that came past the token check.
func sender(ctx context.Context) (call.Session, bool) {
	s, ok := ctx.Value(senderKey{}).(call.Session)
	return s, ok
}

// overSocket marks what comes over relay.sock: whoever may open it needs no token.
func overSocket(ctx context.Context) context.Context {
	return context.WithValue(ctx, localKey{}, true)
}

// bearer is the token that a request carries, empty when it has none.
func bearer(r *http.Request) string {
	scheme, token, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	if !strings.EqualFold(scheme, "Bearer") {
		return ""
	}
	return token
}

// identify finds out who sends a request.
func (d *door) identify(r *http.Request) (call.Session, bool) {
	if s, ok := fromPanel(r.Context()); ok {
		return s, true
	}
	if local, _ := r.Context().Value(localKey{}).(bool); local {
		return call.Session{ID: config.LocalClient, Client: config.LocalClient, Via: viaSocket}, true
	}
	token := bearer(r)
	if token == "" {
		return call.Session{}, false
	}
	client, ok := d.tokens.Verify(token)
	session := call.Session{ID: "http:" + client, Client: client, Via: "http"}
	if ok && d.arrived != nil && client != config.LocalClient {
		session.Scope = d.arrived(client)
	}
	return session, ok
}

// known admits who is known, and tells next who it is. Others hear that they are not; where many fail, a moment later.
func (d *door) known(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		session, ok := d.identify(r)
		if ok {
			ctx, end := context.WithCancel(context.WithValue(r.Context(), senderKey{}, session))
			defer end()
			d.visitors.known(ctx)
			if token := bearer(r); token != "" {
				defer d.inside.enter(token, end)()
			}
			next.ServeHTTP(w, r.WithContext(ctx))
			return
		}
		d.failures.Note(r.Context())
		w.Header().Set("WWW-Authenticate", `Bearer realm="tabrelay"`)
		refuse(w, http.StatusUnauthorized, fault.New(fault.Unauthorized, "The request has no token that is known",
			fault.WithHint("Send “Authorization: Bearer …” with a token from: tabrelay clients add NAME")))
	})
}

// operator admits who acts for the person: the command line of this machine, and the extension's panel. Agents, which
// have tokens of their own, are refused.
func (d *door) operator(next http.HandlerFunc) http.Handler {
	return d.known(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if s, _ := sender(r.Context()); !isOperator(s) {
			refuse(w, http.StatusForbidden, fault.New(fault.PermissionDenied, "The client "+excerpt(s.Client)+" may not do that: it is for the person",
				fault.WithHint("Ask the person to do it in tabrelay's side panel, or with `tabrelay` in a terminal.")))
			return
		}
		next(w, r)
	}))
}

// isOperator tells the person from agents. An attached client is an agent, whatever token it came with.
func isOperator(s call.Session) bool {
	return s.Via == viaPanel || s.Client == config.LocalClient && s.Via != "stdio"
}

// viaSocket is how requests of the command line come.
const viaSocket = "cli"

// viaPanel is how requests of the extension's panel come.
const viaPanel = "panel"

// refuse answers with a failure.
func refuse(w http.ResponseWriter, status int, f *fault.Error) {
	reply(w, status, map[string]any{"error": f})
}

func reply(w http.ResponseWriter, status int, v any) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	var body bytes.Buffer
	enc := json.NewEncoder(&body)
	enc.SetEscapeHTML(false)
	_ = enc.Encode(v)                                       // everything replied with can be encoded
	_, _ = w.Write(bytes.TrimSuffix(body.Bytes(), newline)) // all that can fail is a client that went away
}

// newline is what an encoder puts after a document; bodies are the document alone.
var newline = []byte("\n")

// excerpt quotes what a stranger sent.
func excerpt(s string) string {
	const most = 80
	if len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + "…"
	}
	return fault.Sanitize(s)
}
