package hub_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/fault/faulttest"
)

// of makes a call one of a client's session.
func of(client, session string) func(*call.Invocation) {
	return func(r *call.Invocation) { r.Session = call.Session{Client: client, ID: session, Via: "stdio"} }
}

func in(tabID int) func(*call.Invocation) { return func(r *call.Invocation) { r.TabID = tabID } }

// owning is a lab whose hub knows owners.
func owning(t *testing.T, mode string, test func(t *testing.T, l *lab)) {
	inLabWith(t, func(c *hub.Config) { c.Ownership = mode }, test)
}

// ownerOf is who owns a tab, as status tells; empty: nobody.
func (l *lab) ownerOf(tabID int) string {
	for _, t := range l.hub.Tabs() {
		if t.ID == tabID && t.Owner != nil {
			return t.Owner.Name
		}
	}
	return ""
}

func (l *lab) wantOwner(tabID int, name string) {
	l.t.Helper()
	if got := l.ownerOf(tabID); got != name {
		l.t.Errorf("tab %d is owned by %q instead of %q", tabID, got, name)
	}
}

// wantOwned checks that a call was refused because of an owner, and that it says what an agent needs.
func (r result) wantOwned(t *testing.T, words ...string) {
	t.Helper()
	r.want(t, fault.TabOwned, fault.NotExecuted)
	if !r.failure.Retryable {
		t.Error("it is not retryable")
	}
	for _, want := range words {
		if text := r.failure.Message + " " + r.failure.Hint; !strings.Contains(text, want) {
			t.Errorf("%q does not say %q", text, want)
		}
	}
}

func TestOwnerOfATab(t *testing.T) {
	owning(t, hub.OwnWrites, func(t *testing.T, l *lab) {
		l.connect(named("A", tab(1, "http://demo.test/"), tab(2, "http://demo.test/")))
		l.invoke(request(of("codex", "a"), in(1))).wantTab(t, "A", 1)
		l.wantOwner(1, "") // it has only read
		l.invoke(request(of("codex", "a"), in(1), write)).wantTab(t, "A", 1)
		l.wantOwner(1, "codex")
		time.Sleep(3 * time.Minute)
		refused := l.invoke(request(of("claude-code", "b"), in(1), write))
		refused.wantOwned(t, `"codex"`, "for 3 min", "`tabrelay tabs release 1`",
			"another tabId: nobody else works in 2.")
		faulttest.Provoked(t, "tab-of-another-agent", refused.failure)
		l.invoke(request(of("claude-code", "b"), in(1))).wantTab(t, "A", 1)        // reads go on
		l.invoke(request(of("claude-code", "c"), write)).wantTab(t, "A", 2)        // nobody works there
		l.invoke(request(of("claude-code", "c"), write, in(2))).wantTab(t, "A", 2) // its own
		l.wantOwner(2, "claude-code")
	})
}

// A call that changed nothing makes nobody the owner, and takes nothing from who is it already.
func TestNothingChangedNothingOwned(t *testing.T) {
	for name, c := range map[string]struct {
		error string
		owner string
	}{
		"the application refused":   {`{"code":"RATE_LIMITED","message":"m","outcome":"not_executed"}`, ""},
		"nobody knows":              {`{"code":"BROKEN","message":"m","outcome":"unknown"}`, "a"},
		"it threw, and said naught": {`{"code":"BROKEN","message":"m"}`, "a"},
	} {
		t.Run(name, func(t *testing.T) {
			owning(t, hub.OwnWrites, func(t *testing.T, l *lab) {
				fails := true
				l.connect(named("A", tab(1, "http://demo.test/")), answer(func(sent *hubtest.Call) {
					sent.Started()
					if fails {
						sent.Throw([]byte(c.error))
						return
					}
					sent.Return([]byte(`{}`))
				}))
				l.invoke(request(of("a", "a"), write))
				l.wantOwner(1, c.owner)
				fails = false
				l.invoke(request(of("a", "a"), write)).wantTab(t, "A", 1)
				fails = true
				l.invoke(request(of("a", "a"), write))
				l.wantOwner(1, "a") // by what it did before
			})
		})
	}
}

