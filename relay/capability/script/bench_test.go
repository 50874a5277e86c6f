package script

import (
	"testing"
)

// BenchmarkScript is a script that does nothing, with a process that waits for it; /cold starts one first.
func BenchmarkScript(b *testing.B) {
	for name, between := range map[string]func(*stage){
		"ready": func(s *stage) { s.spare.refill(uint64(s.settings.Load().Memory)) },
		"cold":  func(s *stage) { s.spare.close(false) },
	} {
		b.Run(name, func(b *testing.B) {
			s := newStage(b, nil)
			s.value("1")
			b.ResetTimer()
			for range b.N {
				b.StopTimer()
				between(s)
				b.StartTimer()
				s.value("1")
			}
		})
	}
}

// BenchmarkCalls is one call of a script whose tool answers at once.
func BenchmarkCalls(b *testing.B) {
	s := newStage(b, func(c *settings) { c.Calls = 1_000_000 })
	b.ResetTimer()
	if _, f := s.runWith(b.Context(), map[string]any{"args": b.N,
		"script": "for (let n = 0; n < args; n++) await tools.wiki.getPage({n, title: 'x'})"}); f != nil {
		b.Fatal(f)
	}
}
