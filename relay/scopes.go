package relay

import (
	"sync"
	"sync/atomic"

	"tabrelay/relay/call"
	"tabrelay/relay/config"
	"tabrelay/relay/fault"
	"tabrelay/relay/registry"
	"tabrelay/relay/scope"
)

// scopes knows what each client may see and call at the most, as the person said last. It is asked for every call, so
// it looks at no file: secrets.json is read anew when it changes.
type scopes struct {
	known func() *[]config.Client
	now   atomic.Pointer[scopeTable]
	out   sync.Map // names of clients that are being shut out
}

// scopeTable is the scopes of one content of secrets.json.
type scopeTable struct {
	from *[]config.Client
	by   map[string]*scope.Scope // nil: nothing is bounded
}

func (s *scopes) table() *scopeTable {
	from := s.known()
	if t := s.now.Load(); t != nil && t.from == from {
		return t
	}
	t := &scopeTable{from: from, by: map[string]*scope.Scope{}}
	if from != nil {
		for _, c := range *from {
			t.by[c.Name] = readScope(c.Scope)
		}
	}
	s.now.Store(t)
	return t
}

// readScope reads a scope. One that somebody edited until it means nothing lets nothing through.
func readScope(c call.Scope) *scope.Scope {
	s, err := scope.Read(c)
	if err != nil {
		return scope.Closed("its scope cannot be read: "+err.Error(), "`tabrelay clients scope NAME` sets one that can be")
	}
	return s
}

// of is the scope of a session; nil: nothing is bounded. A client that was revoked a moment ago keeps the one it came
// with.
func (s *scopes) of(session call.Session) *scope.Scope {
	if isOperator(session) {
		return nil
	}
	if _, out := s.out.Load(session.Client); out {
		return scope.Closed("its token was just revoked or renewed", "the client has to be started again with a token that is valid, from `tabrelay connect` or `tabrelay clients`")
	}
	if known, ok := s.table().by[session.Client]; ok {
		return known
	}
	if session.Scope == (call.Scope{}) {
		return nil
	}
	return readScope(session.Scope)
}

// raw is the scope of a registered client as it is kept.
func (s *scopes) raw(client string) call.Scope {
	if known := s.known(); known != nil {
		for _, c := range *known {
			if c.Name == client {
				return c.Scope
			}
		}
	}
	return call.Scope{}
}

// Refuse implements dispatch.Scopes.
func (s *scopes) Refuse(session call.Session, t *registry.Tool) *fault.Error {
	return s.of(session).Refuse(session.Client, t)
}