// Who is refused a tab is told how long its owner may stay away until it is free.
func TestOwnedTabHasAWait(t *testing.T) {
	inLabWith(t, func(c *hub.Config) { c.Ownership, c.OwnershipIdle = hub.OwnWrites, time.Hour },
		func(t *testing.T, l *lab) {
			l.connect(named("A", tab(1, "http://demo.test/")))
			l.invoke(request(of("a", "a"), write)).wantTab(t, "A", 1)
			time.Sleep(20 * time.Minute)
			refused := l.invoke(request(of("b", "b"), write))
			refused.wantOwned(t)
			if ms := refused.failure.RetryAfterMs; ms == nil || *ms != 40*60*1000 {
				t.Errorf("retryAfterMs: %v", ms)
			}
			time.Sleep(40*time.Minute + 1)
			l.invoke(request(of("b", "b"), write)).wantTab(t, "A", 1)
		})
}

// TestReaderIsNotMoved: what an agent has read in one tab it does not change in another.
func TestReaderIsNotMoved(t *testing.T) {
	owning(t, hub.OwnWrites, func(t *testing.T, l *lab) {
		l.connect(named("A", tab(1, "http://demo.test/"), tab(2, "http://demo.test/")))
		l.invoke(request(of("b", "b"), in(1))).wantTab(t, "A", 1)
		l.invoke(request(of("a", "a"), in(1), write)).wantTab(t, "A", 1)
		l.invoke(request(of("b", "b"), write)).wantOwned(t, `"a"`, "another tabId: nobody else works in 2.")
	})
}

func TestOwnershipModes(t *testing.T) {
	for _, tt := range []struct {
		mode                string
		afterRead, readToo  bool // a tab has an owner after a read; others may not even read
		afterWrite, refused bool
	}{
		{hub.OwnNothing, false, false, false, false},
		{"", false, false, false, false},
		{hub.OwnWrites, false, false, true, true},
		{hub.OwnAll, true, true, true, true},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			owning(t, tt.mode, func(t *testing.T, l *lab) {
				l.connect(named("A", tab(1, "http://demo.test/")))
				l.invoke(request(of("a", "a"))).wantTab(t, "A", 1)
				if got := l.ownerOf(1) != ""; got != tt.afterRead {
					t.Errorf("owned after a read: %v", got)
				}
				l.invoke(request(of("a", "a"), write)).wantTab(t, "A", 1)
				if got := l.ownerOf(1) != ""; got != tt.afterWrite {
					t.Errorf("owned after a write: %v", got)
				}
				if r := l.invoke(request(of("b", "b"))); (r.failure != nil) != tt.readToo {
					t.Errorf("a read of another session: %v", r.failure)
				}
				if r := l.invoke(request(of("b", "b"), write)); (r.failure != nil) != tt.refused {
					t.Errorf("a write of another session: %v", r.failure)
				}
			})
		})
	}
}

// TestOwnershipEnds: each way in which a session loses its tab lets the next one have it.
func TestOwnershipEnds(t *testing.T) {
	for name, end := range map[string]func(l *lab, b *hubtest.Browser){
		"an idle hour": func(l *lab, _ *hubtest.Browser) {
			time.Sleep(59 * time.Minute)
			l.wantOwner(1, "a")
			l.invoke(request(of("a", "a"), in(1))) // a read of its own counts
			time.Sleep(59 * time.Minute)
			l.wantOwner(1, "a")
			time.Sleep(2 * time.Minute)
		},
		"the end of its attachment": func(l *lab, _ *hubtest.Browser) { l.hub.SessionLeft("a") },
		"a person": func(l *lab, b *hubtest.Browser) {
			if w := l.hub.Release(b.ProfileID(), 1); w == nil || w.Client != "a" || w.Session != "a" {
				l.t.Errorf("%+v was released", w)
			}
			if w := l.hub.Release(b.ProfileID(), 1); w != nil {
				l.t.Errorf("%+v was released again", w)
			}
		},
		"the end of the tab": func(_ *lab, b *hubtest.Browser) {
			b.CloseTab(1)
			b.Put(demoTab(1))
			synctest.Wait()
		},
		"the end of the tab, unseen": func(l *lab, b *hubtest.Browser) {
			b.Close()
			synctest.Wait()
			l.connect(func(o *hubtest.Options) { o.ProfileID, o.Tabs = b.ProfileID(), nil }).Put(demoTab(1))
			synctest.Wait()
		},
	} {
		t.Run(name, func(t *testing.T) {
			owning(t, hub.OwnWrites, func(t *testing.T, l *lab) {
				b := l.connect()
				l.invoke(request(of("a", "a"), write)).wantOutput(t, `{"x":1}`)
				l.invoke(request(of("b", "b"), write)).wantOwned(t, `"a"`)
				end(l, b)
				l.wantOwner(1, "")
				l.invoke(request(of("b", "b"), write)).wantOutput(t, `{"x":1}`)
				l.wantOwner(1, "b")
			})
		})
	}
}

