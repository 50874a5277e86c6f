package dispatch_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/road/schedule"
)

// warden decides as a test wants it.
type warden struct {
	allow func(a call.Access) (bool, *fault.Error) // nil: the person is always asked
	takes time.Duration                            // of the person
	says  *fault.Error                             // nil: yes
	then  func()                                   // happens while they are asked; nil: nothing
	sites func(a call.Access) call.Sites           // nil: the site of the call is open, others ask

	mu    sync.Mutex
	asked []call.Access
}

func (w *warden) Allow(a call.Access) (says call.Verdict, failure *fault.Error) {
	ask := true
	if w.allow != nil {
		ask, failure = w.allow(a)
	}
	return call.Verdict{Ask: ask && a.Approved != w.BindingOf(a)}, failure
}

func (w *warden) Sites(a call.Access) call.Sites {
	if w.sites != nil {
		return w.sites(a)
	}
	sites := call.Sites{Rest: call.SiteAsk, Origins: map[string]call.SiteState{}}
	if a.At != nil {
		sites.Origins[a.At.Origin] = call.SiteOpen
	}
	return sites
}

func (w *warden) BindingOf(a call.Access) call.Binding {
	b := call.Binding{Session: a.Session.ID, Tool: a.Tool}
	if a.At != nil {
		b.TabID, b.Origin = a.At.TabID, a.At.Origin
	}
	return b
}

func (w *warden) Ask(
	ctx context.Context, a call.Access, _ func(context.Context, call.Question) (call.Answer, error), tell func(string),
) (call.Binding, *fault.Error) {
	w.mu.Lock()
	w.asked = append(w.asked, a)
	w.mu.Unlock()
	if w.then != nil {
		w.then()
	}
	tell("asking")
	select {
	case <-time.After(w.takes):
		return w.BindingOf(a), w.says
	case <-ctx.Done():
		return call.Binding{}, fault.New(fault.Cancelled, "The call ended while the person was asked",
			fault.WithOutcome(fault.NotExecuted), fault.WithCause(context.Cause(ctx)))
	}
}

func (w *warden) questions() int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return len(w.asked)
}

// guard puts a warden before the calls of a bench.
func guard(w *warden) func(*dispatch.Options) {
	return func(o *dispatch.Options) { o.Policy = w }
}

// roaming is a browser whose tab is in another place at each look.
type roaming struct {
	page
	mu     sync.Mutex
	places []call.Target
}

func (w *roaming) Resolve(call.Selector) (call.Target, *fault.Error, time.Duration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	at := w.places[0]
	if len(w.places) > 1 {
		w.places = w.places[1:]
	}
	return at, nil, 0
}

func spot(origin string, tab int) call.Target {
	return call.Target{ProfileID: "p1", Profile: "Work", TabID: tab, Origin: origin}
}

// The person takes half an hour, and nothing is lost or held up by that: not the call's time, not its line, not the
// gate.
func TestAskingHoldsNothingUp(t *testing.T) {
	w := &warden{takes: 30 * time.Minute, allow: func(a call.Access) (bool,
		*fault.Error) {
		return a.Tool == "demo__write", nil
	}}
	limits := func(o *dispatch.Options) {
		o.Policy, o.Limits = w, schedule.Limits{Running: 1, RunningPerPlugin: 1, Waiting: 5, WaitingPerTab: 5,
			Wait: time.Second}
	}
	bench(t, returns(`{}`), limits, func(t *testing.T, do func(tool, arguments string) *fault.Error) {
		ends := make(chan *fault.Error, 5)
		for range 5 {
			go func() { ends <- do("demo__write", `{}`) }()
			synctest.Wait()
		}
		for range 3 {
			if failure := do("demo__put", `{}`); failure != nil {
				t.Errorf("a call behind those that ask: %v", failure)
			}
		}
		for range 5 {
			if failure := <-ends; failure != nil {
				t.Errorf("a call that was allowed: %v", failure)
			}
		}
		if n := w.questions(); n != 5 {
			t.Errorf("%d questions", n)
		}
	})
}

