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

// outlet writes what answers one request: notifications, then the response, each message with one Write.
type outlet interface {
	send(notification []byte) error
	finish(r response) error
	// asks reports whether requests to the client can be sent this way.
	asks() bool
	// responseDelay is how long a response must stay behind a notification of the same request.
	responseDelay() time.Duration
}

// exchange is one request in flight: its outlet, its notifications that wait to be written, and its cancellation.
// mcp-go would send notifications through a channel of the session, where they can be dropped, reordered, or written to
// the stream of another request.
type exchange struct {
	id         []byte // exact JSON text
	modern     bool
	out        outlet
	onAnswered func() // called before the response is written; may be nil
	cancel     context.CancelCauseFunc
	log        *zerolog.Logger // nil: nothing is logged
	gone       <-chan struct{} // closed when the client lost its connection without cancelling; may be nil

	// Set before the call starts.
	token  []byte // exact JSON text of the progress token; nil: the client wants no progress
	level  string // least level of log messages the client wants; empty: none
	tool   string
	callID call.ID // of the call this request makes; empty: a random one
	resume bool    // an earlier relay may have run it
	// its client need not wait for the end of its call
	mayBeTask bool
	position  call.Position // of that call in the order of its client

	mu        lock.Mutex // never held while writing: a client that does not read must not hold up a browser's socket
	state     exchangeState
	closed    bool          // nothing more may be queued
	queue     [][]byte      // notifications to be written
	writing   chan struct{} // closed when writeQueue has emptied the queue; nil while it does not run
	lastSent  time.Time     // when the last notification was written
	progress  progressPace
	logs      logPace
	heartbeat *time.Timer // sends an empty notification now and then
}

type exchangeState int

const (
	exchangeOpen      exchangeState = iota
	exchangeCancelled               // by the client: nothing more is sent
	exchangeAnswered
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
	sent    bool
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
	if x.state != exchangeOpen || x.token == nil {
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
	if p := x.progress.pending; p != nil && x.state == exchangeOpen {
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
	if x.state != exchangeOpen || !wanted(e.Level, x.level) {
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

// sendNotification queues a notification that is neither progress nor a log line, and so is not rate-limited; nil:
// none.
func (x *exchange) sendNotification(note []byte) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.state == exchangeOpen && note != nil {
		x.notify(note)
	}
}

// startHeartbeat sends an empty notification at this interval until stopHeartbeat, so that the client keeps its stream.
func (x *exchange) startHeartbeat(every time.Duration) {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.heartbeat = time.AfterFunc(every, func() {
		x.mu.Lock()
		defer x.mu.Unlock()
		if x.state == exchangeOpen {
			x.notify(nil)
			x.heartbeat.Reset(every)
		}
	})
}

func (x *exchange) stopHeartbeat() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.heartbeat.Stop()
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
	if x.writing == nil {
		x.writing = make(chan struct{})
		go x.writeQueue()
	}
}

// writeQueue writes the queue until it is empty. Write errors are ignored: the transport ends a client that is gone.
func (x *exchange) writeQueue() {
	x.mu.Lock()
	defer x.mu.Unlock()
	for len(x.queue) > 0 && x.state != exchangeAnswered {
		note := x.queue[0]
		x.queue = x.queue[1:]
		x.mu.Unlock()
		_ = x.out.send(note)
		x.mu.Lock()
		x.lastSent = time.Now()
	}
	close(x.writing)
	x.writing = nil
}

// respond writes the response after all queued notifications, unless the client has cancelled the request. Nothing is
// written after it.
func (x *exchange) respond(r response) {
	x.mu.Lock()
	if x.state == exchangeOpen && (x.progress.pending != nil || x.logs.dropped > 0) {
		x.flush()
	}
	if x.writing != nil {
		x.awaitWritten()
	}
	if x.state == exchangeOpen && !x.lastSent.IsZero() {
		if wait := x.out.responseDelay() - time.Since(x.lastSent); wait > 0 {
			x.mu.Unlock() // a cancel must get in
			<-time.After(wait)
			x.mu.Lock()
		}
	}
	x.closed = true
	if x.state != exchangeOpen {
		x.awaitWritten()
		x.mu.Unlock()
		return
	}
	x.state = exchangeAnswered
	x.mu.Unlock()
	if x.onAnswered != nil { // before the response is written: its reader may use the id again at once
		x.onAnswered()
	}
	_ = x.out.finish(r)
}

// errorResponse renders a protocol error, and logs it under the correlation id that the client gets.
func (x *exchange) errorResponse(e *fault.Error) response {
	x.setCorrelationID(e)
	return errorResponse(x.id, e, x.modern)
}

// setCorrelationID logs a failure and gives it the id of that log line. The failure of a call has an id already, and is
// logged by dispatch.
func (x *exchange) setCorrelationID(e *fault.Error) {
	if e.CorrelationID != "" || x.log == nil {
		return
	}
	e.CorrelationID = string(cmp.Or(x.callID, call.NewID()))
	x.log.Info().Str("correlationId", e.CorrelationID).Str("code", string(e.Code)).Str("class", string(e.Class)).
		Str("source", string(e.Source)).Str("failure", e.Message).AnErr("cause",
		e.Unwrap()).Msg("a request was refused")
}

// awaitWritten waits until no notification is being written. It needs mu.
func (x *exchange) awaitWritten() {
	for x.writing != nil {
		telling := x.writing
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
	if x.state == exchangeOpen {
		x.state, x.queue = exchangeCancelled, nil
	}
	x.mu.Unlock()
	x.cancel(call.ErrCancelled)
}

// isCancelled reports whether the client cancelled the request before it was answered.
func (x *exchange) isCancelled() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.state == exchangeCancelled
}

// sendRequest queues a request to the client and reports whether it could: not after the exchange has ended.
func (x *exchange) sendRequest(id string, in Input) bool {
	b := rawjson.AppendText([]byte(`{"jsonrpc":"2.0","id":`), id)
	b = rawjson.AppendText(append(b, `,"method":`...), in.Method)
	b = append(append(append(b, `,"params":`...), oneLine(in.Params)...), '}')
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.state != exchangeOpen || x.closed {
		return false
	}
	x.enqueue(b)
	return true
}

// cancelRequest cancels a request to the client, even after the client has cancelled its own: otherwise it would go on
// asking its person.
func (x *exchange) cancelRequest(id string) {
	b := rawjson.AppendText([]byte(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`), id)
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.state != exchangeAnswered && !x.closed {
		x.enqueue(append(b, "}}"...))
	}
}
