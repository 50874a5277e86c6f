package policy

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// What a person approved of one call counts for that call only: another session, tool, argument, profile, tab or origin
// needs an approval of its own.
func TestAnApprovalIsBound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
		type asked struct {
			binding call.Binding
			failure *fault.Error
		}
		end := make(chan asked, 1)
		go func() {
			b, failure := f.Ask(t.Context(), pay(), nil, nil)
			end <- asked{b, failure}
		}()
		synctest.Wait()
		if err := f.Answer(t.Context(), f.Pending("")[0].ID, "", yes("once")); err != nil {
			t.Fatal(err)
		}
		got := <-end
		if got.failure != nil || got.binding != f.BindingOf(pay()) {
			t.Fatalf("approved: %+v", got)
		}
		for name, tt := range map[string]struct {
			change func(a *call.Access)
			want   string
		}{
			"the call itself":      {func(*call.Access) {}, "runs"},
			"not approved":         {func(a *call.Access) { a.Approved = call.Binding{} }, "ask"},
			"another session":      {func(a *call.Access) { a.Session.ID = "session 2" }, "ask"},
			"another tool":         {func(a *call.Access) { a.Tool = "shop__sell" }, "ask"},
			"other arguments":      {func(a *call.Access) { a.Arguments = []byte(`{"amount":500}`) }, "ask"},
			"another profile":      {func(a *call.Access) { a.At.ProfileID = "p2" }, "ask"},
			"another tab":          {func(a *call.Access) { a.At.TabID = 8 }, "ask"},
			"another origin":       {func(a *call.Access) { a.At.Origin = "https://other.example" }, "ask"},
			"no tab is known":      {func(a *call.Access) { a.At = nil }, "ask"},
			"another page of it":   {func(a *call.Access) { a.At.URL = "https://shop.example/pay" }, "runs"},
			"another id of a call": {func(a *call.Access) { a.ID = "bb" }, "runs"},
		} {
			a := pay()
			a.Approved = got.binding
			if tt.change(&a); f.allowed(a) != tt.want {
				t.Errorf("%s: %s, want %s", name, f.allowed(a), tt.want)
			}
		}
		if err := f.Set(t.Context(), call.Rule{Target: "shop__pay", Mode: call.Off}, 0); err != nil {
			t.Fatal(err)
		}
		a := pay()
		if a.Approved = got.binding; f.allowed(a) != "PERMISSION_DENIED" {
			t.Errorf("approved, then switched off: %s", f.allowed(a))
		}
	})
}

// While the store is slow, nobody but those who change something waits; changes come in their order, and listeners may
// ask whatever they like.
func TestASlowStoreHoldsNothingUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
		written := make(chan struct{})
		f.options.Store.(*memory).slow = written
		var heard []call.Mode
		stop := f.OnChange(func() {
			mode, _ := f.Mode(pay())
			heard = append(heard, mode)
			f.Pending("")
			f.OnChange(func() {})()
		})
		defer stop()
		var changes sync.WaitGroup
		for _, mode := range []call.Mode{call.Off, call.Auto} {
			changes.Go(func() {
				if err := f.Set(t.Context(), call.Rule{Target: "shop__pay", Mode: mode}, 0); err != nil {
					t.Error(err)
				}
			})
			synctest.Wait() // it waits for the store, or for the one before it
		}
		q, end := f.asks(t.Context(), pay())
		if err := f.Answer(t.Context(), q.ID, "", yes("session")); err != nil || <-end != nil {
			t.Error(err)
		}
		if got := f.allowed(pay()); got != "runs" || len(f.Grants()) != 1 || len(f.Permissions().Rules) != 4 {
			t.Errorf("meanwhile it is %s, %+v", got, f.Permissions())
		}
		close(written)
		changes.Wait()
		if want := []call.Mode{call.Off, call.Auto}; !slices.Equal(heard, want) {
			t.Errorf("listeners heard %v, want %v", heard, want)
		}
		if kept := f.options.Store.(*memory).rules[key{"shop__pay", ""}]; kept.Mode != call.Auto ||
			f.allowed(pay()) != "runs" {
			t.Errorf("kept is %s, and it is %s", kept.Mode, f.allowed(pay()))
		}
	})
}

