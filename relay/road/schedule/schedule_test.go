package schedule

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/road/call"
)

var seven = Tab{"p1", 7}

// TestCallsOfATabTakeTurns plays calls that come to one tab and leave it. A call is named by its session, r or w, and a
// number; "+a.w1" comes, "-a.w1" leaves. After each step those that have got their turn are listed; "full" means
// refused.
func TestCallsOfATabTakeTurns(t *testing.T) {
	for name, tt := range map[string]struct{ steps, want string }{
		"reads run beside each other and beside a write": {
			"+a.r1 +b.w1 +a.r2 +c.r1 -b.w1",
			"a.r1 | b.w1 | a.r2 | c.r1 |"},
		"writes run one after the other": {
			"+a.w1 +a.w2 +a.w3 -a.w1 -a.w2 -a.w3 +a.w4",
			"a.w1 | | | a.w2 | a.w3 | | a.w4"},
		"sessions take turns, each in its own order": {
			"+a.w1 +a.w2 +a.w3 +b.w1 +b.w2 +c.w1 -a.w1 -a.w2 -b.w1 -c.w1 -a.w3 -b.w2",
			"a.w1 | | | | | | a.w2 | b.w1 | c.w1 | a.w3 | b.w2 |"},
		"a read does not overtake a write of its session": {
			"+b.w1 +a.w1 +a.r1 +b.r1 +c.r1 -b.w1 -a.w1",
			"b.w1 | | | | c.r1 | a.w1 b.r1 | a.r1"},
		"reads between writes go when they come to the front": {
			"+a.w1 +a.r1 +a.w2 +a.r2 -a.w1 -a.w2",
			"a.w1 | | | | a.r1 a.w2 | a.r2"},
		"one that gives up lets those behind it go": {
			"+b.w1 +a.w1 +a.r1 +a.w2 -a.w1 -b.w1",
			"b.w1 | | | | a.r1 | a.w2"},
		"one in the middle gives up": {
			"+a.w1 +a.w2 +a.w3 -a.w2 -a.w1",
			"a.w1 | | | | a.w3"},
		"a read that gives up": {
			"+a.w1 +a.r1 +a.r2 -a.r1 -a.w1",
			"a.w1 | | | | a.r2"},
		"behind its own running write nothing goes": {
			"+a.w1 +a.w2 +a.r1 -a.w2 -a.w1",
			"a.w1 | | | | a.r1"},
		"a full queue refuses, but nobody else's calls": {
			"+a.w1 +a.w2 +a.r1 +a.w3 +a.w4 +a.r2 +b.w1 +b.r1 +b.w2 +b.w3 +c.r1",
			"a.w1 | | | | full | full | | | | full | c.r1"},
		"room again": {
			"+a.w1 +a.w2 +a.w3 +a.w4 +a.w5 -a.w1 +a.w6",
			"a.w1 | | | | full | a.w2 |"},
		"leaving twice is leaving once": {
			"+a.w1 +a.w2 -a.w1 -a.w1 -a.w2 -a.w2",
			"a.w1 | | a.w2 | | |"},
	} {
		t.Run(name, func(t *testing.T) {
			s := New(Limits{WaitingPerTab: 3})
			var waiting, got []string
			tickets := map[string]*Ticket{}
			for step := range strings.FieldsSeq(tt.steps) {
				who := step[1:]
				var now []string
				if step[0] == '-' {
					tickets[who].Leave()
				} else {
					name, kind, _ := strings.Cut(who, ".")
					tickets[who] = s.ticket(name, kind[0] == 'w')
					switch _, retry, err := tickets[who].Join(seven); {
					case err == nil:
						waiting = append(waiting, who)
					case errors.Is(err, ErrQueueFull) && retry > 0:
						now = append(now, "full")
					default:
						t.Errorf("%s: %v, to come back in %s", who, err, retry)
					}
				}
				waiting = slices.DeleteFunc(waiting, func(who string) bool {
					if tickets[who].runs() {
						now = append(now, who)
						return true
					}
					return false
				})
				slices.Sort(now)
				got = append(got, strings.Join(now, " "))
			}
			if diff := cmp.Diff(strings.Split(strings.ReplaceAll(tt.want, " ", ""), "|"), stripped(got)); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func stripped(steps []string) []string {
	for i, step := range steps {
		steps[i] = strings.ReplaceAll(step, " ", "")
	}
	return steps
}

func (s *Scheduler) ticket(session string, write bool) *Ticket {
	return s.ticketAt(session, write, 0)
}

func (s *Scheduler) ticketAt(session string, write bool, p call.Position) *Ticket {
	t := s.Ticket(p)
	t.Session, t.Plugin, t.Write = session, "demo", write
	return &t
}

// runs reports whether it is the call's turn.
func (t *Ticket) runs() bool {
	t.scheduler.mu.Lock()
	defer t.scheduler.mu.Unlock()
	return t.joined && (t.turn == nil || t.queue == nil || t.queue.writer == t)
}

// TestCallsOfASessionKeepTheirOrder plays calls of one client, to which positions are reserved in the order of their
// names. "a1" is the first call of session a. "?a1" looks for its tab, "-a1" has found it, gives up or is withdrawn.
// After each step those are listed that may go on now.
func TestCallsOfASessionKeepTheirOrder(t *testing.T) {
	for name, tt := range map[string]struct{ calls, steps, want string }{
		"in the order of their positions, whoever looks first": {
			"a1 a2 a3", "?a3 ?a2 ?a1 -a1 -a2 -a3", "| | a1 | a2 | a3 |"},
		"one that never comes is not waited for any more": {
			"a1 a2 a3", "?a2 ?a3 -a1 -a2", "| | a2 | a3"},
		"one in the middle does not let those behind it pass those before it": {
			"a1 a2 a3", "?a1 ?a2 ?a3 -a2 -a1", "a1 | | | | a3"},
		"sessions do not wait for each other": {
			"a1 b1 a2 b2", "?a1 ?b1 ?a2 ?b2 -b1 -a1", "a1 | b1 | | | b2 | a2"},
		"a call whose session is not known yet holds up all": {
			"a1 b1 a2 b2", "?b1 ?b2 ?a1 -a1 -b1 ?a2", "| | a1 b1 | | | a2 b2"},
		"leaving twice is leaving once": {
			"a1 a2", "?a1 ?a2 -a1 -a1 -a2 -a2", "a1 | | a2 | | | "},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New(Limits{})
				tickets, cancels := map[string]*Ticket{}, map[string]func(){}
				for who := range strings.FieldsSeq(tt.calls) {
					tickets[who] = s.ticketAt(who[:1], false, s.Reserve("client"))
				}
				var mu sync.Mutex
				var now, got []string
				for step := range strings.FieldsSeq(tt.steps) {
					who := step[1:]
					ctx, cancel := context.WithCancel(t.Context())
					defer cancel()
					if step[0] == '-' {
						if cancels[who] != nil {
							cancels[who]()
							synctest.Wait()
						}
						tickets[who].Leave()
					} else {
						cancels[who] = cancel
						go func() {
							if tickets[who].AwaitTab(ctx, time.Hour, func() time.Duration { return 0 }, nil) != nil {
								return
							}
							mu.Lock()
							defer mu.Unlock()
							now = append(now, who)
						}()
					}
					synctest.Wait()
					slices.Sort(now)
					got, now = append(got, strings.Join(now, "")), nil
				}
				if diff := cmp.Diff(strings.Split(strings.ReplaceAll(tt.want, " ", ""), "|"), got); diff != "" {
					t.Error(diff)
				}
				for _, ticket := range tickets {
					ticket.Leave()
				}
				if len(s.orders)+len(s.positions) > 0 {
					t.Errorf("left behind: %v, %v", s.orders, s.positions)
				}
			})
		})
	}
}

