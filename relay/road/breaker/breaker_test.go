package breaker

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

var (
	rules = Settings{Failures: 5, Percent: 50, MinCalls: 20, Window: time.Minute, Open: 30 * time.Second}
	demo  = Key{Kind: "plugin", Name: "demo", Where: "p1"}
)

// lab is a group and what it told.
type lab struct {
	*Group
	news []string
	made int
}

func open() *lab {
	l := &lab{}
	l.Group = NewGroup(rules, func(c Change) {
		if c.Made && c.State == Closed {
			l.made++
			return
		}
		l.news = append(l.news, c.Key.String()+" "+c.State.String())
	})
	return l
}

// end lets calls through, one after the other, and ends each.
func (l *lab) end(t *testing.T, verdicts ...Verdict) {
	t.Helper()
	for i, v := range verdicts {
		pass, wait := l.Allow(demo)
		if pass == nil {
			t.Fatalf("call %d of %d was held back for %s", i+1, len(verdicts), wait)
		}
		pass(v)
	}
}

func (l *lab) held(t *testing.T, want time.Duration) {
	t.Helper()
	pass, wait := l.Allow(demo)
	if pass != nil {
		pass(Nothing)
		t.Fatal("a call was let through")
	}
	if wait != want || want != shortly && l.Wait(demo) != want {
		t.Errorf("held back for %s or %s, want %s", wait, l.Wait(demo), want)
	}
}

func times(n int, v Verdict) []Verdict {
	list := make([]Verdict, n)
	for i := range list {
		list[i] = v
	}
	return list
}

func TestOpensAfterFailuresInARow(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open()
		l.end(t, times(4, Failure)...)
		l.end(t, Success)
		l.end(t, times(4, Failure)...)
		l.end(t, Nothing)
		l.end(t, Failure)
		l.held(t, 30*time.Second)
		time.Sleep(12 * time.Second)
		l.held(t, 18*time.Second)
		if pass, _ := l.Allow(Key{Kind: "plugin", Name: "demo", Where: "p2"}); pass == nil {
			t.Error("another profile is held back too")
		} else {
			pass(Success)
		}
		if diff := cmp.Diff([]string{"plugin:demo@p1 open"}, l.news); diff != "" {
			t.Error(diff)
		}
		want := []Status{{Key: demo, State: Open, Wait: 18 * time.Second},
			{Key: Key{"plugin", "demo", "p2"}, State: Closed}}
		if diff := cmp.Diff(want, l.List()); diff != "" {
			t.Error(diff)
		}
	})
}

func TestOpensByRate(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open()
		for range 9 {
			l.end(t, Success, Failure)
		}
		l.end(t, Success, Failure) // ten of twenty
		l.held(t, 30*time.Second)
	})
	synctest.Test(t, func(t *testing.T) {
		l := open()
		for range 9 {
			l.end(t, Success, Failure)
			time.Sleep(10 * time.Second) // never twenty within a minute
		}
		for range 3 {
			l.end(t, Success, Failure)
		}
		l.end(t, Success)
	})
}

func TestHalfOpenLetsOneThrough(t *testing.T) {
	for name, tt := range map[string]struct {
		verdict Verdict
		then    func(*testing.T, *lab)
		news    []string
	}{
		"which succeeds": {Success, func(t *testing.T, l *lab) { l.end(t, times(4, Failure)...); l.end(t, Success) },
			[]string{"plugin:demo@p1 open", "plugin:demo@p1 half_open", "plugin:demo@p1 closed"}},
		"which fails": {Failure, func(t *testing.T, l *lab) { l.held(t, 30*time.Second) },
			[]string{"plugin:demo@p1 open", "plugin:demo@p1 half_open", "plugin:demo@p1 open"}},
		"which says nothing": {Nothing, func(t *testing.T, l *lab) { l.end(t, Success) },
			[]string{"plugin:demo@p1 open", "plugin:demo@p1 half_open", "plugin:demo@p1 closed"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := open()
				l.end(t, times(5, Failure)...)
				time.Sleep(30*time.Second + time.Nanosecond)
				probe, _ := l.Allow(demo)
				if probe == nil {
					t.Fatal("no call was let through")
				}
				l.held(t, shortly)
				probe(tt.verdict)
				tt.then(t, l)
				if diff := cmp.Diff(tt.news, l.news); diff != "" {
					t.Error(diff)
				}
			})
		})
	}
}

// A call that was let through before the breaker opened says nothing about the time after.
func TestLateResultDoesNotCount(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := open()
		late, _ := l.Allow(demo)
		l.end(t, times(5, Failure)...)
		time.Sleep(31 * time.Second)
		probe, _ := l.Allow(demo)
		late(Failure)
		probe(Success)
		l.end(t, Success)
	})
}

// A breaker is told of once when it is made, so that it can be seen before anything is wrong.
func TestNewBreakerIsAnnounced(t *testing.T) {
	l := open()
	l.end(t, Success, Success)
	if l.made != 1 || l.news != nil {
		t.Errorf("made %d, %v", l.made, l.news)
	}
}
