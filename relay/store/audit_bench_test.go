package store

import (
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkAppendAudit is one row of a batch of 64.
func BenchmarkAppendAudit(b *testing.B) {
	s := opened(b, filepath.Join(b.TempDir(), "x.db"))
	b.ReportAllocs()
	for n := 0; n < b.N; n += 64 {
		appendRows(b, s, entries(n, 64, time.Now()))
	}
}
