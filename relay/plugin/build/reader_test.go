package build

import (
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/rogpeppe/go-internal/txtar"
)

// greedy is a plugin that does something before it exports its tools.
func greedy(t *testing.T, code string) string {
	t.Helper()
	return unpack(t, &txtar.Archive{Files: []txtar.File{
		{Name: "package.json", Data: []byte(smallPackage)},
		{Name: "src/index.ts", Data: []byte(code + "\n" + smallSource("look"))},
	}})
}

func TestLoadingTimesOut(t *testing.T) {
	for name, code := range map[string]string{
		"a loop":                     "while (true);",
		"a step nothing interrupts":  "/^(?:(a+)+)+\\1c$/.test('a'.repeat(60));",
		"steps that take memory too": "for (;;) 'x'.repeat(1 << 20);",
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b, err := NewBuilder(greedy(t, code))
			if err != nil {
				t.Fatal(err)
			}
			defer b.Close()
			b.reader.limit = 200 * time.Millisecond
			b.reader.next.close()
			b.reader.next = b.reader.start(nil)
			if _, _, err := b.Build(t.Context(), Options{}); err == nil ||
				!strings.Contains(err.Error(), "loading the plugin small takes longer than 200ms") {
				t.Errorf("the build says %v", err)
			}
		})
	}
}

// The process knows nothing of the person: no environment, no arguments, no files.
func TestLoadingHasNoEnvironment(t *testing.T) {
	t.Setenv("TABRELAY_SECRET", secret)
	code := "const s = JSON.stringify([typeof process, typeof require, typeof module, Object.keys(globalThis)]); if " +
		"(s.includes('5ECRET')) throw new Error('seen');"
	if _, _, err := Build(t.Context(), greedy(t, code), Options{}); err != nil {
		t.Error(err)
	}
}

// A build that is given up ends its process.
func TestLoadingIsCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	dir := greedy(t, "while (true);")
	b, err := NewBuilder(dir)
	if err != nil {
		t.Fatal(err)
	}
	defer b.Close()
	<-b.reader.next.ready
	process := b.reader.next.process
	cancel()
	if _, _, err := b.Build(ctx, Options{}); err == nil {
		t.Error("the build succeeded")
	}
	process.Close()
	if _, err := os.Stat(dir + "/dist"); err == nil {
		t.Error("a build that was given up wrote something")
	}
}
