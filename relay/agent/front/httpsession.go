package front

import (
	"context"
	"net/http"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/random"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
)

// Sessions exist in the legacy era of HTTP only.
const (
	// sessionIdle is how long a session lives that nobody uses. One with a call in flight or a stream open is in use.
	sessionIdle = time.Hour
	// maxSessions bounds what clients that never say goodbye can leave behind in an hour.
	maxSessions = 1000
)

// sessions are those of all clients. A session belongs to who began it: its id is a name, not a proof.
type sessions struct {
	mu   lock.Mutex
	byID map[string]*httpSession
}

// httpSession is one session.
type httpSession struct {
	id    string
	owner call.Session
	peer  peer

	mu     lock.Mutex // guards the rest
	used   time.Time
	stream *stream // on which the client listens; nil when there is none
	expiry *time.Timer
	ended  bool
}

// beginSession makes a session that nobody can find until it is kept.
func (f *Front) beginSession(owner call.Session, tools registry.Toolset) *httpSession {
	id := random.Hex(16)
	session := owner
	if owner.Bounds == nil { // a bounded session is one, however often its agent connects
		session.ID += "/" + random.Hex(4)
	}
	o := &offered{}
	return &httpSession{id: id, owner: owner, used: time.Now(),
		peer: peer{session: session, tools: tools, offered: o, listener: newListener(id, session, tools, o),
			ending: f.closing}}
}

// keepSession makes a session known after its initialize succeeded. Where there are too many, it ends the one that
// nobody has used for longest.
func (f *Front) keepSession(s *httpSession) {
	f.sessions.mu.Lock()
	oldest := s
	if len(f.sessions.byID) >= maxSessions {
		for _, other := range f.sessions.byID {
			if other.idleSince().Before(oldest.idleSince()) {
				oldest = other
			}
		}
	}
	f.sessions.byID[s.id] = s
	f.sessions.mu.Unlock()
	if oldest != s {
		f.endSession(oldest)
	}
	f.addListener(s.peer.listener)
	f.expireLater(s, sessionIdle)
}

// expireLater ends a session after a time, or looks again later when it was used meanwhile.
func (f *Front) expireLater(s *httpSession, after time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ended {
		return
	}
	s.expiry = time.AfterFunc(after, func() {
		if left := time.Until(s.idleSince().Add(sessionIdle)); left > 0 {
			f.expireLater(s, left)
			return
		}
		f.endSession(s)
	})
}

// idleSince returns when the session was used last, which is now while it is in use.
func (s *httpSession) idleSince() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.stream != nil || s.peer.open.count() > 0 {
		return time.Now()
	}
	return s.used
}

// sameClient reports whether two sessions are of one client. Its scope may have changed meanwhile.
func sameClient(a, b call.Session) bool {
	a.Scope, b.Scope = call.Scope{}, call.Scope{}
	return a == b
}

func (s *httpSession) touch() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.used = time.Now()
}

// endSession forgets a session, abandons its requests and ends its stream.
func (f *Front) endSession(s *httpSession) {
	f.sessions.mu.Lock()
	delete(f.sessions.byID, s.id)
	f.sessions.mu.Unlock()
	s.mu.Lock()
	if s.ended {
		s.mu.Unlock()
		return
	}
	s.ended = true
	if s.expiry != nil {
		s.expiry.Stop()
	}
	if s.stream != nil {
		s.stream.end()
	}
	s.mu.Unlock()
	s.peer.open.end()
	f.removeListener(s.peer.listener)
	if f.options.SessionEnded != nil && s.owner.Bounds == nil {
		f.options.SessionEnded(s.peer.session.ID)
	}
}

// session finds the session that a request names, or answers the request: 400 when it names none, 404 when there is no
// such session, upon which clients begin a new one.
func (f *Front) session(w http.ResponseWriter, r *http.Request, id []byte) *httpSession {
	name := r.Header.Get(mcp.HeaderSessionID)
	if name == "" {
		writeJSON(w, http.StatusBadRequest, errorResponse(id, fault.New(fault.NotInitialized,
			"The request names no session", fault.WithHint(
				"Send initialize first, then the header "+mcp.HeaderSessionID+" that its answer has.")),
			false))
		return nil
	}
	f.sessions.mu.Lock()
	s := f.sessions.byID[name]
	f.sessions.mu.Unlock()
	sender := sessionFrom(r.Context())
	if s == nil || !sameClient(s.owner, sender) || f.options.ScopeOfSession && s.owner.Scope != sender.Scope {
		writeJSON(w, http.StatusNotFound, errorResponse(id, fault.New(fault.NotInitialized, "There is no such session",
			fault.WithHint("Send initialize to begin a new one.")), false))
		return nil
	}
	s.touch()
	return s
}

