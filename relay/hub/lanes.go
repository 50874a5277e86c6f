package hub

import (
	"tabrelay/relay/call"

	"sync"
	"time"
)

// laneTime is how long a lane's tab is remembered without a call.
const laneTime = time.Hour

const maxLanes = 10_000

// lanes remembers in which tab each lane last used each plugin, so that an agent's calls stay in one tab while it and
// the person use others.
type lanes struct {
	mu   sync.Mutex
	last map[laneKey]lanePlace
}

type laneKey struct{ lane, plugin string }

type lanePlace struct {
	profileID string
	tabID     int
	url       string // of the page there; empty: not known
	used      time.Time
}

func (l *lanes) remember(r *call.Invocation, t target) {
	if r.Session.Lane == "" {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if l.last == nil {
		l.last = map[laneKey]lanePlace{}
	}
	if len(l.last) >= maxLanes {
		l.forget(now)
	}
	l.last[laneKey{r.Session.Lane, r.Plugin}] = lanePlace{profileID: t.b.id, tabID: t.tab.ID, url: t.tab.URL, used: now}
}

// forget drops what has expired, or, when nothing has, any tenth of it.
func (l *lanes) forget(now time.Time) {
	for key, place := range l.last {
		if now.Sub(place.used) > laneTime {
			delete(l.last, key)
		}
	}
	for key := range l.last {
		if len(l.last) < maxLanes*9/10 {
			return
		}
		delete(l.last, key)
	}
}

func (l *lanes) recall(r *call.Invocation) (p lanePlace, ok bool) {
	if r.Session.Lane == "" {
		return p, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p, ok = l.last[laneKey{r.Session.Lane, r.Plugin}]
	return p, ok && time.Since(p.used) <= laneTime
}

// ProfileOf is the id of the profile in which a lane made its last call to a page; empty when there is none.
func (h *Hub) ProfileOf(lane string) (id string) {
	l := &h.lanes
	l.mu.Lock()
	defer l.mu.Unlock()
	var latest time.Time
	for key, place := range l.last {
		if lane != "" && key.lane == lane && place.used.After(latest) && time.Since(place.used) <= laneTime {
			id, latest = place.profileID, place.used
		}
	}
	return id
}

// follow is where lanes are whose tab has another id now.
func (l *lanes) follow(profileID string, tabID, became int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, place := range l.last {
		if place.profileID == profileID && place.tabID == tabID {
			place.tabID = became
			l.last[key] = place
		}
	}
}

// leave forgets where a lane was.
func (l *lanes) leave(lane string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key := range l.last {
		if within(key.lane, lane) {
			delete(l.last, key)
		}
	}
}
