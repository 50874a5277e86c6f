package worker

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"

	acp "github.com/coder/acp-go-sdk"

	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/lib/clip"
	"tabrelay/relay/road/fault"
)

// program is one run of a worker's program, from its start to its end.
type program struct {
	worker  *Worker
	process *process // nil: it could not be started
	conn    *conn
	speaks  dialect
	signIns []signIn // that it offers to a person

	ready   chan struct{} // closed when it can be used, or cannot
	failure *fault.Error  // why it cannot; set before ready is closed

	sessions map[string]*Session // guarded by Worker.mu; nil once it has ended
}

// dialect is what a program speaks. Its errors are those of conn.request, or say what is wrong with an answer.
type dialect interface {
	// open begins a session and returns the program's name for it.
	open(ctx context.Context, p *program, dir string, tools Tools) (id string, err error)
	// prompt takes a turn. The program is asked to end it early by cancel.
	prompt(ctx context.Context, s *Session, t *turn, one Turn) (Reply, error)
	// sees reports whether prompts may have pictures.
	sees() bool
	cancel(s *Session)
	// end tells the program that a session is over.
	end(ctx context.Context, s *Session)
}

// badReply is the error for an answer that lacks something.
type badReply struct{ what string }

func (e badReply) Error() string { return e.what }

// enlist makes a session known, unless the program has ended.
func (p *program) enlist(s *Session) error {
	p.worker.mu.Lock()
	defer p.worker.mu.Unlock()
	switch {
	case p.sessions == nil:
		return errEnded
	case p.sessions[s.id] != nil:
		return badReply{"another session has the sessionId in it"}
	}
	p.sessions[s.id] = s
	return nil
}

// delist forgets a session, and reports whether it was the last.
func (p *program) delist(s *Session) (last bool) {
	p.worker.mu.Lock()
	defer p.worker.mu.Unlock()
	if p.sessions[s.id] == s {
		delete(p.sessions, s.id)
	}
	return len(p.sessions) == 0
}

// end ends what is left of its sessions.
func (p *program) end() {
	p.worker.mu.Lock()
	defer p.worker.mu.Unlock()
	p.sessions = nil
}

// ended reports whether the program has ended. Of one that is being started that is not known.
func (p *program) ended() bool {
	select {
	case <-p.ready:
		return p.process == nil || p.process.over.Load()
	default:
		return false
	}
}

// turnOf is the turn that a session takes now; nil: none.
func (p *program) turnOf(id acp.SessionId) *turn {
	p.worker.mu.Lock()
	s := p.sessions[string(id)]
	p.worker.mu.Unlock()
	if s == nil {
		return nil
	}
	return s.turn.Load()
}

// hear takes what the program says by itself, in the Agent Client Protocol. Other things are not offered to it.
func (p *program) hear(ctx context.Context, method string, params json.RawMessage) (any, *acp.RequestError) {
	switch method {
	case acp.ClientMethodSessionUpdate:
		var n acp.SessionNotification
		if err := json.Unmarshal(params, &n); err != nil {
			p.worker.unusable(p, "an update has an unknown form")
			return nil, acp.NewInvalidParams(nil)
		}
		if t := p.turnOf(n.SessionId); t != nil {
			t.update(&n.Update)
		}
		return nil, nil
	case acp.ClientMethodSessionRequestPermission:
		var r acp.RequestPermissionRequest
		if err := json.Unmarshal(params, &r); err != nil || r.Validate() != nil {
			return nil, acp.NewInvalidParams(nil)
		}
		return acp.RequestPermissionResponse{Outcome: permit(ctx, p.turnOf(r.SessionId), &r)}, nil
	case acp.ClientMethodElicitationCreate:
		var q question
		if err := json.Unmarshal(params, &q); err != nil {
			return nil, acp.NewInvalidParams(nil)
		}
		answer, refused := elicit(ctx, p.turnOf(q.SessionID), &q)
		if refused != nil {
			return nil, refused
		}
		return answer, nil
	}
	return nil, acp.NewMethodNotFound(method)
}

