package hub_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

func named(label string, tabs ...wire.Tab) func(*hubtest.Options) {
	return func(o *hubtest.Options) { o.Label, o.Tabs = label, tabs }
}

func tab(id int, url string, change ...func(*wire.Tab)) wire.Tab {
	t := wire.Tab{ID: id, WindowID: 1, URL: url, Status: "complete"}
	for _, c := range change {
		c(&t)
	}
	return t
}

func session(name string) func(*call.Invocation) {
	return func(r *call.Invocation) { r.Session = call.Session{ID: name} }
}

// wantTab checks where a call ran.
func (r result) wantTab(t *testing.T, profile string, id int) {
	t.Helper()
	if r.failure != nil {
		t.Fatalf("got %v instead of tab %d of %s", r.failure, id, profile)
	}
	if r.reply.TabID != id || r.reply.Profile != profile {
		t.Errorf("it ran in tab %d of %s instead of tab %d of %s", r.reply.TabID, r.reply.Profile, id, profile)
	}
}

func TestBestTab(t *testing.T) {
	active := func(t *wire.Tab) { t.Active = true }
	focused := func(t *wire.Tab) { t.Active, t.Focused = true, true }
	used := func(at int64) func(*wire.Tab) { return func(t *wire.Tab) { t.LastUsed = at } }
	asleep := func(t *wire.Tab) { t.Discarded = true }
	const demo = "http://demo.test/"
	tests := []struct {
		name string
		tabs []wire.Tab
		want int
	}{
		{"the only one", []wire.Tab{tab(1, "http://other.test/", focused), tab(2, demo)}, 2},
		{"the one with the focus", []wire.Tab{tab(1, demo, active, used(9)), tab(2, demo, focused)}, 2},
		{"one that can be seen", []wire.Tab{tab(1, demo, used(9)), tab(2, demo, active)}, 2},
		{"the last used", []wire.Tab{tab(1, demo, used(1)), tab(2, demo, used(3)), tab(3, demo, used(2))}, 2},
		{"one that is awake", []wire.Tab{tab(1, demo, asleep, used(9)), tab(2, demo)}, 2},
		{"the first", []wire.Tab{tab(7, demo), tab(5, demo)}, 5},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				l.connect(named("A", tt.tabs...))
				l.invoke(request()).wantTab(t, "A", tt.want)
			})
		})
	}
}

func TestAPatternWithAPortChoosesThatTab(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		l.connect(named("A", tab(1, "http://localhost:3000/"), tab(2, "http://localhost:4000/x")))
		l.invoke(request(func(r *call.Invocation) { r.Matches = []string{"http://localhost:4000/*"} })).wantTab(t, "A",
			2)
	})
}

func TestExcludedTab(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		l.connect(named("A", tab(1, "http://demo.test/private/x"), tab(2, "http://demo.test/x")))
		l.invoke(request(func(r *call.Invocation) { r.Excludes = []string{"http://demo.test/private/*"} })).wantTab(t,
			"A", 2)
	})
}

func TestExplicitTab(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		l.connect(named("A", tab(1, "http://demo.test/"), tab(2, "http://demo.test/"),
			tab(3, "https://bank.test/account?secret=1")))
		at := func(id int) func(*call.Invocation) { return func(r *call.Invocation) { r.TabID = id } }
		l.invoke(request(at(2))).wantTab(t, "A", 2)
		l.invoke(request()).wantTab(t, "A", 2) // the session stays there
		l.invoke(request(session("other"))).wantTab(t, "A", 1)

		missing := l.invoke(request(at(9)))
		missing.want(t, fault.TabNotFound, fault.NotExecuted)
		foreign := l.invoke(request(at(3)))
		foreign.want(t, fault.TabChanged, fault.NotExecuted)
		if m := foreign.failure.Message; strings.Contains(m, "secret") || !strings.Contains(m, "https://bank.test") {
			t.Errorf("got %q", m)
		}
	})
}

