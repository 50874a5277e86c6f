package relay

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strconv"
	"strings"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/confirm"
	"tabrelay/relay/dispatch"
	"tabrelay/relay/fault"
	"tabrelay/relay/permit"
)

// Approvals is the answer of GET /api/v1/approvals: the questions that wait for the person who asks.
type Approvals struct {
	Approvals []call.Approval `json:"approvals"`
}

// Verdict is the body of POST /api/v1/approvals/{id}.
type Verdict struct {
	Answer string `json:"answer"`        // allow or deny
	For    string `json:"for,omitempty"` // once (the default), session, always, or a time such as 1h
}

// Permissions is the answer of GET /api/v1/permissions.
type Permissions struct {
	Default Defaults       `json:"default"`
	Rules   []permit.Rule  `json:"rules"`
	Grants  []permit.Grant `json:"grants"`
}

// Defaults is what is done about tools that no rule names.
type Defaults struct {
	ReadOnly call.Mode `json:"readOnly"`
	Other    call.Mode `json:"other"`
}

// PermissionsOf is what a set of rules shows.
func PermissionsOf(p *permit.Permits) Permissions {
	shown := Permissions{Rules: p.Rules(), Grants: p.Grants()}
	shown.Default.ReadOnly, shown.Default.Other = p.Default()
	return shown
}

// NewRule is the body of PUT /api/v1/permissions.
type NewRule struct {
	Target string    `json:"target"`
	Mode   call.Mode `json:"mode"`
	Client string    `json:"client,omitempty"` // empty: every client
	For    string    `json:"for,omitempty"`    // a time such as 1h; empty: for ever
}

// Paused is the answer of GET /api/v1/paused and the body of PUT.
type Paused struct {
	Paused bool `json:"paused"`
}

// mostBody bounds what the panel and the command line send about permissions, in bytes.
const mostBody = 64 << 10

// bodyOf reads a body; example is one that would do.
func bodyOf[T any](w http.ResponseWriter, req *http.Request, example string) (body T, failure *fault.Error) {
	text, err := io.ReadAll(http.MaxBytesReader(w, req.Body, mostBody))
	if err == nil {
		err = json.Unmarshal(text, &body)
	}
	if err != nil {
		return body, fault.New(fault.InvalidRequest, "The body cannot be read", fault.WithHint("Send "+example+"."))
	}
	return body, nil
}

func (r *Relay) showApprovals(w http.ResponseWriter, req *http.Request) {
	session, _ := sender(req.Context())
	reply(w, http.StatusOK, Approvals{r.permits.Pending(atProfile(session))})
}

// openArguments answers GET /api/v1/approvals/{id}/arguments?from=: a part of all arguments a call would be made with.
// Whoever got every part, in order, was shown all, and may allow the call for longer than once.
func (r *Relay) openArguments(w http.ResponseWriter, req *http.Request) {
	from := 0
	if text := req.URL.Query().Get("from"); text != "" {
		var err error
		if from, err = strconv.Atoi(text); err != nil {
			from = -1
		}
	}
	session, _ := sender(req.Context())
	part, err := r.permits.Open(req.PathValue("id"), atProfile(session), from)
	if err != nil {
		status, failure := unanswerable(err)
		refuse(w, status, failure)
		return
	}
	reply(w, http.StatusOK, part)
}

// answerApproval answers POST /api/v1/approvals/{id}. The first answer counts; an answer to a question that is not open
// any more has status 410.
func (r *Relay) answerApproval(w http.ResponseWriter, req *http.Request) {
	const example = `{"answer": "allow", "for": "session"}`
	body, failure := bodyOf[Verdict](w, req, example)
	if failure == nil && body.Answer != "allow" && body.Answer != "deny" {
		failure = fault.New(fault.InvalidRequest, "The answer is neither allow nor deny", fault.WithHint("Send "+example+"."))
	}
	if failure != nil {
		refuse(w, http.StatusBadRequest, failure)
		return
	}
	session, _ := sender(req.Context())
	if _, ok := r.confirmed(w, req, r.allowing(req.PathValue("id"), session, body)); !ok {
		return
	}
	err := r.permits.Answer(req.Context(), req.PathValue("id"), atProfile(session), call.Decision{Allow: body.Answer == "allow", For: body.For, By: answerer(session)})
	if err != nil {
		status, failure := unanswerable(err)
		refuse(w, status, failure)
		return
	}
	reply(w, http.StatusOK, Approvals{r.permits.Pending(atProfile(session))})
}

