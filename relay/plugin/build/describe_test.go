//go:build !race

package build

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// What a builder remembers must never show: after each edit it gives what a new one gives. Not with the race detector,
// beside which the interpreter that reads a plugin takes five times as long; other tests build with it.
func TestCachedToolsEqualReadOnes(t *testing.T) {
	dir := unpack(t, large(5))
	b, err := NewBuilder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	tool := func(i int, edits ...string) string { return strings.NewReplacer(edits...).Replace(largeTool(i, "")) }
	shared := "import { z } from 'zod';\nexport const limit = z.number().max(%MAX%);\n"
	factory := tool(0, "export const tool0 = defineTool({", "const make = (most: number) => defineTool({", "max(200)",
		"max(most)") + "export const tool0 = make(3);\n"
	importing := []string{"import { z } from 'zod';", "import { z } from 'zod';\nimport { limit } from './shared.ts';",
		"z.number().int().min(1).max(100)", "limit"}
	steps := []struct {
		name, file, text string
		known            int // tools that are not read again
	}{
		{"as it was", "tool-1.ts", tool(1), 5},
		{"another schema", "tool-1.ts", tool(1, "min(1)", "min(2)"), 4},
		{"another description", "tool-2.ts", tool(2, "Looks", "Searches"), 4},
		{"another handler", "tool-2.ts", tool(2, "Looks", "Searches", "slice(0, limit)", "slice(1)"), 5},
		{"a schema it has for itself", "tool-3.ts", tool(3, "id: z.string()", "id: z.number()"), 0},
		{"a shared schema", "shared.ts", strings.Replace(shared, "%MAX%", "5", 1), 5},
		{"used", "tool-4.ts", tool(4, importing...), 0},
		{"and changed", "shared.ts", strings.Replace(shared, "%MAX%", "6", 1), 0},
		{"in a factory", "tool-0.ts", factory, 0},
		{"with another argument", "tool-0.ts", strings.Replace(factory, "make(3)", "make(4)", 1), 0},
	}
	if _, _, err := b.Build(t.Context(), Options{Out: "-"}); err != nil {
		t.Fatal(err)
	}
	for _, step := range steps {
		if err := os.WriteFile(filepath.Join(dir, "src", step.file), []byte(step.text), 0o644); err != nil {
			t.Fatal(err)
		}
		before := b.cached
		got, _, err := b.Build(t.Context(), Options{Out: "-"})
		fresh, _, freshErr := Build(t.Context(), dir, Options{Out: "-"})
		if err != nil || freshErr != nil {
			t.Fatalf("%s: %v; from scratch: %v", step.name, err, freshErr)
		}
		if got.Hash != fresh.Hash {
			t.Errorf("%s: the plugin differs from one built from scratch", step.name)
		}
		if known := len((&Builder{cached: before}).unchanged(&b.cached)); known != step.known {
			t.Errorf("%s: %d tools were taken as they were, want %d", step.name, known, step.known)
		}
	}
}
