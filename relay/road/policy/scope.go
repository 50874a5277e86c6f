package policy

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/config"
)

// Scope is a [call.Scope] that was read: what one client may see and call at the most, whatever the rules say. The
// person gives it to the client, see `tabrelay clients`. A nil Scope bounds nothing.
type Scope struct {
	Key      string           // canonical: the same for scopes that bound in the same way; empty: nothing is bounded
	Toolset  registry.Toolset // what a client gets that asks for all
	plugins  map[string]bool
	readOnly bool
	names    string // of plugins, for sentences
	closed   string // why nothing is let through but the relay's own reading tools; empty: it is not so
	next     string // what the person can do about that
}

// ReadScope reads a scope. Its error is a sentence about which part of it cannot be read.
func ReadScope(c call.Scope) (*Scope, error) {
	c, err := NormalScope(c)
	if err != nil || c == (call.Scope{}) {
		return nil, err
	}
	s := &Scope{readOnly: c.ReadOnly, names: strings.ReplaceAll(c.Plugins, ",", ", ")}
	if s.Toolset, err = registry.ParseToolset(c.Toolset); err != nil {
		return nil, err
	}
	if c.Plugins != "" {
		s.plugins = map[string]bool{}
		for n := range strings.SplitSeq(c.Plugins, ",") {
			s.plugins[n] = true
		}
	}
	s.Key = fmt.Sprintf("%s|%s|%t", s.Toolset.Key, c.Plugins, c.ReadOnly)
	return s, nil
}

// closedScope is the scope of a client that may not use anything now: nothing but the relay's own tools that only read.
// why and next are sentences without a full stop: why that is so, and what the person can do.
func closedScope(why, next string) *Scope {
	return &Scope{Key: "closed", plugins: map[string]bool{}, readOnly: true, closed: why, next: next}
}

// NormalScope is the same scope in the one form that is kept: names sorted, each once, and what bounds nothing left
// out.
func NormalScope(c call.Scope) (call.Scope, error) {
	t, err := registry.ParseToolset(c.Toolset)
	if err != nil {
		return call.Scope{}, err
	}
	if c.Toolset = t.Key; t.All {
		c.Toolset = ""
	}
	names := registry.SplitNames(c.Plugins)
	for _, n := range names {
		if !registry.IsName(n) {
			return call.Scope{}, fmt.Errorf("plugins %.60q: expected names of plugins, separated by commas", c.Plugins)
		}
	}
	if c.Plugins = strings.Join(names, ","); slices.Contains(names, "all") {
		c.Plugins = ""
	}
	return c, nil
}

// Covers reports whether a client with this scope may see and call t. The relay's own tools that only read are for
// every client.
func (s *Scope) Covers(t *registry.Tool) bool {
	switch {
	case s == nil:
		return true
	case s.readOnly && !t.ReadOnly:
		return false
	case registry.ForEverybody(t):
		return true
	}
	return (s.plugins == nil || s.plugins[t.Group]) && s.Toolset.Reaches(t)
}

// Refuse says why a client may not call t, nil when it may.
func (s *Scope) Refuse(client string, t *registry.Tool) *fault.Error {
	if s.Covers(t) {
		return nil
	}
	if s.closed != "" {
		message := fmt.Sprintf("%s cannot be used by the client %s: %s", t.Name, fault.Sanitize(client), s.closed)
		return fault.New(fault.PermissionDenied, message,
			fault.WithHint("Do not try again by yourself; tell the person: "+s.next+"."))
	}
	why := "it may only use the toolset " + s.Toolset.Key
	switch {
	case s.readOnly && !t.ReadOnly:
		why = "it may only call tools that read, and " + t.Name + " does not say that it only reads"
	case s.plugins != nil && !s.plugins[t.Group]:
		why = "it may only use the plugins " + s.names
	}
	message := fmt.Sprintf("%s is outside the scope of the client %s: %s", t.Name, fault.Sanitize(client), why)
	return fault.New(fault.PermissionDenied, message, fault.WithHint(fmt.Sprintf("Do not look for a way around it; "+
		"the person can change the scope with `tabrelay clients scope %s`.", fault.Sanitize(client))))
}

// ScopeWords are a scope as a person reads it.
func ScopeWords(c call.Scope) string {
	var parts []string
	if c.Toolset != "" {
		parts = append(parts, "toolset "+c.Toolset)
	}
	if c.Plugins != "" {
		parts = append(parts, "plugins "+c.Plugins)
	}
	if c.ReadOnly {
		parts = append(parts, "read-only")
	}
	if len(parts) == 0 {
		return "everything"
	}
	return strings.Join(parts, "; ")
}

// widerScope reports whether a client with the scope after may use anything that one with the scope before may not.
func widerScope(before, after call.Scope) bool {
	return before.ReadOnly && !after.ReadOnly || !within(after.Toolset, before.Toolset) ||
		!within(after.Plugins, before.Plugins)
}

