package permit

import (
	"cmp"
	"crypto/rand"
	"encoding/hex"
	"maps"
	"slices"
	"sync"
	"time"

	"tabrelay/relay/call"
)

const (
	// idle is how long a grant lasts after it was used last.
	idle = time.Hour
	// mostGrants bounds what is remembered; the one that was used longest ago goes first.
	mostGrants = 10_000
)

// scope is what a grant is for: calls of one tool by one session, in one profile, in documents of one origin.
type scope struct{ session, tool, profileID, origin string }

func scopeOf(a *call.Access) scope {
	s := scope{session: a.Session.ID, tool: a.Tool}
	if a.At != nil {
		s.profileID, s.origin = a.At.ProfileID, a.At.Origin
	}
	return s
}

// Grant is what a person allowed for more than one call.
type Grant struct {
	ID      string    `json:"id"`
	Client  string    `json:"client"`
	Session string    `json:"session"`
	Tool    string    `json:"tool"`
	Profile string    `json:"profile"` // its label
	Origin  string    `json:"origin"`
	Until   time.Time `json:"until"` // when it ends if it is not used before
}

// grant is one entry. Its times belong to grants.mu.
type grant struct {
	Grant
	plugin string
	used   time.Time
	end    time.Time // however often it is used; zero: it may last
}

func (g *grant) until() time.Time {
	until := g.used.Add(idle)
	if !g.end.IsZero() && g.end.Before(until) {
		return g.end
	}
	return until
}

// grants is what people allowed for more than one call, in memory: it ends with the relay, as the sessions do.
type grants struct {
	mu sync.Mutex
	by map[scope]*grant
}

// use reports whether an access is granted, and lets the grant last on.
func (g *grants) use(s scope) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	one := g.by[s]
	if one == nil {
		return false
	}
	now := time.Now()
	if !now.Before(one.until()) {
		delete(g.by, s)
		return false
	}
	one.used = now
	return true
}

// add grants what an access is about: for a time, or with 0 for as long as it is used.
func (g *grants) add(a *call.Access, lasts time.Duration) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.by == nil {
		g.by = map[scope]*grant{}
	}
	now, s := time.Now(), scopeOf(a)
	if len(g.by) >= mostGrants {
		g.drop(now)
	}
	one := &grant{Grant: Grant{ID: newID(), Client: a.Session.Client, Session: s.session, Tool: s.tool, Origin: s.origin}, plugin: a.Plugin, used: now}
	if a.At != nil {
		one.Profile = a.At.Profile
	}
	if lasts > 0 {
		one.end = now.Add(lasts)
	}
	g.by[s] = one
}

// drop makes room: what has ended goes, or else the one that was used longest ago.
func (g *grants) drop(now time.Time) {
	var oldest scope
	var used time.Time
	for s, one := range g.by {
		if !now.Before(one.until()) {
			delete(g.by, s)
		} else if used.IsZero() || one.used.Before(used) {
			oldest, used = s, one.used
		}
	}
	if len(g.by) >= mostGrants {
		delete(g.by, oldest)
	}
}

// revoke takes a grant back.
func (g *grants) revoke(id string) (revoked Grant, there bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for s, one := range g.by {
		if one.ID == id {
			delete(g.by, s)
			return one.Grant, true
		}
	}
	return Grant{}, false
}

// forget ends grants that nobody can use any more, and reports whether there were any.
func (g *grants) forget(ended func(Grant) bool) (some bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	before := len(g.by)
	maps.DeleteFunc(g.by, func(_ scope, one *grant) bool { return ended(one.Grant) })
	return len(g.by) < before
}

// revokeUnder takes back the grants that a new rule is about: whoever makes one wants it to be asked.
func (g *grants) revokeUnder(k key) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for s, one := range g.by {
		about := k.target == Default || k.target == s.tool || k.target == one.plugin || k.target == s.origin
		if about && (k.client == "" || k.client == one.Client) {
			delete(g.by, s)
		}
	}
}

// list is the grants that hold, those of one client and tool together.
func (g *grants) list() []Grant {
	g.mu.Lock()
	defer g.mu.Unlock()
	now, list := time.Now(), []Grant{}
	for _, one := range g.by {
		if until := one.until(); now.Before(until) {
			shown := one.Grant
			shown.Until = until
			list = append(list, shown)
		}
	}
	slices.SortFunc(list, func(a, b Grant) int {
		return cmp.Or(cmp.Compare(a.Client, b.Client), cmp.Compare(a.Tool, b.Tool), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// newID names a question or a grant for people to type.
func newID() string {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	return hex.EncodeToString(b[:])
}
