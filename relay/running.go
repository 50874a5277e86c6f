package relay

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/dispatch"
	"tabrelay/relay/fault"
	"tabrelay/relay/schedule"
)

// RunningView is one call that has not ended, as a person sees it.
type RunningView struct {
	ID        call.ID        `json:"id"`
	Client    string         `json:"client"`
	Via       string         `json:"via"`
	Session   string         `json:"session"`
	Tool      string         `json:"tool"`
	Title     string         `json:"title"`
	Plugin    string         `json:"plugin"`
	TabID     int            `json:"tabId"` // 0: none, or not known yet, like the next three
	ProfileID string         `json:"profileId"`
	Profile   string         `json:"profile"`
	Origin    string         `json:"origin"`
	Began     time.Time      `json:"began"`
	State     dispatch.Stage `json:"state"`

	WaitsFor schedule.Reason `json:"waitsFor,omitempty"` // what a queued one waits for: order, browser, turn or slot
	Ahead    int             `json:"ahead,omitempty"`    // how many calls are before it there

	Progress *Step `json:"progress"` // the last; null: none yet
}

// RunningCalls is the answer of GET /api/v1/running.
type RunningCalls struct {
	Calls []RunningView `json:"calls"`
}

func (r *Relay) runningNow() RunningCalls {
	list := RunningCalls{Calls: []RunningView{}}
	for _, c := range r.calls.Running() {
		v := RunningView{
			ID: c.ID, Client: c.Session.Client, Via: c.Session.Via, Session: c.Session.ID, Tool: c.Tool, Title: c.Title, Plugin: c.Plugin,
			TabID: c.At.TabID, ProfileID: c.At.ProfileID, Profile: c.At.Profile, Origin: c.At.Origin, Began: c.Began.UTC(), State: c.Stage,
			WaitsFor: c.WaitsFor, Ahead: c.Ahead,
		}
		if p := c.Progress; p != nil {
			v.Progress = &Step{p.Progress, p.Total, p.Message}
		}
		list.Calls = append(list.Calls, v)
	}
	return list
}

func (r *Relay) showRunning(w http.ResponseWriter, _ *http.Request) {
	reply(w, http.StatusOK, r.runningNow())
}

// cancelCall answers DELETE /api/v1/running/{id}: the page is told to abort, and the agent that the person did it.
func (r *Relay) cancelCall(w http.ResponseWriter, req *http.Request) {
	session, _ := sender(req.Context())
	id, where := call.ID(req.PathValue("id")), "in a terminal"
	if session.Via == call.ViaPanel {
		where = "in tabrelay's side panel"
	}
	if len(r.calls.Interrupt(func(c dispatch.Running) bool { return c.ID == id }, "The person cancelled the call "+where)) == 0 {
		refuse(w, http.StatusNotFound, fault.New(fault.NotFoundCode, "No call with the id "+excerpt(string(id))+" is running; it may have ended a moment ago",
			fault.WithHint("GET /api/v1/running lists those that are.")))
		return
	}
	reply(w, http.StatusOK, map[string]any{"cancelled": id})
}

// maxBody bounds what a person's own requests say, in bytes.
const maxBody = 64 << 10

// readBody reads a small JSON object, and refuses members that it does not know: what somebody misspelt must not be
// taken for what they left out.
func readBody(w http.ResponseWriter, req *http.Request, into any) *fault.Error {
	d := json.NewDecoder(http.MaxBytesReader(w, req.Body, maxBody))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil && d.Decode(new(json.RawMessage)) != io.EOF {
		err = errors.New("more than one value")
	}
	if err != nil {
		return fault.New(fault.InvalidRequest, "The body cannot be read: "+err.Error())
	}
	return nil
}
