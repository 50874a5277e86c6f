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
)

var seven = Tab{"p1", 7}

// TestTab plays calls that come to one tab and leave it. A call is named by its session, r or w, and a number; "+a.w1"
// comes, "-a.w1" leaves. After each step those that have got their turn are listed; "full" means refused.
func TestTab(t *testing.T) {
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
					switch retry, err := tickets[who].JoinTab(seven); {
					case err == nil:
						waiting = append(waiting, who)
					case errors.Is(err, ErrQueueFull) && retry > 0:
						now = append(now, "full")
					default:
						t.Errorf("%s: %v, to come back in %s", who, err, retry)
					}
				}
				waiting = slices.DeleteFunc(waiting, func(who string) bool {
					if tickets[who].HasTurn() {
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
	t := &Ticket{Session: session, Plugin: "demo", Write: write}
	s.Admit(t)
	return t
}

func TestTabsAreIndependent(t *testing.T) {
	s := New(Limits{WaitingPerTab: 3})
	for _, tab := range []Tab{{"p1", 7}, {"p1", 8}, {"p2", 7}} {
		ticket := s.ticket("a", true)
		if _, err := ticket.JoinTab(tab); err != nil || !ticket.HasTurn() {
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
		if _, err := step.ticket.JoinTab(step.tab); err != nil {
			t.Fatal(err)
		}
	}
	if !first.HasTurn() || !second.HasTurn() {
		t.Error("the turn was not passed on")
	}
}

func TestNothingIsLeftBehind(t *testing.T) {
	s := New(Limits{WaitingPerTab: 32})
	var tickets []*Ticket
	for i := range 90 {
		ticket := s.ticket(fmt.Sprint(i%3), i%2 == 0)
		if _, err := ticket.JoinTab(seven); err != nil {
			t.Fatal(err)
		}
		ticket.TakeSlot()
		tickets = append(tickets, ticket)
	}
	for i := range tickets {
		tickets[(i*37)%len(tickets)].Leave()
	}
	if l := s.Load(); len(l.Tabs) != 0 || l.Running != 0 || l.Waiting != 0 {
		t.Errorf("%+v", l)
	}
}

// A call that finds its queue full is told to come back when half of those who wait have had their turn.
func TestRetryFollowsThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Limits{WaitingPerTab: 10})
		join := func() time.Duration {
			retry, _ := s.ticket("a", true).JoinTab(seven)
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

// TestWhy holds what is said about calls that wait, and how the wait ends.
func TestWhy(t *testing.T) {
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
		"turn": {reason: ForTurn, ahead: 3, after: time.Second},
		"turn, too late": {reason: ForTurn, ahead: 3, want: ErrTurnLate, after: 5 * time.Second,
			before: func(s *Scheduler, t *Ticket) func() { writes(s, t); return func() {} }},
		"turn, cancelled": {reason: ForTurn, ahead: 3, cancel: true, want: gone, after: time.Second},
		"slot":            {wait: (*Ticket).AwaitSlot, before: slots(1), reason: ForSlot, ahead: 1, after: time.Second},
		"slot, too late":  {wait: (*Ticket).AwaitSlot, before: slots(0), reason: ForSlot, ahead: 1, want: ErrNoSlot, after: 2 * time.Second},
		"slot, cancelled": {wait: (*Ticket).AwaitSlot, before: slots(0), reason: ForSlot, ahead: 1, cancel: true, want: gone, after: time.Second},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := New(limits)
				ticket := s.ticket("a", true)
				if tt.wait == nil {
					tt.wait = func(t *Ticket, ctx context.Context) error { return t.AwaitTurn(ctx, 5*time.Second) }
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
		other.JoinTab(seven)
		others = append(others, other)
	}
	t.JoinTab(seven)
	return func() {
		for _, other := range others {
			other.Leave()
		}
	}
}

// slots takes the one slot of the plugin; release gives it back when free is 1.
func slots(free int) func(*Scheduler, *Ticket) func() {
	return func(s *Scheduler, _ *Ticket) func() {
		other := s.ticket("b", false)
		other.TakeSlot()
		return func() {
			if free > 0 {
				other.ReleaseSlot()
			}
		}
	}
}

// A queue for slots that is full refuses at once, and another plugin's calls take the slots that are free.
func TestSlots(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(Limits{Running: 2, RunningPerPlugin: 1, Waiting: 1, Wait: time.Second})
		first, second, third := s.ticket("a", false), s.ticket("a", false), s.ticket("a", false)
		if err := first.AwaitSlot(t.Context()); err != nil {
			t.Fatal(err)
		}
		done := make(chan error)
		go func() { done <- second.AwaitSlot(t.Context()) }()
		synctest.Wait()
		if err := third.AwaitSlot(t.Context()); !errors.Is(err, ErrNoSlot) {
			t.Errorf("beyond the queue: %v", err)
		}
		other := &Ticket{Session: "a", Plugin: "wiki"}
		s.Admit(other)
		if !other.TakeSlot() {
			t.Error("another plugin got no slot")
		}
		first.ReleaseSlot()
		if err := <-done; err != nil {
			t.Error(err)
		}
		if l := s.Load(); l.Running != 2 || l.Waiting != 0 {
			t.Errorf("%+v", l)
		}
	})
}

// TestAwaitBrowser holds how calls of one session wait for a browser: each until it is found, or as long as that makes
// sense, and in the order in which they came.
func TestAwaitBrowser(t *testing.T) {
	gone := errors.New("the client is gone")
	for name, tt := range map[string]struct {
		ready  time.Duration // when the browser is there
		rest   time.Duration // until when it is expected
		cancel time.Duration // of the first call; 0: never
		want   map[string]time.Duration
		order  string // in which they go on; empty: they all fail at once
	}{
		"it comes":           {2 * time.Second, 5 * time.Second, 0, map[string]time.Duration{"a": 2 * time.Second, "b": 2 * time.Second, "c": 2 * time.Second}, "abc"},
		"it does not come":   {time.Minute, 5 * time.Second, 0, map[string]time.Duration{"a": 5 * time.Second, "b": 5 * time.Second, "c": 5 * time.Second}, ""},
		"the first gives up": {2 * time.Second, 5 * time.Second, time.Second, map[string]time.Duration{"a": time.Second, "b": 2 * time.Second, "c": 2 * time.Second}, "abc"},
		"it is there":        {0, 0, 0, map[string]time.Duration{"a": 0, "b": 0, "c": 0}, "abc"},
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
						err := ticket.AwaitBrowser(ctx, time.Minute, look, changed)
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
