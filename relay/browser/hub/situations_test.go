package hub_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault/faulttest"
)

// What an extension ends a call with, each with the situation it stands for.
func TestSituationsOfAPage(t *testing.T) {
	thrown := func(text string) func(*hubtest.Call) {
		return func(c *hubtest.Call) { c.Started(); c.Throw(json.RawMessage(text)) }
	}
	refused := func(code, outcome string) func(*hubtest.Call) {
		return func(c *hubtest.Call) {
			c.Refuse(wire.Refusal{Code: code, Outcome: outcome, Message: "It did not work"})
		}
	}
	for _, tt := range []struct {
		situation string
		does      func(*hubtest.Call)
	}{
		{"page-threw", thrown(`{"code":"RATE_LIMITED","category":"rate_limit","retryable":true,"retryAfterMs":2000,` +
			`"message":"Too many requests"}`)},
		{"page-threw", thrown(`{"code":"RATE_LIMITED","category":"rate_limit","retryable":false,"message":"For ` +
			`good"}`)},
		{"page-signed-out", thrown(`{"code":"AUTH_ERROR","category":"auth","retryable":false,"message":"Nobody is ` +
			`signed in"}`)},
		{"page-has-no-such-thing", thrown(`{"code":"NOT_FOUND","category":"not_found","retryable":false,` +
			`"message":"There is no such page"}`)},
		{"page-crashed", thrown(`{"code":"INTERNAL_ERROR","category":"internal","retryable":false,"message":"x is ` +
			`undefined"}`)},
		{"tab-missing", refused("TAB_NOT_FOUND", "not_executed")},
		{"tab-closed", refused("TAB_CLOSED", "unknown")},
		{"tab-navigated", refused("TAB_CHANGED", "unknown")},
		{"tab-unresponsive", refused("TAB_UNRESPONSIVE", "unknown")},
		{"tab-unresponsive", refused("TAB_UNRESPONSIVE", "not_executed")},
		{"tab-busy", refused("TAB_BUSY", "not_executed")},
		{"adapter-not-ready", refused("ADAPTER_NOT_READY", "not_executed")},
		{"injection-refused", refused("INJECTION_FAILED", "not_executed")},
		{"output-too-large", refused("OUTPUT_TOO_LARGE", "executed")},
		{"output-not-valid", refused("INVALID_OUTPUT", "executed")},
	} {
		t.Run(tt.situation, func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				l.connect(answer(tt.does))
				faulttest.Provoked(t, tt.situation, l.invoke(request(write)).failure)
			})
		})
	}
}

// What happens without any word of a page.
func TestSituationsOfTheLink(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		faulttest.Provoked(t, "never-connected", l.invoke(request()).failure)
		b := l.connect(answer(hold))
		lost := l.begin(t.Context(), request(write))
		synctest.Wait()
		b.Die()
		faulttest.Provoked(t, "link-lost", (<-lost).failure)
		faulttest.Provoked(t, "worker-asleep", l.invoke(request()).failure)
		time.Sleep(2 * time.Minute)
		faulttest.Provoked(t, "browser-closed", l.invoke(request()).failure)
	})
	inLabWith(t, func(c *hub.Config) { c.Known = []call.Profile{{Label: "Work"}} }, func(t *testing.T, l *lab) {
		faulttest.Provoked(t, "not-connected", l.invoke(request()).failure)
	})
	inLab(t, func(t *testing.T, l *lab) {
		wrong := hubtest.New(l.options(func(o *hubtest.Options) { o.Secret = strings.Repeat("0", 64) }))
		refusedWith(t, wrong.Dial(t.Context()), 4401)
		faulttest.Provoked(t, "wrong-pairing", l.invoke(request()).failure)
	})
	inLab(t, func(t *testing.T, l *lab) {
		old := hubtest.New(l.options(func(o *hubtest.Options) {
			o.Protocol = wire.Range{Min: wire.Speaks.Max + 1,
				Max: wire.Speaks.Max + 1}
		}))
		refusedWith(t, old.Dial(t.Context()), 4406)
		faulttest.Provoked(t, "versions-differ", l.invoke(request()).failure)
	})
}

// What the hub finds out before anything is sent.
func TestSituationsOfRouting(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		l.connect()
		for _, tt := range []struct {
			situation string
			change    func(*call.Invocation)
		}{
			{"tab-missing", func(r *call.Invocation) { r.Matches = []string{"https://nobody.example/*"} }},
			{"tab-missing", func(r *call.Invocation) { r.TabID = 4711 }},
			{"tab-navigated", func(r *call.Invocation) {
				r.TabID, r.Matches = 1,
					[]string{"https://nobody.example/*"}
			}},
			{"profile-not-connected", func(r *call.Invocation) { r.Profile = "Work" }},
		} {
			faulttest.Provoked(t, tt.situation, l.invoke(request(tt.change)).failure)
		}
	})
	inLab(t, func(t *testing.T, l *lab) {
		l.connect(answer(func(c *hubtest.Call) {
			c.Started()
			c.Return(json.RawMessage(`"` + strings.Repeat("x", 4096) +
				`"`))
		}))
		faulttest.Provoked(t, "output-too-large",
			l.invoke(request(func(r *call.Invocation) { r.MaxResultBytes = 1024 })).failure)
	})
	inLab(t, func(t *testing.T, l *lab) {
		l.connect(answer(hold))
		ctx, cancel := context.WithCancelCause(t.Context())
		done := l.begin(ctx, request(write))
		synctest.Wait()
		cancel(call.ErrCancelled)
		faulttest.Provoked(t, "cancelled", (<-done).failure)
	})
}
