// Package dispatch carries out tool calls. Every caller comes through here, be it an MCP client, the command line
// or an agent that acts for one, so that all of them meet the same checks, timeouts, retries and error messages.
//
// A call is found and its arguments are checked (arguments.go), it is permitted (permission.go), waits until it may run
// (enter.go), is sent, and sent again where that is safe (retry.go), its result is checked (result.go), and
// its end is recorded (record.go). deadline.go has the deadline of the call itself; single steps have limits of their
// own (answerTime, recoveryTime, keepTime). failure.go says what failed in the contract's words, running.go what others
// see of a call meanwhile.
package dispatch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"regexp"
	"runtime/debug"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/breaker"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/road/schedule"
	"tabrelay/relay/road/schema"
)

// Options is what a Dispatcher needs.
type Options struct {
	Tools   Tools
	Browser Browser
	Meter   Meter
	Policy  Policy // nil: everything may run
	Scopes  Scopes // nil: every client may call every tool
	Audit   Audit  // nil: no call is written down
	Log     zerolog.Logger

	// Events is called with events of calls, and the end of each call is published on Calls; both may be nil.
	// TopicsChanged is called when Running (event.TopicRunning) or SignedOut (event.TopicPlugins) would answer
	// something else; it must not block, and may be nil.
	Events        func(owner event.Owner, kind event.Kind, message string, data map[string]any)
	Calls         *event.Bus
	TopicsChanged func(topics ...string)

	Timeout         time.Duration // of a call whose tool and caller name none
	MaxTimeout      time.Duration // no call lasts longer
	ProgressExtends bool          // progress gives a call its timeout anew, up to MaxTimeout
	ReconnectWait   time.Duration // how long a call waits for a browser that was connected a moment ago
	Retry           Retry
	Limits          schedule.Limits
	Breaker         breaker.Settings      // the zero value never holds anything back
	Recovery        map[fault.Code]string // what is done about a failure; see Browser.Recover

	// Patterns for errors of the link that have no code of their own; valid RE2.
	TransientPatterns, FatalPatterns []string

	Results          Results     // nil: what is truncated is lost
	DeadLetters      DeadLetters // nil: calls with unknown outcome are forgotten
	MaxInputBytes    int         // of arguments
	MaxResultBytes   int         // of a result
	MaxBytes         int         // of an answer, unless the caller wishes otherwise; 0: MaxResultBytes
	ConsoleTailBytes int         // 0: no console tail

	// Watch is told of each call before it begins. It may set its Trace and its Step, and gets its end, with the place
	// of the call in its trace. nil: nobody watches.
	Watch func(c *call.Call) (ended func(span call.Trace, failure *fault.Error))

	Trace       bool           // failures name the place in the adapter they came from
	StackTraces bool           // log the stack of a panic
	Jitter      func() float64 // from 0 to 1; nil: random
}

// Tools is the registry.
type Tools interface {
	Snapshot() *registry.Snapshot
	Reject(t *registry.Tool, reason string)
}

var _ Tools = (*registry.Registry)(nil)

// Browser runs a plugin's tool in a page. Failures say by their outcome what is certain: not_executed only when it is
// proven that the tool never started.
type Browser interface {
	// Resolve finds the tab of an attempt and leases it, until Leave. It never waits: with a failure, wait is how long
	// it makes sense to wait for a browser that is on its way and may have the tab.
	Resolve(s call.Selector) (at call.Target, failure *fault.Error, wait time.Duration)
	// Changed returns a channel that is closed when Resolve may answer something else.
	Changed() <-chan struct{}
	// Send sends the attempt to the tab that Resolve chose, and waits for its end. When ctx ends first it tells the
	// page to abort and returns at once.
	Send(ctx context.Context, at call.Target, r call.Invocation) (*call.Reply, *fault.Error)
	// Leave ends the lease of an attempt. It may be called for one that has none.
	Leave(id call.ID, unchanged bool)

	// FindOutcome finds the end of a call that an earlier relay, or an earlier attachment of the same client, may
	// have sent under this id. known is false when it was never journalled, and so is no write.
	FindOutcome(ctx context.Context, id call.ID) (reply *call.Reply, failure *fault.Error, known bool)
	// Recover does something about what made a call fail: "reload_tab" and "reinject_adapter" where the call was to
	// run, "open_url" in the profile it was meant for.
	Recover(ctx context.Context, action string, at call.Target, r call.Invocation) *fault.Error
}

// Scopes are what each client may call at the most, whatever it is allowed besides.
type Scopes interface {
	// Refuse says why a client may not call a tool, nil when it may. It is cheap.
	Refuse(s call.Session, t *registry.Tool) *fault.Error
}

// Dispatcher carries out calls. Callers reserve positions for their calls by the methods of its Scheduler.
type Dispatcher struct {
	Options
	*schedule.Scheduler
	transient, fatal []*regexp.Regexp
	breakers         *breaker.Group

	stop    context.Context // ends every call
	stopNow context.CancelCauseFunc

	mu       lock.Mutex
	draining bool
	running  sync.WaitGroup         // Add only while mu is held and draining is false
	live     map[*run]chan struct{} // the calls that run; the channel is closed at the end, and nil while nobody waits
	idle     chan struct{}          // closed once no call runs; nil: nobody waits for that

	signedOut sync.Map // by signIn: the web apps whose last call was told to sign in
}