// ended is the failure of something whose context has ended.
func (w *Worker) ended(ctx context.Context, when string, o fault.Outcome) *fault.Error {
	if errors.Is(context.Cause(ctx), context.DeadlineExceeded) {
		return fault.New(codes.WorkerTimeout, "The worker "+w.options.ID+" did not answer in time "+when,
			fault.WithOutcome(o))
	}
	return fault.New(fault.Cancelled, "The request ended "+when, fault.WithOutcome(o),
		fault.WithCause(context.Cause(ctx)))
}

// failed is the failure of something that a program was to do. when is a part of the sentence.
func (w *Worker) failed(ctx context.Context, p *program, err error, when string, o fault.Outcome) *fault.Error {
	var refused *acp.RequestError
	var bad badReply
	id := w.options.ID
	switch {
	case errors.Is(err, errEnded):
		return w.died(p, when, o)
	case errors.As(err, &bad), errors.Is(err, errMalformed), errors.Is(err, errTooLong):
		return fault.New(codes.WorkerBadReply,
			fmt.Sprintf("The worker %s gave no valid answer when %s: %s", id, when, err),
			fault.WithOutcome(o), w.evidence(p))
	case errors.As(err, &refused):
		return w.refused(p, refused, o)
	}
	return w.ended(ctx, "when "+when, o)
}

// died is the failure of what a program did not end, because it ended itself.
func (w *Worker) died(p *program, when string, o fault.Outcome) *fault.Error {
	if p.conn.deaf.Load() && !p.process.endsWithin(closeTime) {
		p.process.blame("it was ended, because it could not be told anything")
		p.process.stop()
	}
	<-p.process.exited // a program that says nothing more is ended
	failure := fault.New(codes.WorkerFailed, fmt.Sprintf("The worker %s ended when %s: %s", w.options.ID, when,
		p.process.how), fault.WithOutcome(o), w.evidence(p),
		fault.WithHint("Check what was done before repeating the task. A new session starts the worker anew."))
	failure.SessionValid = new(false)
	return failure
}

// authRequired is the number with which a program says that the person has to sign in first.
const authRequired = -32000

// refused is the failure that a program reports, in its own words.
func (w *Worker) refused(p *program, e *acp.RequestError, o fault.Outcome) *fault.Error {
	said := e.Message
	if details := detailsOf(e.Data); details != "" {
		said += ": " + details
	}
	options := []fault.Option{fault.WithOutcome(o), w.evidence(p)}
	if _, acpSpoken := p.speaks.(acpDialect); acpSpoken && e.Code == authRequired {
		options = append(options, fault.WithHint(w.howToSignIn(p.signIns)))
		return fault.New(codes.WorkerFailed,
			"Nobody has signed in to the worker "+w.options.ID+": "+clip.Runes(p.process.plain(said), 2000), options...)
	}
	return fault.New(codes.WorkerFailed,
		"The worker "+w.options.ID+" reported: "+clip.Runes(p.process.plain(said), 2000),
		options...)
}

// detailsOf is what a program says of a failure besides its message.
func detailsOf(data any) string {
	switch d := data.(type) {
	case string:
		return d
	case map[string]any:
		for _, name := range []string{"details", "error", "message"} {
			if text, ok := d[name].(string); ok {
				return text
			}
		}
	}
	return ""
}

// evidence adds the end of what the program wrote to stderr to a failure.
func (w *Worker) evidence(p *program) fault.Option {
	text := fault.WithoutPlaces(p.process.complaint())
	if text == "" {
		return func(*fault.Error) {}
	}
	data, _ := json.Marshal(map[string]string{"stderr": text[max(0, len(text)-maxEvidence):]}) // a text has a JSON form
	return fault.WithData(data)
}

// maxEvidence is how much of it clients see, in bytes.
const maxEvidence = 1 << 10
