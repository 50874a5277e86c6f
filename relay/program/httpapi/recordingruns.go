package httpapi

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
)

// Who ended a recording, where it was not the one who reads it.
const (
	endedInPanel  = "panel"
	endedWithStop = "everything" // the person stopped everything
)

// RecordingView is a recording that runs, as a person sees it.
type RecordingView struct {
	Client    string    `json:"client"`
	ProfileID string    `json:"profileId"`
	Profile   string    `json:"profile"`
	TabID     int       `json:"tabId"`
	Origin    string    `json:"origin"`
	Began     time.Time `json:"began"`
	Requests  int       `json:"requests"` // seen so far
}

// recordingRun is one recording that runs.
type recordingRun struct {
	view  RecordingView
	ended string // by whom, once somebody else than its reader has ended it
}

// recordingRuns are the recordings that run.
type recordingRuns struct {
	mu   lock.Mutex
	runs []*recordingRun
}

func (r *recordingRuns) begin(s call.Session, b BegunRecording, origin string) *recordingRun {
	run := &recordingRun{view: RecordingView{
		Client: s.Client, ProfileID: b.ProfileID, Profile: b.Profile, TabID: b.TabID, Origin: origin,
		Began: time.Now().UTC(),
	}}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs = append(r.runs, run)
	return run
}

func (r *recordingRuns) end(run *recordingRun) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.runs = slices.DeleteFunc(r.runs, func(one *recordingRun) bool { return one == run })
}

// list is what runs now, the oldest first.
func (r *recordingRuns) list() []RecordingView {
	r.mu.Lock()
	defer r.mu.Unlock()
	views := make([]RecordingView, 0, len(r.runs))
	for _, run := range r.runs {
		views = append(views, run.view)
	}
	return views
}

// note counts the requests in what a recording tells, and puts in who ended it.
func (r *recordingRuns) note(run *recordingRun, line *RecordingLine) {
	seen := 0
	for _, raw := range line.Events {
		var e struct{ Kind string }
		if json.Unmarshal(raw, &e) == nil && e.Kind == "request" {
			seen++
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	run.view.Requests += seen
	if line.Ended != "" {
		line.Ended = cmp.Or(run.ended, line.Ended)
	}
}

// endedBy notes who ends the recordings that which chooses, and returns these.
func (r *recordingRuns) endedBy(who string, which func(RecordingView) bool) (views []RecordingView) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, run := range r.runs {
		if which(run.view) {
			run.ended = cmp.Or(run.ended, who)
			views = append(views, run.view)
		}
	}
	return views
}

// stopRecordings ends every recording: the person has stopped everything.
func (a *API) stopRecordings() {
	for _, v := range a.recordings.endedBy(endedWithStop, func(RecordingView) bool { return true }) {
		go a.endRecording(a.Base, v.ProfileID, v.TabID) // a browser that is away may keep it waiting
	}
}

// recordingsChanged has open panels show what runs.
func (a *API) recordingsChanged() {
	if a.Changed != nil {
		a.Changed(event.TopicRunning)
	}
}