// What cannot be written down is not in effect, and whoever wanted it is told: a call that was to be allowed always is
// allowed once.
func TestWhatIsNotWrittenDownIsSaid(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
		f.options.Store.(*memory).broken = errors.New("the disk is full")
		q, end := f.asks(t.Context(), pay())
		if err := f.Answer(t.Context(), q.ID, "", yes("always")); err == nil ||
			!strings.Contains(err.Error(), "the disk is full") {
			t.Errorf("the person is told %v", err)
		}
		if failure := <-end; failure != nil {
			t.Error(failure)
		}
		if got := f.allowed(pay()); got != "ask" || !slices.Equal(f.recorded, []string{"allowed once by terminal"}) {
			t.Errorf("the next call: %s; recorded %v", got, f.recorded)
		}
		if err := f.Pause(t.Context(), true, "panel"); err == nil || !f.Paused() {
			t.Errorf("stopped %t: %v", f.Paused(), err)
		}
	})
}

// Close waits for the change that is under way, and nothing is changed after it.
func TestCloseWaitsForAChange(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t)
		written := make(chan struct{})
		f.options.Store.(*memory).slow = written
		made, closed := make(chan error, 1), make(chan struct{})
		go func() { made <- f.Set(t.Context(), call.Rule{Target: "shop", Mode: call.Ask}, 0) }()
		synctest.Wait()
		go func() { f.Close(); close(closed) }()
		synctest.Wait()
		select {
		case <-closed:
			t.Error("it did not wait")
		default:
		}
		close(written)
		<-closed
		if err := <-made; err != nil {
			t.Error(err)
		}
		if err := f.Set(t.Context(), call.Rule{Target: "shop", Mode: call.Auto}, 0); !errors.Is(err, ErrClosed) {
			t.Errorf("after the end: %v", err)
		}
	})
}

// A change waits in the same queue as calls do, for whoever looks at a panel; each way it ends is said to whoever
// asked, and is in the audit log.
func TestChangesWaitForThePanel(t *testing.T) {
	terminal := Request{Session: call.Session{Client: "cli", Via: call.ViaSocket}}
	wider := func() *Change {
		return NewChange("More", "tabrelay more", call.Difference{What: "x", Before: "off", After: "auto"})
	}
	for name, tt := range map[string]struct {
		answer func(t *testing.T, f *fixture, id string, cancel context.CancelFunc)
		want   fault.Code // empty: it is made
		said   string
	}{
		"allowed": {func(t *testing.T, f *fixture, id string, _ context.CancelFunc) {
			if err := f.Answer(t.Context(), id, "", call.Decision{Allow: true, By: ByTerminal}); !errors.Is(err,
				ErrPanel) {
				t.Errorf("a terminal allows it: %v", err)
			}
			if err := f.Answer(t.Context(), id, "p1", call.Decision{Allow: true, By: ByPanel}); err != nil {
				t.Error(err)
			}
		}, "", "allowed by panel"},
		"denied at a terminal": {func(t *testing.T, f *fixture, id string, _ context.CancelFunc) {
			if err := f.Answer(t.Context(), id, "", call.Decision{By: ByTerminal}); err != nil {
				t.Error(err)
			}
		}, fault.ApprovalDenied, "denied by terminal"},
		"nobody answers": {func(*testing.T, *fixture, string, context.CancelFunc) {
			time.Sleep(50 * time.Second)
		}, fault.ApprovalTimeout, "not answered in time by relay"},
		"whoever asked is gone": {func(_ *testing.T, _ *fixture, _ string, cancel context.CancelFunc) {
			cancel()
		}, fault.Cancelled, "withdrawn by relay"},
		"the relay stops": {func(_ *testing.T, f *fixture, _ string, _ context.CancelFunc) {
			f.Close()
		}, fault.ShuttingDown, "ended by the relay's end by relay"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
				f.options.PanelsOpen = func() bool { return true }
				f.asks(t.Context(), pay())
				ctx, cancel := context.WithCancel(t.Context())
				defer cancel()
				end := make(chan error, 1)
				go func() {
					_, err := f.Confirm(ctx, wider(), terminal)
					end <- err
				}()
				synctest.Wait()
				list := f.Changes()
				if len(list) != 1 || list[0].Kind != ChangeAsked || list[0].Digest != wider().Digest() ||
					f.Waiting("p2") != 1 ||
					f.Waiting("p1") != 2 {
					t.Fatalf("what waits is %+v", list)
				}
				tt.answer(t, f, list[0].ID, cancel)
				var failure *fault.Error
				if err := <-end; errors.As(err, &failure) != (tt.want != "") || failure != nil &&
					failure.Code != tt.want {
					t.Errorf("it ends with %v, want %q", err, tt.want)
				}
				synctest.Wait() // the call that waits may end, too
				if !slices.Contains(f.recorded, tt.said) || len(f.Changes()) != 0 {
					t.Errorf("recorded %v, want %s; %d are left", f.recorded, tt.said, len(f.Changes()))
				}
				err := f.Answer(t.Context(), list[0].ID, "p1", call.Decision{Allow: true, By: ByPanel})
				if !errors.Is(err, ErrEnded) {
					t.Errorf("a late answer: %v", err)
				}
			})
		})
	}
}