// TestOwnershipOutlivesTheLink: a browser that comes back with the tab finds the same owner.
func TestOwnershipOutlivesTheLink(t *testing.T) {
	owning(t, hub.OwnWrites, func(t *testing.T, l *lab) {
		b := l.connect()
		l.invoke(request(of("a", "a"), write)).wantOutput(t, `{"x":1}`)
		b.Close()
		synctest.Wait()
		l.connect(func(o *hubtest.Options) { o.ProfileID = b.ProfileID() })
		l.wantOwner(1, "a")
	})
}

// TestARunningCallIsNotIdle: the hour begins when the last call has ended.
func TestARunningCallIsNotIdle(t *testing.T) {
	owning(t, hub.OwnWrites, func(t *testing.T, l *lab) {
		b := l.connect(answer(hold))
		r := request(of("a", "a"), write)
		done := l.begin(t.Context(), r)
		c := awaitCall(t, b, r.ID)
		time.Sleep(90 * time.Minute)
		l.wantOwner(1, "a")
		c.Return([]byte("{}"))
		(<-done).wantOutput(t, "{}")
		time.Sleep(59 * time.Minute)
		l.wantOwner(1, "a")
		time.Sleep(2 * time.Minute)
		l.wantOwner(1, "")
	})
}

// TestOneOfManyGetsTheTab: sessions that come at once, each with its turn to wait for, are told apart before that.
func TestOneOfManyGetsTheTab(t *testing.T) {
	owning(t, hub.OwnWrites, func(t *testing.T, l *lab) {
		l.connect()
		begin := make(chan struct{})
		var mu sync.Mutex
		codes := map[fault.Code]int{}
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				name := fmt.Sprint("agent", i)
				<-begin
				waited := false
				waits := func(call.Target) (func(context.Context) *fault.Error, *fault.Error) {
					if waited {
						return nil, nil
					}
					waited = true
					return func(context.Context) *fault.Error { time.Sleep(time.Second); return nil }, nil
				}
				failure := (<-l.beginWith(t.Context(), request(of(name, name), write), waits)).failure
				mu.Lock()
				defer mu.Unlock()
				if failure == nil {
					codes["done"]++
				} else {
					codes[failure.Code]++
				}
			})
		}
		close(begin)
		all.Wait()
		if codes["done"] != 1 || codes[fault.TabOwned] != 19 {
			t.Errorf("got %v", codes)
		}
	})
}

// TestTakenWhileItWaited: a call that had the tab when it came, but not any more when its turn comes, does not run.
func TestTakenWhileItWaited(t *testing.T) {
	owning(t, hub.OwnWrites, func(t *testing.T, l *lab) {
		b := l.connect()
		waited := false
		done := l.beginWith(t.Context(), request(of("a", "a"), write),
			func(call.Target) (func(context.Context) *fault.Error, *fault.Error) {
				if waited {
					return nil, nil
				}
				waited = true
				return func(context.Context) *fault.Error { time.Sleep(10 * time.Second); return nil }, nil
			})
		synctest.Wait()
		l.wantOwner(1, "") // it is only an intention
		l.invoke(request(of("b", "b"), write)).wantOwned(t, `"a", which is about to work there`)
		l.hub.Release(b.ProfileID(), 1)
		l.invoke(request(of("b", "b"), write)).wantOutput(t, `{"x":1}`)
		(<-done).wantOwned(t, `"b"`, "which has worked there for")
	})
}

// TestAnIntentionIsNotKept: a call that was not sent leaves nothing behind.
func TestAnIntentionIsNotKept(t *testing.T) {
	owning(t, hub.OwnWrites, func(t *testing.T, l *lab) {
		l.connect()
		no := fault.New(fault.ApprovalDenied, "The person said no")
		refuse := func(call.Target) (func(context.Context) *fault.Error, *fault.Error) { return nil, no }
		(<-l.beginWith(t.Context(), request(of("a", "a"), write), refuse)).want(t, fault.ApprovalDenied,
			fault.NotExecuted)
		l.invoke(request(of("b", "b"), write)).wantOutput(t, `{"x":1}`)
	})
}

