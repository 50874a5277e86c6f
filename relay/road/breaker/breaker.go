// Package breaker holds back calls to a place that keeps failing, so that nobody waits for it and it is left alone
// for a while. A place is whatever can fail as a whole: a plugin in one browser profile, a provider, a worker.
//
// The states are those of Nygard, "Release It!": closed lets everything through, open nothing, half open one call,
// whose end decides.
package breaker

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"tabrelay/relay/lib/lock"

	"github.com/sony/gobreaker/v2"
)

// Settings is when a breaker opens, and for how long. Without Failures and MinCalls it never does.
type Settings struct {
	Failures int           // in a row
	Percent  int           // of the calls within Window, if there were MinCalls
	MinCalls int           //
	Window   time.Duration // rolling, in tenths
	Open     time.Duration // until one call is let through
}

// Key names a place.
type Key struct {
	Kind  string // "plugin", "provider" or "worker"
	Name  string
	Where string // the id of a browser profile; empty where there is none
}

// String is the key as metrics and events show it.
func (k Key) String() string {
	if k.Where == "" {
		return k.Kind + ":" + k.Name
	}
	return k.Kind + ":" + k.Name + "@" + k.Where
}

// Verdict is what one call says about its place.
type Verdict int

// The verdicts.
const (
	Success Verdict = iota // the place answered, be it with a failure of its own
	Failure                // it could not be reached, or not in time
	Nothing                // the call ended for another reason
)

// State is one breaker at one moment. The numbers are those of the metric tabrelay_breaker_state.
type State int

// The states.
const (
	Closed State = iota
	HalfOpen
	Open
)

// String implements fmt.Stringer.
func (s State) String() string {
	return [...]string{"closed", "half_open", "open"}[s]
}

// Change is news of one breaker.
type Change struct {
	Key   Key
	State State
	For   time.Duration // of Open: how long
	Made  bool          // it is new, and closed
}

// Group holds the breakers of all places. Its methods may be called concurrently.
type Group struct {
	settings Settings
	changed  func(Change)

	mu     lock.Mutex
	places map[Key]*place
}

type place struct {
	gate *gobreaker.TwoStepCircuitBreaker[struct{}]

	mu       lock.Mutex
	halfOpen time.Time // when an open breaker lets the next call through
}

// NewGroup makes a group without breakers; each is made closed when it is first asked for. changed may be nil; it
// must not call the group.
func NewGroup(s Settings, changed func(Change)) *Group {
	return &Group{settings: s, changed: changed, places: map[Key]*place{}}
}

// shortly is how long to wait for the call that a half open breaker has let through.
const shortly = time.Second

var errFailure, errNothing = errors.New("failure"), errors.New("nothing")

// errorOf is what the library is told.
var errorOf = map[Verdict]error{Success: nil, Failure: errFailure, Nothing: errNothing}

// Pass lets one call through. It must be called once, with what the call says about the place; nil is none.
type Pass func(Verdict)

// Allow lets a call through, or says without a pass how long the place is left alone.
func (g *Group) Allow(key Key) (pass Pass, wait time.Duration) {
	g.mu.Lock()
	p := g.places[key]
	if p == nil {
		p = g.make(key)
	}
	g.mu.Unlock()
	report, err := p.gate.Allow()
	switch {
	case errors.Is(err, gobreaker.ErrOpenState):
		return nil, p.left()
	case err != nil:
		return nil, shortly
	}
	return func(v Verdict) { report(errorOf[v]) }, 0
}

// Wait is how long the place is still left alone; 0 when a call may be let through.
func (g *Group) Wait(key Key) time.Duration {
	g.mu.Lock()
	p := g.places[key]
	g.mu.Unlock()
	if p == nil || p.gate.State() != gobreaker.StateOpen {
		return 0
	}
	return p.left()
}

func (p *place) left() time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return max(time.Until(p.halfOpen), time.Millisecond)
}

// make makes the breaker of a place. Called with the lock held.
func (g *Group) make(key Key) *place {
	p := &place{}
	p.gate = gobreaker.NewTwoStepCircuitBreaker[struct{}](g.rules(key, p))
	g.places[key] = p
	if g.changed != nil {
		g.changed(Change{Key: key, State: Closed, Made: true})
	}
	return p
}

func (g *Group) rules(key Key, p *place) gobreaker.Settings {
	s := g.settings
	return gobreaker.Settings{
		MaxRequests: 1, Interval: s.Window, BucketPeriod: max(s.Window/10, time.Millisecond), Timeout: s.Open,
		ReadyToTrip: func(c gobreaker.Counts) bool {
			ended := c.TotalSuccesses + c.TotalFailures
			return s.Failures > 0 && int64(c.ConsecutiveFailures) >= int64(s.Failures) ||
				s.MinCalls > 0 && int64(ended) >= int64(s.MinCalls) &&
					int64(c.TotalFailures)*100 >= int64(ended)*int64(s.Percent)
		},
		IsExcluded: func(err error) bool { return errors.Is(err, errNothing) },
		OnStateChange: func(_ string, _, to gobreaker.State) {
			change := Change{Key: key, State: stateOf(to)}
			if change.State == Open {
				change.For = s.Open
				p.mu.Lock()
				p.halfOpen = time.Now().Add(s.Open)
				p.mu.Unlock()
			}
			if g.changed != nil {
				g.changed(change)
			}
		},
	}
}

func stateOf(s gobreaker.State) State {
	switch s {
	case gobreaker.StateOpen:
		return Open
	case gobreaker.StateHalfOpen:
		return HalfOpen
	}
	return Closed
}

// Status is one breaker as people see it.
type Status struct {
	Key   Key
	State State
	Wait  time.Duration // of Open: until it is half open
}

// List is every breaker there is, by key.
func (g *Group) List() []Status {
	g.mu.Lock()
	list := make([]Status, 0, len(g.places))
	for key, p := range g.places {
		status := Status{Key: key, State: stateOf(p.gate.State())}
		if status.State == Open {
			status.Wait = p.left()
		}
		list = append(list, status)
	}
	g.mu.Unlock()
	slices.SortFunc(list, func(a, b Status) int { return cmp.Compare(a.Key.String(), b.Key.String()) })
	return list
}
