package lease

import (
	"cmp"
	"maps"
	"slices"
	"time"
)

// State is how a profile is leased, for people and gateways.
type State struct {
	Profile string    `json:"profile"` // what people call it
	Holder  string    `json:"holder"`  // in words
	Since   time.Time `json:"since"`
	Running int       `json:"running"` // calls
	Waiting []string  `json:"waiting"` // who waits, the next one first
}

// List are the profiles that are leased.
func (t *Table) List() []State {
	t.mu.Lock()
	defer t.mu.Unlock()
	list, now := []State{}, time.Now()
	for _, p := range t.profiles {
		if p.holder == nil {
			continue
		}
		s := State{Profile: p.label, Holder: p.holder.Client, Since: p.holder.since, Running: p.holder.running,
			Waiting: []string{}}
		for _, one := range p.queue {
			if now.Sub(one.asked) <= placeTime {
				s.Waiting = append(s.Waiting, one.Client)
			}
		}
		list = append(list, s)
	}
	slices.SortFunc(list, func(a, b State) int { return cmp.Compare(a.Profile, b.Profile) })
	return list
}

// Ended are how many leases have ended, by why.
func (t *Table) Ended() map[string]int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return maps.Clone(t.ended)
}

// Kept is what the next life of the node is to know of a profile.
type Kept struct {
	ID     string    `json:"id"`
	Label  string    `json:"label"`
	Holder *Holder   `json:"holder,omitempty"`
	Since  time.Time `json:"since,omitzero"`
	Queue  []Holder  `json:"queue,omitempty"`
}

// Keep is what is to be kept of all profiles.
func (t *Table) Keep() []Kept {
	t.mu.Lock()
	defer t.mu.Unlock()
	list := []Kept{}
	for _, id := range slices.Sorted(maps.Keys(t.profiles)) {
		p := t.profiles[id]
		k := Kept{ID: p.id, Label: p.label}
		if h := p.holder; h != nil && h.ends == nil {
			k.Holder, k.Since = &Holder{h.Session, h.Client}, h.since
		}
		for _, one := range p.queue {
			k.Queue = append(k.Queue, one.Holder)
		}
		if k.Holder != nil || len(k.Queue) > 0 {
			list = append(list, k)
		}
	}
	return list
}

// Restore takes over what an earlier life has kept: a holder has the idle time to come back, and who waited the time
// that places are kept.
func (t *Table) Restore(list []Kept) {
	t.mu.Lock()
	defer t.mu.Unlock()
	now := time.Now()
	for _, k := range list {
		p := t.profile(k.ID)
		p.label = k.Label
		if k.Holder != nil {
			p.holder = &hold{Holder: *k.Holder, since: k.Since, used: true, until: now.Add(t.Idle)}
			if k.Since.After(now) {
				p.holder.since = now
			}
		}
		for _, one := range k.Queue[:min(len(k.Queue), t.Queue)] {
			p.queue = append(p.queue, &place{Holder: one, asked: now}) // it will ask again, as it did
		}
		if p.holder == nil {
			t.pass(p, now)
		}
		t.schedule(p, now)
	}
}

// Close ends the timers. Leases stay as they are.
func (t *Table) Close() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, p := range t.profiles {
		if p.timer != nil {
			p.timer.Stop()
		}
	}
}
