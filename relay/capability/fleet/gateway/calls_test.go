package gateway

import (
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/capability/fleet/wire"
)

// A node that is silent is given up when its time is over, counted from its last word; it is asked once in any case.
func TestHowLongANodeMayBeSilent(t *testing.T) {
	for _, c := range []struct{ recover, silent, left time.Duration }{
		{4 * time.Second, time.Second, 3 * time.Second},
		{4 * time.Second, 3500 * time.Millisecond, time.Second},
		{4 * time.Second, time.Minute, time.Second}, // the gateway was stopped
		{500 * time.Millisecond, time.Second, 500 * time.Millisecond},
		{0, time.Second, 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			f := &flight{Gateway: &Gateway{Options: Options{Recover: c.recover}}}
			heard := time.Now()
			time.Sleep(c.silent) // of the bubble
			if left := time.Until(f.patience(heard)); left != c.left {
				t.Errorf("%s after %s of silence it has %s", c.recover, c.silent, left)
			}
			for left, look := range map[time.Duration]time.Duration{time.Hour: wire.LostAfter,
				700 * time.Millisecond: 700 * time.Millisecond, 0: askEvery, -time.Second: askEvery} {
				if now := f.nextLook(time.Now().Add(left)); now != look {
					t.Errorf("with %s left it is waited for for %s", left, now)
				}
			}
			if f.nextLook(time.Time{}) != wire.LostAfter {
				t.Error("one that speaks is not taken for lost after a second")
			}
		})
	}
}
