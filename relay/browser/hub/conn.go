package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// The codes a connection is closed with; PROTOCOL.md says what an extension does about each.
const (
	closePaired    = 1000
	closeGoingAway = 1001
	closeTooLarge  = 1009
	closeCorrupt   = 4400
	closePairing   = 4401
	closeVersion   = 4406
	closeReplaced  = 4409
	closeDuplicate = 4410
)

// A peer that sends this many malformed or oversized frames within this time is closed.
const (
	corruptFrames = 3
	corruptTime   = time.Minute
)

// probeTime is how long a connection may take to answer when a newcomer claims its profile.
const probeTime = time.Second

// conn is one connection after its handshake. Its run reads, its send loop writes, nothing else touches the socket.
type conn struct {
	// Static after construction.
	b      *browser
	socket *Socket
	hello  wire.Hello
	queue  *queue
	log    zerolog.Logger
	ended  chan struct{} // closed when run has returned
	pong   []byte

	protocol int           // the version chosen
	asking   chan struct{} // one slot for each request of a panel that is worked on

	answering sync.WaitGroup // goroutines that work on them; added to by run only

	began    time.Time
	heard    atomic.Int64  // when the last message came, in nanoseconds since began: clocks are set
	ready    atomic.Bool   // the tabs are known
	lifeSign chan struct{} // one slot: a message came
	probing  atomic.Int32  // how many wait for life
	panels   atomic.Int32  // side panels that are open

	// Plugins that wait for user scripts; nil: the extension is not the edition from a store.
	userScripts atomic.Pointer[[]string]

	stopOnce sync.Once
	stopping chan struct{} // closed by stop; the two below are set before
	code     int
	reason   string

	// Owned by run.
	corrupt []time.Time // when the last malformed frames came
}

func newConn(b *browser, socket *Socket, hello wire.Hello, log zerolog.Logger) *conn {
	protocol, _ := wire.Negotiate(wire.Speaks, hello.Protocol) // the handshake has come this far: there is one
	c := &conn{
		protocol: protocol, asking: make(chan struct{}, panelRequests),
		b: b, socket: socket, hello: hello, queue: newQueue(), log: log, ended: make(chan struct{}),
		pong: mustEncode(&wire.Pong{}), lifeSign: make(chan struct{}, 1), stopping: make(chan struct{}),
		began: time.Now(),
	}
	return c
}

// run reads until the connection ends. It returns last: after the send loop, and after the browser knows.
func (c *conn) run() {
	defer close(c.ended)
	ctx, cancel := context.WithCancel(context.Background())
	sent := make(chan struct{})
	go func() {
		defer close(sent)
		c.sendLoop(ctx)
	}()
	err := c.readLoop(ctx)
	cancel()
	c.socket.Drop()
	<-sent
	c.queue.stop()
	c.b.lose(c, err)
	c.answering.Wait()
}

func (c *conn) readLoop(ctx context.Context) error {
	for {
		message, err := c.socket.Read(ctx)
		var over *oversized
		switch {
		case errors.As(err, &over):
			c.tooLarge(over)
		case errors.Is(err, errNotText):
			c.malformed(err, nil)
		case err != nil:
			return err
		}
		c.noteHeard()
		if err == nil {
			c.handle(ctx, message)
		}
	}
}

// handle decodes one message and dispatches its frame. message is valid only until it returns.
func (c *conn) handle(ctx context.Context, message []byte) {
	frame, payload, err := wire.Decode(message)
	if err != nil {
		c.malformed(err, message)
		return
	}
	b := c.b
	switch f := frame.(type) {
	case *wire.Outcome:
		b.outcome(f, payload)
	case *wire.Started:
		b.notifyHidden(f.ID, f.Hidden)
		b.noteStarted(f.ID)
	case *wire.Progress:
		b.notifyHidden(f.ID, f.Hidden)
		b.addReport(f.ID, report{step: true, progress: call.Progress{Progress: f.Progress, Total: f.Total,
			Message: f.Message}})
	case *wire.Log:
		b.addReport(f.ID, report{entry: call.LogEntry{Level: f.Level, Message: f.Message, Data: f.Data}})
	case *wire.State:
		b.state(f)
	case *wire.Tabs:
		b.tabs.Store(newTabSet(f.Tabs))
		b.hub.leases.tabsOf(b)
		c.ready.Store(true)
		b.update(func(s *calls) { s.waitEnds = time.Time{} })
		b.hub.regroup(b)
		b.hub.news.changed()
		b.hub.tabNews(TabNews{ProfileID: b.id})
	case *wire.TabUpdate:
		before, now := b.tabs.Load().get(f.Tab.ID), newTab(f.Tab)
		b.tabs.Store(b.tabs.Load().with(now))
		b.hub.news.changed()
		b.hub.tabNews(TabNews{ProfileID: b.id, TabID: now.ID, Page: otherPage(before, now)})
	case *wire.TabClosed:
		b.tabs.Store(b.tabs.Load().without(f.TabID))
		b.hub.tabBecame(b, f.TabID, f.Became)
		b.tabGone(f.TabID)
		b.hub.tabNews(TabNews{ProfileID: b.id, TabID: f.TabID, Page: true, Closed: f.Became == 0})
	case *wire.Console:
		b.hub.tabNews(TabNews{ProfileID: b.id, TabID: f.TabID, Console: true})
	case *wire.Followed:
		if b.hub.cfg.Followed != nil {
			b.hub.cfg.Followed(f)
		}
	case *wire.PageTools:
		if b.hub.cfg.PageTools != nil {
			b.hub.cfg.PageTools.Tell(b.id, f.TabID, bytes.Clone(payload))
			b.hub.news.changed()
		}
	case *wire.Reply:
		b.replied(f, payload)
	case *wire.Renamed:
		b.rename(f.Label)
	case *wire.Panels:
		c.panels.Store(int32(min(f.Open, maxPanels)))
	case *wire.Request:
		c.panelAsks(ctx, f, payload)
	case *wire.Ping:
		c.queue.putAlways(c.pong)
	case *wire.Pong:
	case *wire.Notice:
		b.notice(f)
	case *wire.Unknown:
		c.log.Debug().Str("type", f.Type).Msg("a frame of an unknown type was ignored")
	default:
		c.malformed(errors.New("a "+string(frame.Kind())+" frame is not the extension's to send"), nil)
	}
}