func TestTabsAreIndependent(t *testing.T) {
	s := New(Limits{WaitingPerTab: 3})
	for _, tab := range []Tab{{"p1", 7}, {"p1", 8}, {"p2", 7}} {
		ticket := s.ticket("a", true)
		if ready, _, err := ticket.Join(tab); err != nil || !ready {
			t.Errorf("%+v keeps its first call waiting: %v", tab, err)
		}
	}
}

// A call that is sent to another tab gives up its turn in the first one.
func TestJoiningAnotherTabLeavesTheFirst(t *testing.T) {
	s := New(Limits{WaitingPerTab: 3})
	first, second := s.ticket("a", true), s.ticket("b", true)
	for _, step := range []struct {
		ticket *Ticket
		tab    Tab
	}{{first, seven}, {second, seven}, {first, Tab{"p1", 8}}} {
		if _, _, err := step.ticket.Join(step.tab); err != nil {
			t.Fatal(err)
		}
	}
	if !first.runs() || !second.runs() {
		t.Error("the turn was not passed on")
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	s := New(Limits{WaitingPerTab: 32})
	var tickets []*Ticket
	for i := range 90 {
		session := fmt.Sprint(i % 3)
		ticket := s.ticketAt(session, i%2 == 0, s.Reserve(session))
		if _, _, err := ticket.Join(seven); err != nil {
			t.Fatal(err)
		}
		tickets = append(tickets, ticket)
	}
	for i := range tickets {
		tickets[(i*37)%len(tickets)].Leave()
	}
	if l := s.Load(); len(l.Tabs) != 0 || l.Running != 0 || l.Waiting != 0 || len(s.orders) != 0 ||
		len(s.positions) != 0 {
		t.Errorf("%+v, orders %v", l, s.orders)
	}
}

// A call that finds its queue full is told to come back when half of those who wait have had their turn.
func TestRetryFollowsThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Limits{WaitingPerTab: 10})
		join := func() time.Duration {
			_, retry, _ := s.ticket("a", true).Join(seven)
			return retry
		}
		for range 11 {
			join()
		}
		for _, tt := range []struct{ pass, want time.Duration }{
			{0, 250 * time.Millisecond},
			{400 * time.Millisecond, 2 * time.Second}, // five turns of 400 ms
			{time.Minute, 10 * time.Second},
		} {
			time.Sleep(tt.pass)
			if got := join(); got != tt.want {
				t.Errorf("after %s: %s, want %s", tt.pass, got, tt.want)
			}
		}
	})
}

