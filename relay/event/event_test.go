package event

import "testing"

func TestRecentKeepsTheLast(t *testing.T) {
	var b Bus
	for range kept + 7 {
		b.Publish(Error, "something", nil)
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
		b.Publish(Retry, "again", nil)
	}
	quick, stop := b.Subscribe()
	b.Publish(Fatal, "the end", nil)
	if e := <-quick; e.Kind != Fatal {
		t.Fatalf("got %v", e)
	}
	stop()
	b.Publish(Fatal, "nobody hears it", nil)
	if len(slow) != backlog || len(quick) != 0 {
		t.Fatalf("%d and %d wait", len(slow), len(quick))
	}
}

func TestHeard(t *testing.T) {
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