// TestCommandLine: without a session it takes no tab, because it is gone after one call, and gets none that has an
// owner. With one, it is an owner like any other: terminals as the windows of one client, sessions with names apart.
func TestCommandLine(t *testing.T) {
	owning(t, hub.OwnWrites, func(t *testing.T, l *lab) {
		l.connect()
		cli := func(r *call.Invocation) { r.Session = call.Session{Client: "cli", ID: "cli", Via: "cli"} }
		l.invoke(request(cli, write)).wantOutput(t, `{"x":1}`)
		l.wantOwner(1, "")
		l.invoke(request(of("a", "a"), write)).wantOutput(t, `{"x":1}`)
		l.invoke(request(cli, write)).wantOwned(t, `"a"`)
		l.hub.SessionLeft("a")
		shell := func(id string) func(*call.Invocation) {
			return func(r *call.Invocation) { r.Session = call.Session{Client: "cli", ID: id, Via: "cli"} }
		}
		l.invoke(request(shell("cli/session:work"), write)).wantOutput(t, `{"x":1}`)
		l.wantOwner(1, "cli")
		l.invoke(request(shell("cli/session:other"), write)).wantOwned(t, `the session "work" of this client (cli)`)
		l.invoke(request(cli, write)).wantOwned(t, `the session "work" of this client (cli)`)
		l.hub.SessionLeft("cli/session:work")
		l.invoke(request(shell("cli/terminal:1.1"), write)).wantOutput(t, `{"x":1}`)
		l.wantOwner(1, "cli")
		l.invoke(request(of("a", "a"), write)).wantOwned(t, `"cli"`)
	})
}

// TestSessionsOfOneClient: two windows of one client are told apart, and called what they are.
func TestSessionsOfOneClient(t *testing.T) {
	owning(t, hub.OwnWrites, func(t *testing.T, l *lab) {
		l.connect(named("A", tab(1, "http://demo.test/"), tab(2, "http://demo.test/"), tab(3, "http://demo.test/")))
		l.invoke(request(of("codex", "a"), in(1), write)).wantTab(t, "A", 1)
		l.invoke(request(of("codex", "b"), in(2), write)).wantTab(t, "A", 2)
		l.invoke(request(of("codex", "b"), in(3), write)).wantTab(t, "A", 3)
		l.wantOwner(1, "codex")
		l.wantOwner(2, "codex 2")
		l.wantOwner(3, "codex 2")
		l.invoke(request(of("codex", "a"), in(2), write)).wantOwned(t, "another session of this client (codex 2)",
			"another tabId: nobody else works in 1.")
		named := of("codex", "http:codex/session:night")
		l.hub.SessionLeft("a")
		l.invoke(request(named, in(1), write)).wantTab(t, "A", 1)
		l.wantOwner(1, "codex")
		l.invoke(request(of("codex", "b"), in(1), write)).wantOwned(t, `the session "night" of this client (codex)`)
	})
}

// TestFreeTabOfTheSameAccount: who needs a free tab gets one of the best tab's origin and profile, or none.
func TestFreeTabOfTheSameAccount(t *testing.T) {
	owning(t, hub.OwnWrites, func(t *testing.T, l *lab) {
		front := func(t *wire.Tab) { t.Active, t.Focused = true, true }
		l.connect(named("Home", tab(1, "https://acme.chat.test/", front), tab(2, "https://other.chat.test/"),
			tab(3, "https://acme.chat.test/x")))
		work := l.connect(named("Work", tab(4, "https://acme.chat.test/"), tab(5, "http://demo.test/")))
		chat := func(r *call.Invocation) { r.Matches = []string{"https://*.chat.test/*"} }
		l.invoke(request(of("a", "a"), chat, write)).wantTab(t, "Home", 1)
		l.invoke(request(of("b", "b"), chat, write)).wantTab(t, "Home", 3)
		l.invoke(request(of("c", "c"), chat, write)).wantOwned(t, `"a"`, "tabrelay tabs release 1 --profile")
		l.hub.Give(call.Session{Client: "d", ID: "d", Via: "stdio"}, work.ProfileID(), 4)
		l.invoke(request(of("d", "d"), chat, write)).wantTab(t, "Work", 4) // what it has opened itself comes first
		gone := func(string) bool { return false }
		l.hub.ClientsLeft(gone)
		l.wantOwner(4, "d") // it came over stdio, where its end is seen
		l.hub.Give(call.Session{Client: "e", ID: "http:e/1", Via: "http"}, work.ProfileID(), 5)
		l.wantOwner(5, "e")
		l.hub.ClientsLeft(func(client string) bool { return client == "e" })
		l.wantOwner(5, "e")
		l.hub.ClientsLeft(gone)
		l.wantOwner(5, "")
	})
}

