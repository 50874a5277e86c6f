package front

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/registry"
)

// Attachment is one client on stdio, which is usually a `tabrelay mcp` that passes its bytes on.
type Attachment struct {
	Session call.Session
	Key     string            // random and the same when the client rejoins; ids of its calls are derived from it
	Toolset string            // all, gateway, agents or names of plugins
	Pending []json.RawMessage // requests that an earlier relay took and did not answer, as the client sent them
}

const (
	// settleTime is how long a response stays behind a notification of its request: the official TypeScript clients
	// handle a response before the notifications that came in the same read, and then drop those. With 2 ms a busy
	// client lost 1-3 % of a thousand bursts, with 10 ms at most 0.2 %.
	settleTime = 10 * time.Millisecond
	// drainTime is how long calls may go on after the client has closed its end.
	drainTime = 5 * time.Second
)

// errGone is the cause of a call's context when its stdio client went away.
var errGone = errors.New("the client closed its connection")

// ServeStdio serves one client, one JSON message on each line, until in ends, the client says exit, or ctx ends. What
// is in flight when in ends is still answered, for a few seconds. If in is an io.Closer it is closed when ctx ends, so
// that a read does not wait for ever.
func (f *Front) ServeStdio(ctx context.Context, a Attachment, in io.Reader, out io.Writer) error {
	tools, err := registry.ParseToolset(a.Toolset)
	if err != nil {
		return err
	}
	ctx, stop := context.WithCancelCause(ctx)
	defer stop(nil)
	ending, end := context.WithCancel(f.closing)
	s := &stdio{
		front: f, key: a.Key, out: out, stop: stop, ending: end, ended: make(chan struct{}),
		party: party{session: a.Session, tools: tools, client: newClient(f.nextName(), a.Session), ending: ending},
	}
	if closer, ok := in.(io.Closer); ok {
		defer context.AfterFunc(ctx, func() { _ = closer.Close() })()
	}
	for _, line := range a.Pending {
		s.resume(ctx, line)
	}
	err = s.read(ctx, in)
	s.drain()
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errGone) {
		return cause
	}
	return err
}

// stdio is one attachment. Its fields belong to the reading goroutine, except what has a lock of its own.
type stdio struct {
	front   *Front
	key     string
	stop    context.CancelCauseFunc // ends every request
	ending  context.CancelFunc      // ends subscriptions
	party   party
	used    usedIDs
	left    bool           // the client said exit
	work    sync.WaitGroup // requests in flight
	telling sync.WaitGroup // the goroutine that tells of changes
	ended   chan struct{}

	writing sync.Mutex // guards out
	out     io.Writer
}

// read takes lines until the end.
func (s *stdio) read(ctx context.Context, in io.Reader) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for !s.left {
		line, err := readLine(r, s.front.options.MaxLine)
		if err != nil && !errors.Is(err, errLineTooLong) && !errors.Is(err, io.EOF) {
			return err
		}
		if errors.Is(err, errLineTooLong) {
			s.answer(refuse(nil, fault.New(fault.InvalidRequest, "The message has more than "+strconv.FormatInt(s.front.options.MaxLine, 10)+" bytes"), false))
		} else if len(line) > 0 {
			s.take(ctx, line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
	}
	return nil
}

// take starts what a line asks for. Nothing a client sends ends the loop, and nothing but its own slow reading holds it
// up: a cancel must always get in.
func (s *stdio) take(ctx context.Context, line []byte) {
	messages, fail := s.party.batch(line)
	switch {
	case fail != nil:
		s.answer(refuse(nil, fail, false))
	case messages == nil:
		s.takeOne(ctx, line, s, func() {})
	default:
		b := newBatch(s)
		for _, text := range messages {
			slot := b.slot()
			s.takeOne(ctx, text, slot, slot.end)
		}
		b.end()
	}
}

// takeOne starts what one message asks for. ended is called when that has ended.
func (s *stdio) takeOne(ctx context.Context, text []byte, out outlet, ended func()) {
	m, fail := parse(text)
	if fail == nil && !m.reply && m.id != nil {
		s.start(ctx, &m, false, out, ended)
		return
	}
	defer ended()
	switch {
	case fail != nil:
		_ = out.finish(refuse(m.id, fail, false))
	case m.reply:
		s.party.asked.answer(&m)
	default:
		s.notified(&m)
	}
}

// resume takes a request that an earlier relay left unanswered.
func (s *stdio) resume(ctx context.Context, line json.RawMessage) {
	m, fail := parse(line)
	if fail != nil || m.id == nil {
		s.front.options.Log.Warn().Str("client", s.party.session.Client).Msg("a request left over from an earlier relay cannot be read; it stays unanswered")
		return
	}
	s.start(ctx, &m, true, s, func() {})
}

// start brings one request on its way: what it changes is changed when start returns.
func (s *stdio) start(ctx context.Context, m *message, resume bool, out outlet, ended func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	x := &exchange{id: m.id, out: out, cancel: cancel, callID: s.used.callID(s.key, m.id), resume: resume}
	if !s.party.flights.add(x) {
		cancel(nil)
		_ = out.finish(taken(m.id))
		ended()
		return
	}
	before := s.party.phase.Load()
	work := s.front.admit(ctx, &s.party, x, m)
	run := func() {
		defer ended()
		defer cancel(nil)
		defer s.party.flights.remove(x)
		work()
	}
	s.left = s.left || m.method == methodExit && s.party.phase.Load() == phaseShutdown
	if before == phaseNew && s.party.phase.Load() == phaseInitialized {
		s.front.enlist(s.party.client)
		run() // what is told of changes stays behind its response
		s.tellChanges()
		return
	}
	s.work.Go(run)
}

// answer writes the response to something that never became a request.
func (s *stdio) answer(r response) { _ = s.writeLine(r.body) }

// notified takes a notification.
func (s *stdio) notified(m *message) {
	switch m.method {
	case string(mcp.MethodNotificationCancelled):
		s.party.flights.cancel(m.param("requestId"))
	case methodExit:
		s.left = s.party.phase.Load() == phaseShutdown
	}
}

// tellChanges lets a legacy client hear of changes.
func (s *stdio) tellChanges() {
	c := s.party.client
	s.telling.Go(func() {
		for {
			select {
			case n := <-c.notes:
				_ = s.writeLine(encoded(n))
			case <-c.box.wake:
				for _, l := range c.box.take() {
					_ = s.writeLine(l.encode(nil))
				}
			case <-s.ended:
				return
			}
		}
	})
}

// drain lets what is in flight come to its end, but not for ever. Subscriptions have no end of their own.
func (s *stdio) drain() {
	s.ending()
	grace := time.AfterFunc(drainTime, func() { s.stop(errGone) })
	defer grace.Stop()
	s.work.Wait()
	s.front.delist(s.party.client)
	close(s.ended)
	s.telling.Wait()
}

// The outlet of every request of this attachment.

func (s *stdio) send(note []byte) error  { return s.writeLine(note) }
func (s *stdio) finish(r response) error { return s.writeLine(r.body) }
func (s *stdio) settle() time.Duration   { return settleTime }
func (s *stdio) asks() bool              { return true }

// writeLine writes one message with one Write. A client that cannot be written to is gone.
func (s *stdio) writeLine(message []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	_, err := s.out.Write(append(message, '\n'))
	if err != nil {
		s.stop(errGone)
	}
	return err
}
