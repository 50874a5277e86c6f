package hub_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

func chat(r *call.Invocation) { r.Matches = []string{"https://*.chat.test/*"} }

const (
	acme  = "https://acme.chat.test/"
	other = "https://other.chat.test/"
)

// wantSaid checks what a failure says.
func (r result) wantSaid(t *testing.T, words ...string) {
	t.Helper()
	for _, want := range words {
		if text := r.failure.Message + " " + r.failure.Hint; !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
}

// TestTabGoesToAnotherAccount: the same web app at another origin may be another account, so a session is not taken
// there by a navigation, only by its own word.
func TestTabGoesToAnotherAccount(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(named("A", tab(1, acme)))
		l.invoke(request(chat)).wantTab(t, "A", 1)
		b.Put(tab(1, other+"inbox?token=1"))
		synctest.Wait()
		moved := l.invoke(request(chat))
		moved.want(t, fault.TabChanged, fault.NotExecuted)
		moved.wantSaid(t, "Tab 1, where this agent worked before, shows https://other.chat.test now, and not "+
			"https://acme.chat.test",
			"another account", "tabId 1")
		if strings.Contains(moved.failure.Error(), "token") {
			t.Errorf("it tells the address: %v", moved.failure)
		}

		b.Put(tab(2, acme+"x")) // where the session was, in another tab of the same profile
		synctest.Wait()
		l.invoke(request(chat)).wantTab(t, "A", 2)
		l.invoke(request(chat, in(1))).wantTab(t, "A", 1) // it was named
		l.invoke(request(chat)).wantTab(t, "A", 1)        // and is where the session is now
	})
}

// TestInstanceIsNamed: a call that names another instance than the last one goes there.
func TestInstanceIsNamed(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		l.connect(named("A", tab(1, acme), tab(2, other)))
		l.invoke(request(chat, in(1))).wantTab(t, "A", 1)
		l.invoke(request(func(r *call.Invocation) { r.Matches = []string{other + "*"} })).wantTab(t, "A", 2)
		l.invoke(request(chat)).wantTab(t, "A", 2)
	})
}

// TestTabIsGone: after its tab a session gets another one of the same origin and profile, and nothing else.
func TestTabIsGone(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		front := func(t *wire.Tab) { t.Active, t.Focused = true, true }
		b := l.connect(named("Home", tab(1, acme), tab(2, other, front), tab(3, acme)))
		l.connect(named("Work", tab(4, acme)))
		l.invoke(request(chat, in(1))).wantTab(t, "Home", 1)
		b.CloseTab(1)
		synctest.Wait()
		l.invoke(request(chat)).wantTab(t, "Home", 3)
		b.CloseTab(3)
		synctest.Wait()
		gone := l.invoke(request(chat))
		gone.want(t, fault.TabNotFound, fault.NotExecuted)
		gone.wantSaid(t, "The tab with https://acme.chat.test", "tabId 2", "https://other.chat.test", `"Work"`)
	})
}

// TestTabFallsAsleep: a tab that Chrome has unloaded is still the session's; the call does not go to one that is awake.
func TestTabFallsAsleep(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect(named("A", tab(1, acme), tab(2, acme)))
		l.invoke(request(chat, in(1))).wantTab(t, "A", 1)
		asleep := func(t *wire.Tab) { t.Discarded = true }
		b.Put(tab(1, acme, asleep))
		synctest.Wait()
		woken := l.invoke(request(chat))
		woken.wantTab(t, "A", 1)
		if woken.after != 10*time.Second {
			t.Errorf("it waited %s for a tab that does not wake up", woken.after)
		}
	})
}

// TestTabIsWoken: a call waits until its tab has loaded again, and follows it when Chrome gives it another id.
func TestTabIsWoken(t *testing.T) {
	for _, id := range []int{1, 7} {
		inLab(t, func(t *testing.T, l *lab) {
			var b *hubtest.Browser
			loaded := func() {
				time.Sleep(3 * time.Second)
				if id != 1 {
					b.CloseTab(1)
				}
				b.Put(tab(id, acme))
			}
			b = l.connect(named("A", tab(1, acme), tab(2, acme)), func(o *hubtest.Options) {
				o.Command = func(c *wire.Command) *wire.Reply {
					if c.Name != "tabs.reload" {
						return &wire.Reply{OK: true}
					}
					go loaded()
					return &wire.Reply{OK: true, Result: fmt.Appendf(nil, `{"tabId":%d}`, id)}
				}
			})
			l.invoke(request(chat, in(1))).wantTab(t, "A", 1)
			b.Put(tab(1, acme, func(t *wire.Tab) { t.Discarded, t.Status = true, "unloaded" }))
			synctest.Wait()
			woken := l.invoke(request(chat))
			woken.wantTab(t, "A", id)
			if woken.after != 3*time.Second {
				t.Errorf("it waited %s", woken.after)
			}
			l.invoke(request(chat)).wantTab(t, "A", id)
		})
	}
}

// TestTabGetsAnotherID: a session, and what it owns, follow a tab whose page Chrome has unloaded.
func TestTabGetsAnotherID(t *testing.T) {
	owning(t, hub.OwnWrites, func(t *testing.T, l *lab) {
		b := l.connect(named("A", tab(1, acme), tab(2, acme)))
		l.invoke(request(of("a", "a"), chat, in(1), write)).wantTab(t, "A", 1)
		b.ReplaceTab(1, tab(7, acme))
		synctest.Wait()
		l.wantOwner(7, "a")
		l.invoke(request(of("b", "b"), chat, in(7), write)).wantOwned(t, `"a"`)
		l.invoke(request(of("a", "a"), chat)).wantTab(t, "A", 7)
		time.Sleep(61 * time.Minute)
		l.wantOwner(7, "")
	})
}