// The question of a call ends with the rule that refuses it, and calls that the rule refuses are ended a moment later,
// before this one has: the caller hears what the rule says. Where everything is stopped, it hears that.
func TestARefusedCallIsEnded(t *testing.T) {
	const off = "The person has set demo to off"
	for want, end := range map[string]func(*dispatch.Dispatcher){
		"PERMISSION_DENIED: " + off: (*dispatch.Dispatcher).EndRefused,
		"CANCELLED: Stopped": func(d *dispatch.Dispatcher) {
			d.Interrupt(func(dispatch.Running) bool { return true }, "Stopped")
		},
	} {
		synctest.Test(t, func(t *testing.T) {
			refused := fault.New(fault.PermissionDenied, off, fault.WithOutcome(fault.NotExecuted))
			w := &warden{says: refused}
			o := options(t, nil, &pages{t: t, writing: map[int]bool{}})
			o.Policy = w
			var d *dispatch.Dispatcher
			o.TopicsChanged = func(...string) {
				if list := d.Running(); w.questions() > 0 && len(list) == 1 && list[0].Stage != dispatch.StageAsking {
					w.allow = func(call.Access) (bool, *fault.Error) { return false, refused }
					end(d)
				}
			}
			d = dispatch.New(o)
			_, f := d.Do(t.Context(), call.Call{ID: "ee", Tool: "demo__read", Session: call.Session{ID: "s"}})
			if f == nil || string(f.Code)+": "+f.Message != want || f.Outcome != fault.NotExecuted {
				t.Errorf("got %v, want %s", f, want)
			}
		})
	}
}

// inShop is a page of a shop.
type inShop struct{ page }

func (inShop) Resolve(call.Selector) (call.Target, *fault.Error, time.Duration) {
	return spot("https://shop.example", 7), nil, 0
}

// shopAmid is a page of a shop in which something happens amid each call.
func shopAmid(happens func()) inShop {
	return inShop{func(ctx context.Context, r call.Invocation) (*call.Reply, *fault.Error) {
		r.Started()
		happens()
		if ctx.Err() != nil {
			return nil, fault.New(fault.InternalError, "interrupted", fault.WithOutcome(fault.Unknown))
		}
		return &call.Reply{Output: json.RawMessage(`{}`), TabID: 7}, nil
	}}
}

// What a frame registers and runs ends when its site is set to off, or that of the page around it.
func TestACallInAFrameEndsWithItsSites(t *testing.T) {
	const frame, around = "https://frame.example", "https://shop.example"
	for _, off := range []string{frame, around, "https://other.example"} {
		var is atomic.Bool
		w := &warden{allow: func(a call.Access) (bool, *fault.Error) {
			if is.Load() && a.At != nil && a.At.Origin == off {
				return false, fault.New(fault.PermissionDenied, "Off", fault.WithOutcome(fault.NotExecuted))
			}
			return false, nil
		}}
		o := options(t, nil, nil)
		var d *dispatch.Dispatcher
		o.Browser = shopAmid(func() {
			is.Store(true)
			d.EndRefused()
		})
		o.Policy = w
		withClick(&o, t)
		o.Tools.(*registry.Registry).SetPageTools([]registry.PageTool{{Name: "web__frame_example__pay",
			Spec: plugin.Tool{Name: "pay", Description: "Pays.", InputSchema: json.RawMessage(`{"type":"object"}`)},
			Page: registry.Page{Origin: frame, Name: "pay", Key: "1", In: func(int) bool { return true }}}})
		d = dispatch.New(o)
		_, f := d.Do(t.Context(), call.Call{ID: "ff", Tool: "web__frame_example__pay",
			Session: call.Session{ID: "s"}})
		if ended := f != nil && f.Code == fault.Cancelled; ended != (off == frame || off == around) {
			t.Errorf("%s is off: %v", off, f)
		}
	}
}

