package worker

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"sync"
	"sync/atomic"

	acp "github.com/coder/acp-go-sdk"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/random"
)

// Why a request has no answer of the program's.
var (
	errEnded     = errors.New("it ended")
	errMalformed = errors.New("it is not a JSON-RPC response")
	errTooLong   = errors.New("it is longer than 10 MiB")
)

// maxQueued bounds the notifications that were read and not yet heard. acp.Connection ends at 1024.
const maxQueued = 256

// conn is a conversation in JSON-RPC with a program. acp.Connection leads it; what it cannot take is settled before:
// lines that are too long or no messages, more notifications than it queues, and requests whose answer never comes.
type conn struct {
	rpc    *acp.Connection
	feed   *io.PipeWriter // what acp.Connection reads
	to     io.Writer      // what the program reads
	spoilt func(why string)
	queued chan struct{}
	calls  sync.WaitGroup // requests that have not returned
	deaf   atomic.Bool    // the program could not be told something
	secret string         // marks failures that we put in the program's mouth

	mu    lock.Mutex // guards the rest
	open  map[string]struct{}
	ended bool // the program says nothing more
}

// handler takes requests and notifications of a program. Those of notifications must not block.
type handler func(ctx context.Context, method string, params json.RawMessage) (any, *acp.RequestError)

// newConn makes a conversation. spoilt hears of each line that could not be used.
func newConn(to io.Writer, h handler, spoilt func(why string)) *conn {
	out, feed := io.Pipe()
	c := &conn{feed: feed, to: to, spoilt: spoilt, queued: make(chan struct{}, maxQueued), secret: random.Hex(16),
		open: map[string]struct{}{}}
	c.rpc = acp.NewConnection(func(ctx context.Context, method string, params json.RawMessage) (any,
		*acp.RequestError) {
		if method == acp.ClientMethodSessionUpdate {
			defer func() { <-c.queued }()
		}
		return h(ctx, method, params)
	}, outgoing{c}, out)
	c.rpc.SetLogger(slog.New(slog.DiscardHandler)) // nothing is read before pump
	go func() {
		<-c.rpc.Done()
		_ = out.CloseWithError(errEnded) // so that pump does not wait for a reader
	}()
	return c
}

// pump reads what the program says until its output ends. Then requests without an answer fail.
func (c *conn) pump(out io.Reader) {
	readLines(out, c.take)
	c.mu.Lock()
	c.ended = true
	open := c.open
	c.open = nil
	c.mu.Unlock()
	for id := range open {
		c.fail(id, errEnded)
	}
	c.calls.Wait()
	_ = c.feed.Close() // it cannot fail
	<-c.rpc.Done()
}

// take passes a line on, or settles it.
func (c *conn) take(l line) {
	m, answers, problem := l.read()
	if problem != "" {
		c.spoilt(problem)
		if answers != "" && c.settle(answers) {
			err := errMalformed
			if l.tail != nil {
				err = errTooLong
			}
			c.fail(answers, err)
		}
		return
	}
	switch update := m.Method == acp.ClientMethodSessionUpdate; {
	case m.Method == "" && !c.settle(string(*m.ID)):
		return // of a request that was given up
	case update && m.ID != nil:
		c.spoilt("it asks for an answer to an update")
		return
	case m.Method != "" && m.ID == nil && !update:
		return // nothing that concerns us
	case m.Method != "" && m.ID == nil:
		select {
		case c.queued <- struct{}{}:
		case <-c.rpc.Done():
		}
	}
	c.tell(l.text)
}

// settle notes that a request is answered, and reports whether it was open.
func (c *conn) settle(id string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	_, open := c.open[id]
	delete(c.open, id)
	return open
}

// fail answers a request in the program's place.
func (c *conn) fail(id string, err error) {
	text, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": json.RawMessage(id), // these have a JSON form
		"error": acp.RequestError{Code: -32000, Message: err.Error(), Data: c.secret}})
	c.tell(text)
}

// tell passes a line to acp.Connection.
func (c *conn) tell(text []byte) { _, _ = c.feed.Write(append(text, '\n')) } // it fails when that has ended

// outgoing is what acp.Connection writes, one message at a time.
type outgoing struct{ of *conn }

// Write implements io.Writer.
func (o outgoing) Write(b []byte) (int, error) {
	var m message
	if err := json.Unmarshal(b, &m); err != nil {
		return 0, err
	}
	c := o.of
	if m.ID != nil && m.Method != "" {
		c.mu.Lock()
		ended := c.ended
		if !ended {
			c.open[string(*m.ID)] = struct{}{}
		}
		c.mu.Unlock()
		if ended {
			c.deaf.Store(true) // for the request that is written: it began before the program's output ended
			return 0, errEnded
		}
	}
	n, err := c.to.Write(b)
	if err != nil {
		c.deaf.Store(true)
	}
	return n, err
}

// request asks the program for something and waits for the answer, for its end, or for ctx. What the program itself
// says is wrong is an [*acp.RequestError].
func (c *conn) request(ctx context.Context, method string, params any) (json.RawMessage, error) {
	c.mu.Lock()
	if c.ended {
		c.mu.Unlock()
		return nil, errEnded
	}
	c.calls.Add(1)
	c.mu.Unlock()
	defer c.calls.Done()
	answer, err := acp.SendRequest[json.RawMessage](c.rpc, ctx, method, params)
	var refused *acp.RequestError
	if err == nil || !errors.As(err, &refused) {
		return answer, err
	}
	if refused.Data == c.secret {
		for _, ours := range []error{errEnded, errMalformed, errTooLong} {
			if refused.Message == ours.Error() {
				return nil, ours
			}
		}
	}
	select {
	case <-c.rpc.Done():
		return nil, errEnded
	default:
	}
	switch {
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case c.deaf.Load():
		return nil, errEnded
	}
	return nil, refused
}

// notify tells the program something that has no answer.
func (c *conn) notify(method string, params any) {
	_ = c.rpc.SendNotification(context.Background(), method, params) // a program that has ended needs to know nothing
}
