package relay

import (
	"context"
	"errors"
	"net/http"
	"slices"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/confirm"
	"tabrelay/relay/fault"
)

// Whatever lets agents do more is confirmed by a person, in one place: [Relay.confirmed]. A handler that may widen
// anything says what would change, as a [confirm.Change], or nil when nothing does, and goes on only when it may.

const (
	// ConfirmedHeader carries, over the socket only, the digest of the change that a person confirmed at a terminal.
	ConfirmedHeader = "Tabrelay-Confirmed"

	// AskedHeader says, in an answer of status 102 before the real one, where the person is being asked.
	AskedHeader = "Tabrelay-Asked"
)

// Unconfirmed is the answer, with status 428, to a request that needs a person to confirm it, and no panel is open.
type Unconfirmed struct {
	Error  *fault.Error    `json:"error"`
	Digest string          `json:"digest"` // for ConfirmedHeader
	Change *confirm.Change `json:"change"`
	Asked  bool            `json:"asked,omitempty"` // the panel asks it too, in another form
}

// confirmed reports whether a change may be made, and who said so; if not, it has answered the request. What the person
// does in the panel is confirmed by that. While a panel is open, everybody else waits for an answer there, whatever they
// bring along. Without one, the command line brings the digest of what a person confirmed at its terminal.
func (r *Relay) confirmed(w http.ResponseWriter, req *http.Request, c *confirm.Change) (by string, ok bool) {
	session, _ := sender(req.Context())
	switch {
	case c == nil || session.Via == viaPanel:
		return answerer(session), true
	case !c.Beside && r.hub.PanelsOpen():
		return panelClient, r.askPanel(w, req, session, c)
	case session.Via == viaSocket && req.Header.Get(ConfirmedHeader) == c.Digest():
		r.recordWidening(session, c, "allowed", "terminal")
		return "terminal", true
	}
	reply(w, http.StatusPreconditionRequired, Unconfirmed{Digest: c.Digest(), Change: c, Asked: c.Beside, Error: fault.New(fault.PermissionDenied,
		"This lets agents do more, so a person has to confirm it, and nothing was changed: "+c.String(),
		fault.WithHint("Open tabrelay's side panel and do it again, or do it with `tabrelay` in a terminal."))})
	return "", false
}

// askPanel asks in the panels that are open, and waits.
func (r *Relay) askPanel(w http.ResponseWriter, req *http.Request, session call.Session, c *confirm.Change) bool {
	w.Header().Set(AskedHeader, panelClient)
	w.WriteHeader(http.StatusProcessing)
	w.Header().Del(AskedHeader)
	err := r.desk.Ask(req.Context(), c, "a program on this computer")
	said, status, failure := "allowed", 0, (*fault.Error)(nil)
	switch {
	case err == nil:
	case errors.Is(err, confirm.ErrDenied):
		said, status, failure = "denied", http.StatusForbidden, fault.New(fault.ApprovalDenied, "The person did not allow it in tabrelay's panel, so nothing was changed")
	case errors.Is(err, confirm.ErrTimeout):
		said, status, failure = "not answered in time", http.StatusGatewayTimeout, fault.New(fault.ApprovalTimeout, "Nobody answered in tabrelay's panel within "+r.config.Approvals.Timeout.String()+", so nothing was changed",
			fault.WithHint("Look at the panel and run it again; or close the panel, and confirm in a terminal."))
	case errors.Is(err, confirm.ErrFull):
		said, status, failure = "not asked", http.StatusTooManyRequests, fault.New(fault.Overloaded, err.Error()+", so nothing was changed", fault.WithHint("Answer those first."))
	case errors.Is(err, confirm.ErrClosed):
		said, status, failure = "ended by the relay's end", http.StatusServiceUnavailable, fault.New(fault.ShuttingDown, "The relay stopped before there was an answer, so nothing was changed")
	default: // whoever asked is gone
		r.recordWidening(session, c, "withdrawn", "relay")
		return false
	}
	by := panelClient
	if said != "allowed" && said != "denied" {
		by = "relay"
	}
	r.recordWidening(session, c, said, by)
	if failure != nil {
		refuse(w, status, failure)
	}
	return failure == nil
}

// recordWidening writes into the audit log that somebody wanted agents to be able to do more, and what came of it.
func (r *Relay) recordWidening(session call.Session, c *confirm.Change, said, by string) {
	r.Log.Info().Str("change", c.String()).Str("decision", said).Str("by", by).Msg("a change that lets agents do more")
	r.record(widening(session, c, said, by))
}

func widening(session call.Session, c *confirm.Change, said, by string) call.Entry {
	return call.Entry{At: time.Now(), Kind: call.EntryWidening, Session: session, Decision: said, DecidedBy: by, Detail: c.String()}
}

// Kinds of what the panel shows.
const (
	confirmAsked  = "asked"  // somebody waits for an answer
	confirmConfig = "config" // config.json was changed, and this part of it is not in effect
	confirmStart  = "start"  // the last start let agents do more than the one before
)

