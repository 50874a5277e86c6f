//go:build !race

// The race detector takes several times the memory itself, so that what is left says nothing of the limit.

package build

import (
	"strings"
	"testing"
)

// What a plugin's code takes while it loads ends its own process, and not the one that builds.
func TestLoadingIsLimitedInMemory(t *testing.T) {
	for name, test := range map[string]struct{ code, says string }{
		"a long text": {"let s = 'x'.repeat(2 ** 28); for (;;) s += s;",
			"loading the plugin small needs more than 512 MB of memory; move work into handlers"},
		"many small things": {"const all: string[] = []; for (;;) all.push('x'.repeat(1 << 16) + all.length);",
			"loading the plugin small needs more than 512 MB of memory"},
		"a large array": {"const all = []; for (;;) all.push(new Float64Array(1 << 24));",
			"loading the plugin small needs more than 512 MB of memory"},
		"a long name": {"throw new Error('x'.repeat(2 ** 24));",
			"what the plugin small says about its tools has more than 16 MB"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, _, err := Build(t.Context(), greedy(t, test.code), Options{})
			if err == nil || !strings.Contains(err.Error(), test.says) {
				t.Errorf("the build says %.300v", err)
			}
		})
	}
}