// within reports whether a list of names bounds at least as much as another one. An empty one bounds nothing, and the
// name none stands for nothing.
func within(list, bound string) bool {
	if bound == "" || list == "none" {
		return true
	}
	allowed := strings.Split(bound, ",")
	for one := range strings.SplitSeq(list, ",") {
		if !slices.Contains(allowed, one) {
			return false
		}
	}
	return true
}

// scopes knows what each client may see and call at the most, as the person said last. It is asked for every call, so
// it looks at no file: secrets.json is read anew when it changes.
type scopes struct {
	now atomic.Pointer[scopeTable]
	out sync.Map // names of clients that are being shut out
}

// scopeTable is the scopes of one content of secrets.json.
type scopeTable struct {
	from *[]config.Client
	by   map[string]*Scope // nil: nothing is bounded
}

func (p *Policy) scopeTable() *scopeTable {
	var from *[]config.Client
	if p.options.Clients != nil {
		from = p.options.Clients.Load()
	}
	if t := p.scopes.now.Load(); t != nil && t.from == from {
		return t
	}
	t := &scopeTable{from: from, by: map[string]*Scope{}}
	if from != nil {
		for _, c := range *from {
			t.by[c.Name] = readScope(c.Scope)
		}
	}
	p.scopes.now.Store(t)
	return t
}

// readScope reads a scope. One that somebody edited until it means nothing lets nothing through.
func readScope(c call.Scope) *Scope {
	s, err := ReadScope(c)
	if err != nil {
		return closedScope("its scope cannot be read: "+err.Error(),
			"`tabrelay clients scope NAME` sets one that can be")
	}
	return s
}

// IsPerson tells the person from agents. An attached client is an agent, whatever token it came with.
func IsPerson(s call.Session) bool {
	return s.Bounds == nil &&
		(s.Via == call.ViaPanel || s.Client == config.LocalClient && s.Via != call.ViaStdio)
}

// ScopeOf is the scope of a session; nil: nothing is bounded. A client that was revoked a moment ago keeps the one it
// came with.
func (p *Policy) ScopeOf(s call.Session) *Scope {
	if IsPerson(s) {
		return nil
	}
	if _, out := p.scopes.out.Load(s.Client); out {
		return closedScope("its token was just revoked or renewed", "the client has to be started again with a token "+
			"that is valid, from `tabrelay connect` or `tabrelay clients`")
	}
	if known, ok := p.scopeTable().by[s.Client]; ok {
		return known
	}
	if s.Scope == (call.Scope{}) {
		return nil
	}
	return readScope(s.Scope)
}

// Refuse says why a client may not call a tool, nil when it may.
func (p *Policy) Refuse(s call.Session, t *registry.Tool) *fault.Error {
	if scope := p.ScopeOf(s); scope != nil {
		if failure := scope.Refuse(s.Client, t); failure != nil {
			return failure
		}
	}
	if s.Bounds != nil {
		return refuseOutsideBounds(s, t)
	}
	return nil
}

// ShutOut lets a client whose token does not hold any more use nothing, until done.
func (p *Policy) ShutOut(client string) (done func()) {
	p.scopes.out.Store(client, nil)
	return func() {
		p.Forget(func(g Grant) bool { return g.Client == client })
		p.dropMissed(func(m *missed) bool { return m.call.Client == client })
		p.scopes.out.Delete(client)
	}
}

// AddChange is what a new client changes.
func AddChange(one config.Client) *Change {
	may := ScopeWords(one.Scope)
	if !one.Expires.IsZero() {
		may += ", " + LastsWords(one.Expires)
	}
	if one.Remote {
		return NewChange("A client on another machine may use tabrelay", "tabrelay clients add --remote "+one.Name,
			call.Difference{What: "client " + one.Name, Before: "none", After: "from elsewhere: " + may})
	}
	return NewChange("A new client may use tabrelay", "tabrelay clients add "+one.Name,
		call.Difference{What: "client " + one.Name, Before: "none", After: may})
}

// RotateClientChange is what a new token of a client changes, which expires at another time, or the same.
func RotateClientChange(one config.Client, expires time.Time) *Change {
	list := []call.Difference{{What: "client " + one.Name, Before: "whoever has its token",
		After: "whoever is given the new one"}}
	if !one.Expires.Equal(expires) {
		list = append(list, call.Difference{What: "token of " + one.Name, Before: LastsWords(one.Expires),
			After: LastsWords(expires)})
	}
	return NewChange("The token of a client is replaced", "tabrelay clients rotate "+one.Name, list...)
}

// LastsWords says how long a token lasts; zero: it does not expire.
func LastsWords(expires time.Time) string {
	if expires.IsZero() {
		return "until it is revoked"
	}
	return "until " + expires.UTC().Format(config.UntilForm)
}

// ScopeChange is what another scope of a client allows; nil: nothing more.
func ScopeChange(name string, clients []config.Client, within call.Scope) *Change {
	for _, c := range clients {
		if c.Name == name && widerScope(c.Scope, within) {
			return NewChange("A client may use more", "tabrelay clients scope "+name,
				call.Difference{What: "client " + name, Before: ScopeWords(c.Scope), After: ScopeWords(within)})
		}
	}
	return nil
}