// Confirmation is one change that the panel shows.
type Confirmation struct {
	ID   string `json:"id"` // config and start are those of their kind: there is one each
	Kind string `json:"kind"`
	*confirm.Change
	Digest string     `json:"digest"`
	From   string     `json:"from"`
	Asked  time.Time  `json:"asked"`
	Until  *time.Time `json:"until,omitempty"` // when it ends by itself
}

// Confirmations is the answer of GET /api/v1/confirmations.
type Confirmations struct {
	Confirmations []Confirmation `json:"confirmations"`
	ConfigWaits   string         `json:"configWaits,omitempty"` // what of config.json is not in effect, also when it was denied
}

// Has reports whether there is one of that kind.
func (c Confirmations) Has(kind string) bool {
	return slices.ContainsFunc(c.Confirmations, func(one Confirmation) bool { return one.Kind == kind })
}

// Confirmations lists the changes that wait for the person, or that they should see.
func (r *Relay) Confirmations() Confirmations {
	list := Confirmations{Confirmations: []Confirmation{}, ConfigWaits: r.rights.waiting()}
	for _, q := range r.desk.Open() {
		list.Confirmations = append(list.Confirmations, Confirmation{ID: q.ID, Kind: confirmAsked, Change: q.Change, Digest: q.Digest(), From: q.From, Asked: q.Asked, Until: &q.Until})
	}
	list.Confirmations = append(list.Confirmations, r.rights.shown()...)
	return list
}

func (r *Relay) showConfirmations(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, r.Confirmations())
}

// Confirmed is the body of POST /api/v1/confirmations/{id}.
type Confirmed struct {
	Answer string `json:"answer"`           // allow or deny
	Digest string `json:"digest,omitempty"` // of what was read; for the ids config and start
}

// answerConfirmation answers POST /api/v1/confirmations/{id}. To deny is for everybody who acts for the person: it leaves
// things as they are, or takes back what a start brought.
func (r *Relay) answerConfirmation(w http.ResponseWriter, req *http.Request) {
	const example = `{"answer": "allow", "digest": "…"}`
	body, failure := bodyOf[Confirmed](w, req, example)
	if failure == nil && body.Answer != "allow" && body.Answer != "deny" {
		failure = fault.New(fault.InvalidRequest, "The answer is neither allow nor deny", fault.WithHint("Send "+example+"."))
	}
	if failure != nil {
		refuse(w, http.StatusBadRequest, failure)
		return
	}
	session, _ := sender(req.Context())
	id, allow := req.PathValue("id"), body.Answer == "allow"
	if id == confirmConfig || id == confirmStart {
		r.answerRights(w, req, id, body)
		return
	}
	if allow && session.Via != viaPanel {
		refuse(w, http.StatusForbidden, fault.New(fault.PermissionDenied, "This question is answered in tabrelay's side panel", fault.WithHint("A terminal can only deny it.")))
		return
	}
	if err := r.desk.Answer(id, allow); err != nil {
		refuse(w, http.StatusGone, gone())
		return
	}
	r.showConfirmations(w, req)
}

func gone() *fault.Error {
	return fault.New(fault.NotFoundCode, "The change does not wait for an answer any more", fault.WithHint("When it is asked for again, there is a new question."))
}

// answerRights answers what the configuration wants to allow, and what the last start allowed.
func (r *Relay) answerRights(w http.ResponseWriter, req *http.Request, kind string, body Confirmed) {
	session, _ := sender(req.Context())
	c := r.rights.change(kind)
	switch {
	case c == nil:
		refuse(w, http.StatusGone, gone())
		return
	case body.Answer == "allow" && session.Via == viaPanel && body.Digest != c.Digest():
		refuse(w, http.StatusConflict, fault.New(fault.InvalidRequest, "The change is another one by now, so nothing was done", fault.WithHint("Read it again, and then answer.")))
		return
	case body.Answer == "allow" && session.Via != viaPanel && r.hub.PanelsOpen():
		refuse(w, http.StatusForbidden, fault.New(fault.PermissionDenied, "The question stands in tabrelay's side panel, which is open", fault.WithHint("Answer there.")))
		return
	}
	if body.Answer == "allow" {
		by, ok := r.confirmed(w, req, c)
		if !ok {
			return
		}
		r.allowRights(req.Context(), kind, session, c, by)
	} else {
		r.denyRights(req.Context(), kind, session, c)
	}
	r.news(topicConfirmations)
	r.showConfirmations(w, req)
}

// allowRights puts what waits of the configuration into effect, or keeps what the last start brought.
func (r *Relay) allowRights(ctx context.Context, kind string, session call.Session, c *confirm.Change, by string) {
	if by == panelClient {
		r.recordWidening(session, c, map[string]string{confirmConfig: "allowed", confirmStart: "kept"}[kind], by)
	}
	if kind == confirmStart {
		r.rights.keep(ctx, r)
		return
	}
	r.applyRights(ctx)
}

// denyRights leaves what waits as it is, or takes back what the last start brought.
func (r *Relay) denyRights(ctx context.Context, kind string, session call.Session, c *confirm.Change) {
	if kind == confirmConfig {
		r.rights.deny(c)
		r.recordWidening(session, c, "denied", answerer(session))
		return
	}
	r.recordWidening(session, c, "undone", answerer(session))
	r.undoRights(ctx)
}
