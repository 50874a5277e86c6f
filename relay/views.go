package relay

import (
	"slices"
	"sync"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/front"
	"tabrelay/relay/registry"
)

// views is what each client may see: what its scope covers, and no rule switches off.
type views struct {
	relay *Relay

	mu        sync.Mutex
	listeners []*func()
}

// View implements front.Views.
func (v *views) View(s call.Session) front.View {
	within := v.relay.scopes.of(s)
	if within == nil {
		return front.View{}
	}
	return front.View{
		Key: within.Key, Toolset: within.Toolset.Key,
		Shows: within.Covers,
		Why:   func(t *registry.Tool) *fault.Error { return within.Refuse(s.Client, t) },
	}
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
	v.mu.Lock()
	listeners := v.listeners
	v.mu.Unlock()
	for _, listener := range listeners {
		(*listener)()
	}
}

// shows reports whether a client may see a tool.
func (v *views) shows(s call.Session, t *registry.Tool) bool {
	view := v.View(s)
	return view.Shows == nil || view.Shows(t)
}
