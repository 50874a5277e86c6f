package dispatch

import (
	"errors"
	"math"
	"sync"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/untrusted"
)

// Stage is how far a call is that has not ended.
type Stage string

// The stages.
const (
	StageAsking  Stage = "asking"  // a person is asked about it
	StageQueued  Stage = "queued"  // it waits for a browser, for its turn, or for the page to take it
	StageRunning Stage = "running" // its tool has started
)

// Running is one call that has not ended, as it is at one moment.
type Running struct {
	ID       call.ID
	Session  call.Session
	Tool     string // full name
	Title    string // of the tool
	Plugin   string // name; "relay" for a tool of the relay itself
	ReadOnly bool
	At       call.Target // zero until the tab is known
	Began    time.Time
	Stage    Stage
	Progress *call.Progress // the last step, nil: none yet; its message has no control characters
}

// sight is what others may see of a run. The links belong to Dispatcher.mu.
type sight struct {
	prev, next *run
	listed     bool
	gone       chan struct{} // closed when it is listed no more; nil while nobody waits for that

	mu      sync.Mutex // guards the rest
	asking  int
	started bool
	at      call.Target
	stepped bool
	step    call.Progress
}

// interrupted is the cause of a call's context when a person, or somebody in their name, ended it. It is the sentence
// that the caller is told.
type interrupted string

func (i interrupted) Error() string { return string(i) }

// appear puts the call among those that are running.
func (r *run) appear() *fault.Error {
	d := r.Dispatcher
	d.mu.Lock()
	r.sight.listed, r.sight.next = true, d.first
	if d.first != nil {
		d.first.sight.prev = r
	}
	d.first = r
	d.mu.Unlock()
	r.moved()
	return nil
}

// disappear takes it out again.
func (r *run) disappear() {
	d, s := r.Dispatcher, &r.sight
	if !s.listed {
		return
	}
	d.mu.Lock()
	if s.prev != nil {
		s.prev.sight.next = s.next
	} else {
		d.first = s.next
	}
	if s.next != nil {
		s.next.sight.prev = s.prev
	}
	s.prev, s.next, s.listed = nil, nil, false
	if s.gone != nil {
		close(s.gone)
		s.gone = nil
	}
	d.mu.Unlock()
	r.moved()
}

// moved tells that the list of running calls is another one.
func (r *run) moved() {
	if r.Moved != nil {
		r.Moved()
	}
}

// arrive notes the tab that an attempt is about to run in.
func (r *run) arrive(at call.Target) {
	s := &r.sight
	s.mu.Lock()
	s.at, s.started = at, false
	s.mu.Unlock()
}

// start notes that the tool has started, and starts the clocks.
func (r *run) start() {
	r.clock.start()
	s := &r.sight
	s.mu.Lock()
	s.started = true
	s.mu.Unlock()
	r.moved()
}

// asking notes that a person is asked, until answered is called.
func (r *run) asking() (answered func()) {
	r.sight.wait(+1)
	r.moved()
	return func() {
		r.sight.wait(-1)
		r.moved()
	}
}

func (s *sight) wait(by int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.asking += by
}

// steps notes the last progress.
func (r *run) steps(p call.Progress) {
	s := &r.sight
	s.mu.Lock()
	s.step, s.stepped = p, true
	s.mu.Unlock()
	r.moved()
}

// view is the run as it is now.
func (r *run) view() Running {
	v := Running{
		ID: r.call.ID, Session: r.call.Session, Tool: r.tool.Name, Title: r.tool.Spec.DisplayName, Plugin: r.tool.PluginName(),
		ReadOnly: r.tool.ReadOnly, Began: r.began, Stage: StageQueued,
	}
	s := &r.sight
	s.mu.Lock()
	defer s.mu.Unlock()
	v.At = s.at
	switch {
	case s.asking > 0:
		v.Stage = StageAsking
	case s.started:
		v.Stage = StageRunning
	}
	if s.stepped {
		step := s.step
		step.Message = untrusted.Line(step.Message, mostStep)
		if math.IsNaN(step.Progress) || math.IsInf(step.Progress, 0) {
			step.Progress = 0
		}
		v.Progress = &step
	}
	return v
}

// Running lists the calls that have not ended, the one that began last first.
func (d *Dispatcher) Running() []Running {
	list := []Running{}
	d.mu.Lock()
	defer d.mu.Unlock()
	for r := d.first; r != nil; r = r.sight.next {
		list = append(list, r.view())
	}
	return list
}

// Interrupt ends the calls that which picks: their pages are told to abort, and their callers get a CANCELLED whose
// message is why, one sentence. It returns a channel for each of them, closed when the call has ended. which must not
// call the Dispatcher.
func (d *Dispatcher) Interrupt(which func(Running) bool, why string) (ended []<-chan struct{}) {
	d.mu.Lock()
	var picked []*clock
	for r := d.first; r != nil; r = r.sight.next {
		if !which(r.view()) {
			continue
		}
		if r.sight.gone == nil {
			r.sight.gone = make(chan struct{})
		}
		picked, ended = append(picked, r.clock), append(ended, r.sight.gone)
	}
	d.mu.Unlock()
	for _, c := range picked {
		c.cancel(interrupted(why))
	}
	return ended
}

// cutShort words the failure of a call that a person ended. What became of its action, only the delivery knows.
func (r *run) cutShort(f *fault.Error, why interrupted) *fault.Error {
	hint := "The tool never started. Do not call it again unless the person asks for it."
	switch {
	case f.Outcome == fault.NotExecuted:
	case r.tool.Idempotent:
		hint = "Do not repeat the call unless the person asks for it."
	default:
		hint = "The action may have happened: read the page to see, and do not repeat it unless the person asks for it."
	}
	return fault.New(fault.Cancelled, string(why), append(r.known(f), fault.WithRetryable(false), fault.WithHint(hint))...)
}

// asInterrupted is why a person ended the call, if that is what ended it.
func asInterrupted(cause error) (why interrupted, ok bool) {
	ok = errors.As(cause, &why)
	return why, ok
}
