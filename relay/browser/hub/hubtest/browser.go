// Package hubtest plays a browser with the tabrelay extension: it dials a relay, proves the pairing, tells its tabs and
// answers calls. Tests of every package use it, and so does `tabrelay bench`.
//
// It keeps to PROTOCOL.md by itself: outcomes stay until they are acknowledged and are sent again after a new
// connection, and questions about calls are answered with what it knows. What a tool does is a function.
package hubtest

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"time"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
)

// Options is who a Browser is. Address, Secret and ExtensionID must be set.
type Options struct {
	Address     string // host and port of the relay
	Secret      string
	ExtensionID string
	Client      *http.Client // nil: the default

	ProfileID string // random when empty
	Label     string // "Test" when empty
	Epoch     string // random when empty
	Bundle    string
	Protocol  wire.Range // what the relay speaks, when zero
	Tabs      []wire.Tab

	// Answer is what a tool does. It runs in the connection's reader, so that an answer given at once costs nothing
	// more; one that takes time is given from another goroutine. nil returns the arguments.
	Answer func(*Call)

	// Command answers a command of the relay. nil answers {}.
	Command func(*wire.Command) *wire.Reply

	// State overrides what the relay is told about a call it asks for; nil, or a nil answer, tells the truth.
	State func(id call.ID) *wire.State
}

// Browser is one profile. Its methods may be called concurrently.
type Browser struct {
	opts Options

	mu       lock.Mutex
	socket   *hub.Socket // nil while disconnected
	gone     chan struct{}
	err      error // why the last connection ended
	welcome  wire.Welcome
	plugins  []wire.Plugin
	tabs     []wire.Tab
	running  map[call.ID]*Call
	outcomes map[call.ID][]byte // not acknowledged
	order    []call.ID          // of outcomes
	acked    map[call.ID]bool
	answers  map[string]Response // to requests of the panel
	news     []wire.News
	changed  chan struct{} // closed when anything above changes; nil while nobody waits
}

// Connect dials the relay and returns when it has been welcomed. A refusal is an error of type *Refused.
func Connect(ctx context.Context, opts Options) (*Browser, error) {
	b := New(opts)
	return b, b.Dial(ctx)
}

// New makes a browser that is not connected yet.
func New(opts Options) *Browser {
	set := func(field *string, value string) {
		if *field == "" {
			*field = value
		}
	}
	set(&opts.ProfileID, wire.NewID())
	set(&opts.Label, "Test")
	set(&opts.Epoch, wire.NewID())
	if opts.Protocol == (wire.Range{}) {
		opts.Protocol = wire.Speaks
	}
	return &Browser{
		opts: opts, tabs: slices.Clone(opts.Tabs), running: map[call.ID]*Call{}, outcomes: map[call.ID][]byte{},
		acked: map[call.ID]bool{}, answers: map[string]Response{},
	}
}

// Refused is why the relay did not let a browser in.
type Refused struct {
	Frame     *wire.Refuse // nil when it closed without a word
	CloseCode int
}

// Error implements error.
func (r *Refused) Error() string {
	if r.Frame == nil {
		return fmt.Sprintf("closed with %d", r.CloseCode)
	}
	return fmt.Sprintf("closed with %d: %s: %s", r.CloseCode, r.Frame.Code, r.Frame.Message)
}

// Dial connects, again after Drop, and returns when the relay has said welcome. What was not acknowledged is sent
// again.
func (b *Browser) Dial(ctx context.Context) error {
	b.mu.Lock()
	who := b.opts
	b.mu.Unlock()
	header := http.Header{"Origin": {"chrome-extension://" + who.ExtensionID}}
	socket, err := hub.Dial(ctx, who.Client, who.Address, header)
	if err != nil {
		return err
	}
	welcome, err := greet(ctx, socket, who)
	if err != nil {
		socket.Drop()
		return err
	}
	b.mu.Lock()
	b.socket, b.gone, b.welcome = socket, make(chan struct{}), *welcome
	gone := b.gone
	frames := make([][]byte, 0, len(b.order)+1)
	for _, id := range b.order {
		frames = append(frames, b.outcomes[id])
	}
	frames = append(frames, encode(&wire.Tabs{Tabs: append([]wire.Tab{}, b.tabs...)}, nil))
	b.touch()
	b.mu.Unlock()
	if err := socket.Write(frames...); err != nil {
		socket.Drop()
		return fmt.Errorf("tell tabs: %w", err)
	}
	go b.listen(socket, gone)
	return nil
}

