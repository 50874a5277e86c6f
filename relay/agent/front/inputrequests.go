package front

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"time"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/random"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

const (
	// answerTime is how long a client may take to come back with answers.
	answerTime = 5 * time.Minute
	// maxSuspended bounds the requests that stand still because something was asked.
	maxSuspended = 256
)

// resumable is the work of a modern request whose client can be asked for input (2026-07-28, "Multi Round-Trip
// Requests"). It is suspended while the client is asked, and goes on when the client repeats the request with answers,
// which is another exchange.
type resumable struct {
	front  *Front
	ending context.Context // ends when the client cannot come back any more
	owner  any             // who may go on with it: the attachment on stdio, the name of the client over HTTP
	m      *message
	cancel context.CancelCauseFunc
	callID call.ID                    // whichever request of the client waits for it
	early  map[string]json.RawMessage // answers that the first request brought along

	tasksOf string // owner of the task that it may become; empty: it becomes none

	asking lock.Mutex // one question at a time
	mu     lock.Mutex
	round  *roundTrip      // in which the client waits now; nil while it is asked
	next   chan *roundTrip // the client has come back
	task   *task           // as which the work goes on without an exchange; nil: it has not become a task
	steps  []string        // progress messages until it became a task
}

// roundTrip is one of the requests by which a client has a resumable one carried out.
type roundTrip struct {
	x        *exchange
	answers  map[string]json.RawMessage
	detach   func() bool   // lets the exchange end without cancelling the work
	answered chan struct{} // closed when the exchange has its response
	patience *time.Timer   // makes a task of the work; nil: it becomes none
}

// suspended is the work that waits for its client to repeat the request, by the requestState that the client was given:
// a random name that can be used once and carries no data to tamper with.
type suspended struct {
	mu        lock.Mutex
	suspended map[string]suspendedRequest
}

type suspendedRequest struct {
	*resumable
	digest [32]byte // of what its request asks for
}

// operation does what a request asks for. It may ask client, and reports to whoever waits through out.
type operation func(ctx context.Context, client *Asker, out reporter) answer

// answer renders the result of an operation as the response of the exchange that waits for it.
type answer func(*exchange) response

// perform carries out a request that may ask its client something.
func (f *Front) perform(ctx context.Context, p *peer, x *exchange, m *message, meta *requestMeta, do operation) {
	if !meta.modern {
		var client *Asker
		if able := p.capabilities.Load(); able != nil && len(*able) > 0 && x.out.asks() {
			client = f.streamAsker(p, x, *able)
		}
		f.conclude(ctx, x, do(ctx, client, x))
		return
	}
	able := capabilitiesOf(meta.Capabilities)
	switch {
	case m.param("requestState") != nil:
		f.resume(ctx, p, x, m)
	case len(able) > 0:
		f.start(ctx, p, x, m, able, do)
	default:
		f.conclude(ctx, x, do(ctx, nil, x))
	}
}

// conclude answers an exchange whose work is done, unless its client has cancelled it.
func (f *Front) conclude(ctx context.Context, x *exchange, end answer) {
	if context.Cause(ctx) == call.ErrCancelled {
		x.abandon()
	}
	x.respond(end(x))
}

// start starts a run and returns when the exchange has its response.
func (f *Front) start(ctx context.Context, p *peer, x *exchange, m *message, able clientCapabilities, do operation) {
	early, fail := readResponses(m)
	if fail != nil {
		x.respond(x.errorResponse(fail))
		return
	}
	r := &resumable{front: f, ending: p.ending, owner: p.owner(), m: m, callID: x.callID, early: early,
		next: make(chan *roundTrip, 1)}
	if f.options.Tasks != nil {
		r.tasksOf = taskOwner(p.session)
	}
	working, cancel := context.WithCancelCause(context.WithoutCancel(ctx))
	r.cancel = cancel
	t := &roundTrip{x: x, answered: make(chan struct{})}
	r.attach(ctx, t)
	go r.run(working, &Asker{capabilities: able, ask: r.ask}, do)
	<-t.answered
}

// run does the work and gives its result to the task that it has become, or to the exchange that waits for it.
func (r *resumable) run(ctx context.Context, client *Asker, do operation) {
	defer r.cancel(nil)
	var render answer
	bug := r.front.catchPanic(r.m.method, func() { render = do(ctx, client, r) })
	end := func(x *exchange) (rendered response) {
		if bug == nil {
			bug = r.front.catchPanic(r.m.method, func() { rendered = render(x) })
		}
		if bug != nil {
			return x.errorResponse(bug)
		}
		return rendered
	}
	switch last, k := r.endRound(); {
	case k != nil:
		k.finish(end)
	case last != nil:
		r.front.conclude(ctx, last.x, end)
		close(last.answered)
	}
}