func TestFrameOfTheNamedTab(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		l.connect(named("A", tab(1, "https://outer.test/")))
		frames := func(r *call.Invocation) { r.Frames = "all" }
		inTab := func(r *call.Invocation) { r.TabID = 1 }
		l.invoke(request(frames, inTab)).wantTab(t, "A", 1)
		l.invoke(request(inTab)).want(t, fault.TabChanged, fault.NotExecuted)
		l.invoke(request(frames, session("other"))).want(t, fault.TabNotFound, fault.NotExecuted)
	})
}

func TestSessionStaysInItsTab(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(named("A", tab(1, "http://demo.test/")))
		l.invoke(request()).wantTab(t, "A", 1)
		b.Put(tab(2, "http://demo.test/", func(t *wire.Tab) { t.Active, t.Focused = true, true }))
		synctest.Wait()
		l.invoke(request()).wantTab(t, "A", 1)
		l.invoke(request(session("other"))).wantTab(t, "A", 2)
		b.Put(tab(1, "http://elsewhere.test/")) // left the site
		synctest.Wait()
		l.invoke(request()).wantTab(t, "A", 2)
		b.CloseTab(2)
		synctest.Wait()
		many := []string{"*://a/*", "*://b/*", "*://c/*", "*://d/*", "*://e/*"}
		for hint, change := range map[string]func(*call.Invocation){
			"Open a page that matches http://demo.test/* with browser__open_tab, such as http://demo.test/home, then " +
				"repeat the call.": func(r *call.Invocation) { r.OpenURL = "http://demo.test/home" },
			"Open a page that matches http://demo.test/* with browser__open_tab, then repeat the call.": func(
				*call.Invocation) {
			},
			"Open a page that matches *://a/*, *://b/*, *://c/*, *://d/* or one of 1 more patterns with " +
				"browser__open_tab, then repeat the call.": func(r *call.Invocation) { r.Matches = many },
		} {
			none := l.invoke(request(session("third"), change))
			none.want(t, fault.TabNotFound, fault.NotExecuted)
			if none.failure.Hint != hint {
				t.Errorf("hint is %q, want %q", none.failure.Hint, hint)
			}
		}
	})
}

func TestNoFallbackToAnotherProfile(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		work := l.connect(named("Work", tab(1, "http://demo.test/", func(t *wire.Tab) { t.LastUsed = 5 })))
		l.connect(named("Home", tab(1, "http://demo.test/")))
		l.invoke(request()).wantTab(t, "Work", 1)
		work.CloseTab(1)
		synctest.Wait()
		none := l.invoke(request())
		none.want(t, fault.TabNotFound, fault.NotExecuted)
		if !strings.Contains(none.failure.Hint, `"Home"`) {
			t.Errorf("hint is %q", none.failure.Hint)
		}
		l.invoke(request(func(r *call.Invocation) { r.Profile = "Home" })).wantTab(t, "Home", 1)
		l.invoke(request()).wantTab(t, "Home", 1) // the session has moved

		l.invoke(request(func(r *call.Invocation) { r.Profile = "Work" })).want(t, fault.TabNotFound, fault.NotExecuted)
		work.Close()
		time.Sleep(2 * time.Minute)
		gone := l.invoke(request(func(r *call.Invocation) { r.Profile = "Work" }))
		gone.want(t, fault.ProfileNotConnected, fault.NotExecuted)
		if !strings.Contains(gone.failure.Hint, `"Home"`) || !strings.Contains(gone.failure.Message, "2 min ago") {
			t.Errorf("got %q, %q", gone.failure.Message, gone.failure.Hint)
		}
		l.invoke(request(func(r *call.Invocation) { r.Profile = "Nobody" })).want(t, fault.ProfileNotConnected,
			fault.NotExecuted)
	})
}

