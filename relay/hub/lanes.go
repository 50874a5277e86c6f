package hub

import (
	"sync"
	"time"

	"tabrelay/relay/call"
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
	profile   string // its label, when it was used
	pending   bool   // opened a moment ago, and perhaps without a page yet
	used      time.Time
}

// opened is the plugin under which the tab is kept that a lane has opened: it is for whichever works there.
const opened = ""

// remember notes where a lane works, and reports whether that is somewhere else than before.
func (l *lanes) remember(r *call.Selector, t target) (moved bool) {
	return l.put(r.Session, r.Plugin, lanePlace{profileID: t.b.id, tabID: t.tab.ID, url: t.tab.URL, profile: t.b.label()})
}

// put keeps a place of a lane, and reports whether that is another one than before.
func (l *lanes) put(s call.Session, plugin string, place lanePlace) (moved bool) {
	if !lasting(s) { // each command of a shell means the tab that the person looks at
		return false
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
	key := laneKey{s.Lane, plugin}
	before := l.last[key]
	place.used = now
	l.last[key] = place
	return before.profileID != place.profileID || before.tabID != place.tabID || siteOf(before.url) != siteOf(place.url) ||
		now.Sub(before.used) > laneTime/4
}

// Lane is where a lane worked last with one plugin, as one relay keeps it for the next.
type Lane struct {
	Lane      string    `json:"lane"`
	Plugin    string    `json:"plugin"`
	ProfileID string    `json:"profileId"`
	Profile   string    `json:"profile"`
	TabID     int       `json:"tabId"`
	Site      string    `json:"site"` // origin of the page; its whole address is nobody's business
	Used      time.Time `json:"used"`
}

// Lanes lists where lanes have worked within the last hour.
func (h *Hub) Lanes() []Lane {
	l := &h.lanes
	l.mu.Lock()
	defer l.mu.Unlock()
	list := []Lane{}
	for key, p := range l.last {
		if time.Since(p.used) <= laneTime {
			list = append(list, Lane{Lane: key.lane, Plugin: key.plugin, ProfileID: p.profileID, Profile: p.profile, TabID: p.tabID, Site: siteOf(p.url), Used: p.used})
		}
	}
	return list
}

// adopt takes over where lanes have worked under an earlier relay.
func (l *lanes) adopt(list []Lane) {
	for _, p := range list {
		if p.Lane == "" || time.Since(p.Used) > laneTime || len(l.last) >= maxLanes {
			continue
		}
		if l.last == nil {
			l.last = map[laneKey]lanePlace{}
		}
		l.last[laneKey{p.Lane, p.Plugin}] = lanePlace{profileID: p.ProfileID, tabID: p.TabID, url: p.Site + "/", profile: p.Profile, used: p.Used}
	}
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

// recall is where the lane of a call last used its plugin.
func (l *lanes) recall(r *call.Selector) (p lanePlace, ok bool) {
	return l.get(r.Session.Lane, r.Plugin)
}

func (l *lanes) get(lane, plugin string) (p lanePlace, ok bool) {
	if lane == "" {
		return p, false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	p, ok = l.last[laneKey{lane, plugin}]
	return p, ok && time.Since(p.used) <= laneTime
}

// ProfileOf is the id of the profile in which a lane was last; empty when there is none.
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
		if Within(key.lane, lane) {
			delete(l.last, key)
		}
	}
}
