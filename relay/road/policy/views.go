package policy

import (
	"slices"
	"strconv"
	"sync/atomic"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
)

// views tells when clients may see other tools than before.
type views struct {
	generation atomic.Uint64 // of the rules and scopes
	mu         lock.Mutex    // nothing nests in it
	listeners  []*func()     // never changed in place
}

// View is what a client may see: what its scope covers, and no rule switches off everywhere.
func (p *Policy) View(s call.Session) registry.View {
	within := p.ScopeOf(s)
	// The generation is read before the rules are: a list made while they change is kept under the old one.
	covers := func(t *registry.Tool) bool { return within.Covers(t) && outsideBounds(s.Bounds, t) == "" }
	view := registry.View{
		Key:    s.Client + "\x00" + strconv.FormatUint(p.views.generation.Load(), 36) + boundsKey(s.Bounds),
		Shows:  func(t *registry.Tool) bool { return covers(t) && p.Visible(AccessOf(s, t)) },
		Hidden: func(t *registry.Tool) bool { return covers(t) && !p.Visible(AccessOf(s, t)) },
		Asks: func(t *registry.Tool) bool {
			mode, _ := p.Mode(AccessOf(s, t))
			return mode == call.Ask
		},
		Why: func(t *registry.Tool) *fault.Error {
			if failure := within.Refuse(s.Client, t); failure != nil {
				return failure
			}
			if failure := refuseOutsideBounds(s, t); failure != nil {
				return failure
			}
			_, failure := p.Allow(AccessOf(s, t))
			return failure
		},
	}
	if within != nil {
		view.Key += "\x00" + within.Key
		view.Toolset = within.Toolset.Key
	}
	return view
}

// OnChange calls changed, which must not block, after clients may see other tools than before, until stop.
func (p *Policy) OnChange(changed func()) (stop func()) {
	v := &p.views
	v.mu.Lock()
	defer v.mu.Unlock()
	entry := &changed
	v.listeners = append(slices.Clone(v.listeners), entry)
	return func() {
		v.mu.Lock()
		defer v.mu.Unlock()
		v.listeners = slices.DeleteFunc(slices.Clone(v.listeners), func(l *func()) bool { return l == entry })
	}
}

// ScopesChanged tells that clients may see other tools than before, because their scopes are others.
func (p *Policy) ScopesChanged() { p.views.changed() }

func (v *views) changed() {
	v.generation.Add(1)
	v.mu.Lock()
	listeners := v.listeners
	v.mu.Unlock()
	for _, listener := range listeners {
		(*listener)()
	}
}

// Hides reports whether a client may see no tool of a plugin, although it has some among these.
func (p *Policy) Hides(s call.Session, plugin string, tools []*registry.Tool) bool {
	view, some := p.View(s), false
	for _, t := range tools {
		if t.Plugin == nil || t.Group != plugin {
			continue
		}
		if view.Shows(t) {
			return false
		}
		some = true
	}
	return some
}