// A session whose profile went away for good is not moved to another person's account.
func TestSessionWaitsForItsProfile(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		home := l.connect(named("Home", tab(1, "http://demo.test/", func(t *wire.Tab) { t.LastUsed = 5 })))
		l.connect(named("Work", tab(1, "http://demo.test/")))
		l.invoke(request()).wantTab(t, "Home", 1)
		home.Close()
		synctest.Wait()
		got := l.invoke(request())
		got.want(t, fault.ProfileNotConnected, fault.NotExecuted)
		if got.after != wire.ReconnectWait {
			t.Errorf("it waited %s", got.after)
		}
		time.Sleep(2 * time.Minute)
		got = l.invoke(request())
		got.want(t, fault.ProfileNotConnected, fault.NotExecuted)
		if got.after != 0 {
			t.Errorf("it waited %s", got.after)
		}
		time.Sleep(2 * time.Hour) // the session has forgotten
		l.invoke(request()).wantTab(t, "Work", 1)
	})
}

// What is said at once must not claim that somebody was waited for.
func TestSessionOfAGoneProfileWhileAnotherIsOnItsWay(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		home := l.connect(named("Home", tab(1, "http://demo.test/", func(t *wire.Tab) { t.LastUsed = 5 })))
		work := l.connect(named("Work", tab(1, "http://demo.test/")))
		l.invoke(request()).wantTab(t, "Home", 1)
		home.Close()
		time.Sleep(2 * time.Minute)
		work.Close()
		synctest.Wait()
		got := l.invoke(request())
		got.want(t, fault.ProfileNotConnected, fault.NotExecuted)
		if !strings.Contains(got.failure.Hint, `"Work"`) || got.after != 0 {
			t.Errorf("after %s: %q", got.after, got.failure.Hint)
		}
	})
}

func TestAmbiguousProfilesAndTabs(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		one := l.connect(named("Chrome", tab(1, "http://demo.test/")))
		two := l.connect(named("Chrome", tab(1, "http://demo.test/"), tab(2, "http://demo.test/")))
		label := l.invoke(request(func(r *call.Invocation) { r.Profile = "Chrome" }))
		label.want(t, fault.ValidationError, fault.NotExecuted)
		if !strings.Contains(label.failure.Hint, one.ProfileID()) || !strings.Contains(label.failure.Hint,
			two.ProfileID()) {
			t.Errorf("hint is %q", label.failure.Hint)
		}
		l.invoke(request(func(r *call.Invocation) { r.TabID = 1 })).want(t, fault.ValidationError, fault.NotExecuted)
		l.invoke(request(func(r *call.Invocation) { r.TabID = 2 })).wantTab(t, "Chrome", 2)
		l.invoke(request(func(r *call.Invocation) { r.TabID = 1 })).wantTab(t, "Chrome", 1) // in the session's profile
		byID := l.invoke(request(func(r *call.Invocation) { r.Profile = one.ProfileID() }))
		byID.wantTab(t, "Chrome", 1)
		if byID.reply.ProfileID != one.ProfileID() {
			t.Errorf("it ran in %s", byID.reply.ProfileID)
		}
	})
}

func TestBadPatterns(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		l.connect()
		l.invoke(request(func(r *call.Invocation) { r.Matches = []string{"nonsense"} })).want(t, fault.ConfigError,
			fault.NotExecuted)
	})
}