// postLegacy takes a message of the legacy era.
func (f *Front) postLegacy(w http.ResponseWriter, r *http.Request, m *message) {
	var s *httpSession
	named := r.Header.Get(mcp.HeaderSessionID) != ""
	switch {
	case m.method == string(mcp.MethodInitialize) && !named && m.id != nil:
		f.initialize(w, r, m)
		return
	case m.method == string(mcp.MethodPing) && !named && m.id != nil:
		_ = writeJSON(w, http.StatusOK, resultResponse(m.id, []byte("{}")))
		return
	default:
		if s = f.session(w, r, m.id); s == nil {
			return
		}
	}
	if m.reply || m.id == nil {
		f.noteLegacy(s, m)
		w.WriteHeader(http.StatusAccepted)
		return
	}
	f.postRequest(w, r, s, m)
	if m.method == methodExit && s.peer.phase.Load() == phaseShutdown {
		f.endSession(s)
	}
}

// noteLegacy takes what gets no response: a notification, or the answer to a request of ours.
func (f *Front) noteLegacy(s *httpSession, m *message) {
	switch {
	case m.reply:
		s.peer.deliverReply(m)
	case m.method == string(mcp.MethodNotificationCancelled):
		s.peer.open.cancel(m.param("requestId"))
	case m.method == methodExit && s.peer.phase.Load() == phaseShutdown:
		f.endSession(s)
	}
}

// postRequest serves a request within a session. A client that loses its connection has not cancelled: the call goes
// on, only its answer is lost.
func (f *Front) postRequest(w http.ResponseWriter, r *http.Request, s *httpSession, m *message) {
	ctx, cancel := context.WithCancelCause(context.WithoutCancel(r.Context()))
	x := &exchange{id: m.id, cancel: cancel, gone: r.Context().Done()}
	if !s.peer.open.add(x) {
		cancel(nil)
		writeJSON(w, http.StatusBadRequest, duplicateID(m.id))
		return
	}
	defer s.touch()
	defer s.peer.open.remove(x)
	f.serveExchange(ctx, w, r, &s.peer, x, m)
}

// initialize begins a session. The header with its id goes out only when mcp-go has agreed to the handshake.
func (f *Front) initialize(w http.ResponseWriter, r *http.Request, m *message) {
	tools, fail := f.Toolset(r.URL.Query().Get("toolset"))
	if fail != nil {
		writeJSON(w, http.StatusBadRequest, errorResponse(m.id, fail, false))
		return
	}
	s := f.beginSession(sessionFrom(r.Context()), tools)
	_, cancel := context.WithCancelCause(context.Background())
	x := &exchange{id: m.id, cancel: cancel, out: &sessionOutlet{
		httpOutlet: httpOutlet{w: w},
		agreed: func() {
			f.keepSession(s)
			w.Header().Set(mcp.HeaderSessionID, s.id)
		},
	}}
	defer cancel(nil)
	f.serve(context.WithoutCancel(r.Context()), &s.peer, x, m)
}

// sessionOutlet is the way back of initialize.
type sessionOutlet struct {
	httpOutlet
	agreed func()
}

func (o *sessionOutlet) finish(r response) error {
	if r.code == 0 {
		o.agreed()
	}
	return o.httpOutlet.finish(r)
}

func (f *Front) deleteSession(w http.ResponseWriter, r *http.Request) {
	if s := f.session(w, r, nil); s != nil {
		f.endSession(s)
		w.WriteHeader(http.StatusOK)
	}
}

// EndSessions ends the HTTP sessions of whom which chooses, and with them what they listen to.
func (f *Front) EndSessions(which func(owner call.Session) bool) {
	f.sessions.mu.Lock()
	var ended []*httpSession
	for _, s := range f.sessions.byID {
		if which(s.owner) {
			ended = append(ended, s)
		}
	}
	f.sessions.mu.Unlock()
	for _, s := range ended {
		f.endSession(s)
	}
}

// Sessions counts the HTTP sessions of the legacy era that are open, by client. The modern era has none.
func (f *Front) Sessions() map[string]int {
	f.sessions.mu.Lock()
	defer f.sessions.mu.Unlock()
	count := map[string]int{}
	for _, s := range f.sessions.byID {
		count[s.owner.Client]++
	}
	return count
}