// errShutdown ends the calls that outlast Drain.
var errShutdown = errors.New("the relay is shutting down")

// New makes a Dispatcher.
func New(o Options) *Dispatcher {
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	if o.Events == nil {
		o.Events = func(event.Owner, event.Kind, string, map[string]any) {}
	}
	if o.TopicsChanged == nil {
		o.TopicsChanged = func(...string) {}
	}
	d := &Dispatcher{
		Options: o, Scheduler: schedule.New(o.Limits), live: map[*run]chan struct{}{},
		transient: compiled(o.TransientPatterns), fatal: compiled(o.FatalPatterns),
	}
	d.breakers = breaker.NewGroup(o.Breaker, d.breakerChanged)
	d.stop, d.stopNow = context.WithCancelCause(context.Background())
	return d
}

// run is one call's life. It belongs to the goroutine of its Do; clock, reports and status have locks of their own.
type run struct {
	*Dispatcher
	ctx   context.Context
	call  call.Call
	began time.Time

	// Set by find and checkArguments.
	tool      *registry.Tool
	relayArgs relayArgs
	args      json.RawMessage // of the tool, without relayArgs
	output    *schema.Schema  // of what the tool returns; nil: it declares none

	clock   clock
	reports reports
	status  status

	admitted    bool
	verdict     call.Verdict // of the rules, when they were asked last
	closedFrame *call.Target // that was closed to it last; nil: none was
	consent     consent
	deeds       call.Deeds // what the person is asked about, or has allowed
	ticket      schedule.Ticket
	pass        breaker.Pass // nil: the breaker was not asked
	refused     bool         // by a person, a rule, or the relay for its own protection: it is not tried again
	tries       tries

	maxBytes int          // of the answer
	reply    *call.Reply  // of a plugin's tool
	result   *call.Result // of a built-in tool at once, of a plugin's tool after checkResult
	warnings []string
}

// Do carries one call out. When ctx ends first, the page is told to abort and Do returns a failure that says what is
// known of the outcome.
func (d *Dispatcher) Do(ctx context.Context, c call.Call) (_ *call.Result, failure *fault.Error) {
	if c.Trace.ID == "" {
		c.Trace = call.TraceOf(ctx)
	}
	ended := func(call.Trace, *fault.Error) {}
	if d.Watch != nil {
		watched := c // a copy: c itself stays off the heap
		ended = d.Watch(&watched)
		c = watched
	}
	span := c.Trace.Within(c.ID)
	defer func() { ended(span, failure) }()
	ctx = call.WithTrace(ctx, span)
	r := &run{Dispatcher: d, ctx: ctx, call: c, began: time.Now(), ticket: d.Ticket(c.Position)}
	r.reports.onProgress, r.reports.onLog = c.Progress, r.logged
	defer r.finish()
	for _, step := range [...]func(*run) *fault.Error{
		(*run).find,
		(*run).checkArguments,
		(*run).checkPermission,
		(*run).begin,
		(*run).carryOut,
		(*run).checkResult,
	} {
		if failure := step(r); failure != nil {
			r.step("failed", "failed with %s, outcome %s", failure.Code, failure.Outcome)
			r.record(failure)
			if failure.TraceLine != "" && !r.Trace {
				told := *failure
				told.TraceLine = "" // only who follows the plugin's calls has asked for it
				return nil, &told
			}
			return nil, failure
		}
	}
	r.step("checked", "result checked")
	r.record(nil)
	return r.result, nil
}

// step reports what has just been done to who traces this call.
func (r *run) step(name, format string, about ...any) {
	if r.call.Step != nil {
		r.call.Step(time.Now(), name, fmt.Sprintf(format, about...))
	}
}

// timed reports what the extension and the page have done, and when.
func (r *run) timed(t call.Timing) {
	sent := "sent to the browser"
	if !r.tool.ReadOnly {
		sent = "in the journal, " + sent
	}
	r.call.Step(t.Sent, "sent", sent)
	for at, one := range t.Each {
		if said := stepSaid(one); said != "" {
			r.call.Step(at, "extension."+cmp.Or(string(one.Step), "received"), said)
		}
	}
	r.call.Step(t.Answered, "outcome", "the relay has the outcome")
}

// stepSaid is a step of the extension in words; empty: it is not known.
func stepSaid(s call.StepTime) string {
	part := ""
	if s.What != "" {
		part = " (" + fault.Excerpt(s.What) + ")"
	}
	switch s.Step {
	case "":
		return "the extension has it"
	case call.StepPrepared:
		return "the page has the adapter"
	case call.StepRecorded:
		return "the extension has recorded the write"
	case call.StepAsked:
		return "the page is asked" + part
	case call.StepStarted:
		return "its handler starts"
	case call.StepEnded:
		return "its handler has ended"
	case call.StepAnswered:
		return "the page has answered" + part
	case call.StepSent:
		return "the extension sends the outcome"
	}
	return ""
}

