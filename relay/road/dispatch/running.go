package dispatch

import (
	"cmp"
	"math"
	"slices"
	"time"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/schedule"
	"tabrelay/relay/road/untrusted"
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
	Script   call.ID // the call of the script that makes it; empty: none does
	Session  call.Session
	Tool     string // full name
	Title    string // of the tool
	Plugin   string // name; "relay" for a tool of the relay itself
	ReadOnly bool
	At       call.Target // zero until the tab is known
	Began    time.Time
	Stage    Stage
	WaitsFor schedule.Reason // of a queued one
	Ahead    int             // how many calls are before it there
	Progress *call.Progress  // the last step, nil: none yet; its message has no control characters
}

// Unfinished are the calls that run now, as the audit log has them when the relay ends.
func (d *Dispatcher) Unfinished() (entries []call.Entry) {
	for _, c := range d.Running() {
		entries = append(entries, call.Entry{
			At: time.Now(), Kind: call.EntryCall, Session: c.Session, Tool: c.Tool, Plugin: c.Plugin,
			ProfileID: c.At.ProfileID, Profile: c.At.Profile, TabID: c.At.TabID, Origin: c.At.Origin,
			Outcome: string(call.Unknown), Duration: time.Since(c.Began), CallID: c.ID,
			Detail: "The relay ended while the call ran; the next one asks the browser for its outcome",
		})
	}
	return entries
}

// status is how far a call is. It is written by the goroutine of Do, but for step, and read by others.
type status struct {
	mu      lock.Mutex
	asking  int         // questions that wait for a person
	started bool        // the attempt
	at      call.Target // the attempt's; zero until the tab is known
	step    *call.Progress
}

// start notes that the tool has started, and starts the clocks.
func (r *run) start() {
	r.clock.start()
	r.status.mu.Lock()
	r.status.started = true
	r.status.mu.Unlock()
	r.Moved(event.TopicRunning)
}

// asking notes that a person is asked, until answered is called.
func (r *run) asking() (answered func()) {
	change := func(by int) {
		r.status.mu.Lock()
		r.status.asking += by
		r.status.mu.Unlock()
		r.Moved(event.TopicRunning)
	}
	change(+1)
	if r.call.Paused == nil {
		return func() { change(-1) }
	}
	resume := r.call.Paused()
	return func() {
		resume()
		change(-1)
	}
}

// view is the run as it is now.
func (r *run) view() Running {
	v := Running{
		ID: r.call.ID, Script: r.call.Script, Session: r.call.Session, Tool: r.tool.Name,
		Title: r.tool.Spec.DisplayName, Plugin: r.tool.Group, ReadOnly: r.tool.ReadOnly, Began: r.began,
		Stage: StageQueued,
	}
	s := &r.status
	s.mu.Lock()
	defer s.mu.Unlock()
	v.At = s.at
	switch {
	case s.asking > 0:
		v.Stage = StageAsking
	case s.started:
		v.Stage = StageRunning
	default:
		v.WaitsFor, v.Ahead = r.ticket.Why()
	}
	if s.step != nil {
		step := *s.step
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
	for r := range d.live {
		list = append(list, r.view())
	}
	slices.SortFunc(list, func(a, b Running) int { return cmp.Or(b.Began.Compare(a.Began), cmp.Compare(a.ID, b.ID)) })
	return list
}

// InFlight is how many calls run now.
func (d *Dispatcher) InFlight() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.live)
}

// Idle returns a channel that is closed once no call runs.
func (d *Dispatcher) Idle() <-chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.idle == nil {
		d.idle = make(chan struct{})
	}
	idle := d.idle
	if len(d.live) == 0 {
		close(idle)
		d.idle = nil
	}
	return idle
}

// interrupted is the cause of a call's context when a person, or somebody in their name, ended it. It is the sentence
// that the caller is told.
type interrupted string

func (i interrupted) Error() string { return string(i) }

// Interrupt ends the calls that which picks: their pages are told to abort, and their callers get a CANCELLED whose
// message is why, one sentence. It returns a channel for each of them, closed when the call has ended. which must not
// call the Dispatcher.
func (d *Dispatcher) Interrupt(which func(Running) bool, why string) (ended []<-chan struct{}) {
	d.mu.Lock()
	var picked []*clock
	for r, end := range d.live {
		if !which(r.view()) {
			continue
		}
		if end == nil {
			end = make(chan struct{})
			d.live[r] = end
		}
		picked, ended = append(picked, &r.clock), append(ended, end)
	}
	d.mu.Unlock()
	for _, c := range picked {
		c.cancel(interrupted(why))
	}
	return ended
}

