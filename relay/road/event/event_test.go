package event

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/road/call"
)

// An event is its owner's, and an event without one is the person's: no agent hears of it.
func TestEventIsSeenByItsOwnerOnly(t *testing.T) {
	ann := call.Session{Client: "ann", ID: "stdio:1"}
	unnamed := call.Session{Client: call.Unnamed, ID: "stdio:2/session:a"}
	for name, tt := range map[string]struct {
		owner Owner
		asks  call.Session
		hears bool
	}{
		"its own":                              {Of(ann), ann, true},
		"of the same client elsewhere":         {Of(ann), call.Session{Client: "ann", ID: "http:ann"}, true},
		"of another client":                    {Of(ann), call.Session{Client: "bob", ID: "stdio:1"}, false},
		"of the person":                        {OfPerson(), ann, false},
		"of nobody, asked by nobody":           {OfPerson(), call.Session{}, false},
		"of one without a name":                {Of(unnamed), unnamed, true},
		"of another session of its attachment": {Of(unnamed), call.Session{Client: call.Unnamed, ID: "stdio:2"}, true},
		"of another one without a name":        {Of(unnamed), call.Session{Client: call.Unnamed, ID: "stdio:3"}, false},
	} {
		var b Bus
		b.Publish(tt.owner, Error, "something", map[string]any{"client": tt.asks.Client})
		if e := b.Recent(1)[0]; e.Concerns(tt.asks) != tt.hears {
			t.Errorf("%s: %t, data %v", name, !tt.hears, e.Data)
		}
	}
}

func TestRecentKeepsTheLast(t *testing.T) {
	var b Bus
	for range kept + 7 {
		b.Publish(OfPerson(), Error, "something", nil)
	}
	last := b.Recent(kept + 100)
	if len(last) != kept || last[0].Seq != 7 || last[kept-1].Seq != kept+6 {
		t.Fatalf("%d events, from %d to %d", len(last), last[0].Seq, last[len(last)-1].Seq)
	}
	if two := b.Recent(2); two[0].Seq != kept+5 || two[1].Seq != kept+6 {
		t.Fatalf("the last two are %v", two)
	}
}

func TestASlowSubscriberDoesNotHoldOthersUp(t *testing.T) {
	var b Bus
	slow, stopSlow := b.Subscribe()
	defer stopSlow()
	for range backlog + 10 {
		b.Publish(OfPerson(), Retry, "again", nil)
	}
	quick, stop := b.Subscribe()
	b.Publish(OfPerson(), Fatal, "the end", nil)
	if e := <-quick; e.Kind != Fatal {
		t.Fatalf("got %v", e)
	}
	stop()
	b.Publish(OfPerson(), Fatal, "nobody hears it", nil)
	if len(slow) != backlog || len(quick) != 0 {
		t.Fatalf("%d and %d wait", len(slow), len(quick))
	}
}

func TestBusKnowsWhetherSomebodyListens(t *testing.T) {
	var nobody *Bus
	if nobody.Heard() {
		t.Error("a bus that is not there is heard")
	}
	var b Bus
	_, stop := b.Subscribe()
	if !b.Heard() {
		t.Error("a subscriber is not seen")
	}
	if stop(); b.Heard() {
		t.Error("a subscriber that left is still seen")
	}
}

// However much changes, panels are told once in a while, each topic once.
func TestChangesAreGathered(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var told []string
		b := NewBroadcaster(func(topics []string) { told = append(told, strings.Join(topics, " ")) })
		for range 50 {
			b.Changed(TopicRunning, TopicAudit)
		}
		b.Changed(TopicPlugins)
		time.Sleep(gatherTime)
		synctest.Wait()
		b.Changed()
		time.Sleep(gatherTime)
		synctest.Wait()
		b.Changed(TopicTabs)
		b.Close()
		time.Sleep(gatherTime)
		synctest.Wait()
		if want := []string{"running audit plugins", ""}; !slices.Equal(told, want) {
			t.Errorf("told %q, want %q", told, want)
		}
	})
}