// allowing is what an answer allows: a person has to type it at a terminal, whether or not a panel shows the question
// too. nil: it allows nothing, or there is no such question, which is said later.
func (r *Relay) allowing(id string, session call.Session, v Verdict) *confirm.Change {
	if v.Answer != "allow" {
		return nil
	}
	for _, q := range r.permits.Pending(atProfile(session)) {
		if q.ID == id {
			return AllowChange(q, v.For)
		}
	}
	return nil
}

// AllowChange is the answer to a question that allows a call, as a person at a terminal confirms it.
func AllowChange(q call.Approval, lasts string) *confirm.Change {
	c := confirm.New("Allow "+q.Tool+" for "+q.Client+" ("+cmp.Or(lasts, "once")+")", "").Reading(strings.Split(permit.Text(q), "\n")...)
	c.Beside = true
	return c
}

// unanswerable says why an answer does nothing.
func unanswerable(err error) (int, *fault.Error) {
	switch {
	case errors.Is(err, permit.ErrEnded):
		return http.StatusGone, fault.New(fault.NotFoundCode, "The answer came too late and does nothing: "+err.Error(),
			fault.WithHint("When the agent asks again, there is a new question."))
	case errors.Is(err, permit.ErrNoQuestion):
		return http.StatusNotFound, fault.New(fault.NotFoundCode, err.Error(), fault.WithHint("`tabrelay permit pending` lists the questions that wait."))
	case errors.Is(err, permit.ErrNotYours):
		return http.StatusForbidden, fault.New(fault.PermissionDenied, "The question is about a tab of another browser profile", fault.WithHint("Answer it in the side panel of that profile, or in a terminal."))
	case errors.Is(err, permit.ErrUnseen):
		return http.StatusConflict, fault.New(fault.InvalidRequest, err.Error(),
			fault.WithHint("Open all of them first: “Show all” in the side panel, or `tabrelay permit pending ID --full` in a terminal. Or allow it once."))
	case errors.Is(err, permit.ErrPart):
		return http.StatusBadRequest, fault.New(fault.InvalidRequest, err.Error(), fault.WithHint("Begin without from, and go on where next says."))
	case errors.Is(err, permit.ErrAnswer), errors.Is(err, permit.ErrTarget):
		return http.StatusBadRequest, fault.New(fault.InvalidRequest, err.Error(), fault.WithHint("A rule has target, mode (off, ask, auto), client and for; an answer has answer (allow, deny) and for."))
	}
	return http.StatusInternalServerError, fault.New(fault.InternalError, err.Error(), fault.WithHint("`tabrelay doctor` looks at the database."))
}

func (r *Relay) showPermissions(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, PermissionsOf(r.permits))
}

// setPermission answers PUT /api/v1/permissions.
func (r *Relay) setPermission(w http.ResponseWriter, req *http.Request) {
	body, failure := bodyOf[NewRule](w, req, `{"target": "wiki", "mode": "ask", "client": "claude-code", "for": "1h"}`)
	if failure != nil {
		refuse(w, http.StatusBadRequest, failure)
		return
	}
	session, _ := sender(req.Context())
	rule, lasts, err := body.Rule(r.permits, answerer(session))
	if err == nil {
		by, ok := r.confirmed(w, req, SetChange(r.permits, rule, lasts))
		if !ok {
			return
		}
		rule.By = by
		err = r.permits.Set(req.Context(), rule, lasts)
	}
	if err != nil {
		status, failure := unanswerable(err)
		refuse(w, status, failure)
		return
	}
	r.showPermissions(w, req)
}

// Rule checks a rule that somebody wants to make.
func (n NewRule) Rule(p *permit.Permits, by string) (rule call.Rule, lasts time.Duration, err error) {
	target, err := p.Target(n.Target)
	if err != nil {
		return rule, 0, err
	}
	if n.Mode != call.Off && n.Mode != call.Ask && n.Mode != call.Auto {
		return rule, 0, fmt.Errorf("%w: a mode is off, ask or auto", permit.ErrAnswer)
	}
	if n.For != "" {
		if lasts, err = time.ParseDuration(n.For); err != nil || lasts < time.Second || lasts > permit.LongestRule {
			return rule, 0, fmt.Errorf("%w: a rule holds for a second to a year, such as 30m or 12h", permit.ErrAnswer)
		}
	}
	return call.Rule{Target: target, Client: n.Client, Mode: n.Mode, By: by}, lasts, nil
}