// TestTabInFront: a plugin for every page gets the tab the person looks at, the session's own after that, and no other.
func TestTabInFront(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		front := func(t *wire.Tab) { t.Active, t.Focused = true, true }
		back := func(t *wire.Tab) { t.Active, t.LastUsed = true, 9 }
		every := func(change ...func(*call.Invocation)) call.Invocation {
			return request(append(change, func(r *call.Invocation) {
				r.Matches, r.InFront = []string{"*://*/*"},
					true
			})...)
		}
		b := l.connect(named("A", tab(1, "https://bank.test/", back), tab(2, "http://demo.test/", front)))
		l.invoke(every()).wantTab(t, "A", 2)

		b.Put(tab(2, "http://demo.test/"))
		b.Put(tab(3, "http://other.test/", front))
		synctest.Wait()
		l.invoke(every()).wantTab(t, "A", 2) // the session stays
		l.invoke(every(session("other"))).wantTab(t, "A", 3)
		l.invoke(every(func(r *call.Invocation) { r.TabID = 1 })).wantTab(t, "A", 1) // it was named

		b.CloseTab(1)
		synctest.Wait()
		write := func(r *call.Invocation) { r.Write = true }
		l.invoke(every(write)).want(t, fault.TabNotFound, fault.NotExecuted) // it was meant for the one that is gone
		l.invoke(every()).wantTab(t, "A", 3)
		l.invoke(every(write)).wantTab(t, "A", 3)
		b.CloseTab(3)
		synctest.Wait()
		none := l.invoke(every())
		none.want(t, fault.TabNotFound, fault.NotExecuted)
		if !strings.Contains(none.failure.Hint, "`tabId`") {
			t.Errorf("hint is %q", none.failure.Hint)
		}
	})
}

// TestATabThatIsToldLate: browsers tell a moment later what a person did with their tabs, so a call waits that moment
// for a tab that is not there, and no longer.
func TestATabThatIsToldLate(t *testing.T) {
	const wait = 300 * time.Millisecond
	inFront := func(r *call.Invocation) { r.Matches, r.InFront = []string{"*://*/*"}, true }
	for name, which := range map[string]func(*call.Invocation){"in front": inFront, "by its number": in(2)} {
		t.Run(name, func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				b := l.connect(named("A", tab(1, "http://demo.test/")))
				none := l.invoke(request(which, session("early")))
				none.want(t, fault.TabNotFound, fault.NotExecuted)
				if none.after != wait {
					t.Errorf("it ended after %s", none.after)
				}
				done := l.begin(t.Context(), request(which, session("late")))
				time.Sleep(wait - time.Millisecond) // of the bubble
				still(t, done)
				b.Put(tab(2, "http://demo.test/", func(t *wire.Tab) { t.Active, t.Focused = true, true }))
				(<-done).wantTab(t, "A", 2)
			})
		})
	}
}

// TestReferencesOfNoTab: references are those of the tab that a session has used, or names, and never meant for the one
// that happens to be in front.
func TestReferencesOfNoTab(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		front := func(t *wire.Tab) { t.Active, t.Focused = true, true }
		l.connect(named("A", tab(1, "http://demo.test/"), tab(2, "http://demo.test/", front)))
		every := func(id string, change ...func(*call.Invocation)) call.Invocation {
			return request(append(change, session(id), func(r *call.Invocation) {
				r.Matches, r.InFront = []string{"*://*/*"}, true
			})...)
		}
		refers := func(r *call.Invocation) { r.Refers, r.Write = true, true }
		l.invoke(every("a", in(1))).wantTab(t, "A", 1)
		l.invoke(every("a", refers)).wantTab(t, "A", 1)
		never := l.invoke(every("b", refers))
		never.want(t, fault.TabNotFound, fault.NotExecuted)
		if !strings.Contains(never.failure.Hint, "browser__snapshot") {
			t.Errorf("hint is %q", never.failure.Hint)
		}
		l.invoke(every("b")).wantTab(t, "A", 2)
		l.invoke(every("b", refers)).wantTab(t, "A", 2)
	})
}

func TestSeveralTabsInFront(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		front := func(t *wire.Tab) { t.Active, t.Focused = true, true }
		l.connect(named("A", tab(1, "http://demo.test/", front)))
		l.connect(named("B", tab(1, "http://demo.test/", front)))
		every := func(r *call.Invocation) { r.Matches, r.InFront = []string{"*://*/*"}, true }
		l.invoke(request(every)).want(t, fault.ValidationError, fault.NotExecuted)
		l.invoke(request(every, func(r *call.Invocation) { r.Profile = "B" })).wantTab(t, "B", 1)
	})
}