// noteHeard notes that a message came, for the silence check and for answersPing.
func (c *conn) noteHeard() {
	c.heard.Store(int64(time.Since(c.began)))
	if c.probing.Load() > 0 {
		select {
		case c.lifeSign <- struct{}{}:
		default:
		}
	}
}

// answersPing pings the peer and reports whether any message comes within probeTime.
func (c *conn) answersPing(ctx context.Context) bool {
	c.probing.Add(1)
	defer c.probing.Add(-1)
	select {
	case <-c.lifeSign: // of an earlier probe
	default:
	}
	c.queue.putAlways(mustEncode(&wire.Ping{}))
	late := time.NewTimer(probeTime)
	defer late.Stop()
	select {
	case <-c.lifeSign:
		return true
	case <-late.C:
	case <-c.ended:
	case <-ctx.Done():
		return true // the newcomer is gone: nothing to replace
	}
	return false
}

// sendLoop writes what is queued, pings a peer that is silent, and drops one that stays so.
func (c *conn) sendLoop(ctx context.Context) {
	every := c.b.hub.cfg.PingEvery
	watch := time.NewTicker(every / 2)
	defer watch.Stop()
	ping := mustEncode(&wire.Ping{})
	var batch [][]byte
	for {
		select {
		case <-ctx.Done():
			return
		case <-c.stopping:
			if batch = c.queue.drain(batch[:0]); len(batch) > 0 {
				_ = c.socket.Write(batch...) // a peer that is gone needs no goodbye either
			}
			c.socket.Close(c.code, c.reason)
			return
		case <-watch.C:
			switch silent := time.Since(c.began) - time.Duration(c.heard.Load()); {
			case silent > wire.SilentAfter(every):
				c.log.Info().Dur("silent", silent).Msg("the extension says nothing any more; its connection is dropped")
				c.socket.Drop()
				return
			case silent > every:
				c.queue.putAlways(ping)
			}
		case <-c.queue.wake:
			if batch = c.queue.drain(batch[:0]); len(batch) == 0 {
				continue
			}
			if err := c.socket.Write(batch...); err != nil {
				c.socket.Drop()
				return
			}
			clear(batch)
		}
	}
}

// stop closes the connection with this code and reason; only the first call counts.
func (c *conn) stop(code int, reason string) {
	c.stopOnce.Do(func() {
		c.code, c.reason = code, reason
		close(c.stopping)
	})
}

// tooLarge answers an oversized frame as the failure of its call, where its header can be read.
func (c *conn) tooLarge(over *oversized) {
	c.countCorrupt(over)
	header, _, whole := bytes.Cut(over.head, []byte("\n"))
	if !whole {
		return
	}
	frame, _, err := wire.Decode(header)
	o, isOutcome := frame.(*wire.Outcome)
	if err != nil || !isOutcome {
		return
	}
	c.b.fail(o.ID, func(b *browser, f *flight) *fault.Error {
		return fault.New(fault.OutputTooLarge, "The result is larger than what a browser may send", b.at(f.tabID))
	})
}

// malformed counts a frame that cannot be decoded. A call whose outcome it was ends with a failure.
func (c *conn) malformed(err error, message []byte) {
	c.countCorrupt(err)
	header, _, _ := bytes.Cut(message, []byte("\n"))
	var about struct {
		Type string  `json:"type"`
		ID   call.ID `json:"id"`
	}
	if json.Unmarshal(header, &about) != nil || about.Type != "outcome" {
		return
	}
	c.b.fail(about.ID, func(b *browser, f *flight) *fault.Error {
		return fault.New(fault.InternalError, "The extension's answer could not be read", b.at(f.tabID),
			fault.WithCause(err))
	})
}

// countCorrupt counts a corrupt frame, and closes the connection after corruptFrames of them within corruptTime.
func (c *conn) countCorrupt(err error) {
	c.b.hub.cfg.Meter.Corruption("extension")
	// The error may quote what the peer sent.
	c.log.Warn().Str("problem", fault.Sanitize(strings.ToValidUTF8(err.Error(), "?"))).Msg("a frame was not understood")
	now := time.Now()
	for len(c.corrupt) > 0 && now.Sub(c.corrupt[0]) > corruptTime {
		c.corrupt = c.corrupt[1:]
	}
	if c.corrupt = append(c.corrupt, now); len(c.corrupt) == corruptFrames {
		c.stop(closeCorrupt, "too many frames that cannot be understood")
		c.b.hub.emit(Event{Kind: Corrupted, ProfileID: c.b.id, Profile: c.b.label(), Message: fmt.Sprintf(
			"%d frames within %s were too large or could not be understood, so the connection is closed", corruptFrames,
			corruptTime)})
	}
}