// A call of the browser's tools that was let into frames of a site ends when that site is set to off.
func TestACallThatMayTouchASiteEndsWithIt(t *testing.T) {
	const frame = "https://frame.example"
	for _, c := range []struct {
		was, is, rest call.SiteState // of the frame's site before and now, and of all that no rule is about now
		ends          bool
	}{
		{was: call.SiteOpen, is: call.SiteOff, rest: call.SiteAsk, ends: true},
		{was: call.SiteOpen, is: call.SiteAsk, rest: call.SiteAsk},
		{was: call.SiteAsk, is: call.SiteOff, rest: call.SiteAsk}, // it was never let in
		{was: call.SiteOpen, is: call.SiteOpen, rest: call.SiteAsk},
		{was: call.SiteAsk, is: call.SiteAsk, rest: call.SiteOff},
	} {
		var now atomic.Bool
		w := &warden{allow: func(call.Access) (bool, *fault.Error) { return false, nil }}
		w.sites = func(a call.Access) call.Sites {
			sites := call.Sites{Rest: call.SiteAsk, Origins: map[string]call.SiteState{frame: c.was}}
			if now.Load() {
				sites.Rest, sites.Origins[frame] = c.rest, c.is
			}
			if a.At != nil {
				sites.Origins[a.At.Origin] = call.SiteOpen
			}
			return sites
		}
		o := options(t, nil, nil)
		var d *dispatch.Dispatcher
		o.Browser = shopAmid(func() {
			now.Store(true)
			d.EndRefused()
		})
		o.Policy = w
		withClick(&o, t)
		d = dispatch.New(o)
		_, f := d.Do(t.Context(), call.Call{ID: "fe", Tool: "browser__snapshot", Session: call.Session{ID: "s"}})
		if ended := f != nil && f.Code == fault.Cancelled; ended != c.ends || f != nil && !ended {
			t.Errorf("%+v: %v", c, f)
		}
	}
}

// A retry in the same place is not asked about again; one in another place is.
func TestRetriesAreAskedAboutOnce(t *testing.T) {
	w := &warden{takes: time.Second}
	tries := 0
	flaky := page(func(context.Context, call.Invocation) (*call.Reply, *fault.Error) {
		if tries++; tries < 3 {
			return nil, fault.New(fault.AdapterNotReady, "Not yet", fault.WithOutcome(fault.NotExecuted))
		}
		return &call.Reply{Output: json.RawMessage(`{}`), TabID: 7}, nil
	})
	bench(t, flaky, guard(w), func(t *testing.T, do func(tool, arguments string) *fault.Error) {
		if failure := do("demo__write", `{}`); failure != nil || tries != 3 || w.questions() != 1 {
			t.Errorf("%v after %d tries and %d questions", failure, tries, w.questions())
		}
	})
}

// What was allowed in one document of one tab counts for no other.
func TestAnotherPlaceIsAskedAboutAnew(t *testing.T) {
	const a, b = "https://a.example", "https://b.example"
	for name, tt := range map[string]struct {
		places []call.Target
		want   []string // places that were asked about
	}{
		"it stays":       {[]call.Target{spot(a, 7)}, []string{a + " 7"}},
		"another origin": {[]call.Target{spot(a, 7), spot(b, 7)}, []string{a + " 7", b + " 7"}},
		"another tab":    {[]call.Target{spot(a, 7), spot(a, 8)}, []string{a + " 7", a + " 8"}},
		"and back":       {[]call.Target{spot(a, 7), spot(b, 7), spot(a, 7)}, []string{a + " 7", b + " 7", a + " 7"}},
	} {
		t.Run(name, func(t *testing.T) {
			w := &warden{takes: time.Second}
			browser := &roaming{page: returns(`{}`), places: tt.places}
			bench(t, nil, func(o *dispatch.Options) { o.Policy, o.Browser = w, browser },
				func(t *testing.T, do func(tool, arguments string) *fault.Error) {
					if failure := do("demo__write", `{"x":1}`); failure != nil {
						t.Error(failure)
					}
					var got []string
					for _, q := range w.asked {
						got = append(got, fmt.Sprintf("%s %d", q.At.Origin, q.At.TabID))
						if string(q.Arguments) != `{"x":1}` || q.Tool != "demo__write" || q.Session.Client != "ann" ||
							q.BuiltIn {
							t.Errorf("asked about %+v", q)
						}
					}
					if !slices.Equal(got, tt.want) {
						t.Errorf("asked about %v, want %v", got, tt.want)
					}
				})
		})
	}
}

