package front

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"slices"
	"sort"
	"strconv"
	"sync"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
)

// Attachment is one client on stdio, which is usually a `tabrelay mcp` that passes its bytes on.
type Attachment struct {
	Session call.Session
	Key     string            // random and the same when the client rejoins; ids of its calls are derived from it
	Toolset string            // as registry.ParseToolset reads it
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
	o := &offered{}
	s := &stdio{
		front: f, key: a.Key, out: out, stop: stop, ending: end, ended: make(chan struct{}),
		peer: peer{session: a.Session, tools: tools, offered: o, ending: ending,
			listener: newListener(f.nextName(), a.Session, tools, o)},
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
	peer    peer
	used    usedIDs
	exited  bool           // the client said exit
	work    sync.WaitGroup // requests in flight
	telling sync.WaitGroup // the goroutine that tells of changes
	ended   chan struct{}

	writing lock.Mutex // guards out
	out     io.Writer
}

// read takes lines until the end.
func (s *stdio) read(ctx context.Context, in io.Reader) error {
	r := bufio.NewReaderSize(in, 64<<10)
	for !s.exited {
		line, err := readLine(r, s.front.options.MaxLine)
		if err != nil && !errors.Is(err, errLineTooLong) && !errors.Is(err, io.EOF) {
			return err
		}
		if errors.Is(err, errLineTooLong) {
			s.respond(errorResponse(nil, fault.New(fault.InvalidRequest, "The message has more than "+
				strconv.FormatInt(s.front.options.MaxLine, 10)+" bytes", fault.WithHint("Send less at once.")), false))
		} else if len(line) > 0 {
			s.handle(ctx, line)
		}
		if errors.Is(err, io.EOF) {
			return nil
		}
	}
	return nil
}

// handle handles one line without waiting for its work: a cancel that follows must always be read. Nothing a client
// sends ends the loop.
func (s *stdio) handle(ctx context.Context, line []byte) {
	m, fail := parse(line)
	switch {
	case fail != nil:
		s.respond(errorResponse(m.id, fail, false))
	case m.reply:
		s.peer.deliverReply(&m)
	case m.id == nil:
		s.handleNotification(&m)
	default:
		s.start(ctx, &m, false)
	}
}

// resume handles a request that an earlier relay left unanswered.
func (s *stdio) resume(ctx context.Context, line json.RawMessage) {
	m, fail := parse(line)
	if fail != nil || m.id == nil {
		s.front.options.Log.Warn().Str("client", s.peer.session.Client).Msg("a request left over from an earlier " +
			"relay cannot be read; it stays unanswered")
		return
	}
	s.start(ctx, &m, true)
}

// start applies the state change of a request before it returns; the rest of the work goes on concurrently.
func (s *stdio) start(ctx context.Context, m *message, resume bool) {
	ctx, cancel := context.WithCancelCause(ctx)
	id := derivedID(s.key, m.id)
	if !s.used.add(string(m.id)) {
		id = call.NewID() // two calls never have the same id
	}
	x := &exchange{id: m.id, out: s, cancel: cancel, callID: id, resume: resume}
	if !s.peer.open.add(x) {
		cancel(nil)
		s.respond(duplicateID(m.id))
		return
	}
	before := s.peer.phase.Load()
	work := s.front.admit(ctx, &s.peer, x, m)
	run := func() {
		defer cancel(nil)
		defer s.peer.open.remove(x)
		work()
	}
	s.exited = s.exited || m.method == methodExit && s.peer.phase.Load() == phaseShutdown
	if before == phaseNew && s.peer.phase.Load() == phaseInitialized {
		s.front.addListener(s.peer.listener)
		run() // its response comes before any notification
		s.tellChanges()
		return
	}
	s.work.Go(run)
}

// respond writes the response to a line that never became an exchange.
func (s *stdio) respond(r response) { _ = s.send(r.body) }

// handleNotification handles cancelled and exit; other notifications need nothing.
func (s *stdio) handleNotification(m *message) {
	switch m.method {
	case string(mcp.MethodNotificationCancelled):
		s.peer.open.cancel(m.param("requestId"))
	case methodExit:
		s.exited = s.peer.phase.Load() == phaseShutdown
	}
}

// tellChanges writes notifications about changes to a legacy client until the attachment ends.
func (s *stdio) tellChanges() {
	c := s.peer.listener
	s.telling.Go(func() {
		for {
			select {
			case n := <-c.notes:
				_ = s.send(encoded(n))
			case <-c.outbox.wake:
				for _, l := range c.outbox.drain() {
					_ = s.send(l.encode(nil))
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
	s.front.removeListener(s.peer.listener)
	close(s.ended)
	s.telling.Wait()
}

// outlet of every request of this attachment.

func (s *stdio) finish(r response) error      { return s.send(r.body) }
func (s *stdio) responseDelay() time.Duration { return settleTime }
func (s *stdio) asks() bool                   { return true }

// send writes one message with one Write. A client that cannot be written to is gone.
func (s *stdio) send(message []byte) error {
	s.writing.Lock()
	defer s.writing.Unlock()
	_, err := s.out.Write(append(message, '\n'))
	if err != nil {
		s.stop(errGone)
	}
	return err
}

var errLineTooLong = errors.New("line too long")

// readLine returns the next line, trimmed, in memory of its own; an empty line is no error. Of a line longer than
// limit everything up to its end is skipped. At the end of input it returns what is left together with io.EOF.
func readLine(r *bufio.Reader, limit int64) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if tooLong = tooLong || int64(len(line)+len(part)) > limit+1; !tooLong {
			if need := len(line) + len(part); need > cap(line) { // double: a long line is copied twice, not ten times
				line = slices.Grow(line, max(len(part), len(line)))
			}
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if tooLong && err == nil {
			return nil, errLineTooLong
		}
		return bytes.TrimSpace(line), err
	}
}

// usedIDs detects a request id that a client uses a second time, which MCP forbids and some clients do. Numbers are
// kept as ranges, because clients count.
type usedIDs struct {
	ranges []idRange // sorted, apart from each other
	other  map[string]struct{}
}

type idRange struct{ from, to int64 }

// maxUsedIDs bounds what is remembered of a client that does not count.
const maxUsedIDs = 1 << 16

// add reports whether a request id is new.
func (u *usedIDs) add(id string) bool {
	n, err := strconv.ParseInt(id, 10, 64)
	if err != nil {
		return u.addOther(id)
	}
	i := sort.Search(len(u.ranges), func(i int) bool { return u.ranges[i].to >= n })
	if i < len(u.ranges) && u.ranges[i].from <= n {
		return false
	}
	below := i > 0 && u.ranges[i-1].to == n-1
	above := i < len(u.ranges) && u.ranges[i].from == n+1
	switch {
	case below && above:
		u.ranges[i-1].to = u.ranges[i].to
		u.ranges = slices.Delete(u.ranges, i, i+1)
	case below:
		u.ranges[i-1].to = n
	case above:
		u.ranges[i].from = n
	default:
		if len(u.ranges) == maxUsedIDs {
			u.ranges, i = nil, 0
		}
		u.ranges = slices.Insert(u.ranges, i, idRange{n, n})
	}
	return true
}

// addOther reports whether an id that is no number is new.
func (u *usedIDs) addOther(id string) bool {
	if _, seen := u.other[id]; seen {
		return false
	}
	if u.other == nil || len(u.other) == maxUsedIDs {
		u.other = map[string]struct{}{}
	}
	u.other[id] = struct{}{}
	return true
}
