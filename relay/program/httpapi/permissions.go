package httpapi

import (
	"errors"
	"net/http"
	"strconv"
	"strings"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/state/config"
)

// Approvals is the answer of GET /api/v1/approvals: what waits for the person who asks.
type Approvals struct {
	Approvals []call.Approval        `json:"approvals"` // calls
	Missed    []call.Approval        `json:"missed"`    // that nobody answered in time
	Changes   []policy.PendingChange `json:"changes"`   // that let agents do more
	Ended     []policy.Ended         `json:"ended"`     // the last ones, and how they ended
	// what of config.json is not in effect, also when it was denied
	ConfigWaits string `json:"configWaits,omitempty"`
}

// Verdict is the body of POST /api/v1/approvals/{id}.
type Verdict struct {
	Answer string `json:"answer"`           // allow or deny
	For    string `json:"for,omitempty"`    // of a call: once, session, always, 1h; of a missed one: next
	Digest string `json:"digest,omitempty"` // of the change that was read; for the ids config and start
}

// Paused is the answer of GET /api/v1/paused and the body of PUT.
type Paused struct {
	Paused bool `json:"paused"`
}

func (a *API) showApprovals(_ http.ResponseWriter, req *http.Request) (any, *Refusal) {
	profile := AtProfile(Sender(req.Context()))
	return Approvals{
		Approvals: a.Policy.Pending(profile), Missed: a.Policy.Missed(profile), Changes: a.Policy.Changes(),
		Ended: a.Policy.Ended(), ConfigWaits: a.Policy.Unapplied(),
	}, nil
}

// openArguments answers GET /api/v1/approvals/{id}/arguments?from=&secrets=: a part of all arguments a call would be
// made with. Whoever got every part, in order, with the values of secret fields if there are any, was shown all, and
// may allow the call for longer than once.
func (a *API) openArguments(_ http.ResponseWriter, req *http.Request) (any, *Refusal) {
	from, query := 0, req.URL.Query()
	if text := query.Get("from"); text != "" {
		var err error
		if from, err = strconv.Atoi(text); err != nil {
			from = -1
		}
	}
	session := Sender(req.Context())
	part, err := a.Policy.ShowArguments(req.PathValue("id"), AtProfile(session), from, query.Get("secrets") == "true")
	if err != nil {
		return nil, unanswerable(err)
	}
	return part, nil
}

// answerApproval answers POST /api/v1/approvals/{id}. The first answer counts; an answer to what does not wait any more
// has status 410. To deny is for everybody who acts for the person.
func (a *API) answerApproval(w http.ResponseWriter, req *http.Request) (any, *Refusal) {
	const example = `{"answer": "allow", "for": "session"}`
	var body Verdict
	failure := ReadBody(w, req, &body, example)
	if failure == nil && body.Answer != "allow" && body.Answer != "deny" {
		failure = fault.New(fault.InvalidRequest, "The answer is neither allow nor deny",
			fault.WithHint("Send "+example+"."))
	}
	if failure != nil {
		return nil, NewRefusal(http.StatusBadRequest, failure)
	}
	session := Sender(req.Context())
	id, profile := req.PathValue("id"), AtProfile(session)
	d := call.Decision{Allow: body.Answer == "allow", For: body.For, By: policy.Answerer(session), Digest: body.Digest}
	if c := a.Policy.AnswerChange(id, session, profile, d); c != nil {
		by, denied := a.Confirmed(w, req, c)
		if denied != nil {
			return nil, denied
		}
		d.By, d.Digest = by, c.Digest()
	}
	if err := a.Policy.Answer(req.Context(), id, profile, d); err != nil {
		return nil, unanswerable(err)
	}
	return a.showApprovals(w, req)
}

const (
	// ConfirmedHeader carries, over the socket only, the digest of the change that a person confirmed at a terminal.
	ConfirmedHeader = "Tabrelay-Confirmed"

	// AskedHeader says, in an answer of status 102 before the real one, where the person is being asked.
	AskedHeader = "Tabrelay-Asked"
)

// Unconfirmed is the answer, with status 428, to a request that needs a person to confirm it, and no panel is open.
type Unconfirmed struct {
	Error  *fault.Error   `json:"error"`
	Digest string         `json:"digest"` // for ConfirmedHeader
	Change *policy.Change `json:"change"`
	Asked  bool           `json:"asked,omitempty"` // the panel asks it too, in another form
}

