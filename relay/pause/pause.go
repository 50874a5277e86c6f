// Package pause waits.
package pause

import (
	"context"
	"time"
)

// For waits so long, or until ctx ends. It reports whether ctx is still alive.
func For(ctx context.Context, d time.Duration) bool {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
