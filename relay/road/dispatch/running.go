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

// Stage is the stage of a call that has not ended.
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

// status is the state of a call for other goroutines. That of Do writes it, except for progress.
type status struct {
	mu       lock.Mutex
	asking   int         // questions that wait for a person
	started  bool        // the attempt
	at       call.Target // the attempt's; zero until the tab is known
	sites    *call.Sites // that the attempt was sent with; nil: it touches its own alone, or was not sent
	progress *call.Progress
}

// start notes that the tool has started, and starts the timers.
func (r *run) start() {
	r.clock.start()
	r.status.mu.Lock()
	r.status.started = true
	r.status.mu.Unlock()
	r.TopicsChanged(event.TopicRunning)
}

// noteAsking notes that a person is asked, until answered is called.
func (r *run) noteAsking() (answered func()) {
	change := func(by int) {
		r.status.mu.Lock()
		r.status.asking += by
		r.status.mu.Unlock()
		r.TopicsChanged(event.TopicRunning)
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
	if s.progress != nil {
		step := *s.progress
		step.Message = untrusted.Line(step.Message, maxProgressBytes)
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

// interrupted is the cause of a call's context that Interrupt or EndRefused ended.
type interrupted struct {
	why    string // the message for the caller
	byRule bool   // a rule refuses the call now
}

func (i interrupted) Error() string { return i.why }

// Interrupt ends the calls that which picks: their pages are told to abort, and their callers get a CANCELLED whose
// message is why, one sentence. It returns a channel for each of them, closed when the call has ended. which must not
// call the Dispatcher.
func (d *Dispatcher) Interrupt(which func(Running) bool, why string) (ended []<-chan struct{}) {
	return d.interrupt(which, interrupted{why: why})
}

func (d *Dispatcher) interrupt(which func(Running) bool, cause interrupted) (ended []<-chan struct{}) {
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
		c.cancel(cause)
	}
	return ended
}

// EndRefused ends the calls that the present rules refuse: what the person sets to off stops at once. Calls that wait
// for the person end with their questions.
func (d *Dispatcher) EndRefused() {
	if d.Policy == nil {
		return
	}
	d.mu.Lock()
	live := make([]touched, 0, len(d.live))
	for r := range d.live {
		if r.view().Stage != StageAsking {
			live = append(live, r.touches())
		}
	}
	d.mu.Unlock()
	refused := map[call.ID]bool{}
	for _, t := range live {
		for _, a := range t.accesses {
			if _, failure := d.Policy.Allow(a); failure != nil {
				refused[a.ID] = true
			}
		}
		if t.sites != nil && closedSince(*t.sites, d.Policy.Sites(t.accesses[0])) {
			refused[t.accesses[0].ID] = true
		}
	}
	if len(refused) > 0 {
		d.interrupt(func(one Running) bool { return refused[one.ID] },
			interrupted{why: "The person has set what this call uses to off", byRule: true})
	}
}

// touched is what a call uses, from what other goroutines than its own may read.
type touched struct {
	accesses []call.Access // as the policy sees them
	sites    *call.Sites
}

// touches says what a call uses. A tool that a frame registers needs its own site and that of the tab's page.
func (r *run) touches() touched {
	r.status.mu.Lock()
	at, sites := r.status.at, r.status.sites
	r.status.mu.Unlock()
	if at.Origin == "" {
		return touched{[]call.Access{r.plainAccess(nil)}, sites}
	}
	a := r.plainAccess(&at)
	if a.At.Within == "" {
		return touched{[]call.Access{a}, sites}
	}
	around := a
	around.At = &at
	return touched{[]call.Access{a, around}, sites}
}

// noteSites notes the sites that an attempt is sent with.
func (r *run) noteSites(sites *call.Sites) {
	r.status.mu.Lock()
	r.status.sites = sites
	r.status.mu.Unlock()
}

// closedSince reports whether a site that was open is off now.
func closedSince(before, now call.Sites) bool {
	closed := before.Rest == call.SiteOpen && now.Rest == call.SiteOff
	for _, origins := range []map[string]call.SiteState{before.Origins, now.Origins} {
		for origin := range origins {
			closed = closed || before.Of(origin) == call.SiteOpen && now.Of(origin) == call.SiteOff
		}
	}
	return closed
}

// Limits, in bytes, of what a page reports while a tool runs.
const (
	maxProgressBytes = 500
	maxLogBytes      = 4000
	maxLogDataBytes  = 16 << 10 // of JSON
)

// reports passes progress and log lines on to the caller: one at a time, progress only increasing, nothing after the
// call's end.
type reports struct {
	mu         lock.Mutex
	closed     bool
	onProgress func(call.Progress) // may be nil
	onLog      func(call.LogEntry) // may be nil
	last       float64
	sent       bool // last was passed on
}

// progressed handles progress of a running tool.
func (r *run) progressed(p call.Progress) {
	if !r.reports.progress(p) {
		return
	}
	r.clock.progressed()
	r.status.mu.Lock()
	r.status.progress = &p
	r.status.mu.Unlock()
	r.TopicsChanged(event.TopicRunning)
}

// logged passes a log line to the caller, and to those who follow the plugin's calls.
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

// progress passes a step of progress on and reports whether the call still runs.
func (f *reports) progress(p call.Progress) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed {
		return false
	}
	if f.onProgress != nil {
		p.Progress = f.increasing(p)
		f.last, f.sent = p.Progress, true
		p.Message = untrusted.Line(p.Message, maxProgressBytes) // clients print it to terminals
		f.onProgress(p)
	}
	return true
}

// increasing returns the value of p, or a little more than the last one where that is not more: MCP requires every
// value to exceed the last, but pages report messages without a value, or start again at 0.
func (f *reports) increasing(p call.Progress) float64 {
	ok := !math.IsNaN(p.Progress) && !math.IsInf(p.Progress, 0)
	switch {
	case ok && (!f.sent || p.Progress > f.last):
		return p.Progress
	case !f.sent:
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

// announce reports as progress what the relay itself does. It raises the value as little as possible, and does not
// restart the timeout.
func (f *reports) announce(message string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.closed || f.onProgress == nil {
		return
	}
	if f.sent {
		f.last = max(f.last+1.0/1024, math.Nextafter(f.last, math.Inf(1)))
	}
	f.sent = true
	f.onProgress(call.Progress{Progress: f.last, Message: message})
}

func (f *reports) log(e call.LogEntry) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if !f.closed && f.onLog != nil {
		e.Message = untrusted.Line(e.Message, maxLogBytes)
		if len(e.Data) > maxLogDataBytes {
			e.Data, e.Message = nil, e.Message+" (with data that are too large to pass on)"
		}
		f.onLog(e)
	}
}

// close waits until nothing is being passed on, and nothing is from then on.
func (f *reports) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed = true
}
