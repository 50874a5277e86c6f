package lease

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"testing/synctest"
	"time"
)

// world is a table with sessions that use it as gateways have them do, and what a reader of the calls would see.
type world struct {
	t      *testing.T
	table  *Table
	chance *rand.Rand
	inside map[string]map[string]int // calls that are carried out, by profile and session
	order  map[string][]string       // who has waited since when, and has asked ever since, by profile
	turns  map[string]bool
	log    []string
}

var options = Options{Idle: 20 * time.Second, Longest: time.Minute, Queue: 4}

func newWorld(t *testing.T, seed uint64) *world {
	w := &world{t: t, chance: rand.New(rand.NewPCG(seed, 0)), inside: map[string]map[string]int{},
		order: map[string][]string{}, turns: map[string]bool{}}
	w.begin(nil)
	return w
}

// begin begins a life of the node, with what the one before has kept.
func (w *world) begin(kept []Kept) {
	o := options
	o.Turn = func(reply string) { w.turns[reply] = true }
	w.table = New(o)
	w.table.Restore(kept)
}

func (w *world) note(format string, args ...any) { w.log = append(w.log, fmt.Sprintf(format, args...)) }

// calls has a session call, and reports whether the call is carried out.
func (w *world) calls(profile, session string) bool {
	w.t.Helper()
	v := w.table.Enter(profile, profile, Holder{session, session}, profile+session)
	w.note("%s calls at %s: %+v", session, profile, v)
	if !v.Held {
		if v.Before > 0 {
			if !slices.Contains(w.order[profile], session) {
				w.order[profile] = append(w.order[profile], session)
			}
			w.forgetGranted()
			if v.Before != 1+slices.Index(w.order[profile], session) {
				w.t.Fatalf("%s is told that %d are before it; there wait %v", session, v.Before, w.order[profile])
			}
		}
		return false
	}
	for other, n := range w.inside[profile] {
		if n > 0 && other != session {
			w.t.Fatalf("%s and %s are carried out in %s", other, session, profile)
		}
	}
	if w.inside[profile] == nil {
		w.inside[profile] = map[string]int{}
	}
	w.inside[profile][session]++
	return true
}

// ends has one of the calls of a session end.
func (w *world) ends(profile, session string) {
	if w.inside[profile][session] == 0 {
		return
	}
	w.inside[profile][session]--
	done := w.chance.IntN(3) > 0
	w.note("a call of %s at %s ends, done: %t", session, profile, done)
	w.table.Leave(profile, session, done)
}

// Whatever sessions, owners, clocks and restarts do, calls of two sessions are never carried out in one profile at the
// same time; who waits gets its turn in its order; and nothing is held for ever.
func TestRandomSchedules(t *testing.T) {
	for seed := range uint64(300) {
		synctest.Test(t, func(t *testing.T) {
			w := newWorld(t, seed)
			defer func() {
				w.table.Close()
				if t.Failed() {
					t.Logf("seed %d\n%s", seed, lines(w.log))
				}
			}()
			for range 400 {
				w.step()
			}
			w.isFreeInTheEnd()
		})
		if t.Failed() {
			return
		}
	}
}

func lines(log []string) (text string) {
	for _, line := range log[max(0, len(log)-40):] {
		text += line + "\n"
	}
	return text
}

// step does one thing.
func (w *world) step() {
	profile := []string{"Home", "Work"}[w.chance.IntN(2)]
	session := fmt.Sprint("s", w.chance.IntN(6))
	switch n := w.chance.IntN(100); {
	case n < 45:
		w.forgetLate()
		w.calls(profile, session)
		w.forgetGranted()
	case n < 75:
		w.ends(profile, session)
	case n < 80:
		w.table.EndSession(session)
		for p := range w.order {
			w.order[p] = slices.DeleteFunc(w.order[p], func(s string) bool { return s == session })
		}
		w.note("%s ends", session)
	case n < 83:
		w.table.End(profile, "the owner wants it back")
		w.note("the owner ends %s", profile)
	case n < 86: // what runs ends with the node, and another one knows what was kept last
		kept := w.table.Keep()
		w.table.Close()
		clear(w.inside)
		clear(w.order)
		for _, k := range kept {
			for _, one := range k.Queue {
				w.order[k.ID] = append(w.order[k.ID], one.Session)
			}
		}
		w.begin(kept)
		w.note("the node is started anew")
	default:
		d := time.Duration(w.chance.IntN(5000)) * time.Millisecond
		if w.chance.IntN(20) == 0 {
			d *= 10
		}
		time.Sleep(d) // of the bubble
		w.note("%s pass", d)
	}
	synctest.Wait()
	w.forgetGranted()
}

// forgetLate takes who has not asked for so long that its place has gone out of the model's queues.
func (w *world) forgetLate() {
	w.table.mu.Lock() // its timers run beside
	defer w.table.mu.Unlock()
	for id, list := range w.order {
		var there []string
		if p := w.table.profiles[id]; p != nil {
			for _, one := range p.queue {
				there = append(there, one.Session)
			}
		}
		now := time.Now()
		w.order[id] = slices.DeleteFunc(list, func(s string) bool {
			i := slices.Index(there, s)
			return i < 0 || now.Sub(w.table.profiles[id].queue[i].asked) > placeTime
		})
	}
}