// Confirmed says who allowed a change to be made, or why it may not. A handler that may widen what agents may do says
// what would change, or nil when nothing does, and goes on only when it may.
func (a *API) Confirmed(w http.ResponseWriter, req *http.Request, c *policy.Change) (by string, denied *Refusal) {
	by, err := a.Policy.Confirm(req.Context(), c, policy.Request{
		Session: Sender(req.Context()), Confirmed: req.Header.Get(ConfirmedHeader), Asked: func() {
			w.Header().Set(AskedHeader, policy.ByPanel)
			w.WriteHeader(http.StatusProcessing)
			w.Header().Del(AskedHeader)
		},
	})
	if err == nil {
		return by, nil
	}
	if _, ok := errors.AsType[*policy.Unconfirmed](err); ok {
		return "", &Refusal{http.StatusPreconditionRequired, Unconfirmed{
			Digest: c.Digest(), Change: c, Asked: c.ShownElsewhere,
			Error: fault.New(fault.PermissionDenied, err.Error(),
				fault.WithHint("Open tabrelay's side panel and do it again, or do it with `tabrelay` in a terminal.")),
		}}
	}
	if failure, ok := errors.AsType[*fault.Error](err); ok {
		return "", NewRefusal(unconfirmedStatus(failure.Code), failure)
	}
	return "", unanswerable(err)
}

func unconfirmedStatus(code fault.Code) int {
	switch code {
	case fault.ApprovalTimeout:
		return http.StatusGatewayTimeout
	case fault.Overloaded:
		return http.StatusTooManyRequests
	case fault.ShuttingDown, fault.Cancelled:
		return http.StatusServiceUnavailable
	}
	return http.StatusForbidden
}

// unanswerable says why an answer does nothing.
func unanswerable(err error) *Refusal {
	says := func(status int, code fault.Code, hint string) *Refusal {
		return NewRefusal(status, fault.New(code, err.Error(), fault.WithHint(hint)))
	}
	if managed, ok := errors.AsType[*config.ManagedError](err); ok {
		return NewRefusal(http.StatusForbidden, fault.New(fault.PermissionDenied, managed.Error(),
			fault.WithHint(managed.Hint())))
	}
	switch {
	case errors.Is(err, policy.ErrEnded):
		return NewRefusal(http.StatusGone, fault.New(fault.NotFoundCode, "The answer came too late and has no effect: "+
			err.Error(), fault.WithHint("When it is asked for again, there is a new question.")))
	case errors.Is(err, policy.ErrNoApproval):
		return says(http.StatusNotFound, fault.NotFoundCode, "`tabrelay permit pending` lists the questions that wait.")
	case errors.Is(err, policy.ErrNotYours):
		return says(http.StatusForbidden, fault.PermissionDenied,
			"Answer it in the side panel of the profile that has the tab, or in a terminal.")
	case errors.Is(err, policy.ErrPanel):
		return says(http.StatusForbidden, fault.PermissionDenied, "A terminal can only deny it.")
	case errors.Is(err, policy.ErrStale):
		return says(http.StatusConflict, fault.InvalidRequest, "Read it again, and then answer.")
	case errors.Is(err, policy.ErrUnseen):
		return says(http.StatusConflict, fault.InvalidRequest, "Open all of them first: in the side panel, or with "+
			"`tabrelay permit pending ID --full` (or --secrets) in a terminal. Or allow it once.")
	case errors.Is(err, policy.ErrPart):
		return says(http.StatusBadRequest, fault.InvalidRequest, "Begin without from, and go on where next says.")
	case errors.Is(err, policy.ErrAnswer), errors.Is(err, policy.ErrTarget), errors.Is(err, policy.ErrRule):
		return says(http.StatusBadRequest, fault.InvalidRequest,
			"A rule has target, mode (off, ask, auto), client and for; "+
				"an answer has answer (allow, deny) and for.")
	case errors.Is(err, policy.ErrClosed):
		return says(http.StatusServiceUnavailable, fault.ShuttingDown, "Do it again when the relay runs.")
	}
	return says(http.StatusInternalServerError, fault.InternalError, databaseHint(err))
}