// TestProfileComesBack: a session finds its tab again after its browser was away, however good another profile's is.
func TestProfileComesBack(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		front := func(t *wire.Tab) { t.Active, t.Focused = true, true }
		home := l.connect(named("Home", tab(1, acme), tab(2, acme)))
		l.connect(named("Work", tab(1, acme, front)))
		l.invoke(request(chat, func(r *call.Invocation) { r.TabID, r.Profile = 2, "Home" })).wantTab(t, "Home", 2)
		home.Close()
		synctest.Wait()
		done := l.begin(t.Context(), request(chat))
		time.Sleep(time.Second)
		l.connect(named("Home", tab(1, acme, front), tab(2, acme)),
			func(o *hubtest.Options) { o.ProfileID = home.ProfileID() })
		(<-done).wantTab(t, "Home", 2)
	})
}

// TestEveryPageFollowsItsTab: what works on every page has no account to lose; its session stays in the tab.
func TestEveryPageFollowsItsTab(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		every := func(r *call.Invocation) { r.Matches, r.InFront = []string{"*://*/*"}, true }
		b := l.connect(named("A", tab(1, acme), tab(2, acme)))
		l.invoke(request(every, in(1))).wantTab(t, "A", 1)
		b.Put(tab(1, other))
		synctest.Wait()
		l.invoke(request(every)).wantTab(t, "A", 1)
	})
}

// TestSessionThatLeft: what it did is forgotten, so that a new one begins anew.
func TestSessionThatLeft(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		l.connect(named("A", tab(1, acme), tab(2, acme, func(t *wire.Tab) { t.LastUsed = 5 })))
		l.invoke(request(chat, in(1))).wantTab(t, "A", 1)
		l.hub.SessionLeft("session")
		l.invoke(request(chat)).wantTab(t, "A", 2)
	})
}

// TestSessionGoesOnWithTheNextRelay: where it worked, also before the browser it worked in is back.
func TestSessionGoesOnWithTheNextRelay(t *testing.T) {
	var kept []call.LastTab
	front := func(t *wire.Tab) { t.Active, t.Focused = true, true }
	id := strings.Repeat("4", 32)
	home := func(o *hubtest.Options) { o.ProfileID = id }
	keep := func(c *hub.Config) { c.LastTabChanged = func(t call.LastTab) { kept = append(kept, t) } }
	inLabWith(t, keep, func(t *testing.T, l *lab) {
		l.connect(named("Home", tab(1, acme), tab(2, acme)), home)
		l.invoke(request(chat, in(2))).wantTab(t, "Home", 2)
		l.invoke(request(chat)).wantTab(t, "Home", 2)
	})
	if len(kept) != 1 || kept[0].Site != "https://acme.chat.test" || kept[0].TabID != 2 {
		t.Fatalf("kept %+v", kept)
	}
	connectedBefore := func(c *hub.Config) { c.LastTabs, c.Known = kept, []call.Profile{{ID: id, Label: "Home"}} }
	inLabWith(t, connectedBefore, func(t *testing.T, l *lab) {
		l.connect(named("Work", tab(1, acme, front)))
		done := l.begin(t.Context(), request(chat))
		time.Sleep(time.Second)
		l.connect(named("Home", tab(1, acme, front), tab(2, acme)), home)
		(<-done).wantTab(t, "Home", 2)
	})
	inLabWith(t, connectedBefore, func(t *testing.T, l *lab) {
		l.connect(named("Work", tab(1, acme, front)))
		l.invoke(request(chat)).want(t, fault.ProfileNotConnected, fault.NotExecuted)
	})
}

// TestOpenedTabIsTheSessions: the next call of a session goes to the tab it has opened, where that is of the plugin's
// site, until it works elsewhere by name. While the tab has no page, no other takes its place.
func TestOpenedTabIsTheSessions(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		front := func(t *wire.Tab) { t.Active, t.Focused = true, true }
		b := l.connect(named("Home", tab(1, acme), tab(2, acme, front)))
		session := request(chat)
		l.invoke(session).wantTab(t, "Home", 2)
		time.Sleep(time.Second)
		l.hub.Opened(session.Session, b.ProfileID(), "Home", 1, acme, false)
		l.invoke(request(chat)).wantTab(t, "Home", 1)
		time.Sleep(time.Second)
		l.invoke(request(chat, in(2))).wantTab(t, "Home", 2)
		l.invoke(request(chat)).wantTab(t, "Home", 2)
		time.Sleep(time.Second)
		l.hub.Opened(session.Session, b.ProfileID(), "Home", 3, acme, true)
		l.invoke(request(chat)).want(t, fault.AdapterNotReady, fault.NotExecuted)
		b.Put(wire.Tab{ID: 3, WindowID: 1, URL: acme, Status: "complete"})
		synctest.Wait()
		l.invoke(request(chat)).wantTab(t, "Home", 3)
		time.Sleep(time.Second)
		l.hub.Opened(session.Session, b.ProfileID(), "Home", 4, "https://elsewhere.test/", true)
		l.invoke(request(chat)).wantTab(t, "Home", 3)
		l.hub.Opened(session.Session, b.ProfileID(), "Home", 5, acme, true)
		time.Sleep(2 * time.Minute) // it never came
		l.invoke(request(chat)).wantTab(t, "Home", 3)
	})
}
