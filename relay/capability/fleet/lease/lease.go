// Package lease has which session may use which browser profile of a node, and who waits for it in which order.
//
// The node that holds the browser is the only place where its calls are carried out, so it is what grants leases, too:
// a lease is a value under one lock, looked at where a call begins. No clock, message or server elsewhere can make two
// holders of it.
package lease

import (
	"fmt"
	"maps"
	"slices"
	"time"

	"tabrelay/relay/lib/lock"
)

const (
	// asksWithin is how recently a session has to have asked for its turn, to be given it. Its gateway asks every
	// [AskEvery].
	asksWithin = 3 * AskEvery
	// turnTime is how long a session whose turn has come may take to make its call.
	turnTime = 3 * AskEvery
	// placeTime is how long a session that does not ask keeps its place: it may come back, at another gateway or after
	// a failure, and nobody waits for it meanwhile.
	placeTime = 15 * time.Second
	// lostTime is how long a session that has lost a lease is told so, and maxLost bounds how many are.
	lostTime = 2 * time.Hour
	maxLost  = 1024
)

// AskEvery is how often who waits says that they still do.
const AskEvery = time.Second

// Options are the bounds of leases.
type Options struct {
	Idle    time.Duration // after which a lease without calls ends
	Longest time.Duration // after which it ends when another session waits; 0: never
	Queue   int           // how many sessions may wait for one profile
	// Turn tells who waits that its turn has come, on what it gave to [Table.Enter]. Changed is called after each
	// change that the next life of the node is to know. Neither may call the table, or block.
	Turn    func(reply string)
	Changed func()
}

// Holder is a session that holds a lease, or waits for one.
type Holder struct {
	Session string `json:"session"`
	Client  string `json:"client"` // in words
}

// Table has the leases of all profiles of a node.
type Table struct {
	Options

	mu       lock.Mutex // guards the rest; nothing nests in it
	profiles map[string]*profile
	ended    map[string]int // leases that have ended, by why
}

// profile is one browser profile, by its id.
type profile struct {
	id, label string
	holder    *hold // nil: it is free
	queue     []*place
	before    *loss // of the last holder, told once somebody else has held it; nil: nothing to tell
	lost      map[string]loss
	timer     *time.Timer // of what ends by time next
}

// hold is the lease of a session.
type hold struct {
	Holder
	since   time.Time
	running int       // calls
	used    bool      // one of them may have done something
	until   time.Time // while none runs
	ends    *ending   // when those that run have ended; nil: it does not
}

// ending is why a lease ends: as it is counted, and as its holder is told.
type ending struct{ class, why string }

// place is a session that waits.
type place struct {
	Holder
	asked time.Time
	reply string
}

// loss is that a session has lost a lease, and why.
type loss struct {
	session, why string
	at           time.Time
}

// New makes a table in which everything is free.
func New(o Options) *Table {
	return &Table{Options: o, profiles: map[string]*profile{}, ended: map[string]int{}}
}

// Verdict is what a call that wants a profile is told.
type Verdict struct {
	Held   bool   // it may begin
	Before int    // else how many sessions are before it, the one that holds the lease included
	By     string // who that is, in words
	Full   bool   // it may not even wait
	Lost   string // why the session does not hold the lease any more that it had; told once
}

// Enter lets a call begin if its session holds the lease of a profile or gets it now, and otherwise keeps its place.
// Where it begins, [Table.Leave] has to be called at its end.
func (t *Table) Enter(id, label string, who Holder, reply string) (v Verdict) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	p := t.profile(id)
	p.label = label
	t.expire(p, now)
	switch h := p.holder; {
	case h != nil && h.Session == who.Session:
		if h.ends == nil && t.tooLong(p, now) { // else calls that overlap could hold it for ever
			t.end(p, t.longest(), now)
		}
		if h.ends != nil {
			delete(p.lost, who.Session)
			v.Lost = h.ends.why
			return v
		}
	case p.lost[who.Session].why != "":
		v.Lost = p.lost[who.Session].why
		delete(p.lost, who.Session)
		return v
	case h == nil: // nobody who waits has asked of late, or it would be theirs
		t.grant(p, who, now)
	default:
		return t.wait(p, who, reply, now)
	}
	p.holder.running++
	t.schedule(p, now)
	return Verdict{Held: true}
}

// wait keeps the place of a session.
func (t *Table) wait(p *profile, who Holder, reply string, now time.Time) (v Verdict) {
	t.prune(p, now)
	at := slices.IndexFunc(p.queue, func(one *place) bool { return one.Session == who.Session })
	if at < 0 {
		if len(p.queue) >= t.Queue {
			return Verdict{Full: true, By: p.holder.Client}
		}
		at = len(p.queue)
		p.queue = append(p.queue, &place{Holder: who})
		defer t.changed()
	}
	p.queue[at].asked, p.queue[at].reply = now, reply
	t.schedule(p, now)
	return Verdict{Before: at + 1, By: p.holder.Client}
}

// Leave notes that a call has ended, and whether it may have done something. A lease under which nothing was done goes
// on to who waits: asking for what is then denied holds nothing.
func (t *Table) Leave(id, session string, done bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	p := t.profile(id)
	h := p.holder
	if h == nil || h.Session != session || h.running == 0 {
		return
	}
	now := time.Now()
	h.running--
	h.used = h.used || done
	if h.running == 0 {
		if h.until = now; h.used {
			h.until = now.Add(t.Idle)
		}
	}
	t.expire(p, now)
	t.schedule(p, now)
}

