package node

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"tabrelay/relay/capability/fleet/wire"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
)

// Caller carries out calls.
type Caller interface {
	Reserve(session string) call.Position
	Do(ctx context.Context, c call.Call) (*call.Result, *fault.Error)
}

const (
	// keptCalls is how many calls are known here after their end, and keptBytes how much of their answers together.
	// What is asked for after that is answered from the journal.
	keptCalls = 4096
	keptBytes = 32 << 20
	// keptTime is how long an end is known at the least, where there is room.
	keptTime = 10 * time.Minute
)

// calls are those of the fleet: the ones that run, and the ends of earlier ones.
type calls struct {
	node *Node

	mu     lock.Mutex // guards the rest, and all running; nothing nests in it
	byID   map[call.ID]*running
	coming map[call.ID]*coming
	ended  []*running // the oldest first
	bytes  int        // of answers of those
	open   int
}

// running is a call of the fleet, by its local id.
type running struct {
	id      call.ID
	session call.Session
	profile string                  // that is leased for it; empty: none
	end     context.CancelCauseFunc // nil: it was withdrawn before it came
	replies []string                // subjects on which its end is awaited

	over    bool
	at      time.Time // of the end
	outcome []byte    // of one that has ended; nil: it was too large to keep
}

// maxReplies bounds how many wait for one call: the gateway that sent it, and after a loss the same one again.
const maxReplies = 8

// await has the end told on one more subject, and not on the first one any more where there are too many. It is called
// while mu is held.
func (r *running) await(reply string) {
	if slices.Contains(r.replies, reply) {
		return
	}
	if r.replies = append(r.replies, reply); len(r.replies) > maxReplies {
		r.replies = slices.Clone(r.replies[1:])
	}
}

func (c *calls) running() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.open
}

// take takes a call: it begins, or is known already and has its end told once more, or its arguments are asked for.
func (c *calls) take(gateway, reply string, r *wire.Request, arguments json.RawMessage) {
	session := c.node.sessionOf(gateway, r.Caller)
	id := localID(session.Client, r.ID)
	c.mu.Lock()
	if one := c.byID[id]; one != nil {
		over := one.over
		if !over {
			one.await(reply)
		}
		c.mu.Unlock()
		if c.node.reply(reply, wire.Reply{Kind: wire.Accepted}, nil); over {
			c.tell(one, reply)
		}
		return
	}
	full, part := "", 0
	switch {
	case c.open >= c.node.MaxCalls:
		full = fmt.Sprintf("%d calls of the fleet are open at the node already (fleet.maxCalls)", c.node.MaxCalls)
	case r.Bytes > 0:
		if part, full = c.expect(id, reply, r); part == 0 && full == "" {
			arguments = c.coming[id].arguments
		}
	}
	c.mu.Unlock() // requests come one after the other: no other call begins meanwhile
	switch {
	case full != "":
		c.refuse(reply, r, fault.New(fault.Overloaded, full, fault.WithRetryAfter(time.Second)))
		return
	case part > 0:
		c.node.reply(reply, wire.Reply{Kind: wire.Wants, Part: part}, nil)
		return
	}
	admitted, ok := c.node.admit(session, reply, r, arguments)
	if !ok {
		return
	}
	ctx, cancel := context.WithCancelCause(c.node.base)
	one := &running{id: id, session: session, profile: admitted.profile, end: cancel, replies: []string{reply}}
	c.mu.Lock()
	delete(c.coming, id)
	c.byID[id] = one
	c.open++
	c.mu.Unlock()
	c.node.noteCaller(session)
	c.node.reply(reply, wire.Reply{Kind: wire.Accepted}, nil)
	position := c.node.Relay.Reserve(session.ID) // here, where requests come in their order
	c.node.ended.Go(func() {
		defer cancel(nil)
		c.run(ctx, one, position, r, admitted)
	})
}

// refuse ends a call that did not begin.
func (c *calls) refuse(reply string, r *wire.Request, why *fault.Error) {
	c.node.replyWhole(reply, wire.Reply{Kind: wire.End}, wire.EncodeOutcome(nil, unlessAgain(r.Again, why)))
}

// run carries a call out, and tells its end.
func (c *calls) run(ctx context.Context, one *running, position call.Position, r *wire.Request,
	admitted admitted) {
	ctx, done := context.WithTimeout(ctx, time.Duration(r.WaitMs)*time.Millisecond)
	defer done()
	quiet := c.keepTelling(one)
	result, failure := c.node.carryOut(ctx, call.Call{
		ID: one.id, Session: one.session, Tool: r.Tool, Arguments: admitted.arguments, Position: position,
		Resume: r.Again, Timeout: time.Duration(r.TimeoutMs) * time.Millisecond, MaxBytes: r.MaxBytes,
		ArrayPath: r.ArrayPath, Structured: r.Structured, Reason: r.Reason,
		Progress: func(p call.Progress) {
			c.each(one, wire.Reply{Kind: wire.Progress, Progress: p.Progress, Total: p.Total,
				Message: fault.Excerpt(p.Message)})
		},
	})
	quiet()
	admitted.left(failure)
	outcome := wire.EncodeOutcome(result, failure)
	if len(outcome) > wire.MaxAnswer {
		outcome = wire.EncodeOutcome(nil, fault.New(fault.OutputTooLarge, fmt.Sprintf("The answer has %d bytes, and "+
			"at most %d travel between a node and a gateway", len(outcome), wire.MaxAnswer)))
	}
	for _, reply := range c.settle(one, outcome) {
		c.node.replyWhole(reply, wire.Reply{Kind: wire.End}, outcome)
	}
}

