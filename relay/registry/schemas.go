package registry

import (
	"crypto/sha256"
	"encoding/json"
	"sync"

	"tabrelay/relay/schema"
)

// schemas is a cache by content: many tools share a schema, and a reload changes few. It belongs to the one
// who makes a candidate, and does not change once that is published.
type schemas struct {
	old    map[hash]*lazy // of the snapshot before; what is not used again is forgotten
	byHash map[hash]*lazy
}

type hash = [sha256.Size]byte

// lazy is a schema that is compiled when it is first needed: most tools are listed and never called.
type lazy struct {
	hash hash
	get  func() (*schema.Schema, error)
}

func newSchemas(before *schemas) *schemas {
	s := &schemas{byHash: map[hash]*lazy{}}
	if before != nil {
		s.old = before.byHash
	}
	return s
}

// of returns the one lazy schema of that text; nil for no schema.
func (s *schemas) of(text json.RawMessage) *lazy {
	if text == nil {
		return nil
	}
	h := sha256.Sum256(text)
	l, ok := s.byHash[h]
	if !ok {
		l = s.old[h]
	}
	if l == nil {
		l = &lazy{hash: h, get: sync.OnceValues(func() (*schema.Schema, error) { return schema.Compile(text) })}
	}
	s.keep(l)
	return l
}

func (s *schemas) keep(l *lazy) {
	if l != nil {
		s.byHash[l.hash] = l
	}
}
