package relay

import (
	"slices"
	"strconv"
	"sync"
	"sync/atomic"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/front"
	"tabrelay/relay/registry"
)

// views is what each client may see: what its scope covers, and no rule switches off everywhere.
type views struct {
	relay *Relay

	generation atomic.Uint64 // of the rules and scopes
	mu         sync.Mutex
	listeners  []*func()
}

// View implements front.Views.
func (v *views) View(s call.Session) front.View {
	within, permits := v.relay.scopes.of(s), v.relay.permits
	// The generation is read before the rules are: a list made while they change is kept under the old one.
	view := front.View{
		Key: s.Client + "\x00" + strconv.FormatUint(v.generation.Load(), 36),
		Shows: func(t *registry.Tool) bool {
			return within.Covers(t) && permits.Visible(accessOf(s, t))
		},
		Hidden: func(t *registry.Tool) bool {
			return within.Covers(t) && !permits.Visible(accessOf(s, t))
		},
		Why: func(t *registry.Tool) *fault.Error {
			if failure := within.Refuse(s.Client, t); failure != nil {
				return failure
			}
			_, failure := permits.Allow(accessOf(s, t))
			return failure
		},
	}
	if within != nil {
		view.Key += "\x00" + within.Key
		view.Toolset = within.Toolset.Key
	}
	return view
}

// OnChange implements front.Views.
func (v *views) OnChange(changed func()) (stop func()) {
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

// changed tells that clients may see other tools than before. It may be called with any lock held that no list takes.
func (v *views) changed() {
	v.generation.Add(1)
	v.mu.Lock()
	listeners := v.listeners
	v.mu.Unlock()
	for _, listener := range listeners {
		(*listener)()
	}
}

// shows reports whether a client may see a tool.
func (v *views) shows(s call.Session, t *registry.Tool) bool { return v.View(s).Shows(t) }

// hides reports whether a client may see no tool of a plugin, although it has some.
func (v *views) hides(s call.Session, plugin string) bool {
	view, some := v.View(s), false
	for _, t := range v.relay.tools.Snapshot().Tools {
		if t.Plugin == nil || t.PluginName() != plugin {
			continue
		}
		if view.Shows(t) {
			return false
		}
		some = true
	}
	return some
}