// databaseHint is the next step after the database refused something.
func databaseHint(err error) string {
	var file *config.FileError
	if errors.As(err, &file) {
		return strings.ToUpper(file.Next[:1]) + file.Next[1:] + "."
	}
	return "`tabrelay doctor` looks at the database."
}

func (a *API) showPermissions(_ http.ResponseWriter, _ *http.Request) (any, *Refusal) {
	return a.Policy.Permissions(), nil
}

// setPermission answers PUT /api/v1/permissions.
func (a *API) setPermission(w http.ResponseWriter, req *http.Request) (any, *Refusal) {
	const example = `{"target": "wiki", "mode": "ask", "client": "claude-code", "for": "1h"}`
	var body policy.NewRule
	if failure := ReadBody(w, req, &body, example); failure != nil {
		return nil, NewRefusal(http.StatusBadRequest, failure)
	}
	rule, lasts, err := a.Policy.ParseRule(body, policy.Answerer(Sender(req.Context())))
	if err == nil {
		by, denied := a.Confirmed(w, req, a.Policy.RuleChange(rule, lasts))
		if denied != nil {
			return nil, denied
		}
		rule.By = by
		err = a.Policy.Set(req.Context(), rule, lasts)
	}
	if err != nil {
		return nil, unanswerable(err)
	}
	return a.showPermissions(w, req)
}

// unsetPermission answers DELETE /api/v1/permissions?target=&client=.
func (a *API) unsetPermission(w http.ResponseWriter, req *http.Request) (any, *Refusal) {
	query := req.URL.Query()
	target := policy.Spelled(query.Get("target")) // of something that exists no more, too
	by, denied := a.Confirmed(w, req, a.Policy.UnsetChange(target, query.Get("client")))
	if denied != nil {
		return nil, denied
	}
	there, err := a.Policy.Unset(req.Context(), target, query.Get("client"), by)
	switch {
	case err != nil:
		return nil, unanswerable(err)
	case !there:
		return nil, NewRefusal(http.StatusNotFound, fault.New(fault.NotFoundCode, "There is no such rule",
			fault.WithHint("`tabrelay permit list` shows them; those of config.json are changed there.")))
	default:
		return a.showPermissions(w, req)
	}
}

// revokeGrant answers DELETE /api/v1/grants/{id}.
func (a *API) revokeGrant(w http.ResponseWriter, req *http.Request) (any, *Refusal) {
	if !a.Policy.Revoke(req.PathValue("id"), policy.Answerer(Sender(req.Context()))) {
		return nil, NewRefusal(http.StatusNotFound, fault.New(fault.NotFoundCode, "That grant has ended already"))
	}
	return a.showPermissions(w, req)
}

func (a *API) showPaused(_ http.ResponseWriter, _ *http.Request) (any, *Refusal) {
	return Paused{a.Policy.Paused()}, nil
}

// setPaused answers PUT /api/v1/paused: what runs is cancelled, and what comes is refused until it is switched back.
func (a *API) setPaused(w http.ResponseWriter, req *http.Request) (any, *Refusal) {
	var body struct {
		Paused *bool `json:"paused"`
	}
	failure := ReadBody(w, req, &body, `{"paused": true}`)
	if failure == nil && body.Paused == nil {
		failure = fault.New(fault.InvalidRequest, "The body does not say whether everything is to stop",
			fault.WithHint(`Send {"paused": true}.`))
	}
	if failure != nil {
		return nil, NewRefusal(http.StatusBadRequest, failure)
	}
	var resuming *policy.Change
	if !*body.Paused {
		resuming = a.Policy.ResumeChange()
	}
	by, denied := a.Confirmed(w, req, resuming)
	if denied != nil {
		return nil, denied
	}
	if err := a.pause(req, *body.Paused, by); err != nil {
		return nil, unanswerable(err)
	}
	return a.showPaused(w, req)
}

func (a *API) pause(req *http.Request, paused bool, by string) error {
	err := a.Policy.Pause(req.Context(), paused, by)
	if paused { // even if it could not be written down
		ended := a.Calls.Interrupt(func(dispatch.Running) bool { return true }, "The person has stopped all agents")
		a.Paused()
		a.Log.Info().Int("calls", len(ended)).Str("by", by).Msg("everything was stopped")
	}
	return err
}