// begin sets the call's limits, of time and of the answer's size, and lets it in, unless the relay shuts down.
func (r *run) begin() *fault.Error {
	r.setDeadline()
	r.maxBytes = cmp.Or(min(r.call.MaxBytes, r.MaxResultBytes), r.MaxBytes, r.MaxResultBytes)
	if most := r.call.MaxBytes; most > r.MaxResultBytes {
		r.warn(fmt.Sprintf("maxBytes was lowered from %d to %d, the largest result there is.", most, r.MaxResultBytes))
	}
	r.mu.Lock()
	if r.draining {
		r.mu.Unlock()
		return fault.New(fault.ShuttingDown, "The relay is shutting down and takes no new calls")
	}
	r.running.Add(1)
	r.live[r] = nil
	r.mu.Unlock()
	r.admitted = true
	r.step("validated", "tool found, arguments valid; it may take %s", r.clock.timeout)
	r.TopicsChanged(event.TopicRunning)
	return r.checkStillOffered() // whoever removed it before now did not see this call among the running ones
}

// finish releases what the call holds, and removes it from those that run.
func (r *run) finish() {
	r.reports.close()
	r.reportToBreaker(breaker.Nothing)
	r.ticket.Leave()
	r.clock.stop()
	if !r.admitted {
		return
	}
	r.mu.Lock()
	if ended := r.live[r]; ended != nil {
		close(ended)
	}
	delete(r.live, r)
	if len(r.live) == 0 && r.idle != nil {
		close(r.idle)
		r.idle = nil
	}
	r.mu.Unlock()
	r.TopicsChanged(event.TopicRunning)
	r.running.Done()
}

// carryOut runs the tool: in a page, or in the relay itself when it is built in.
func (r *run) carryOut() *fault.Error {
	if r.tool.Run != nil {
		r.ticket.Leave() // it needs no tab: no call has to wait behind it
		return r.failureByCause(r.runHere())
	}
	r.ticket.Session, r.ticket.Write = cmp.Or(r.call.Session.ID, r.call.Session.Client), !r.tool.ReadOnly
	r.ticket.Plugin = r.tool.Group
	failure := r.sendWithRetries()
	r.reportToBreaker(verdictOf(failure))
	r.ticket.Leave() // before the result is looked at: the next call need not wait for that
	return failure
}

// runHere runs a tool of the relay itself.
func (r *run) runHere() (failure *fault.Error) {
	if r.call.Resume && !r.tool.Idempotent { // built-in tools are not journalled: an earlier relay may have run it
		return fault.New(fault.ShuttingDown, "The relay ended while the call may have run, and was started again",
			fault.WithOutcome(fault.Unknown), fault.WithRetryable(false),
			fault.WithHint("What it does may have happened, all or some of it: read the pages before repeating it. "+
				"The person can see in tabrelay audit what was done."))
	}
	for asked := true; asked; {
		if asked, failure = r.permit(nil); failure != nil {
			return failure
		}
	}
	if !r.tool.Unqueued && !r.ticket.TakeSlot() {
		if failure := r.await(); failure != nil {
			return failure
		}
	}
	r.tries.n = 1
	r.step("allowed", "allowed; runs in the relay")
	r.start() // nothing queues before it
	defer func() {
		if p := recover(); p != nil {
			e := r.Log.Error().Str("correlationId", string(r.call.ID)).Str("tool", r.tool.Name).Interface("panic", p)
			if r.StackTraces {
				e = e.Bytes("stack", debug.Stack())
			}
			e.Msg("a built-in tool failed")
			r.result, failure = nil, fault.New(fault.InternalError, "The tool failed inside the relay")
		}
	}()
	c := r.call
	c.Progress, c.Log, c.Paused = r.progressed, r.reports.log, r.pauseForPerson
	c.Consent = c.Consent || r.consent.given()
	if ask := c.Ask; ask != nil {
		c.Ask = func(ctx context.Context, q call.Question) (call.Answer, error) {
			defer r.pauseForPerson()()
			ctx, cancel := context.WithTimeout(ctx, answerTime)
			defer cancel()
			return ask(ctx, q)
		}
	}
	r.result, failure = r.tool.Run(r.clock.ctx, c, r.args)
	return failure
}

// pauseForPerson stops the clock of the call while a built-in tool waits for a person.
func (r *run) pauseForPerson() (resume func()) {
	start, answered := r.clock.pause(), r.noteAsking()
	return func() {
		answered()
		start()
	}
}

// answerTime is how long a person may take to answer. It does not count against the time of the call.
const answerTime = 5 * time.Minute

// Drain refuses new calls and waits for those that run. When ctx ends first it ends them, and waits for that.
func (d *Dispatcher) Drain(ctx context.Context) {
	d.mu.Lock()
	d.draining = true
	d.mu.Unlock()
	defer context.AfterFunc(ctx, func() { d.stopNow(errShutdown) })()
	d.running.Wait()
}
