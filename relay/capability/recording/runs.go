package recording

import (
	"cmp"
	"encoding/json"
	"slices"
	"time"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
)

// Who ended a recording, where it was not the one who reads it.
const (
	endedInPanel  = "panel"
	endedWithStop = "everything" // the person stopped everything
)

// Open is the answer of GET /api/v1/recordings.
type Open struct {
	Recordings []View `json:"recordings"`
}

// View is a recording that runs, as a person sees it.
type View struct {
	Client    string    `json:"client"`
	ProfileID string    `json:"profileId"`
	Profile   string    `json:"profile"`
	TabID     int       `json:"tabId"`
	Origin    string    `json:"origin"`
	Began     time.Time `json:"began"`
	Requests  int       `json:"requests"` // seen so far
}

// run is one recording that runs.
type run struct {
	view  View
	ended string // by whom, once somebody else than its reader has ended it
}

// runs are the recordings that run.
type runs struct {
	mu   lock.Mutex
	list []*run
}

func (r *runs) begin(s call.Session, b Begun, origin string) *run {
	one := &run{view: View{
		Client: s.Client, ProfileID: b.ProfileID, Profile: b.Profile, TabID: b.TabID, Origin: origin,
		Began: time.Now().UTC(),
	}}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = append(r.list, one)
	return one
}

func (r *runs) end(ended *run) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = slices.DeleteFunc(r.list, func(one *run) bool { return one == ended })
}

// views are what runs now, the oldest first.
func (r *runs) views() []View {
	r.mu.Lock()
	defer r.mu.Unlock()
	views := make([]View, 0, len(r.list))
	for _, one := range r.list {
		views = append(views, one.view)
	}
	return views
}

// note counts the requests in what a recording tells, and puts in who ended it.
func (r *runs) note(one *run, line *Line) {
	seen := 0
	for _, raw := range line.Events {
		var e struct{ Kind string }
		if json.Unmarshal(raw, &e) == nil && e.Kind == "request" {
			seen++
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	one.view.Requests += seen
	if line.Ended != "" {
		line.Ended = cmp.Or(one.ended, line.Ended)
	}
}

// endedBy notes who ends the recordings that which chooses, and returns these.
func (r *runs) endedBy(who string, which func(View) bool) (views []View) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, one := range r.list {
		if which(one.view) {
			one.ended = cmp.Or(one.ended, who)
			views = append(views, one.view)
		}
	}
	return views
}