// SetChange is what a rule allows that is not allowed now; nil: nothing.
func SetChange(p *permit.Permits, rule call.Rule, lasts time.Duration) *confirm.Change {
	before, wider := p.Wider(rule, lasts)
	if !wider {
		return nil
	}
	command, after := "tabrelay permit set "+rule.Target+" "+string(rule.Mode), string(rule.Mode)
	if rule.Client != "" {
		command += " --client " + rule.Client
	}
	if lasts > 0 {
		command, after = command+" --for "+lasts.String(), after+" for "+lasts.String()
	}
	return confirm.New("A rule lets agents do more", command, confirm.Difference{What: ruleName(rule.Target, rule.Client), Before: before, After: after})
}

// UnsetChange is what taking a rule away allows; nil: nothing.
func UnsetChange(p *permit.Permits, target, client string) *confirm.Change {
	before, after, wider := p.WiderWithout(target, client)
	if !wider {
		return nil
	}
	command := "tabrelay permit unset " + target
	if client != "" {
		command += " --client " + client
	}
	return confirm.New("Without a rule, agents may do more", command, confirm.Difference{What: ruleName(target, client), Before: before, After: after})
}

func ruleName(target, client string) string {
	if client == "" {
		return target
	}
	return target + " for " + client
}

// unsetPermission answers DELETE /api/v1/permissions?target=&client=.
func (r *Relay) unsetPermission(w http.ResponseWriter, req *http.Request) {
	query := req.URL.Query()
	target := permit.Spelled(query.Get("target")) // of something that exists no more, too
	by, ok := r.confirmed(w, req, UnsetChange(r.permits, target, query.Get("client")))
	if !ok {
		return
	}
	there, err := r.permits.Unset(req.Context(), target, query.Get("client"), by)
	switch {
	case err != nil:
		status, failure := unanswerable(err)
		refuse(w, status, failure)
	case !there:
		refuse(w, http.StatusNotFound, fault.New(fault.NotFoundCode, "There is no such rule", fault.WithHint("`tabrelay permit list` shows them; those of config.json are changed there.")))
	default:
		r.showPermissions(w, req)
	}
}

// revokeGrant answers DELETE /api/v1/grants/{id}.
func (r *Relay) revokeGrant(w http.ResponseWriter, req *http.Request) {
	session, _ := sender(req.Context())
	if !r.permits.Revoke(req.PathValue("id"), answerer(session)) {
		refuse(w, http.StatusNotFound, fault.New(fault.NotFoundCode, "That grant has ended already"))
		return
	}
	r.showPermissions(w, req)
}

func (r *Relay) showPaused(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, Paused{r.permits.Paused()})
}

// setPaused answers PUT /api/v1/paused: what runs is cancelled, and what comes is refused until it is switched back.
func (r *Relay) setPaused(w http.ResponseWriter, req *http.Request) {
	body, failure := bodyOf[struct {
		Paused *bool `json:"paused"`
	}](w, req, `{"paused": true}`)
	if failure == nil && body.Paused == nil {
		failure = fault.New(fault.InvalidRequest, "The body does not say whether everything is to stop", fault.WithHint(`Send {"paused": true}.`))
	}
	if failure != nil {
		refuse(w, http.StatusBadRequest, failure)
		return
	}
	var resuming *confirm.Change
	if !*body.Paused && r.permits.Paused() {
		resuming = confirm.New("Agents may call tools again", "tabrelay resume", confirm.Difference{What: "all agents", Before: "stopped", After: "may go on, as the rules say"})
	}
	by, ok := r.confirmed(w, req, resuming)
	if !ok {
		return
	}
	if err := r.pause(req, *body.Paused, by); err != nil {
		status, failure := unanswerable(err)
		refuse(w, status, failure)
		return
	}
	r.showPaused(w, req)
}

func (r *Relay) pause(req *http.Request, paused bool, by string) error {
	err := r.permits.Pause(req.Context(), paused, by)
	if paused { // even if it could not be written down
		ended := r.calls.Interrupt(func(dispatch.Running) bool { return true }, "The person has stopped all agents")
		r.Log.Info().Int("calls", len(ended)).Str("by", by).Msg("everything was stopped")
	}
	return err
}

// answerer names a person by the way they came.
func answerer(s call.Session) string {
	if s.Via == viaPanel {
		return "panel"
	}
	return "terminal"
}
