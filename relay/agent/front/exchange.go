package front

import (
	"cmp"
	"context"
	"time"

	"github.com/rs/zerolog"
	"golang.org/x/time/rate"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// outlet is the way back to whoever sent a request. Notifications come before the response, and every message is
// written whole, with one Write.
type outlet interface {
	send(notification []byte) error
	finish(r response) error
	// asks reports whether a request of ours can be sent this way.
	asks() bool
	// responseDelay is how long a response must stay behind a notification of the same request.
	responseDelay() time.Duration
}

// exchange is one request in flight: the way back for its notifications, its response, and its end when the client
// cancels it. mcp-go sends notifications through a channel of the session, where they are lost, overtake each other,
// or come out of another request's stream; here they can go nowhere else.
type exchange struct {
	id     []byte // exact JSON text
	modern bool
	out    outlet
	landed func() // it is no longer in flight; may be nil
	cancel context.CancelCauseFunc
	log    *zerolog.Logger // nil: nothing is logged
	gone   <-chan struct{} // closed when nothing reaches the client any more, though it has not cancelled; may be nil

	// Set before the call starts.
	token  []byte // exact JSON text of the progress token; nil: the client wants no progress
	level  string // least level of log messages the client wants; empty: none
	tool   string
	callID call.ID // of the call this request makes; empty: a random one
	resume bool    // an earlier relay may have run it
	// its client need not wait for the end of its call
	mayBeTask bool
	position  call.Position // of that call in the order of its client

	mu       lock.Mutex // never held while writing: a client that does not read must not hold up a browser's socket
	state    exchangeState
	over     bool          // nothing more may be queued
	queue    [][]byte      // notifications to be written
	telling  chan struct{} // closed when tell has written the queue; nil while tell does not run
	noted    time.Time     // when the last notification was written
	progress progressPace
	logs     logPace
	beats    *time.Timer // sends a sign of life while nothing else is sent
}

type exchangeState int

const (
	open      exchangeState = iota
	cancelled               // by the client: nothing more is sent
	answered
)

// Progress and log messages per call above these rates are held back. A burst of ten goes out at once.
const (
	progressPerSecond = 10
	logsPerSecond     = 20
	logBurst          = 100
	maxQueued         = 256 // notifications that wait for a client that does not read
)

// progressPace holds back progress that comes faster than a client can use, keeping the latest.
type progressPace struct {
	limit   *rate.Limiter
	last    float64 // the last value sent; MCP wants them to increase
	any     bool
	pending *call.Progress
	timer   *time.Timer
}

// logPace counts log messages that came too fast to be sent.
type logPace struct {
	limit   *rate.Limiter
	dropped int
}

// reportProgress sends one step of progress, or keeps it for a moment when there were too many.
func (x *exchange) reportProgress(p call.Progress) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.state != open || x.token == nil {
		return
	}
	pace := &x.progress
	if pace.limit == nil {
		pace.limit = rate.NewLimiter(progressPerSecond, progressPerSecond)
	}
	if pace.pending == nil && pace.limit.Allow() {
		x.sendProgress(p)
		return
	}
	if pace.pending == nil {
		pace.timer = time.AfterFunc(time.Second/progressPerSecond, x.releaseProgress)
	}
	pace.pending = &p
}

// releaseProgress sends the step that was held back.
func (x *exchange) releaseProgress() {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p := x.progress.pending; p != nil && x.state == open {
		x.progress.pending = nil
		x.progress.limit.Allow()
		x.sendProgress(*p)
	}
}

// sendProgress needs mu.
func (x *exchange) sendProgress(p call.Progress) {
	if note := x.progress.note(x.token, p); note != nil {
		x.notify(note)
	}
}

// reportLog sends one log line, if the client asked for its level.
func (x *exchange) reportLog(e call.LogEntry) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.state != open || !wanted(e.Level, x.level) {
		return
	}
	if x.logs.limit == nil {
		x.logs.limit = rate.NewLimiter(logsPerSecond, logBurst)
	}
	if !x.logs.limit.Allow() {
		x.logs.dropped++
		return
	}
	x.notify(logNote(x.tool, e))
}

// say queues a notification that is not the tool's.
func (x *exchange) say(note []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.state == open && note != nil {
		x.notify(note)
	}
}

// beat sends a sign of life, an empty notification, every so often until stopBeat.
func (x *exchange) beat(every time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.beats = time.AfterFunc(every, func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.state == open {
			x.notify(nil)
			x.beats.Reset(every)
		}
	})
}