// attach makes t the present round trip: the end of its exchange cancels the work. Where the work may become a task, it
// does so when it takes longer than promptly.
func (r *resumable) attach(ctx context.Context, t *roundTrip) {
	t.detach = context.AfterFunc(ctx, func() { r.cancel(context.Cause(ctx)) })
	r.mu.Lock()
	defer r.mu.Unlock()
	r.round = t
	if t.x.mayBeTask {
		t.patience = time.AfterFunc(promptly, func() { r.goOn(t) })
	}
}

// endRound ends the round and returns it, nil when there is none, and the task that the work has become, if it has.
func (r *resumable) endRound() (*roundTrip, *task) {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.round
	r.round = nil
	if t != nil && t.patience != nil {
		t.patience.Stop()
	}
	return t, r.task
}

// detach ends the round trip without cancelling the work. It returns nil when there is none, or its exchange has ended.
func (r *resumable) detach() *roundTrip {
	r.mu.Lock()
	defer r.mu.Unlock()
	t := r.round
	if t == nil || !t.detach() {
		return nil
	}
	r.round = nil
	return t
}

// ask answers the present exchange with the inputs that are asked for, and waits for the request that brings them. A
// client that leaves something out is asked for it again.
func (r *resumable) ask(ctx context.Context, inputs []Input) (map[string]json.RawMessage, error) {
	r.asking.Lock()
	defer r.asking.Unlock()
	answers := map[string]json.RawMessage{}
	var missing []Input
	for i, in := range inputs {
		if early := r.early[in.Key]; in.Key != "" && rawjson.IsObject(early) {
			answers[in.Key] = early
			continue
		}
		in.Key = nameOf(in, i)
		missing = append(missing, in)
	}
	for len(missing) > 0 {
		given, err := r.askOnce(ctx, missing)
		if err != nil {
			return nil, err
		}
		missing = slices.DeleteFunc(missing, func(in Input) bool {
			given := given[in.Key]
			if !rawjson.IsObject(given) {
				return false
			}
			answers[in.Key] = given
			return true
		})
	}
	return answers, nil
}

// askOnce asks for what is missing once, in the way that is left: a task has no request that could be answered with it.
func (r *resumable) askOnce(ctx context.Context, missing []Input) (map[string]json.RawMessage, error) {
	if k := r.asTask(); k != nil {
		return k.ask(ctx, missing)
	}
	t, err := r.roundTrip(ctx, missing)
	if k := r.asTask(); errors.Is(err, errNobodyWaits) && k != nil { // since this moment
		return k.ask(ctx, missing)
	}
	if err != nil {
		return nil, err
	}
	return t.answers, nil
}

// errNobodyWaits is the error of asking without an exchange that could carry the question.
var errNobodyWaits = errors.New("nobody waits for the request any more, so its client cannot be asked")

// roundTrip is one answer with questions and the next request with answers.
func (r *resumable) roundTrip(ctx context.Context, missing []Input) (*roundTrip, error) {
	state, err := r.suspend(ctx, missing)
	if err != nil {
		return nil, err
	}
	late := time.NewTimer(answerTime)
	defer late.Stop()
	select {
	case t := <-r.next:
		return t, nil
	case <-ctx.Done():
		if err = context.Cause(ctx); errors.Is(err, call.ErrAnswered) {
			return nil, r.awaitReturn(state, late.C)
		}
	case <-r.ending.Done():
		err = errors.New("the client's connection has ended, or the relay is stopping")
	case <-late.C:
		err = errors.New("the client did not come back with an answer in time")
	}
	if !r.front.suspended.remove(state) { // it has come back at this moment, and waits for the end of the run
		<-r.next
	}
	return nil, err
}

// awaitReturn waits for the client's next request although its answer no longer matters, because only that exchange can
// carry the result. If none comes, the work is cancelled.
func (r *resumable) awaitReturn(state string, late <-chan time.Time) error {
	err := errors.New("the client did not come back for the result")
	select {
	case <-r.next:
		return call.ErrAnswered
	case <-r.ending.Done():
	case <-late:
	}
	if !r.front.suspended.remove(state) {
		<-r.next
		return call.ErrAnswered
	}
	r.cancel(err)
	return err
}

