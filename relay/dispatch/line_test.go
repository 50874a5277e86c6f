package dispatch

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

var tabSeven = tabKey{"p1", 7}

// TestLine plays arrivals and departures before one tab. A call is named by its lane, r or w, and a number; "+a.w1"
// arrives, "-a.w1" leaves. After each step those that have come to run are listed; "full" means turned away.
func TestLine(t *testing.T) {
	for name, tt := range map[string]struct{ steps, want string }{
		"reads run beside each other and beside a write": {
			"+a.r1 +b.w1 +a.r2 +c.r1 -b.w1",
			"a.r1 | b.w1 | a.r2 | c.r1 |"},
		"writes run one after the other": {
			"+a.w1 +a.w2 +a.w3 -a.w1 -a.w2 -a.w3 +a.w4",
			"a.w1 | | | a.w2 | a.w3 | | a.w4"},
		"lanes take turns, each in its own order": {
			"+a.w1 +a.w2 +a.w3 +b.w1 +b.w2 +c.w1 -a.w1 -a.w2 -b.w1 -c.w1 -a.w3 -b.w2",
			"a.w1 | | | | | | a.w2 | b.w1 | c.w1 | a.w3 | b.w2 |"},
		"a read does not overtake a write of its lane": {
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
		"a full queue turns away, but nobody else's": {
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
			l := lines{perLane: 3}
			var waiting []string
			stands := map[string]*stand{}
			var got []string
			for _, step := range strings.Fields(tt.steps) {
				who := step[1:]
				var now []string
				if step[0] == '-' {
					l.leave(stands[who])
				} else {
					lane, kind, _ := strings.Cut(who, ".")
					stands[who] = &stand{}
					full, retry := l.join(stands[who], tabSeven, lane, kind[0] == 'w')
					switch {
					case full && retry <= 0:
						t.Errorf("%s is told to come back in %s", who, retry)
					case full:
						now = append(now, "full")
					default:
						waiting = append(waiting, who)
					}
				}
				var still []string
				for _, who := range waiting {
					if stands[who].has() {
						now = append(now, who)
					} else {
						still = append(still, who)
					}
				}
				waiting = still
				got = append(got, strings.Join(now, " "))
			}
			if diff := cmp.Diff(normal(tt.want), normal(strings.Join(got, " | "))); diff != "" {
				t.Error(diff)
			}
		})
	}
}

// normal makes each step's list comparable whatever its order.
func normal(s string) (steps []string) {
	for step := range strings.SplitSeq(s, "|") {
		words := strings.Fields(step)
		slices.Sort(words)
		steps = append(steps, strings.Join(words, " "))
	}
	return steps
}

func TestLinesOfOtherTabsAreApart(t *testing.T) {
	l := lines{perLane: 3}
	for i, at := range []tabKey{{"p1", 7}, {"p1", 8}, {"p2", 7}} {
		var s stand
		if full, _ := l.join(&s, at, "a", true); full || !s.has() {
			t.Errorf("line %d keeps the first call waiting", i)
		}
		defer l.leave(&s)
	}
}

func TestALineLeavesNothingBehind(t *testing.T) {
	l := lines{perLane: 32}
	var stands []*stand
	for i := range 90 {
		s := &stand{}
		l.join(s, tabSeven, fmt.Sprint(i%3), i%2 == 0)
		stands = append(stands, s)
	}
	for i := range stands {
		l.leave(stands[(i*37)%len(stands)])
	}
	if len(l.tabs) != 0 {
		t.Errorf("%d lines are left", len(l.tabs))
	}
	for i, s := range stands {
		if s.line != nil {
			t.Errorf("call %d still stands in one", i)
		}
	}
}

// TestReliefFollowsThePace says when to come back: after half of those who wait have had their turn.
func TestReliefFollowsThePace(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := lines{perLane: 10}
		for range 11 {
			l.join(&stand{}, tabSeven, "a", true)
		}
		ask := func() time.Duration {
			_, retry := l.join(&stand{}, tabSeven, "a", true)
			return retry
		}
		if got := ask(); got != 250*time.Millisecond {
			t.Errorf("at once: %s", got)
		}
		time.Sleep(400 * time.Millisecond)
		if got := ask(); got != 2*time.Second { // five turns of 400 ms
			t.Errorf("in the first turn: %s", got)
		}
		time.Sleep(time.Minute)
		if got := ask(); got != 10*time.Second {
			t.Errorf("with a turn that does not end: %s", got)
		}
	})
}