func (x *exchange) stopBeat() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.beats.Stop()
}

// notify queues a notification. It needs mu and the state open.
func (x *exchange) notify(note []byte) {
	if len(x.queue) < maxQueued {
		x.enqueue(note)
	}
}

// enqueue has a message written. It needs mu.
func (x *exchange) enqueue(message []byte) {
	x.queue = append(x.queue, message)
	if x.telling == nil {
		x.telling = make(chan struct{})
		go x.tell()
	}
}

// tell writes what is queued. A client that is gone is noticed by its transport, not here.
func (x *exchange) tell() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for len(x.queue) > 0 && x.state != answered {
		note := x.queue[0]
		x.queue = x.queue[1:]
		x.mu.Unlock()
		_ = x.out.send(note)
		x.mu.Lock()
		x.noted = time.Now()
	}
	close(x.telling)
	x.telling = nil
}

// respond sends the response, after everything that was reported, unless the client has cancelled the request. After
// respond nothing more is written.
func (x *exchange) respond(r response) {
	x.mu.Lock()
	if x.state == open && (x.progress.pending != nil || x.logs.dropped > 0) {
		x.flush()
	}
	if x.telling != nil {
		x.awaitTold()
	}
	if x.state == open && !x.noted.IsZero() {
		if wait := x.out.responseDelay() - time.Since(x.noted); wait > 0 {
			x.mu.Unlock() // a cancel must get in
			<-time.After(wait)
			x.mu.Lock()
		}
	}
	x.over = true
	if x.state != open {
		x.awaitTold()
		x.mu.Unlock()
		return
	}
	x.state = answered
	x.mu.Unlock()
	if x.landed != nil { // before: who has read the answer may use the id again
		x.landed()
	}
	_ = x.out.finish(r)
}

// refuse answers with a protocol error that can be found in the log.
func (x *exchange) refuse(e *fault.Error) response {
	x.identify(e)
	return refuse(x.id, e, x.modern)
}

// identify gives a failure the id under which the log has it. That of a call has one, and a line of its own.
func (x *exchange) identify(e *fault.Error) {
	if e.CorrelationID != "" || x.log == nil {
		return
	}
	e.CorrelationID = string(cmp.Or(x.callID, randomID()))
	x.log.Info().Str("correlationId", e.CorrelationID).Str("code", string(e.Code)).Str("class", string(e.Class)).
		Str("source", string(e.Source)).Str("failure", e.Message).AnErr("cause",
		e.Unwrap()).Msg("a request was refused")
}

// awaitTold waits until no notification is being written. It needs mu.
func (x *exchange) awaitTold() {
	for x.telling != nil {
		telling := x.telling
		x.mu.Unlock()
		<-telling
		x.mu.Lock()
	}
}

// flush queues what was held back. It needs mu.
func (x *exchange) flush() {
	if p := x.progress.pending; p != nil {
		x.progress.pending = nil
		x.progress.timer.Stop()
		x.sendProgress(*p)
	}
	if x.logs.dropped > 0 {
		x.notify(droppedNote(x.tool, x.logs.dropped))
		x.logs.dropped = 0
	}
}

// abandon ends the request because its client cancelled it: nothing more is sent, and its context ends.
func (x *exchange) abandon() {
	x.mu.Lock()
	if x.state == open {
		x.state, x.queue = cancelled, nil
	}
	x.mu.Unlock()
	x.cancel(call.ErrCancelled)
}

// lost reports whether the client has cancelled the request before it had its answer.
func (x *exchange) lost() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.state == cancelled
}

// request sends a request of ours, and reports whether it will be sent.
func (x *exchange) request(id string, in Input) bool {
	b := rawjson.AppendText([]byte(`{"jsonrpc":"2.0","id":`), id)
	b = rawjson.AppendText(append(b, `,"method":`...), in.Method)
	b = append(append(append(b, `,"params":`...), oneLine(in.Params)...), '}')
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.state != open || x.over {
		return false
	}
	x.enqueue(b)
	return true
}

// retract tells the client that a request of ours needs no answer any more. That goes out even after the client has
// cancelled its own request: otherwise it would go on asking its person.
func (x *exchange) retract(id string) {
	b := rawjson.AppendText([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`), id)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.state != answered && !x.over {
		x.enqueue(append(b, "}}"...))
	}
}