// TestAWaitingCallSaysWhatItWaitsFor holds what is said about calls that wait, and how the wait ends.
func TestAWaitingCallSaysWhatItWaitsFor(t *testing.T) {
	limits := Limits{Running: 2, RunningPerPlugin: 1, Waiting: 1, Wait: 2 * time.Second, WaitingPerTab: 5}
	gone := errors.New("the client is gone")
	for name, tt := range map[string]struct {
		wait   func(*Ticket, context.Context) error
		before func(s *Scheduler, t *Ticket) (release func())
		cancel bool
		reason Reason
		ahead  int
		want   error
		after  time.Duration
	}{
		"order": {wait: lookAtOnce, before: positions, reason: ForOrder, ahead: 2, after: time.Second},
		"order, too late": {wait: lookAtOnce, before: never(positions), reason: ForOrder, ahead: 2,
			after: 5 * time.Second},
		"order, cancelled": {wait: lookAtOnce, before: never(positions), cancel: true, reason: ForOrder, ahead: 2,
			want: gone, after: time.Second},
		"turn": {reason: ForTurn, ahead: 3, after: time.Second},
		"turn, too late": {reason: ForTurn, ahead: 3, want: ErrTurnLate, after: 5 * time.Second,
			before: never(writes)},
		"turn, cancelled": {reason: ForTurn, ahead: 3, cancel: true, want: gone, after: time.Second},
		"slot":            {wait: forSlot, before: slots, reason: ForSlot, ahead: 1, after: time.Second},
		"slot, too late": {wait: forSlot, before: never(slots), reason: ForSlot, ahead: 1, want: ErrNoSlot,
			after: 2 * time.Second},
		"slot, cancelled": {wait: forSlot, before: never(slots), reason: ForSlot, ahead: 1, cancel: true, want: gone,
			after: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New(limits)
				ticket := s.ticket("a", true)
				if tt.wait == nil {
					tt.wait = forSlot
				}
				if tt.before == nil {
					tt.before = writes
				}
				release := tt.before(s, ticket)
				ctx, cancel := context.WithCancelCause(t.Context())
				defer cancel(nil)
				time.AfterFunc(time.Second, func() {
					if tt.cancel {
						cancel(gone)
					} else {
						release()
					}
				})
				done := make(chan error)
				began := time.Now()
				go func() { done <- tt.wait(ticket, ctx) }()
				synctest.Wait()
				if reason, ahead := ticket.Why(); reason != tt.reason || ahead != tt.ahead {
					t.Errorf("it waits for %q behind %d", reason, ahead)
				}
				if err := <-done; !errors.Is(err, tt.want) || time.Since(began) != tt.after {
					t.Errorf("it ended with %v after %s", err, time.Since(began))
				}
				if reason, ahead := ticket.Why(); reason != NotWaiting || ahead != 0 {
					t.Errorf("afterwards it waits for %q behind %d", reason, ahead)
				}
			})
		})
	}
}

// writes puts a call behind three writes of other sessions; release ends all of those.
func writes(s *Scheduler, t *Ticket) (release func()) {
	var others []*Ticket
	for n := range 3 {
		other := s.ticket(fmt.Sprint("other", n), true)
		other.Join(seven)
		others = append(others, other)
	}
	t.Join(seven)
	return func() {
		for _, other := range others {
			other.Leave()
		}
	}
}

// forSlot waits for the turn, if there is one to wait for, and a slot.
func forSlot(t *Ticket, ctx context.Context) error { return t.Await(ctx, 5*time.Second) }

