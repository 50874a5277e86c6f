// Package dispatch carries out tool calls. Every caller comes through here, be it an MCP client, the command line
// or a delegated agent, so that all of them meet the same checks, clocks, retries and words.
//
// Deadlines belong to deadline.go, retries to retry.go, what a call waits for before it is sent to turn.go, and nothing
// else decides about any of them.
package dispatch

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"regexp"
	"runtime/debug"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/breaker"
	"tabrelay/relay/call"
	"tabrelay/relay/event"
	"tabrelay/relay/fault"
	"tabrelay/relay/registry"
	"tabrelay/relay/schedule"
)

// Options is what a Dispatcher needs.
type Options struct {
	Tools   Tools
	Browser Browser
	Meter   Meter
	Events  func(owner event.Owner, kind event.Kind, message string, data map[string]any) // news of calls; nil: nobody is told
	Calls   *event.Bus                                                                    // hears of the end of each call; nil: nobody does
	Moved   func()                                                                        // told when Running would answer something else; must not block; may be nil
	Policy  Policy                                                                        // nil: everything may run
	Audit   Audit                                                                         // nil: no call is written down
	Scopes  Scopes                                                                        // nil: every client may call every tool
	Log     zerolog.Logger

	Timeout         time.Duration // of a call whose tool and caller name none
	MaxTimeout      time.Duration // no call lasts longer
	ProgressExtends bool          // progress gives a call its timeout anew, up to MaxTimeout
	ReconnectWait   time.Duration // how long a call waits for a browser that was connected a moment ago
	Retry           Retry
	Limits          schedule.Limits
	Breaker         breaker.Settings      // the zero value never holds anything back
	Mender          Mender                // nil: nothing is repaired
	Recovery        map[fault.Code]string // what Mender does about a failure

	// Patterns for errors of the link that have no code of their own; valid RE2.
	TransientPatterns, FatalPatterns []string

	Results          Keeper    // nil: what is truncated is lost
	Letters          Graveyard // nil: calls whose end nobody saw are forgotten
	MaxInputBytes    int       // of arguments
	MaxResultBytes   int       // of a result
	MaxBytes         int       // of an answer, unless the caller wishes otherwise; 0: MaxResultBytes
	ConsoleTailBytes int       // 0: no console tail

	// SignedOut hears after each call of a plugin in a profile whether its web app asked to sign in. It must not block, and
	// may be nil.
	SignedOut func(plugin, profileID string, out bool)

	Trace       bool           // failures name the place in the adapter they came from
	StackTraces bool           // log the stack of a panic
	Jitter      func() float64 // from 0 to 1; nil: random
}

// Tools is the registry.
type Tools interface {
	Snapshot() *registry.Snapshot
	Reject(t *registry.Tool, reason string)
}

// Browser runs a plugin's tool in a page. Failures say by their outcome what is certain: not_executed only when it is
// proven that the tool never started.
type Browser interface {
	// Resolve finds the tab of an attempt and leases it, until Leave. It never waits: with a failure, wait is how long it
	// makes sense to wait for a browser that is on its way and may have the tab.
	Resolve(s call.Selector) (at call.Target, failure *fault.Error, wait time.Duration)
	// Changed returns a channel that is closed when Resolve may answer something else.
	Changed() <-chan struct{}
	// Send sends the attempt to the tab that Resolve chose, and waits for its end. When ctx ends first it tells the
	// page to abort and returns at once.
	Send(ctx context.Context, at call.Target, r call.Invocation) (*call.Reply, *fault.Error)
	// Leave ends the lease of an attempt. It may be called for one that has none.
	Leave(id call.ID)

	// Recover finds the end of a call that an earlier relay, or an earlier attachment of the same client, may
	// have sent under this id. known is false when it was never journalled, and so is no write.
	Recover(ctx context.Context, id call.ID) (reply *call.Reply, failure *fault.Error, known bool)
}

// Scopes are what each client may call at the most, whatever it is allowed besides.
type Scopes interface {
	// Refuse says why a client may not call a tool, nil when it may. It is cheap.
	Refuse(s call.Session, t *registry.Tool) *fault.Error
}

// Meter counts.
type Meter interface {
	CallDone(plugin, outcome string, took time.Duration)
	ErrorRaised(class fault.Class, source fault.Source, code fault.Code)
	Inflight(change int)
	Retry(result string, waited time.Duration)
	Breaker(name string, state int) // 0 closed, 1 half open, 2 open
}

// Audit writes down what was called.
type Audit interface {
	// Record does not wait for the disk. The entry's arguments belong to the caller again once it returns.
	Record(e call.Entry)
}

// Dispatcher carries out calls.
type Dispatcher struct {
	Options
	*schedule.Scheduler
	transient, fatal []*regexp.Regexp
	breakers         *breaker.Group

	mu       sync.Mutex
	draining bool
	running  sync.WaitGroup // Add only while mu is held and draining is false
	first    *run           // of the calls that Running lists
	stop     context.Context
	stopNow  context.CancelCauseFunc
}

// errShutdown ends the calls that outlast Drain.
var errShutdown = errors.New("the relay is shutting down")

