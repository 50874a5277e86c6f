package async

import (
	"context"
	"testing"
	"testing/synctest"
	"time"
)

func TestPauseEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		begin := time.Now()
		if !Sleep(ctx, 2*time.Second) || time.Since(begin) != 2*time.Second {
			t.Errorf("a pause of 2 s took %s", time.Since(begin))
		}
		if Sleep(ctx, 2*time.Second) || time.Since(begin) != 3*time.Second {
			t.Errorf("the context ended after 3 s, and the pause after %s", time.Since(begin))
		}
	})
}