// EndSession ends what a session holds, and its places: it has ended itself.
func (t *Table) EndSession(session string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	for _, p := range t.profiles {
		p.queue = slices.DeleteFunc(p.queue, func(one *place) bool { return one.Session == session })
		delete(p.lost, session)
		if p.holder != nil && p.holder.Session == session {
			t.end(p, ending{"left", "its session has ended"}, now)
		}
	}
	t.changed()
}

// End ends the lease of a profile, by its id or what people call it; all of them where that is empty. Calls that run
// under it are for the caller to end: until they have, nobody gets it. Its holder is told why. It returns who that was,
// by profile.
func (t *Table) End(of, why string) (ended map[string]Holder) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	ended = map[string]Holder{}
	for _, p := range t.profiles {
		if p.holder == nil || of != "" && of != p.id && of != p.label {
			continue
		}
		ended[p.id] = p.holder.Holder
		p.lose(loss{p.holder.Session, why, now})
		t.end(p, ending{"owner", why}, now)
	}
	return ended
}

// Held is the profile that a session holds; ok is false where it holds none, or several.
func (t *Table) Held(session string) (id, label string, ok bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := 0
	for _, p := range t.profiles {
		if p.holder != nil && p.holder.Session == session {
			id, label = p.id, p.label
			n++
		}
	}
	return id, label, n == 1
}

// profile is that of an id. It is called while mu is held, as all below.
func (t *Table) profile(id string) *profile {
	p := t.profiles[id]
	if p == nil {
		p = &profile{id: id, lost: map[string]loss{}}
		t.profiles[id] = p
	}
	return p
}

// end ends a lease, at once or when its calls have ended.
func (t *Table) end(p *profile, e ending, now time.Time) {
	if p.holder.running > 0 {
		p.holder.ends = &e
		return
	}
	t.free(p, e.class, "", now)
	t.schedule(p, now)
}

func (t *Table) longest() ending {
	return ending{"longest", fmt.Sprintf("another session waited, and this one had held it for %s", t.Longest)}
}

// prune drops the places of who does not come back.
func (t *Table) prune(p *profile, now time.Time) {
	p.queue = slices.DeleteFunc(p.queue, func(one *place) bool { return now.Sub(one.asked) > placeTime })
}

// free makes a profile free, and gives it to who waits. lost is what its holder is told if somebody else gets it.
func (t *Table) free(p *profile, class, lost string, now time.Time) {
	if p.before = nil; lost != "" {
		p.before = &loss{p.holder.Session, lost, now}
	}
	p.holder = nil
	t.ended[class]++
	t.pass(p, now)
}

// pass gives a free profile to the first who waits and asks.
func (t *Table) pass(p *profile, now time.Time) {
	t.prune(p, now)
	next := slices.IndexFunc(p.queue, func(one *place) bool { return now.Sub(one.asked) <= asksWithin })
	if next < 0 {
		t.changed()
		return
	}
	one := p.queue[next]
	t.grant(p, one.Holder, now)
	p.holder.until = now.Add(turnTime)
	if t.Turn != nil && one.reply != "" { // it has asked in this life
		t.Turn(one.reply)
	}
}

// grant gives a free profile to a session.
func (t *Table) grant(p *profile, who Holder, now time.Time) {
	if p.before != nil && p.before.session != who.Session {
		p.lose(*p.before)
	}
	p.before = nil
	delete(p.lost, who.Session)
	p.queue = slices.DeleteFunc(p.queue, func(one *place) bool { return one.Session == who.Session })
	p.holder = &hold{Holder: who, since: now}
	t.changed()
}

// lose has a session told that it has lost the lease.
func (p *profile) lose(l loss) {
	if len(p.lost) >= maxLost {
		oldest := slices.MinFunc(slices.Collect(maps.Values(p.lost)),
			func(a, b loss) int { return a.at.Compare(b.at) })
		delete(p.lost, oldest.session)
	}
	p.lost[l.session] = l
}

// expire ends what has ended by time.
func (t *Table) expire(p *profile, now time.Time) {
	for session, l := range p.lost {
		if now.Sub(l.at) > lostTime {
			delete(p.lost, session)
		}
	}
	for p.holder != nil && p.holder.running == 0 {
		h := p.holder
		switch {
		case h.ends != nil:
			t.free(p, h.ends.class, "", now)
		case t.tooLong(p, now):
			t.free(p, t.longest().class, t.longest().why, now)
		case now.Before(h.until):
			return
		case !h.used:
			t.free(p, "unused", "", now)
		default:
			t.free(p, "idle", fmt.Sprintf("it had made no call for %s", t.Idle), now)
		}
	}
}

// tooLong reports whether a lease has to end because somebody else waits.
func (t *Table) tooLong(p *profile, now time.Time) bool {
	return t.Longest > 0 && now.Sub(p.holder.since) >= t.Longest && slices.ContainsFunc(p.queue,
		func(one *place) bool { return now.Sub(one.asked) <= asksWithin })
}

// schedule has the table look again when the next thing ends by time.
func (t *Table) schedule(p *profile, now time.Time) {
	if p.timer != nil {
		p.timer.Stop()
		p.timer = nil
	}
	h := p.holder
	if h == nil || h.running > 0 {
		return
	}
	at := h.until
	if longest := h.since.Add(t.Longest); t.Longest > 0 && len(p.queue) > 0 && longest.Before(at) {
		at = longest
		if !now.Before(at) { // who waits does not ask just now
			at = now.Add(AskEvery)
		}
	}
	p.timer = time.AfterFunc(max(0, at.Sub(now)), func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		now := time.Now()
		t.expire(p, now)
		t.schedule(p, now)
	})
}

func (t *Table) changed() {
	if t.Changed != nil {
		t.Changed()
	}
}