// listen reads until the connection ends.
func (b *Browser) listen(socket *hub.Socket, gone chan struct{}) {
	defer close(gone)
	for {
		message, err := socket.Read(context.Background())
		if err != nil {
			b.mu.Lock()
			b.err = err
			if b.socket == socket {
				b.socket = nil
			}
			b.touch()
			b.mu.Unlock()
			socket.Drop()
			return
		}
		frame, payload, err := wire.Decode(message)
		if err != nil {
			continue // the relay's tests notice what is missing
		}
		b.obey(socket, frame, payload)
	}
}

func (b *Browser) obey(socket *hub.Socket, frame wire.Frame, payload json.RawMessage) {
	switch f := frame.(type) {
	case *wire.Call:
		b.begin(f, payload)
	case *wire.Cancel:
		b.mu.Lock()
		c := b.running[f.ID]
		b.mu.Unlock()
		if c != nil {
			c.cancel(f.Reason)
		}
	case *wire.Ack:
		b.acknowledge(f.IDs)
	case *wire.Ask:
		for _, asked := range f.Calls {
			b.tellState(socket, asked.ID)
		}
	case *wire.Command:
		reply := &wire.Reply{OK: true, Result: json.RawMessage("{}")}
		if b.opts.Command != nil {
			reply = b.opts.Command(f)
		}
		reply.ID = f.ID
		_ = socket.Write(encode(reply, nil))
	case *wire.Plugins:
		b.mu.Lock()
		b.plugins = f.Plugins
		b.touch()
		b.mu.Unlock()
	case *wire.Response:
		b.mu.Lock()
		b.answers[f.ID] = Response{Status: f.Status, Body: bytes.Clone(payload)}
		b.touch()
		b.mu.Unlock()
	case *wire.News:
		b.mu.Lock()
		b.news = append(b.news, *f)
		b.touch()
		b.mu.Unlock()
	case *wire.Ping:
		_ = socket.Write(encode(&wire.Pong{}, nil))
	}
}

func (b *Browser) begin(f *wire.Call, payload json.RawMessage) {
	c := &Call{Call: *f, Arguments: bytes.Clone(payload), browser: b, cancelled: make(chan struct{}), began: time.Now()}
	b.mu.Lock()
	b.running[f.ID] = c
	b.touch()
	b.mu.Unlock()
	if b.opts.Answer == nil {
		c.Return(c.Arguments)
		return
	}
	b.opts.Answer(c)
}

func (b *Browser) tellState(socket *hub.Socket, id call.ID) {
	if b.opts.State != nil {
		if st := b.opts.State(id); st != nil {
			_ = socket.Write(encode(st, nil))
			return
		}
	}
	st := &wire.State{ID: id, State: wire.NotStarted, Epoch: b.opts.Epoch}
	b.mu.Lock()
	outcome := b.outcomes[id]
	if b.running[id] != nil {
		st.State = wire.Running
	}
	b.mu.Unlock()
	if outcome != nil {
		st.State = wire.Finished
		_ = socket.Write(encode(st, nil), outcome)
		return
	}
	_ = socket.Write(encode(st, nil))
}

func (b *Browser) acknowledge(ids []call.ID) {
	b.mu.Lock()
	defer b.mu.Unlock()
	const remembered = 4096 // a benchmark acknowledges millions
	for _, id := range ids {
		if len(b.acked) >= remembered {
			clear(b.acked)
		}
		b.acked[id] = true
		delete(b.outcomes, id)
		if at := slices.Index(b.order, id); at >= 0 {
			b.order = slices.Delete(b.order, at, at+1)
		}
	}
	b.touch()
}

// touch wakes Await. Its caller holds mu.
func (b *Browser) touch() {
	if b.changed != nil {
		close(b.changed)
		b.changed = nil
	}
}

func encode(f wire.Frame, payload json.RawMessage) []byte {
	frame, err := wire.Encode(f, payload)
	if err != nil {
		panic("hubtest: " + err.Error()) // raw JSON that the caller passed is not JSON
	}
	return frame
}
