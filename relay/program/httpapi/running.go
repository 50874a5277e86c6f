package httpapi

import (
	"net/http"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/road/schedule"
)

// RunningView is one call that has not ended, as a person sees it.
type RunningView struct {
	ID           call.ID        `json:"id"`
	Client       string         `json:"client"`
	Agent        string         `json:"agent,omitempty"`        // the agent that calls for the client
	AgentSession string         `json:"agentSession,omitempty"` // as GET /api/v1/agents/sessions lists it
	Called       string         `json:"called,omitempty"`       // what a client without a name calls itself
	Doubt        string         `json:"doubt,omitempty"`        // why it is not to be taken for that
	Attached     *time.Time     `json:"attached,omitempty"`     // since when; nil: its client has no other
	Via          string         `json:"via"`
	Session      string         `json:"session"`
	Tool         string         `json:"tool"`
	Title        string         `json:"title"`
	Plugin       string         `json:"plugin"`
	ReadOnly     bool           `json:"readOnly"` // the tool changes nothing, as it says
	Color        string         `json:"color"`    // of the client or, where one acts for it, of the agent's session
	TabID        int            `json:"tabId"`    // 0: none, or not known yet, like the next three
	ProfileID    string         `json:"profileId"`
	Profile      string         `json:"profile"`
	Origin       string         `json:"origin"`
	Began        time.Time      `json:"began"`
	State        dispatch.Stage `json:"state"`

	WaitsFor schedule.Reason `json:"waitsFor,omitempty"` // what a queued one waits for: order, browser, turn or slot
	Ahead    int             `json:"ahead,omitempty"`    // how many calls are before it there

	Progress *ProgressStep `json:"progress"` // the last; null: none yet
}

// RunningCalls is the answer of GET /api/v1/running.
type RunningCalls struct {
	Calls []RunningView `json:"calls"`
}

func (a *API) runningNow() RunningCalls {
	list := RunningCalls{Calls: []RunningView{}}
	for _, c := range a.Calls.Running() {
		v := RunningView{
			ID: c.ID, Client: c.Session.Client, Via: c.Session.Via, Session: c.Session.ID, Tool: c.Tool, Title: c.Title,
			Plugin: c.Plugin, ReadOnly: c.ReadOnly, Color: a.Hub.Color(c.Session.Client),
			TabID: c.At.TabID, ProfileID: c.At.ProfileID, Profile: c.At.Profile, Origin: c.At.Origin,
			Began: c.Began.UTC(), State: c.Stage,
			WaitsFor: c.WaitsFor, Ahead: c.Ahead,
		}
		v.Called, v.Doubt = policy.Called(c.Session), a.Policy.Doubt(c.Session)
		if since := a.Clients.Apart(c.Session); !since.IsZero() {
			v.Attached = &since
		}
		if d := c.Session.Bounds; d != nil {
			v.Agent, v.AgentSession, v.Color = d.Agent, d.Session, d.Color
		}
		if p := c.Progress; p != nil {
			v.Progress = &ProgressStep{p.Progress, p.Total, p.Message}
		}
		list.Calls = append(list.Calls, v)
	}
	return list
}

func (a *API) showRunning(_ http.ResponseWriter, _ *http.Request) (any, *Refusal) {
	return a.runningNow(), nil
}

// cancelCall answers DELETE /api/v1/running/{id}: the page is told to abort, and the agent that the person did it.
func (a *API) cancelCall(_ http.ResponseWriter, req *http.Request) (any, *Refusal) {
	session := Sender(req.Context())
	id, where := call.ID(req.PathValue("id")), "in a terminal"
	if session.Via == call.ViaPanel {
		where = "in tabrelay's side panel"
	}
	if len(a.Calls.Interrupt(func(c dispatch.Running) bool { return c.ID == id }, "The person cancelled the call "+
		where)) == 0 {
		return nil, NewRefusal(http.StatusNotFound, fault.New(fault.NotFoundCode,
			"No call with the id "+fault.Excerpt(string(id))+
				" is running; it may have ended a moment ago",
			fault.WithHint("GET /api/v1/running lists those that are.")))
	}
	return map[string]any{"cancelled": id}, nil
}