// lookAtOnce waits for a tab that is there.
func lookAtOnce(t *Ticket, ctx context.Context) error {
	return t.AwaitTab(ctx, 5*time.Second, func() time.Duration { return 0 }, nil)
}

// positions reserves two positions before the call's own; release gives them up.
func positions(s *Scheduler, t *Ticket) (release func()) {
	first, second := s.Reserve("a"), s.Reserve("a")
	*t = *s.ticketAt("a", true, s.Reserve("a"))
	return func() {
		s.Withdraw(second)
		s.Withdraw(first)
		s.Withdraw(first)
	}
}

// slots takes the one slot of the plugin; release gives it back.
func slots(s *Scheduler, _ *Ticket) (release func()) {
	other := s.ticket("b", false)
	other.TakeSlot()
	return other.Yield
}

// never keeps from what it is given that anything is released.
func never(before func(*Scheduler, *Ticket) func()) func(*Scheduler, *Ticket) func() {
	return func(s *Scheduler, t *Ticket) func() {
		before(s, t)
		return func() {}
	}
}

// A queue for slots that is full refuses at once, and another plugin's calls take the slots that are free.
func TestAFullQueueForSlotsRefusesAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Limits{Running: 2, RunningPerPlugin: 1, Waiting: 1, Wait: time.Second})
		first, second, third := s.ticket("a", false), s.ticket("a", false), s.ticket("a", false)
		if err := forSlot(first, t.Context()); err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() { done <- forSlot(second, t.Context()) }()
		synctest.Wait()
		if err := forSlot(third, t.Context()); !errors.Is(err, ErrNoSlot) {
			t.Errorf("beyond the queue: %v", err)
		}
		other := s.ticket("a", false)
		other.Plugin = "wiki"
		if !other.TakeSlot() {
			t.Error("another plugin got no slot")
		}
		first.Yield()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if l := s.Load(); l.Running != 2 || l.Waiting != 0 {
			t.Errorf("%+v", l)
		}
	})
}

// TestAwaitTab holds how calls of one session wait for a browser: each until it is found, or as long as that makes
// sense, and in the order in which they came.
func TestAwaitTab(t *testing.T) {
	gone := errors.New("the client is gone")
	for name, tt := range map[string]struct {
		ready  time.Duration // when the browser is there
		rest   time.Duration // until when it is expected
		cancel time.Duration // of the first call; 0: never
		want   map[string]time.Duration
		order  string // in which they go on; empty: they all fail at once
	}{
		"it comes": {2 * time.Second, 5 * time.Second, 0, map[string]time.Duration{"a": 2 * time.Second,
			"b": 2 * time.Second, "c": 2 * time.Second}, "abc"},
		"it does not come": {time.Minute, 5 * time.Second, 0, map[string]time.Duration{"a": 5 * time.Second,
			"b": 5 * time.Second, "c": 5 * time.Second}, ""},
		"the first gives up": {2 * time.Second, 5 * time.Second, time.Second, map[string]time.Duration{"a": time.Second,
			"b": 2 * time.Second, "c": 2 * time.Second}, "abc"},
		"it is there": {0, 0, 0, map[string]time.Duration{"a": 0, "b": 0, "c": 0}, "abc"},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New(Limits{})
				began := time.Now()
				look := func() time.Duration {
					if time.Since(began) >= tt.ready {
						return 0
					}
					return max(0, tt.rest-time.Since(began))
				}
				news := make(chan struct{})
				time.AfterFunc(tt.ready, func() { close(news) })
				changed := func() <-chan struct{} {
					if look() > 0 {
						return news
					}
					return nil
				}
				var mu sync.Mutex
				got, order := map[string]time.Duration{}, ""
				var all sync.WaitGroup
				for _, who := range []string{"a", "b", "c"} {
					ctx, cancel := context.WithCancelCause(t.Context())
					defer cancel(nil)
					if who == "a" && tt.cancel > 0 {
						time.AfterFunc(tt.cancel, func() { cancel(gone) })
					}
					all.Go(func() {
						ticket := s.ticket("session", false)
						err := ticket.AwaitTab(ctx, time.Minute, look, changed)
						if reason, _ := ticket.Why(); reason != NotWaiting || err != nil && !errors.Is(err, gone) {
							t.Errorf("%s: %v, waits for %q", who, err, reason)
						}
						mu.Lock()
						got[who], order = time.Since(began), order+who
						mu.Unlock()
						ticket.Leave()
					})
					synctest.Wait()
				}
				all.Wait()
				if diff := cmp.Diff(tt.want, got); diff != "" || tt.order != "" && order != tt.order {
					t.Errorf("order %s: %s", order, diff)
				}
			})
		})
	}
}
