package relay

import (
	"testing"

	"tabrelay/relay/browser/wire"
)

func TestUncaughtSaysWhen(t *testing.T) {
	ms := int64(1500)
	for _, tt := range []struct {
		f    wire.Followed
		want string
	}{
		{wire.Followed{Plugin: "tea", Tool: "list", What: wire.LateError, AfterMs: &ms},
			"late error of tea, 1.5s after tea__list had ended"},
		{wire.Followed{Plugin: "tea", Tool: "list", What: wire.Rejection},
			"late error of tea, in a promise that nobody awaits, outside of the handler while tea__list runs"},
		{wire.Followed{Plugin: "tea", Tool: "list", What: wire.EarlyError},
			"error of tea, before its first call in the document"},
	} {
		if got := uncaught(&tt.f); got != tt.want {
			t.Errorf("%q, want %q", got, tt.want)
		}
	}
}

// While nobody follows calls, nothing of a page is told; who follows is told no credentials and control characters.
func TestFollowedGoesToFollowersOnly(t *testing.T) {
	r := &Relay{}
	line := &wire.Followed{ID: "0123456789abcdef0123456789abcdef", Plugin: "tea", Tool: "list", What: wire.ConsoleLine,
		Text: "green \x1b[31mtea\npassword=hunter2hunter2"}
	r.tellFollowers(line)
	if told := r.trail.Recent(10); len(told) > 0 {
		t.Errorf("told without a follower: %v", told)
	}
	news, stop := r.trail.Subscribe()
	defer stop()
	r.tellFollowers(line)
	got := (<-news).Message
	if want := "tea__list console: green [31mtea\npassword=[redacted]"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