// suspend answers the exchange of the moment with the questions.
func (r *resumable) suspend(ctx context.Context, missing []Input) (state string, err error) {
	state = random.Hex(16)
	if err = r.front.suspended.add(state, r); err != nil {
		return "", err
	}
	var t *roundTrip
	if r.ending.Err() == nil {
		t = r.detach()
	}
	if t == nil {
		r.front.suspended.remove(state)
		return "", errNobodyWaits
	}
	b := append(appendID(nil, t.x.id), `,"result":{"_meta":{`...)
	b = append(append(b, r.front.identity...), `},"resultType":"input_required","inputRequests":{`...)
	for i, in := range missing {
		b = in.append(appendComma(b, i), in.Key)
	}
	b = rawjson.AppendText(append(b, `},"requestState":`...), state)
	t.x.respond(response{body: append(b, "}}"...)})
	close(t.answered)
	return state, nil
}

// resume goes on with a run whose client has come back.
func (f *Front) resume(ctx context.Context, p *peer, x *exchange, m *message) {
	answers, fail := readResponses(m)
	state, ok := rawjson.Text(m.param("requestState"))
	var r *resumable
	if fail == nil && ok {
		r = f.suspended.claim(state, p.owner(), digestOfRequest(m))
	}
	if fail == nil && r == nil {
		fail = fault.New(fault.InvalidParams, "The requestState is not one that this request was given, or it has "+
			"expired",
			fault.WithHint("Send the request again without requestState."))
	}
	if fail != nil {
		x.respond(x.errorResponse(fail))
		return
	}
	x.callID = r.callID
	t := &roundTrip{x: x, answers: answers, answered: make(chan struct{})}
	r.attach(ctx, t)
	r.next <- t
	<-t.answered
}

func (s *suspended) add(state string, r *resumable) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.suspended == nil {
		s.suspended = map[string]suspendedRequest{}
	}
	if len(s.suspended) == maxSuspended {
		return errors.New("too many requests wait for answers of their clients")
	}
	s.suspended[state] = suspendedRequest{r, digestOfRequest(r.m)}
	return nil
}

// remove reports whether the state was there.
func (s *suspended) remove(state string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	_, there := s.suspended[state]
	delete(s.suspended, state)
	return there
}

// claim takes the run that waits under the state, if it is this owner's and the request is the same.
func (s *suspended) claim(state string, owner any, digest [32]byte) *resumable {
	s.mu.Lock()
	defer s.mu.Unlock()
	suspended, there := s.suspended[state]
	if !there || suspended.owner != owner || suspended.digest != digest {
		return nil
	}
	delete(s.suspended, state)
	return suspended.resumable
}

// readResponses takes the answers out of params.
func readResponses(m *message) (map[string]json.RawMessage, *fault.Error) {
	var answers map[string]json.RawMessage
	if raw := m.param("inputResponses"); raw != nil && json.Unmarshal(raw, &answers) != nil {
		return nil, fault.New(fault.InvalidParams, "The inputResponses are not an object")
	}
	return answers, nil
}

// digestOfRequest identifies what a request asks for: its method, whom it names and the arguments, however they are
// written.
func digestOfRequest(m *message) [32]byte {
	text := []byte(m.method)
	for _, name := range []string{"name", "uri", "arguments"} {
		text = append(text, 0)
		var value any
		if raw := m.param(name); json.Unmarshal(raw, &value) == nil {
			if canonical, err := json.Marshal(value); err == nil {
				text = append(text, canonical...)
			}
		}
	}
	return sha256.Sum256(text)
}

// reporter passes progress and log lines to the client: an exchange, or a resumable, which has one after the other.
type reporter interface {
	reportProgress(step call.Progress)
	reportLog(line call.LogEntry)
}

// exchange is the one in which the client waits; nil while it is asked.
func (r *resumable) exchange() *exchange {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.round == nil {
		return nil
	}
	return r.round.x
}

func (r *resumable) reportProgress(step call.Progress) {
	if r.saidToTask(step) {
		return
	}
	if x := r.exchange(); x != nil {
		x.reportProgress(step)
	}
}

func (r *resumable) reportLog(line call.LogEntry) {
	if x := r.exchange(); x != nil {
		x.reportLog(line)
	}
}
