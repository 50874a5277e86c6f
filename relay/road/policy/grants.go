package policy

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/plugin"
)

const (
	// idle is how long a grant lasts after it was used last.
	idle = time.Hour
	// maxGrants bounds what is remembered; the one that was used longest ago goes first.
	maxGrants = 10_000
)

// Grant is what a person allowed for more than one call.
type Grant struct {
	ID      string    `json:"id"`
	Client  string    `json:"client"`
	Session string    `json:"session"`
	Plugin  string    `json:"plugin"`
	Risk    string    `json:"risk"`           // how much the tools can do: reads or changes
	Tool    string    `json:"tool,omitempty"` // where it is for one tool only
	Allows  string    `json:"allows"`         // what it allows, in words
	Profile string    `json:"profile"`        // its label
	Origin  string    `json:"origin"`
	Until   time.Time `json:"until"` // when it ends if it is not used before
}

// grant is one entry. Its times belong to grants.mu.
type grant struct {
	Grant
	used time.Time
	end  time.Time // however often it is used; zero: it may last
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
	mu lock.Mutex
	by map[call.Binding]*grant
}

// use reports whether there is a grant, and extends its lifetime.
func (g *grants) use(b call.Binding) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	one := g.by[b]
	if one == nil {
		return false
	}
	now := time.Now()
	if !now.Before(one.until()) {
		delete(g.by, b)
		return false
	}
	one.used = now
	return true
}

// holds reports whether there is a grant, without extending its lifetime.
func (g *grants) holds(b call.Binding) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	one := g.by[b]
	return one != nil && time.Now().Before(one.until())
}

// origins adds to named the origins for which a session has grants.
func (g *grants) origins(session string, named map[string]bool) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, one := range g.by {
		if one.Session == session && one.Origin != "" {
			named[one.Origin] = true
		}
	}
}

// add adds the grant b that the person gave when asked about a: for a time, or with 0 for as long as it is used.
func (g *grants) add(a *call.Access, b call.Binding, lasts time.Duration) {
	now := time.Now()
	one := &grant{used: now, Grant: Grant{
		ID: newID(), Client: a.Session.Client, Session: b.Session, Plugin: b.Plugin, Risk: b.Risk, Tool: b.Tool,
		Allows: covers(a, b), Origin: b.Origin,
	}}
	if a.At != nil {
		one.Profile = a.At.Profile
	}
	if lasts > 0 {
		one.end = now.Add(lasts)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.by == nil {
		g.by = map[call.Binding]*grant{}
	}
	if len(g.by) >= maxGrants {
		g.drop(now)
	}
	g.by[b] = one
}

// drop removes the grants that have ended, or else the one that was used longest ago.
func (g *grants) drop(now time.Time) {
	maps.DeleteFunc(g.by, func(_ call.Binding, one *grant) bool { return !now.Before(one.until()) })
	if len(g.by) < maxGrants {
		return
	}
	var oldest call.Binding
	var used time.Time
	for b, one := range g.by {
		if used.IsZero() || one.used.Before(used) {
			oldest, used = b, one.used
		}
	}
	delete(g.by, oldest)
}

// remove ends grants, and returns them.
func (g *grants) remove(which func(*grant) bool) (removed []Grant) {
	g.mu.Lock()
	defer g.mu.Unlock()
	maps.DeleteFunc(g.by, func(_ call.Binding, one *grant) bool {
		if !which(one) {
			return false
		}
		removed = append(removed, one.Grant)
		return true
	})
	return removed
}

// revokeUnder revokes the grants that a new rule is about, so that the rule takes effect at once.
func (g *grants) revokeUnder(k key) {
	g.remove(func(one *grant) bool {
		tool, origin := splitTarget(k.target)
		about := k.target == Default || (tool == "" || tool == one.Plugin || tool == one.Tool ||
			one.Tool == "" && plugin.Owner(tool) == one.Plugin) && (origin == "" || origin == one.Origin)
		return about && (k.client == "" || k.client == one.Client)
	})
}

// list is the grants that hold.
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
		return cmp.Or(cmp.Compare(a.Client, b.Client), cmp.Compare(a.Allows, b.Allows), cmp.Compare(a.ID, b.ID))
	})
	return list
}

// Grants lists what was allowed for more than one call.
func (p *Policy) Grants() []Grant { return p.grants.list() }

// Revoke ends a grant and reports whether there was one.
func (p *Policy) Revoke(id, by string) bool {
	removed := p.grants.remove(func(one *grant) bool { return one.ID == id })
	for _, g := range removed {
		p.record(call.Entry{
			Kind: call.EntryRule, Session: call.Session{Client: g.Client, ID: g.Session}, Tool: g.Tool,
			Plugin: g.Plugin, Profile: g.Profile, Origin: g.Origin, Decision: "revoked", DecidedBy: by,
			Detail: "may no longer " + g.Allows,
		})
		p.changed(TopicPermissions)
	}
	return len(removed) > 0
}

// Forget ends the grants of sessions or clients that have left.
func (p *Policy) Forget(ended func(Grant) bool) {
	if len(p.grants.remove(func(one *grant) bool { return ended(one.Grant) })) > 0 {
		p.changed(TopicPermissions)
	}
}

// ForgetPlugin removes the rules and grants that allow tools of a removed plugin without a question, so that another
// plugin of its name does not inherit them. Rules that ask or forbid stay.
func (p *Policy) ForgetPlugin(ctx context.Context, plugin, by string) error {
	of := func(tool string) bool { return tool == plugin || strings.HasPrefix(tool, plugin+"__") }
	for _, r := range p.rules.Load().personal {
		if r.Mode == call.Auto && of(r.Target) {
			if _, err := p.Unset(ctx, r.Target, r.Client, by); err != nil {
				return err
			}
		}
	}
	for _, g := range p.Grants() {
		if g.Plugin == plugin {
			p.Revoke(g.ID, by)
		}
	}
	p.dropMissed(func(m *missed) bool { return m.call != nil && m.call.Plugin == plugin })
	return nil
}
