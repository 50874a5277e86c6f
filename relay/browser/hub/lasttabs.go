package hub

import (
	"slices"
	"time"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
)

// lastTabTime is how long a session's tab is remembered without a call.
const lastTabTime = time.Hour

const maxLastTabs = 10_000

// lastTabs remembers in which tab each session last used each plugin, so that an agent's calls stay in one tab while it
// and the person use others.
type lastTabs struct {
	mu   lock.Mutex
	last map[sessionPlugin]lastTab
}

type sessionPlugin struct{ session, plugin string }

type lastTab struct {
	profileID string
	tabID     int
	url       string // of the page there; empty: not known
	origin    string // of the same
	profile   string // its label, when it was used
	pending   bool   // opened a moment ago, and perhaps without a page yet
	used      time.Time
}

// openedTab is the plugin under which the tab is kept that a session has opened: it is for whichever works there.
const openedTab = ""

// everyPage is the plugin under which the tab is kept in which a session used a plugin for every page: all of them go
// on where one was.
const everyPage = "browser"

// family is the plugin under which the tab of a call is kept.
func family(r *call.Selector) string {
	if r.InFront {
		return everyPage
	}
	return r.Plugin
}

// workedIn notes in which tab a session uses a plugin, and has it kept when that is another one than before.
func (h *Hub) workedIn(s call.Session, plugin string, now lastTab) {
	if !canOwn(s) { // a command without a session means the tab that the person looks at
		return
	}
	if now.used = time.Now(); now.origin == "" {
		now.origin = originOf(now.url)
	}
	l, key := &h.lastTabs, sessionPlugin{s.ID, plugin}
	l.mu.Lock()
	if l.last == nil {
		l.last = map[sessionPlugin]lastTab{}
	}
	if len(l.last) >= maxLastTabs {
		l.forget(now.used)
	}
	before := l.last[key]
	l.last[key] = now
	l.mu.Unlock()
	if before.profileID != now.profileID || before.tabID != now.tabID || before.origin != now.origin ||
		now.used.Sub(before.used) > lastTabTime/4 {
		h.cfg.LastTabChanged(now.kept(key))
	}
}

// kept is what the next relay is to know.
func (p lastTab) kept(of sessionPlugin) call.LastTab {
	return call.LastTab{Session: of.session, Plugin: of.plugin, ProfileID: p.profileID, Profile: p.profile,
		TabID: p.tabID, Site: p.origin, Used: p.used}
}

// adopt takes over where sessions have worked under an earlier relay.
func (l *lastTabs) adopt(list []call.LastTab) {
	for _, p := range list {
		if p.Session == "" || time.Since(p.Used) > lastTabTime || len(l.last) >= maxLastTabs {
			continue
		}
		if l.last == nil {
			l.last = map[sessionPlugin]lastTab{}
		}
		l.last[sessionPlugin{p.Session, p.Plugin}] = lastTab{
			profileID: p.ProfileID, tabID: p.TabID, url: p.Site + "/", origin: p.Site, profile: p.Profile, used: p.Used,
		}
	}
}

// forget drops what has expired, or, when nothing has, any tenth of it.
func (l *lastTabs) forget(now time.Time) {
	for key, place := range l.last {
		if now.Sub(place.used) > lastTabTime {
			delete(l.last, key)
		}
	}
	for key := range l.last {
		if len(l.last) < maxLastTabs*9/10 {
			return
		}
		delete(l.last, key)
	}
}

// recall is where the session of a call last used its plugin, and the tab that it has opened; zero where there is none.
func (l *lastTabs) recall(r *call.Selector) (last, opened lastTab) {
	l.mu.Lock()
	defer l.mu.Unlock()
	last, opened = l.last[sessionPlugin{r.Session.ID, family(r)}], l.last[sessionPlugin{r.Session.ID, openedTab}]
	if time.Since(last.used) > lastTabTime {
		last = lastTab{}
	}
	if time.Since(opened.used) > lastTabTime {
		opened = lastTab{}
	}
	return last, opened
}

// ProfileOf is the id of the profile in which a session was last; empty when there is none.
func (h *Hub) ProfileOf(session string) (id string) {
	l := &h.lastTabs
	l.mu.Lock()
	defer l.mu.Unlock()
	var latest time.Time
	for key, place := range l.last {
		if session != "" && key.session == session && place.used.After(latest) &&
			time.Since(place.used) <= lastTabTime {
			id, latest = place.profileID, place.used
		}
	}
	return id
}

// follow is where sessions are whose tab has another id now. It returns what is different.
func (l *lastTabs) follow(profileID string, tabID, became int) (moved []call.LastTab) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, place := range l.last {
		if place.profileID == profileID && place.tabID == tabID {
			place.tabID = became
			l.last[key] = place
			moved = append(moved, place.kept(key))
		}
	}
	return moved
}

// leave forgets where a session was, and those inside it. It returns whose tabs it had.
func (l *lastTabs) leave(session string) (left []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key := range l.last {
		if Within(key.session, session) {
			delete(l.last, key)
			left = append(left, key.session)
		}
	}
	slices.Sort(left)
	return slices.Compact(left)
}

// Opened makes a tab the one that the next call of a session goes to, whichever plugin of its page that is for, and
// makes the session its owner. pending says that the tab may not show its page yet.
func (h *Hub) Opened(s call.Session, profileID, profile string, tabID int, url string, pending bool) {
	h.Give(s, profileID, tabID)
	h.workedIn(s, openedTab, lastTab{profileID: profileID, profile: profile, tabID: tabID, url: url, pending: pending})
}