// Without a panel, the digest of what a person read at a terminal counts, over the socket only. What the panel does,
// and what allows nothing, is not asked about.
func TestChangesAreConfirmedAtATerminal(t *testing.T) {
	c := NewChange("More", "tabrelay more", call.Difference{What: "x", Before: "off", After: "auto"})
	socket, port := call.Session{Client: "cli", Via: call.ViaSocket}, call.Session{Client: "cli", Via: call.ViaHTTP}
	panel := call.Session{Client: "panel", Via: call.ViaPanel}
	f := open(t)
	for name, tt := range map[string]struct {
		change *Change
		from   Request
		by     string // empty: it is not confirmed
	}{
		"the word":               {c, Request{Session: socket, Confirmed: c.Digest()}, ByTerminal},
		"no word":                {c, Request{Session: socket}, ""},
		"the word for another":   {c, Request{Session: socket, Confirmed: NewChange("Other", "").Digest()}, ""},
		"the word over the port": {c, Request{Session: port, Confirmed: c.Digest()}, ""},
		"the panel":              {c, Request{Session: panel}, ByPanel},
		"nothing is allowed":     {nil, Request{Session: socket}, ByTerminal},
	} {
		by, err := f.Confirm(t.Context(), tt.change, tt.from)
		var unconfirmed *Unconfirmed
		if by != tt.by || errors.As(err, &unconfirmed) != (tt.by == "") {
			t.Errorf("%s: %q %v, want %q", name, by, err, tt.by)
		}
	}
}

// One program cannot keep the others from asking, and changes take no room from calls.
func TestChangesAreBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := open(t, call.Rule{Target: "shop", Mode: call.Ask})
		f.options.PanelsOpen = func() bool { return true }
		ctx, cancel := context.WithCancel(t.Context())
		var waiting sync.WaitGroup
		for range maxChanges {
			waiting.Go(func() { _, _ = f.Confirm(ctx, NewChange("More", ""), Request{}) }) // until cancel
		}
		synctest.Wait()
		var failure *fault.Error
		if _, err := f.Confirm(ctx, NewChange("More", ""), Request{}); !errors.As(err, &failure) ||
			failure.Code != fault.Overloaded {
			t.Errorf("one too many: %v", err)
		}
		f.asks(ctx, pay())
		cancel()
		waiting.Wait()
	})
}
