package front

import (
	"context"
	"errors"
	"io"
	"mime"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tabrelay/relay/lib/access"
	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// keepAlive is how long a stream stays silent before a comment is sent. Clients built on Node's fetch drop a response
// that sends nothing for five minutes, headers included.
const keepAlive = 25 * time.Second

type sessionKey struct{}

// WithSession says who sends the requests of ctx, as the relay's token check found out.
func WithSession(ctx context.Context, s call.Session) context.Context {
	return context.WithValue(ctx, sessionKey{}, s)
}

func sessionFrom(ctx context.Context) call.Session {
	s, _ := ctx.Value(sessionKey{}).(call.Session)
	return s
}

// Handler serves MCP over streamable HTTP on one path. Whoever sends must be in the request's context, see WithSession.
func (f *Front) Handler() http.Handler { return http.HandlerFunc(f.serveHTTP) }

func (f *Front) serveHTTP(w http.ResponseWriter, r *http.Request) {
	if fail := f.checkOrigin(r); fail != nil {
		writeJSON(w, http.StatusForbidden, errorResponse(nil, fail, false))
		return
	}
	modern := mcp.IsModernProtocol(r.Header.Get(mcp.HeaderProtocolVersion))
	switch {
	case r.Method == http.MethodPost:
		f.post(w, r)
	case r.Method != http.MethodGet && r.Method != http.MethodDelete:
		notAllowed(w, r, "POST, GET, DELETE", "This path takes POST, GET and DELETE.")
	case modern: // which has no sessions: nothing to listen on and nothing to delete
		notAllowed(w, r, http.MethodPost, "This protocol version has no sessions: send POST, and listen with "+
			"subscriptions/listen.")
	case unknownVersion(w, r, nil):
	case r.Method == http.MethodGet:
		f.getStream(w, r)
	default:
		f.deleteSession(w, r)
	}
}

func notAllowed(w http.ResponseWriter, r *http.Request, allowed, hint string) {
	w.Header().Set("Allow", allowed)
	writeJSON(w, http.StatusMethodNotAllowed, errorResponse(nil, fault.New(fault.InvalidRequest,
		"The method "+clip.Runes(r.Method, 40)+" is not supported here", fault.WithHint(hint)), false))
}

// unknownVersion refuses a legacy request whose header names a version that does not exist.
func unknownVersion(w http.ResponseWriter, r *http.Request, id []byte) bool {
	version := r.Header.Get(mcp.HeaderProtocolVersion)
	if version == "" || mcp.IsValidProtocolVersion(version) {
		return false
	}
	fail := fault.New(fault.UnsupportedVersion, "The protocol version "+clip.Runes(version, 40)+" is not supported",
		fault.WithHint("Use one of "+strings.Join(mcp.ValidProtocolVersions, ", ")+"."))
	writeJSON(w, http.StatusBadRequest, errorResponse(id, fail, false))
	return true
}

// post takes one message.
func (f *Front) post(w http.ResponseWriter, r *http.Request) {
	if kind, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || kind != "application/json" {
		writeJSON(w, http.StatusUnsupportedMediaType, errorResponse(nil, fault.New(fault.InvalidRequest,
			"The message is not sent as JSON",
			fault.WithHint("Send the header Content-Type: application/json.")), false))
		return
	}
	body, status, fail := f.readBody(w, r)
	var m message
	if fail == nil {
		status = http.StatusBadRequest
		m, fail = parse(body)
	}
	if fail != nil {
		writeJSON(w, status, errorResponse(m.id, fail, false))
		return
	}
	version := r.Header.Get(mcp.HeaderProtocolVersion)
	meta, _ := readMeta(&m) // one that is malformed is refused when it is served
	if meta.modern || mcp.IsModernProtocol(version) {
		f.postModern(w, r, &m, meta)
	} else if !unknownVersion(w, r, m.id) {
		f.postLegacy(w, r, &m)
	}
}

// readBody reads the whole message, into memory of the right size when the client says how long it is.
func (f *Front) readBody(w http.ResponseWriter, r *http.Request) (body []byte, status int, fail *fault.Error) {
	if r.ContentLength > f.options.MaxBody {
		return nil, http.StatusRequestEntityTooLarge, f.tooLarge()
	}
	limited := http.MaxBytesReader(w, r.Body, f.options.MaxBody)
	var err error
	if r.ContentLength > 0 {
		body = make([]byte, r.ContentLength)
		_, err = io.ReadFull(limited, body)
	} else {
		body, err = io.ReadAll(limited)
	}
	var tooLarge *http.MaxBytesError
	switch {
	case errors.As(err, &tooLarge):
		return nil, http.StatusRequestEntityTooLarge, f.tooLarge()
	case err != nil:
		return nil, http.StatusBadRequest, fault.New(fault.ParseError, "The request body ended early")
	}
	return body, 0, nil
}

func (f *Front) tooLarge() *fault.Error {
	return fault.New(fault.InvalidRequest, "The message has more than "+strconv.FormatInt(f.options.MaxBody, 10)+
		" bytes",
		fault.WithHint("Send less at once."))
}

// postModern serves a message of the modern era: headers and body must agree, and no state of the client is kept. A
// client cancels a request by closing its connection, never by a notification, which could name a stranger's request.
func (f *Front) postModern(w http.ResponseWriter, r *http.Request, m *message, meta *requestMeta) {
	version, header := meta.Version, r.Header.Get(mcp.HeaderProtocolVersion)
	if version == "" && m.id == nil && !m.reply {
		version = header // only requests have to say it; a client that is refused for less may give its connection up
	}
	if m.reply {
		writeJSON(w, http.StatusBadRequest, errorResponse(m.id,
			fault.New(fault.InvalidRequest, "This protocol version has no requests that a client could reply to",
				fault.WithHint("Answer a question by sending the request again with inputResponses and requestState.")),
			true))
		return
	}
	if code, why := checkVersions(r, version, header); code != 0 {
		writeJSON(w, http.StatusBadRequest, errorResponseWith(m.id, code, why, nil))
		return
	}
	if m.id == nil {
		w.WriteHeader(http.StatusAccepted)
		return
	}
	if mcp.IsValidProtocolVersion(version) {
		if err := mcp.ValidateStandardHeaders(r.Header.Get, version, mcp.MCPMethod(m.method),
			m.withoutArguments()); err != nil {
			writeJSON(w, http.StatusBadRequest, errorResponseWith(m.id, mcp.HEADER_MISMATCH, err.Error(), nil))
			return
		}
		if err := f.checkMirrored(r.Header, m); err != nil {
			writeJSON(w, http.StatusBadRequest, errorResponseWith(m.id, mcp.HEADER_MISMATCH, err.Error(), nil))
			return
		}
	}
	tools, fail := f.Toolset(r.URL.Query().Get("toolset"))
	if fail != nil {
		writeJSON(w, http.StatusBadRequest, errorResponse(m.id, fail, true))
		return
	}
	p := &peer{session: sessionFrom(r.Context()), tools: tools, ending: f.closing}
	if p.session.Bounds != nil {
		// it acts as one session, whatever it calls itself
	} else if p.session.ID, fail = sessionOf(p.session.ID, meta, r.URL.Query()); fail != nil {
		writeJSON(w, http.StatusBadRequest, errorResponse(m.id, fail, true))
		return
	}
	p.offered = f.offers.of(p.session.ID)
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	x := &exchange{id: m.id, cancel: cancel}
	defer context.AfterFunc(r.Context(), x.abandon)()
	f.serveExchange(ctx, w, r, p, x, m)
}

// checkMirrored compares the arguments that a tool declares as headers, too, with the headers that were sent.
func (f *Front) checkMirrored(h http.Header, m *message) error {
	if isTaskMethod(m.method) && f.options.Tasks != nil {
		return checkTaskHeader(h, m)
	}
	if m.method != string(mcp.MethodToolsCall) {
		return nil
	}
	name, _ := rawjson.Text(m.param("name"))
	t, ok := f.options.Tools.Snapshot().Find(name)
	if !ok || !t.Mirrored {
		return nil
	}
	sent := func(name string) (string, bool) {
		values := h.Values(name)
		return strings.Join(values, ", "), len(values) > 0
	}
	return mcp.ValidateParamHeadersLookup(sent, &mcp.Tool{RawInputSchema: t.Spec.InputSchema}, m.params)
}

// sessionOf names the session of a modern request. Nothing ties such requests together but what they say themselves:
// agents that share a token keep apart by a name, in _meta["tabrelay/session"] or in the query of the URL.
func sessionOf(base string, meta *requestMeta, query url.Values) (string, *fault.Error) {
	if meta.Lane != nil || query.Has("lane") {
		return "", fault.New(fault.InvalidParams, `"lane" is called "session" now: _meta["tabrelay/session"] or `+
			`?session=`)
	}
	name := query.Get("session")
	if meta.Session != nil {
		var ok bool
		if name, ok = rawjson.Text(meta.Session); !ok {
			return "", fault.New(fault.InvalidParams, `_meta["tabrelay/session"] is not a string`)
		}
	}
	switch {
	case name == "":
		return base, nil
	case !call.SessionName.MatchString(name):
		return "", fault.New(fault.InvalidParams, "The session is not a name of 1 to 64 letters, digits, ., _ or -")
	}
	return base + call.NamedSession + name, nil
}

// checkVersions compares what headers and body say, and returns the JSON-RPC error code of a contradiction.
func checkVersions(r *http.Request, version, header string) (code int, why string) {
	switch {
	case r.Header.Get(mcp.HeaderLastEventID) != "":
		return mcp.HEADER_MISMATCH, "Last-Event-ID is not supported: streams do not resume, send the request again " +
			"under a new id"
	case header == "":
		return mcp.HEADER_MISMATCH, "The header " + mcp.HeaderProtocolVersion + " is missing"
	case version == "":
		return mcp.INVALID_PARAMS, "The _meta field " + mcp.MetaKeyProtocolVersion + " is missing or malformed"
	case version != header:
		return mcp.HEADER_MISMATCH, "The header " + mcp.HeaderProtocolVersion + " and the _meta field " +
			mcp.MetaKeyProtocolVersion + " differ"
	}
	return 0, ""
}

// serveExchange serves one request over HTTP.
func (f *Front) serveExchange(ctx context.Context, w http.ResponseWriter, r *http.Request, p *peer, x *exchange,
	m *message) {
	defer x.cancel(nil)
	out := &httpOutlet{w: w, modern: p.listener == nil, streams: accepts(r, "text/event-stream")}
	x.out = out
	if out.streams {
		x.startHeartbeat(keepAlive)
		defer x.stopHeartbeat()
	} else if m.method == string(mcp.MethodSubscriptionsListen) {
		notAcceptable(w, m.id)
		return
	}
	f.serve(ctx, p, x, m)
	out.end()
}

// notAcceptable refuses a client that does not accept an event stream, where only that could answer.
func notAcceptable(w http.ResponseWriter, id []byte) {
	writeJSON(w, http.StatusNotAcceptable, errorResponse(id, fault.New(fault.InvalidRequest,
		"The client does not accept an event stream",
		fault.WithHint("Send the header Accept: text/event-stream.")), false))
}

// accepts reports whether the client takes answers of this kind.
func accepts(r *http.Request, kind string) bool {
	accept := r.Header.Get("Accept")
	return strings.Contains(accept, kind) || strings.Contains(accept, "*/*")
}

// checkOrigin refuses requests with the Origin or, after DNS rebinding, the Host of a web page that is not allowed: any
// page can make a browser send requests to this machine.
func (f *Front) checkOrigin(r *http.Request) *fault.Error {
	if sessionFrom(r.Context()).Remote { // the listener for other machines has checked the Host by its own names
		return nil
	}
	origins := r.Header.Values("Origin")
	for _, origin := range origins {
		if len(origins) > 1 || !access.LocalOrigin(origin) && !slices.Contains(f.options.AllowedOrigins, origin) {
			return fault.New(fault.InvalidRequest, "Requests from the origin "+clip.Runes(origin, 80)+
				" are not allowed",
				fault.WithHint("Ask the person to allow this origin in the configuration, if they trust it."))
		}
	}
	if !access.LocalHost(r.Host) {
		return fault.New(fault.InvalidRequest, "Requests for the host "+clip.Runes(r.Host, 80)+" are not answered here",
			fault.WithHint("Use 127.0.0.1 or localhost."))
	}
	return nil
}
