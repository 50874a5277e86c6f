package hub_test

import (
	"testing"
	"time"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/wire"
)

// The extension keeps to the limits the relay runs with, and is told them.
func TestWelcomeSaysTheLimits(t *testing.T) {
	usual := wire.Welcome{
		Bundle: "b0", PingMs: 20_000, GapMs: 5_000, StartMs: 4_000,
		PageToolsOff: true, // the lab's hub has nobody to tell
		Command:      "tabrelay",
		Limits:       wire.Limits{FrameBytes: 16 << 20, ResultBytes: 10 << 20, StoredOutcomeBytes: 64 << 10},
	}
	set := usual
	set.PingMs, set.GapMs, set.StartMs, set.Limits.FrameBytes = 7_000, 60_000, 500, 32<<20
	for name, one := range map[string]struct {
		change func(*hub.Config)
		want   wire.Welcome
	}{
		"usual": {nil, usual},
		"set": {func(c *hub.Config) {
			c.PingEvery, c.ReconnectWait, c.StartTime, c.FrameBytes = 7*time.Second, time.Minute, 500*time.Millisecond,
				32<<20
		}, set},
	} {
		t.Run(name, func(t *testing.T) {
			inLabWith(t, one.change, func(t *testing.T, l *lab) {
				if got := l.connect().Welcome(); got != one.want {
					t.Errorf("%+v", got)
				}
			})
		})
	}
}