// TestClientsShareTheirTabs: the windows of one client work in one tab, and sessions that an agent has named do not.
func TestClientsShareTheirTabs(t *testing.T) {
	inLabWith(t, func(c *hub.Config) { c.Ownership, c.OwnedBy = hub.OwnWrites, hub.OwnedByClient },
		func(t *testing.T, l *lab) {
			l.connect(named("A", tab(1, "http://demo.test/")))
			l.invoke(request(of("codex", "a"), in(1), write)).wantTab(t, "A", 1)
			l.invoke(request(of("codex", "b"), in(1), write)).wantTab(t, "A", 1)
			l.wantOwner(1, "codex")
			l.invoke(request(of("codex", "b/session:x"), in(1), write)).wantOwned(t, "another session of this client")
			l.invoke(request(of("claude-code", "c"), in(1), write)).wantOwned(t, `"codex"`)
			l.hub.SessionLeft("a") // its other window goes on
			l.wantOwner(1, "codex")
			l.hub.SessionLeft("b")
			l.wantOwner(1, "")
		})
}

// agentOf makes a call one of an agent that works for the session "a" of codex, in these tabs.
func agentOf(tabs ...string) call.Session {
	return call.Session{Client: "codex", ID: "a" + call.NamedSession + "agent-1", Via: "stdio",
		Bounds: &call.Bounds{Agent: "reader", Session: "1", Asker: "a", Tabs: tabs}}
}

func by(s call.Session) func(*call.Invocation) { return func(r *call.Invocation) { r.Session = s } }

// An agent works in the tabs that its asker names for it, and nobody else does; afterwards they are the asker's again.
func TestTabsAreLent(t *testing.T) {
	owning(t, hub.OwnWrites, func(t *testing.T, l *lab) {
		l.connect(named("A", tab(1, "http://demo.test/"), tab(2, "http://demo.test/"), tab(3, "http://demo.test/")))
		asker, agent := of("codex", "a"), agentOf("1", "3", "http://demo.test/*")
		l.invoke(request(asker, in(1), write)).wantTab(t, "A", 1)
		l.invoke(request(asker, in(2), write)).wantTab(t, "A", 2)
		l.invoke(request(of("ann", "b"), in(3), write)).wantTab(t, "A", 3)
		l.invoke(request(by(agent), in(1), write)).wantOwned(t, "codex")

		back := l.hub.Lend(agent)
		l.wantOwner(1, "reader for codex")
		l.wantOwner(2, "codex") // which only a pattern covers
		l.wantOwner(3, "ann")   // whose it is
		l.invoke(request(by(agent), in(1), write)).wantTab(t, "A", 1)
		l.invoke(request(by(agent), in(2), write)).wantOwned(t, "codex")
		l.invoke(request(asker, in(1), write)).wantOwned(t, `the agent "reader" of this client`)
		time.Sleep(24 * time.Hour) // no errand is too long for its loan
		synctest.Wait()
		l.wantOwner(1, "reader for codex")
		second := l.hub.Lend(agentOf("1"))
		second() // it has got nothing
		l.wantOwner(1, "reader for codex")
		back()
		back()
		l.wantOwner(1, "codex")
		l.invoke(request(asker, in(1), write)).wantTab(t, "A", 1)
		l.invoke(request(by(agent), in(1), write)).wantOwned(t, "codex")
		time.Sleep(24 * time.Hour)
		synctest.Wait()
		l.wantOwner(1, "") // a lease that came back expires as others do
	})
}

// However an errand ends, the tab is the asker's then, or nobody's.
func TestALoanEnds(t *testing.T) {
	for name, c := range map[string]struct {
		end  func(l *lab)
		want string
	}{
		"the agent's session ends first": {func(l *lab) { l.hub.SessionLeft(agentOf().ID) }, "codex"},
		"the asker leaves":               {func(l *lab) { l.hub.SessionLeft("a") }, ""},
		"the person takes it away":       {func(l *lab) { l.hub.Release(l.hub.Tabs()[0].ProfileID, 1) }, ""},
		"nothing happens":                {func(*lab) {}, "codex"},
	} {
		t.Run(name, func(t *testing.T) {
			owning(t, hub.OwnWrites, func(t *testing.T, l *lab) {
				l.connect(named("A", tab(1, "http://demo.test/")))
				l.invoke(request(of("codex", "a"), in(1), write)).wantTab(t, "A", 1)
				back := l.hub.Lend(agentOf("1"))
				l.wantOwner(1, "reader for codex")
				c.end(l)
				back()
				l.wantOwner(1, c.want)
			})
		})
	}
}