// EndRefused ends the calls that the rules of now would not let begin: what the person sets to off gets no further
// step. Those about which the person is asked end with their questions.
func (d *Dispatcher) EndRefused() {
	if d.Policy == nil {
		return
	}
	d.mu.Lock()
	live := make([]call.Access, 0, len(d.live))
	for r := range d.live {
		if r.view().Stage != StageAsking {
			live = append(live, r.inBrief())
		}
	}
	d.mu.Unlock()
	refused := map[call.ID]bool{}
	for _, a := range live {
		if _, failure := d.Policy.Allow(a); failure != nil {
			refused[a.ID] = true
		}
	}
	if len(refused) > 0 {
		d.Interrupt(func(one Running) bool { return refused[one.ID] },
			"The person has set what this call uses to off")
	}
}

// inBrief is the call as far as others than its own goroutine can read it.
func (r *run) inBrief() call.Access {
	t := r.tool
	a := call.Access{ID: r.call.ID, Session: r.call.Session, Tool: t.Name, Plugin: t.Group, ReadOnly: t.ReadOnly,
		BuiltIn: t.Plugin == nil, OfPage: t.Page != nil}
	r.status.mu.Lock()
	defer r.status.mu.Unlock()
	if at := r.status.at; at.Origin != "" {
		a.At = &at
	}
	return a
}

// How many bytes of what a page says on the way are passed on: of a step of progress, and of a line of its log.
const (
	mostStep   = 500
	mostLogged = 4000
	mostData   = 16 << 10 // of JSON
)

// reports passes progress and log lines on to the caller: one at a time, progress only upwards, nothing after the
// call's end. The zero value passes nothing on but keeps time.
type reports struct {
	mu     lock.Mutex
	closed bool
	tell   func(call.Progress) // may be nil
	write  func(call.LogEntry) // may be nil
	last   float64
	moved  bool // last is the value of a progress that was passed on
}

// progressed is what a running tool reports to.
func (r *run) progressed(p call.Progress) {
	if !r.reports.step(p) {
		return
	}
	r.clock.progressed()
	r.status.mu.Lock()
	r.status.step = &p
	r.status.mu.Unlock()
	r.Moved(event.TopicRunning)
}

// logged lets those who follow the plugin's calls read what it logs, besides the caller.
func (r *run) logged(e call.LogEntry) {
	if r.tool != nil && r.Calls.Heard() {
		message, data := r.call.Tool+" "+e.Level+": "+e.Message, r.trail()
		data["level"] = e.Level
		r.Calls.Publish(event.Of(r.call.Session), event.Line, message, data)
	}
	if r.call.Log != nil {
		r.call.Log(e)
	}
}

// step passes a step of progress on and reports whether the call still runs.
func (f *reports) step(p call.Progress) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	if f.tell != nil {
		p.Progress = f.upwards(p)
		f.last, f.moved = p.Progress, true
		p.Message = untrusted.Line(p.Message, mostStep) // clients print it to terminals
		f.tell(p)
	}
	return true
}

// upwards is the step's value, or a little more than the one before: MCP wants every value to exceed the last,
// and pages report messages without a value, or start again from nothing.
func (f *reports) upwards(p call.Progress) float64 {
	ok := !math.IsNaN(p.Progress) && !math.IsInf(p.Progress, 0)
	switch {
	case ok && (!f.moved || p.Progress > f.last):
		return p.Progress
	case !f.moved:
		return 0
	}
	if p.Total != nil {
		if step := (*p.Total - f.last) / 1024; step > 0 && f.last+step > f.last {
			return f.last + step // never reaches the total
		}
	}
	if next := f.last + 1; p.Total == nil && next > f.last {
		return next
	}
	return math.Nextafter(f.last, math.Inf(1))
}

// announce tells what the relay itself does meanwhile. It moves the value as little as it can, and it is not a
// sign of life of the tool.
func (f *reports) announce(message string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || f.tell == nil {
		return
	}
	if f.moved {
		f.last = max(f.last+1.0/1024, math.Nextafter(f.last, math.Inf(1)))
	}
	f.moved = true
	f.tell(call.Progress{Progress: f.last, Message: message})
}

func (f *reports) log(e call.LogEntry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed && f.write != nil {
		e.Message = untrusted.Line(e.Message, mostLogged)
		if len(e.Data) > mostData {
			e.Data, e.Message = nil, e.Message+" (with data that are too large to pass on)"
		}
		f.write(e)
	}
}

// close returns once nothing is being passed on, and nothing will be.
func (f *reports) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
}
