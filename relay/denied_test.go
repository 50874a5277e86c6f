package relay

import (
	"encoding/json"
	"net/http"
	"os"
	"testing"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/policy"
)

// What a person denied of a configuration is not in effect after a restart either, until they allow it or it is taken
// out.
func TestADeniedConfigurationStaysDenied(t *testing.T) {
	t.Setenv("TABRELAY_REVIEW_REQUIRED", "false")
	w := newWorld(t)
	r := w.guarded(nil)
	if err := os.WriteFile(w.home.Config(), []byte(`{"permissions":{"shop__pay":"auto"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, failure := r.catalog.Reload(); failure != nil {
		t.Fatal(failure)
	}
	deny := func() {
		t.Helper()
		if status, said := w.person(t, http.MethodPost, "/api/v1/approvals/config",
			`{"answer":"deny"}`); status != http.StatusOK {
			t.Errorf("deny: %d %s", status, said)
		}
	}
	deny()
	for range 2 {
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
		r = w.guarded(map[string]string{"shop__pay": "auto"})
		s := r.api.Status(t.Context())
		if s.Unapplied != "permissions.shop__pay: no rule → auto" || s.Widened != "" || s.Questions != 1 {
			t.Errorf("after a restart: %q waits, %q is in effect, %d questions", s.Unapplied, s.Widened, s.Questions)
		}
		found, _ := r.tools.Snapshot().Find("shop__pay")
		if mode, _ := r.policy.Mode(policy.AccessOf(ann, found)); mode != call.Ask {
			t.Errorf("the tool is %s", mode)
		}
	}
	deny()
	if s := r.api.Status(t.Context()); s.Unapplied == "" || s.Questions != 0 {
		t.Errorf("denied again: %q waits, %d questions", s.Unapplied, s.Questions)
	}
}

// edited is a relay whose configuration is edited and whose questions about it are answered, over restarts.
type edited struct {
	*world
	t     *testing.T
	relay *Relay
	rules map[string]string
}

// edit writes the rules into config.json while the relay runs.
func (e *edited) edit(rules map[string]string) {
	e.t.Helper()
	text, err := json.Marshal(map[string]any{"permissions": rules})
	if err == nil {
		err = os.WriteFile(e.home.Config(), text, 0o600)
	}
	if err != nil {
		e.t.Fatal(err)
	}
	if _, failure := e.relay.catalog.Reload(); failure != nil {
		e.t.Fatal(failure)
	}
	e.rules = rules
}

func (e *edited) answer(answer string) {
	e.t.Helper()
	if status, said := e.person(e.t, http.MethodPost, "/api/v1/approvals/config",
		`{"answer":"`+answer+`"}`); status != http.StatusOK {
		e.t.Errorf("%s: %d %s", answer, status, said)
	}
}

// restart starts the relay again, with the rules that were written last or, while it was not running, with others.
func (e *edited) restart(rules map[string]string) {
	e.t.Helper()
	if err := e.relay.Close(); err != nil {
		e.t.Fatal(err)
	}
	e.rules = rules
	e.relay = e.guarded(rules)
}

// expect compares what agents may do and what the person is told.
func (e *edited) expect(when string, read, pay call.Mode, waits, widened string) {
	e.t.Helper()
	for tool, want := range map[string]call.Mode{"shop__read": read, "shop__pay": pay} {
		found, _ := e.relay.tools.Snapshot().Find(tool)
		if mode, _ := e.relay.policy.Mode(policy.AccessOf(ann, found)); mode != want {
			e.t.Errorf("%s: %s is %s, want %s", when, tool, mode, want)
		}
	}
	if s := e.relay.api.Status(e.t.Context()); s.Unapplied != waits || s.Widened != widened {
		e.t.Errorf("%s: %q waits, %q came with the start; want %q, %q", when, s.Unapplied, s.Widened, waits, widened)
	}
}

const payWaits = "permissions.shop__pay: no rule → auto"

// What was forbidden together with what was denied is forbidden after a restart, too, and so is what was then taken
// back and denied.
func TestNarrowingOutlivesADenial(t *testing.T) {
	t.Setenv("TABRELAY_REVIEW_REQUIRED", "false")
	mixed := map[string]string{"shop__read": "off", "shop__pay": "auto"}
	wider := map[string]string{"shop__pay": "auto"}
	begin := func(t *testing.T) *edited {
		w := newWorld(t)
		return &edited{world: w, t: t, relay: w.guarded(nil)}
	}
	t.Run("the same file", func(t *testing.T) {
		e := begin(t)
		e.edit(mixed)
		e.answer("deny")
		e.expect("denied", call.Off, call.Ask, payWaits, "")
		for range 2 {
			e.restart(e.rules)
			e.expect("after a restart", call.Off, call.Ask, payWaits, "")
		}
	})
	const bothWait = payWaits + "; permissions.shop__read: off → no rule"
	t.Run("taken back while it runs, and denied", func(t *testing.T) {
		e := begin(t)
		e.edit(mixed)
		e.answer("deny")
		e.edit(wider)
		e.expect("taken back", call.Off, call.Ask, bothWait, "")
		e.answer("deny")
		for range 2 {
			e.restart(e.rules)
			e.expect("after a restart", call.Off, call.Ask, bothWait, "")
		}
		e.edit(mixed)
		e.expect("written again", call.Off, call.Ask, payWaits, "")
		e.edit(map[string]string{"shop__read": "off"})
		e.expect("the rest taken out", call.Off, call.Ask, "", "")
	})
	t.Run("taken back while it runs, and confirmed", func(t *testing.T) {
		e := begin(t)
		e.edit(mixed)
		e.answer("deny")
		e.edit(wider)
		e.answer("allow")
		for range 2 {
			e.expect("confirmed", call.Ask, call.Auto, "", "")
			e.restart(e.rules)
		}
	})
	t.Run("taken back, and a restart before anybody answered", func(t *testing.T) {
		e := begin(t)
		e.edit(mixed)
		e.edit(wider)
		e.restart(e.rules)
		e.expect("what is there at a start is in effect", call.Ask, call.Auto, "", bothWait)
	})
	t.Run("narrowed between two starts", func(t *testing.T) {
		e := begin(t)
		e.edit(wider)
		e.answer("deny")
		e.restart(mixed)
		e.expect("narrowed", call.Off, call.Ask, payWaits, "")
		e.restart(wider)
		e.expect("no longer", call.Ask, call.Ask, payWaits, "permissions.shop__read: off → no rule")
	})
}
