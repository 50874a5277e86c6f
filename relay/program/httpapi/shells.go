package httpapi

import (
	"context"
	"net/http"

	"tabrelay/relay/agent/client"
	"tabrelay/relay/browser/hub"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/fault"
)

// SessionHeader names the session of a command, over the socket only: see [client.Shells].
const SessionHeader = "Tabrelay-Session"

// inShell has what comes from a command that names a session come from that session.
func (a *API) inShell(next http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		name := req.Header.Get(SessionHeader)
		if name == "" || !cameOverSocket(req.Context()) {
			next(w, req)
			return
		}
		session, leave, failure := a.Shells.Enter(Sender(req.Context()), name)
		if failure != nil {
			Refuse(w, http.StatusBadRequest, failure)
			return
		}
		defer leave()
		next(w, req.WithContext(context.WithValue(req.Context(), senderKey{}, session)))
	}
}

// ShellSessions is the answer of GET /api/v1/sessions.
type ShellSessions struct {
	Sessions []client.Shell `json:"sessions"`
}

func (a *API) showShells(http.ResponseWriter, *http.Request) (any, *Refusal) {
	return ShellSessions{a.Shells.List()}, nil
}

// closeShell answers DELETE /api/v1/sessions/{name}: its calls end, its tabs are free, and what the person has allowed
// for it is over.
func (a *API) closeShell(_ http.ResponseWriter, req *http.Request) (any, *Refusal) {
	name := req.PathValue("name")
	id, ok := a.Shells.Close(name)
	if !ok {
		return nil, NewRefusal(http.StatusNotFound, fault.New(fault.NotFoundCode,
			"There is no session "+fault.Excerpt(name), fault.WithHint("tabrelay sessions lists them")))
	}
	a.Calls.Interrupt(func(c dispatch.Running) bool { return hub.Within(c.Session.ID, id) },
		"The person closed the session "+fault.Excerpt(name)+", so its calls were ended")
	return map[string]string{"closed": name}, nil
}
