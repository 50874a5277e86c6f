//go:build !race

// The race detector takes several times the memory itself, so that what is left says nothing of the limit.

package script

import "testing"

// What a script keeps in memory ends its own process and nothing else.
func TestMemoryEndsAScript(t *testing.T) {
	s := newStage(t, func(c *settings) { c.Memory = 32 << 20 })
	for _, script := range []string{
		"await tools.wiki.editPage({}); let s = 'x'.repeat(1 << 20); for (;;) s += s",
		"await tools.wiki.editPage({}); const all = []; for (;;) all.push('x'.repeat(1 << 16) + all.length)",
		"await tools.wiki.editPage({}); const all = []; for (;;) all.push(new Float64Array(1 << 22))",
	} {
		f := s.fails(script, scriptLimit, "more than 32 MB of memory (scripts.memoryBytes)",
			"Calls executed: wiki__edit_page", "outcome=executed")
		if f.Retryable {
			t.Error("a script that wrote is called retryable")
		}
	}
	if a := s.value("'still here'"); string(a.Value) != `"still here"` {
		t.Error(a.Value)
	}
}