// forgetGranted takes who has its turn out of the model's queues. It has to be the first of those that ask.
func (w *world) forgetGranted() {
	w.t.Helper()
	w.table.mu.Lock() // its timers run beside
	defer w.table.mu.Unlock()
	for id, list := range w.order {
		p := w.table.profiles[id]
		if p == nil || p.holder == nil {
			continue
		}
		i := slices.Index(list, p.holder.Session)
		for _, before := range list[:max(i, 0)] {
			at := slices.IndexFunc(p.queue, func(one *place) bool { return one.Session == before })
			if at < 0 {
				continue
			}
			asked, since := p.queue[at].asked, p.holder.since
			if since.Sub(asked) <= asksWithin && asked.Before(since) {
				w.t.Fatalf("%s got %s before %s, which had asked for it earlier", p.holder.Session, id, before)
			}
		}
		if i >= 0 {
			w.order[id] = slices.Delete(list, i, i+1)
		}
	}
}

// isFreeInTheEnd: when all calls have ended and nobody asks any more, everything is free.
func (w *world) isFreeInTheEnd() {
	w.t.Helper()
	for profile, sessions := range w.inside {
		for session := range sessions {
			for sessions[session] > 0 {
				w.ends(profile, session)
			}
		}
	}
	time.Sleep(options.Idle + turnTime + placeTime)
	synctest.Wait()
	if list := w.table.List(); len(list) > 0 {
		w.t.Fatalf("%+v are left", list)
	}
}

// Each end of a lease by time is at its edge.
func TestWhenALeaseEnds(t *testing.T) {
	who := func(name string) Holder { return Holder{name, name} }
	for name, c := range map[string]struct {
		done  bool
		waits time.Duration // the other one asks from then on, every second
		busy  time.Duration // how long the holder goes on to call
		held  time.Duration // when the other one has it
		lost  bool          // and the first is told
	}{
		"idle":           {done: true, held: options.Idle, lost: true},
		"nothing done":   {done: false, held: 0},
		"while it calls": {done: true, busy: 30 * time.Second, held: 30*time.Second + options.Idle, lost: true},
		"for too long":   {done: true, busy: 5 * time.Minute, held: options.Longest, lost: true},
		"who comes later": {done: true, busy: 5 * time.Minute, waits: 2 * time.Minute, held: 2 * time.Minute,
			lost: true},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				table, began := New(options), time.Now()
				defer table.Close()
				call := func() Verdict {
					v := table.Enter("Work", "Work", who("one"), "")
					if v.Held {
						table.Leave("Work", "one", c.done)
					}
					return v
				}
				call()
				for now := time.Duration(0); ; now += 500 * time.Millisecond {
					if now > 0 && now <= c.busy && now < c.held && now%(10*time.Second) == 0 && call().Lost != "" {
						t.Fatalf("it lost it after %s, before anybody else had it", time.Since(began))
					}
					if now >= c.waits && now%time.Second == 0 || !c.done {
						if v := table.Enter("Work", "Work", who("other"), ""); v.Held {
							break
						}
					}
					time.Sleep(500 * time.Millisecond)
				}
				if took := time.Since(began); took < c.held || took > c.held+1500*time.Millisecond {
					t.Errorf("the other one has it after %s", took)
				}
				if v := call(); (v.Lost != "") != c.lost || v.Held {
					t.Errorf("the first one is told %+v", v)
				}
				if v := call(); v.Lost != "" || v.Before != 1 {
					t.Errorf("then it is told %+v", v)
				}
			})
		})
	}
}

// A place is kept for a while for who does not ask, and nobody waits for it; the queue is as long as it may be.
func TestPlaces(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var turns []string
		o := options
		o.Queue, o.Turn = 2, func(reply string) { turns = append(turns, reply) }
		table := New(o)
		defer table.Close()
		asks := func(name string) Verdict { return table.Enter("Work", "Work", Holder{name, name}, name) }
		asks("one")
		if a, b, c := asks("a"), asks("b"), asks("c"); a.Before != 1 || b.Before != 2 || !c.Full {
			t.Fatalf("they are told %+v, %+v, %+v", a, b, c)
		}
		time.Sleep(asksWithin + 1)
		if b := asks("b"); b.Before != 2 {
			t.Errorf("b is told %+v", b)
		}
		table.Leave("Work", "one", false)
		if !slices.Equal(turns, []string{"b"}) {
			t.Fatalf("it is the turn of %v", turns)
		}
		if a := asks("a"); a.Before != 1 || a.By != "b" {
			t.Errorf("a is told %+v", a)
		}
		time.Sleep(turnTime - 1)
		if b := asks("b"); !b.Held {
			t.Errorf("at the end of its time b is told %+v", b)
		}
		time.Sleep(placeTime + 1)
		if d, e, f := asks("d"), asks("e"), asks("f"); d.Before != 1 || e.Before != 2 || !f.Full {
			t.Errorf("when a has not asked for so long they are told %+v, %+v, %+v", d, e, f)
		}
	})
}