// New makes a Dispatcher.
func New(o Options) *Dispatcher {
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	d := &Dispatcher{Options: o, transient: compiled(o.TransientPatterns), fatal: compiled(o.FatalPatterns)}
	d.Scheduler = schedule.New(o.Limits)
	d.breakers = breaker.NewGroup(o.Breaker, d.breakerChanged)
	d.stop, d.stopNow = context.WithCancelCause(context.Background())
	return d
}

// Do carries one call out: find, check arguments, check permission, admit, deadline, deliver, check result, record.
// When ctx ends first, the page is told to abort and Do returns a failure that says what is known of the outcome.
func (d *Dispatcher) Do(ctx context.Context, c call.Call) (*call.Result, *fault.Error) {
	r := &run{Dispatcher: d, ctx: ctx, call: c, began: time.Now(), feed: feed{tell: c.Progress}}
	r.feed.write = r.overheard(c.Log)
	r.turn.Ticket = d.Ticket(c.Position)
	defer r.end()
	for _, step := range [...]func(*run) *fault.Error{
		(*run).find,
		(*run).checkArguments,
		(*run).checkPermission,
		(*run).admit,
		(*run).setDeadline,
		(*run).appear,
		(*run).deliver,
		(*run).checkResult,
	} {
		if failure := step(r); failure != nil {
			r.report(failure)
			return nil, r.recordFailure(failure)
		}
	}
	return r.recordResult(), nil
}

// Drain refuses new calls and waits for those that run. When ctx ends first it ends them, and waits for that.
func (d *Dispatcher) Drain(ctx context.Context) {
	d.mu.Lock()
	d.draining = true
	d.mu.Unlock()
	defer context.AfterFunc(ctx, func() { d.stopNow(errShutdown) })()
	d.running.Wait()
}

// run is one call's life. It belongs to the goroutine of its Do; what others reach is in feed and clock.
type run struct {
	*Dispatcher
	ctx   context.Context
	call  call.Call
	began time.Time

	tool     *registry.Tool
	target   target
	args     json.RawMessage // the tool's own
	clock    *clock
	feed     feed
	turn     turn
	consent  consent
	sight    sight
	admitted bool
	attempts int
	waited   time.Duration // between attempts
	outcome  fault.Outcome // of the attempts so far; empty while none has started
	mended   *fault.Error  // the failure that something was done about; nil: none yet
	avoid    []int         // tabs that were not ready
	hung     int           // attempts that the page did not take
	most     int           // bytes of the answer, once maxBytes was asked
	doubt    call.ID       // the last attempt that may have started; empty: none

	reply    *call.Reply  // of a plugin's tool
	result   *call.Result // of a built-in tool at once, of a plugin's tool after checkResult
	warnings []string
}

// admit lets the call in, or refuses it while the relay shuts down.
func (r *run) admit() *fault.Error {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.draining {
		return fault.New(fault.ShuttingDown, "The relay is shutting down and takes no new calls")
	}
	r.running.Add(1)
	r.admitted = true
	if r.tool.Plugin == nil {
		r.turn.Leave() // it needs no tab, so that nothing has to stay behind it
	} else {
		r.turn.Session, r.turn.Plugin = cmp.Or(r.call.Session.ID, r.call.Session.Client), r.tool.PluginName()
		r.turn.Write = !r.tool.ReadOnly
	}
	r.Meter.Inflight(+1)
	return nil
}

// end leaves nothing of the call behind.
func (r *run) end() {
	r.disappear()
	r.feed.close()
	r.settle(breaker.Nothing)
	r.turn.Leave()
	if r.clock != nil {
		r.clock.stop()
	}
	if r.admitted {
		r.Meter.Inflight(-1)
		r.running.Done()
	}
}

// deliver runs the tool: in a page, or in the relay itself when it is built in.
func (r *run) deliver() *fault.Error {
	if r.tool.Run == nil {
		failure := r.retrying()
		r.depart(failure) // before the result is looked at: the next call need not wait for that
		return failure
	}
	if failure := r.permitHere(); failure != nil {
		return failure
	}
	if !r.tool.Unqueued && !r.turn.TakeSlot() {
		if failure := r.await(r.clock.ctx); failure != nil {
			return r.judge(failure)
		}
	}
	r.attempts = 1
	r.start() // nothing queues before a built-in tool
	var failure *fault.Error
	r.result, failure = r.runBuiltin()
	return r.judge(failure)
}

func (r *run) runBuiltin() (result *call.Result, failure *fault.Error) {
	defer func() {
		if p := recover(); p != nil {
			e := r.Log.Error().Str("correlationId", string(r.call.ID)).Str("tool", r.tool.Name).Interface("panic", p)
			if r.StackTraces {
				e = e.Bytes("stack", debug.Stack())
			}
			e.Msg("a built-in tool failed")
			result, failure = nil, fault.New(fault.InternalError, "The tool failed inside the relay")
		}
	}()
	c := r.call
	c.Progress, c.Log = r.progress, r.feed.log
	if ask := c.Ask; ask != nil {
		c.Ask = func(ctx context.Context, q call.Question) (call.Answer, error) {
			defer r.clock.pause()()
			defer r.asking()()
			ctx, cancel := context.WithTimeout(ctx, patience)
			defer cancel()
			return ask(ctx, q)
		}
	}
	return r.tool.Run(r.clock.ctx, c, r.args)
}

// patience is how long a person may take to answer. It does not count against the time of the call.
const patience = 5 * time.Minute