// Whoever says no is not asked again, and nothing is tried.
func TestNoIsNo(t *testing.T) {
	for _, code := range []fault.Code{fault.ApprovalDenied, fault.ApprovalTimeout, fault.ShuttingDown} {
		w := &warden{takes: time.Second, says: fault.New(code, "No", fault.WithOutcome(fault.NotExecuted))}
		reached := false
		browser := page(func(context.Context, call.Invocation) (*call.Reply, *fault.Error) {
			reached = true
			return nil,
				nil
		})
		bench(t, browser, guard(w), func(t *testing.T, do func(tool, arguments string) *fault.Error) {
			for _, tool := range []string{"demo__write", "demo__read", "relay__hang"} {
				before := w.questions()
				if failure := do(tool, `{}`); failure == nil || failure.Code != code ||
					failure.Outcome != fault.NotExecuted || w.questions() != before+1 || reached {
					t.Errorf("%s: %v after %d questions, reached %t", tool, failure, w.questions()-before, reached)
				}
			}
		})
	}
}

// A tool that went away while the person was asked fails as one that is not there, and no page is asked for it.
func TestTheToolGoesWhileThePersonIsAsked(t *testing.T) {
	off := registry.Configured{Withheld: &registry.Withheld{Why: "it has changed", Tools: []string{"write"}}}
	for name, tt := range map[string]struct {
		plugins []plugin.Plugin
		with    map[string]registry.Configured
		want    fault.Code // empty: it runs
	}{
		"removed":              {nil, nil, fault.UnknownTool},
		"not reviewed":         {nil, map[string]registry.Configured{"demo": off}, fault.PluginNotReviewed},
		"read again, but same": {[]plugin.Plugin{demo}, nil, ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := &warden{takes: time.Minute}
			reached := 0
			browser := page(func(context.Context, call.Invocation) (*call.Reply, *fault.Error) {
				reached++
				return &call.Reply{Output: json.RawMessage(`{}`), TabID: 7}, nil
			})
			var tools *registry.Registry
			change := func(o *dispatch.Options) { o.Policy, tools = w, o.Tools.(*registry.Registry) }
			bench(t, browser, change, func(t *testing.T, do func(tool, arguments string) *fault.Error) {
				end := make(chan *fault.Error, 1)
				go func() { end <- do("demo__write", `{}`) }()
				synctest.Wait()
				if err := tools.Replace(tt.plugins, tt.with); err != nil {
					t.Fatal(err)
				}
				failure := <-end
				switch {
				case tt.want == "" && (failure != nil || reached != 1):
					t.Errorf("%v after %d attempts", failure, reached)
				case tt.want != "" && (failure == nil || failure.Code != tt.want ||
					failure.Outcome != fault.NotExecuted || failure.Retryable || reached != 0):
					t.Errorf("%v after %d attempts", failure, reached)
				}
			})
		})
	}
}

// A tool that goes away before its call counts as running, and so could not be ended, fails as one that is not there.
func TestTheToolGoesBeforeItsCallRuns(t *testing.T) {
	var tools *registry.Registry
	w := &warden{allow: func(call.Access) (bool, *fault.Error) {
		if err := tools.Replace(nil, nil); err != nil {
			t.Error(err)
		}
		return true, nil
	}}
	change := func(o *dispatch.Options) { o.Policy, tools = w, o.Tools.(*registry.Registry) }
	browser := page(func(context.Context, call.Invocation) (*call.Reply, *fault.Error) {
		t.Error("the page was reached")
		return &call.Reply{Output: json.RawMessage(`{}`)}, nil
	})
	bench(t, browser, change, func(t *testing.T, do func(tool, arguments string) *fault.Error) {
		if failure := do("demo__write", `{}`); failure == nil || failure.Code != fault.UnknownTool ||
			failure.Outcome != fault.NotExecuted {
			t.Errorf("%v", failure)
		}
	})
}

// What is off is refused before anything else, but after the arguments: nobody is asked about what cannot run.
func TestOffIsRefusedAtOnce(t *testing.T) {
	w := &warden{allow: func(call.Access) (bool, *fault.Error) {
		return false,
			fault.New(fault.PermissionDenied, "Off")
	}}
	bench(t, fails(fault.TabNotFound), guard(w), func(t *testing.T, do func(tool, arguments string) *fault.Error) {
		if failure := do("demo__read", `{"id":1}`); failure == nil || failure.Code != fault.PermissionDenied {
			t.Errorf("got %v", failure)
		}
		if failure := do("demo__read", `{"id":"one"}`); failure == nil || failure.Code != fault.ValidationError {
			t.Errorf("with wrong arguments: %v", failure)
		}
	})
}
