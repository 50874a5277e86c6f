package handover

import (
	"fmt"
	"slices"
	"time"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/random"
	"tabrelay/relay/road/fault"
)

// View is a request that is open, as the person sees it. Why is the agent's own words.
type View struct {
	ID        string    `json:"id"`
	Client    string    `json:"client"`
	Called    string    `json:"called,omitempty"` // what an unnamed client calls itself
	Why       string    `json:"why"`
	Until     string    `json:"until,omitempty"` // what ends it besides an answer, in words
	ProfileID string    `json:"profileId,omitempty"`
	Profile   string    `json:"profile,omitempty"`
	TabID     int       `json:"tabId,omitempty"` // 0: it is about no tab
	Origin    string    `json:"origin,omitempty"`
	Title     string    `json:"title,omitempty"`
	Asked     time.Time `json:"asked"`
	Deadline  time.Time `json:"deadline"`
}

// ending is how a request ended.
type ending string

const (
	done       ending = "done"       // the person says so
	cannot     ending = "cannot"     // the person says so
	seen       ending = "seen"       // what was awaited came
	nobody     ending = "nobody"     // nobody answered in time
	tabClosed  ending = "tab closed" // there is nothing left to do by hand
	clientLeft ending = "client left"
	stopped    ending = "stopped" // the person stopped everything
	relayStops ending = "relay stops"
)

// request is one that is open.
type request struct {
	view    View
	session string
	ended   chan ending // has room for the one that counts
}

// Limits of what is open at once.
const (
	mostOpen      = 20
	mostOfSession = 1
)

// requests are those of one relay, with the times of those that clients made within the last hour.
type requests struct {
	mu    lock.Mutex
	list  []*request
	times map[string][]time.Time // by client
}

// admit notes that a client asks, unless too much is open or it has asked too often. It comes before anything that a
// request makes the browser do beforehand, so that the limit is one of that, too.
func (r *requests) admit(client, session string, perHour int) *fault.Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if failure := r.full(session); failure != nil {
		return failure
	}
	now := time.Now()
	recent := slices.DeleteFunc(r.times[client], func(t time.Time) bool { return now.Sub(t) >= time.Hour })
	if len(recent) >= perHour {
		return fault.New(fault.RateLimited, fmt.Sprintf("%q has asked the person %d times within an hour",
			client, len(recent)),
			fault.WithOutcome(fault.NotExecuted), fault.WithRetryAfter(time.Hour-now.Sub(recent[0])),
			fault.WithHint("Go on without the person, or end the errand and say what is missing (handover.perHour)."))
	}
	if r.times == nil {
		r.times = map[string][]time.Time{}
	}
	r.times[client] = append(recent, now)
	return nil
}

// full is the failure of a request when too many are open. The caller holds the lock.
func (r *requests) full(session string) *fault.Error {
	mine := 0
	for _, one := range r.list {
		if one.session == session {
			mine++
		}
	}
	switch {
	case mine >= mostOfSession:
		return fault.New(fault.Overloaded, "The person was asked already, and has not answered yet",
			fault.WithOutcome(fault.NotExecuted), fault.WithRetryAfter(time.Minute),
			fault.WithHint("Wait for that answer. Ask for one thing at a time, with all that has to be done in why."))
	case len(r.list) >= mostOpen:
		return fault.New(fault.Overloaded, fmt.Sprintf("%d requests wait for the person already", len(r.list)),
			fault.WithOutcome(fault.NotExecuted), fault.WithRetryAfter(time.Minute))
	}
	return nil
}

// add opens a request that was counted, unless too many were opened meanwhile.
func (r *requests) add(v View, session string) (*request, *fault.Error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if failure := r.full(session); failure != nil {
		return nil, failure
	}
	v.ID, v.Asked = random.Hex(8), time.Now().UTC()
	one := &request{view: v, session: session, ended: make(chan ending, 1)}
	r.list = append(r.list, one)
	return one, nil
}

// which chooses requests.
type which func(*request) bool

func every(*request) bool { return true }

func ofSession(id string) which { return func(r *request) bool { return r.session == id } }

func inTab(profileID string, tabID int) which {
	return func(r *request) bool {
		return r.view.TabID != 0 && r.view.ProfileID == profileID && (tabID == 0 || r.view.TabID == tabID)
	}
}

func is(id string) which { return func(r *request) bool { return r.view.ID == id } }

// end ends the requests that are chosen, and returns them. The first end of each counts.
func (r *requests) end(how ending, chosen which) (ended []View) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.list = slices.DeleteFunc(r.list, func(one *request) bool {
		if !chosen(one) {
			return false
		}
		one.ended <- how
		ended = append(ended, one.view)
		return true
	})
	return ended
}

// views are the requests that are open, the oldest first.
func (r *requests) views() []View {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]View, 0, len(r.list))
	for _, one := range r.list {
		list = append(list, one.view)
	}
	return list
}

// count is how many wait for the person at a profile; one that is about no tab waits at each.
func (r *requests) count(profileID string) (n int) {
	for _, v := range r.views() {
		if v.ProfileID == "" || profileID == "" || v.ProfileID == profileID {
			n++
		}
	}
	return n
}