// carryOut is the relay's own way, for what is lent.
func (n *Node) carryOut(ctx context.Context, c call.Call) (*call.Result, *fault.Error) {
	if n.lent(c.Session, c.Tool) != nil {
		return n.Relay.Do(ctx, c)
	}
	c.Tool = fault.Excerpt(c.Tool)
	return nil, unlessAgain(c.Resume, fault.New(fault.UnknownTool, "The node "+n.Name+" lends no tool named "+c.Tool+
		" to "+c.Session.Client, fault.WithOutcome(fault.NotExecuted)))
}

// lent is a tool that is lent to a session; nil: there is none of the name.
func (n *Node) lent(s call.Session, name string) *registry.Tool {
	for _, t := range n.Relay.List(s) {
		if t.Name == name && lends(t) {
			return t
		}
	}
	return nil
}

// unlessAgain is why a call is not carried out now. One that was sent before may have been, by the relay before this.
func unlessAgain(again bool, f *fault.Error) *fault.Error {
	if again {
		fault.WithOutcome(fault.Unknown)(f)
		fault.WithRetryable(false)(f)
	}
	return f
}

// settle notes how a call ended, and returns who is to be told.
func (c *calls) settle(one *running, outcome []byte) (replies []string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	replies, one.replies = one.replies, nil
	c.open--
	c.keep(one, outcome)
	return replies
}

// keep keeps an end, and forgets the oldest ones where there are too many. It is called while mu is held.
func (c *calls) keep(one *running, outcome []byte) {
	one.over, one.at, one.outcome = true, time.Now(), outcome
	c.ended = append(c.ended, one)
	c.bytes += len(outcome)
	for _, old := range c.ended {
		if c.bytes <= keptBytes || old == one {
			break
		}
		c.bytes -= len(old.outcome)
		old.outcome = nil
	}
	for len(c.ended) > keptCalls || time.Since(c.ended[0].at) > keptTime && len(c.ended) > keptCalls/2 {
		old := c.ended[0]
		c.ended = c.ended[1:]
		c.bytes -= len(old.outcome)
		delete(c.byID, old.id)
	}
}

// tell tells the end of a call that is over.
func (c *calls) tell(one *running, reply string) {
	c.mu.Lock()
	outcome, withdrawn := one.outcome, one.end == nil
	c.mu.Unlock()
	switch {
	case withdrawn:
		c.node.reply(reply, wire.Reply{Kind: wire.Never}, nil)
		return
	case outcome == nil:
		outcome = wire.EncodeOutcome(nil, fault.New(fault.OutputTooLarge, "The call has ended, and its answer is not "+
			"kept any more", fault.WithOutcome(fault.Unknown),
			fault.WithHint("Read the page before repeating a change: the action may have happened.")))
	}
	c.node.replyWhole(reply, wire.Reply{Kind: wire.End}, outcome)
}

// cancel ends a call, or has it never start.
func (c *calls) cancel(gateway, reply string, r *wire.Request) {
	session := c.node.sessionOf(gateway, r.Caller)
	id := localID(session.Client, r.ID)
	c.mu.Lock()
	one := c.byID[id]
	delete(c.coming, id)
	switch {
	case one == nil && r.Life != c.node.life:
		c.mu.Unlock() // it may have been with the relay before this one
		c.node.reply(reply, wire.Reply{Kind: wire.Unsure}, nil)
	case one == nil:
		one = &running{id: id, session: session}
		c.byID[id] = one
		c.keep(one, nil)
		c.mu.Unlock()
		c.node.reply(reply, wire.Reply{Kind: wire.Never}, nil)
	case one.over:
		c.mu.Unlock()
		c.tell(one, reply)
	default:
		one.await(reply)
		c.mu.Unlock()
		one.end(call.ErrCancelled)
	}
}

// keepTelling tells who waits for a call that it goes on, until quiet is called.
func (c *calls) keepTelling(one *running) (quiet func()) {
	ctx, stop := context.WithCancel(context.Background())
	done := make(chan struct{})
	go func() {
		defer close(done)
		tick := time.NewTicker(wire.AliveEvery)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
				c.each(one, wire.Reply{Kind: wire.Alive})
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() {
		stop()
		<-done
	}
}

// each tells everybody who waits for a call.
func (c *calls) each(one *running, r wire.Reply) {
	c.mu.Lock()
	replies := one.replies[:len(one.replies):len(one.replies)]
	c.mu.Unlock()
	for _, reply := range replies {
		c.node.reply(reply, r, nil)
	}
}

// end ends calls that run.
func (c *calls) end(which func(*running) bool, why error) {
	c.mu.Lock()
	var open []*running
	for _, one := range c.byID {
		if !one.over && which(one) {
			open = append(open, one)
		}
	}
	c.mu.Unlock()
	for _, one := range open {
		one.end(why)
	}
}
