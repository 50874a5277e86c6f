package gateway

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tabrelay/relay/capability/fleet/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// Reserve implements front.Caller. The order of a client's calls is that in which they reach the node.
func (g *Gateway) Reserve(string) call.Position { return 0 }

// Withdraw implements front.Caller.
func (g *Gateway) Withdraw(call.Position) {}

// Do implements front.Caller: it has the call carried out by a node.
func (g *Gateway) Do(ctx context.Context, c call.Call) (*call.Result, *fault.Error) {
	if t, there := g.Snapshot().Find(c.Tool); there {
		if scope := scopeOf(c.Session); scope != nil {
			if failure := scope.Refuse(c.Session.Client, t); failure != nil {
				return nil, failure
			}
		}
	}
	began := time.Now()
	n, arguments, failure := g.target(&c)
	if c.Resume { // an earlier gateway may have sent it to a node that is on its way
		for ; failure != nil; n, arguments, failure = g.target(&c) {
			if time.Since(began) > g.Recover || !pause(ctx, askEvery) {
				failure.Outcome = fault.Unknown
				return nil, failure
			}
		}
	}
	if failure != nil {
		return nil, failure
	}
	if len(arguments) > wire.MaxArguments {
		return nil, failed(fault.InputTooLarge, "Send less at once, for example in several calls.",
			"The arguments have %d bytes, and at most %d travel to a node", len(arguments), wire.MaxArguments)
	}
	f := &flight{Gateway: g, call: c, node: n.Node, life: n.Life, arguments: arguments, began: began,
		caller: g.callerOf(c.Session)}
	g.visit(c.Session.ID, f.caller, n.Node)
	result, failure := f.do(ctx)
	if failure != nil {
		failure.Profile = at(n.Node, failure.Profile)
		return nil, failure
	}
	result.Meta.Profile = at(n.Node, result.Meta.Profile)
	return result, nil
}

func at(node, profile string) string { return choice(node, profile) }

// callerOf is on whose behalf a session calls, as nodes are told.
func (g *Gateway) callerOf(s call.Session) *wire.Caller {
	machine := s.Machine
	if machine == "" {
		machine = g.Machine
	}
	sum := sha256.Sum256([]byte(s.ID))
	person, agent := g.Caller(s.Client)
	return &wire.Caller{Person: person, Agent: agent, Machine: machine,
		Session: hex.EncodeToString(sum[:16])}
}

// flight is a call that is with a node.
type flight struct {
	*Gateway
	call      call.Call
	node      string
	life      string // of the node, as far as it is known
	arguments json.RawMessage
	caller    *wire.Caller
	began     time.Time

	sent  bool // the whole call may have reached the node
	again bool // it was sent more than once
	taken bool // the node has said that it has the call

	part   int       // of the arguments, that was sent last
	partAt time.Time // when

	turn turn
}

// inParts reports whether the arguments are too large for the message of the call.
func (f *flight) inParts() bool { return len(f.arguments) > wire.PartBytes }

// mayRun reports whether the node may have the call, whatever it answers now.
func (f *flight) mayRun() bool { return f.taken || f.sent && (f.again || f.call.Resume) }

// errNobody is that NATS knows nobody who hears the node's subject: the message reached nobody.
var errNobody = errors.New("no node of this name is connected")

// do sends the call and waits for its end. When the node falls silent, it is asked again under the same id, for as long
// as there is time: it answers what became of the call, and carries it out only if it has not yet.
func (f *flight) do(ctx context.Context) (*call.Result, *fault.Error) {
	in := f.listen()
	defer in.close()
	f.sent = f.call.Resume // by the gateway that had the call before
	if err := f.ask(ctx, in, f.call.Resume); err != nil && !f.sent {
		return nil, f.unreached(err)
	}
	heard, until := f.began, time.Time{} // when the node was heard last, and until when it may stay silent
	for {
		wait, cancel := context.WithTimeout(ctx, f.nextLook(until))
		r, payload, err := in.next(wait)
		cancel()
		switch {
		case err == nil:
			if r.Life != "" && (r.Kind != wire.Waits || !f.mayRun()) {
				f.life = r.Life // of one that had the call before, what it says of itself now proves nothing
			}
			if result, failure, over := f.hear(r, payload); over {
				return result, failure
			}
			if r.Kind == wire.Wants {
				_ = f.sendPart(r.Part, in) // the node is silent then
			}
			if r.Kind != wire.Part {
				heard, until = time.Now(), time.Time{}
			}
			if !f.turn.due() {
				continue
			}
		case ctx.Err() != nil:
			return nil, f.abandon(ctx)
		case errors.Is(err, errBroken):
			f.Log.Warn().Str("node", f.node).Err(err).Msg("an answer of a node is refused")
		case errors.Is(err, errNobody) && !f.taken && !f.call.Resume && !f.again:
			f.sent = false // it reached nobody
			if !f.turn.goesOn(f.Queue) {
				return nil, f.unreached(err)
			}
			continue // the node keeps its place until it is back
		}
		if f.turn.waits && (err == nil || errors.Is(err, context.DeadlineExceeded)) { // it is to be sent again
			if f.turn.over(f.Queue) {
				return nil, f.tooLate(ctx)
			}
			f.turn.waits, f.turn.asked = false, time.Now()
			_ = f.ask(ctx, in, f.again || f.taken || f.call.Resume) // what does not leave is a silence
			continue
		}
		if until.IsZero() {
			until = f.patience(heard)
			f.Log.Info().Str("node", f.node).Str("correlationId", string(f.call.ID)).Msg("a node fell silent")
		}
		if time.Now().After(until) {
			return nil, f.gone()
		}
		if !errors.Is(err, context.DeadlineExceeded) && !pause(ctx, askEvery) {
			return nil, f.abandon(ctx)
		}
		if err := f.ask(ctx, in, true); err != nil && !pause(ctx, askEvery) {
			return nil, f.abandon(ctx)
		}
	}
}

// patience is until when a node that has fallen silent may stay so: Recover after it was heard last. It is asked once
// in any case, because the silence may be that of this program, which was stopped.
func (f *flight) patience(heard time.Time) time.Time {
	until, asked := heard.Add(f.Recover), time.Now().Add(min(f.Recover, wire.LostAfter))
	if asked.After(until) {
		return asked
	}
	return until
}

// nextLook is how long to wait for the next word of a node. One that is silent is given up when its time is over, and
// not when it would be asked once more.
func (f *flight) nextLook(until time.Time) time.Duration {
	if f.turn.waits {
		return max(0, time.Until(f.turn.next))
	}
	if until.IsZero() {
		return wire.LostAfter
	}
	return max(askEvery, min(wire.LostAfter, time.Until(until)))
}

// askEvery is the pause before a node that is not connected is asked again.
const askEvery = 250 * time.Millisecond

// ask sends the call.
func (f *flight) ask(ctx context.Context, in *inbox, again bool) error {
	wait := int64(wire.MaxWait)
	if end, ok := ctx.Deadline(); ok {
		wait = min(wait, max(1, time.Until(end).Milliseconds()))
	}
	f.again = f.again || again
	c := &f.call
	r := wire.Request{
		V: wire.Version, ID: string(c.ID), Caller: f.caller, Tool: c.Tool, WaitMs: wait,
		TimeoutMs: min(c.Timeout.Milliseconds(), wire.MaxWait), MaxBytes: c.MaxBytes, ArrayPath: c.ArrayPath,
		Structured: c.Structured, Reason: c.Reason, Again: again && f.sent,
	}
	if f.inParts() {
		r.Bytes = len(f.arguments)
		err := f.send(f.node, wire.OpCall, r, nil, in.subject)
		if err == nil && f.part*wire.PartBytes >= len(f.arguments) { // the node may have them all
			f.sent = true
		}
		return err
	}
	err := f.send(f.node, wire.OpCall, r, f.arguments, in.subject)
	if err == nil {
		f.sent = true
	}
	return err
}

// sendPart sends a piece of the arguments, which the node wants. The one after the last goes at once, every other one
// only after a silence: what is on its way is not sent again because the node was asked meanwhile.
func (f *flight) sendPart(part int, in *inbox) error {
	from := (part - 1) * wire.PartBytes
	if part < 1 || from >= len(f.arguments) || part != f.part+1 && time.Since(f.partAt) < wire.LostAfter {
		return nil
	}
	f.part, f.partAt = part, time.Now()
	to := min(from+wire.PartBytes, len(f.arguments))
	err := f.send(f.node, wire.OpPart, wire.Request{V: wire.Version, ID: string(f.call.ID), Caller: f.caller,
		Part: part}, f.arguments[from:to], in.subject)
	if err == nil && to == len(f.arguments) {
		f.sent = true
	}
	return err
}

// hear takes a reply of the node; over: it is the last one.
func (f *flight) hear(r wire.Reply, payload []byte) (result *call.Result, failure *fault.Error, over bool) {
	switch r.Kind {
	case wire.Accepted, wire.Alive:
		f.taken = true
	case wire.Progress:
		if f.taken = true; f.call.Progress != nil {
			f.call.Progress(call.Progress{Progress: r.Progress, Total: r.Total, Message: fault.Sanitize(r.Message)})
		}
	case wire.Waits:
		f.waits(r)
	case wire.Turn:
		f.turn.called()
	case wire.Never:
		return nil, failed(fault.Cancelled, "", "The call was withdrawn before the node %s began it", f.node), true
	case wire.Refused:
		if f.mayRun() {
			return nil, fault.New(fault.ExtensionLost, fmt.Sprintf("The node %s may have the call, and does not take "+
				"it again: %s", f.node, fault.Sanitize(r.Why)), fault.WithOutcome(fault.Unknown)), true
		}
		return nil, failed(fault.InvalidRequest, "The program of the gateway, or of the node, may be older: update "+
			"both.", "The node %s did not take the call: %s", f.node, fault.Sanitize(r.Why)), true
	case wire.End:
		result, failure, err := wire.DecodeOutcome(payload)
		if err != nil {
			return nil, fault.New(fault.InvalidOutput, fmt.Sprintf("What the node %s answers cannot be read: %v",
				f.node, err), fault.WithOutcome(fault.Unknown)), true
		}
		return result, failure, true
	}
	return nil, nil, false
}

// unreached is the failure of a call that reached nobody.
func (f *flight) unreached(err error) *fault.Error {
	return failed(fault.ProfileNotConnected, "Repeat the call later; the person there can look with `tabrelay fleet "+
		"status`.", "The node %s cannot be reached: %s", f.node, fault.Sanitize(err.Error()))
}

// gone is the failure of a call whose node did not come back in time.
func (f *flight) gone() *fault.Error {
	outcome := fault.Unknown
	if !f.sent {
		outcome = fault.NotExecuted
	}
	return fault.New(fault.ExtensionLost, fmt.Sprintf("The node %s fell silent while it had the call, and did not "+
		"come back within %s", f.node, f.Recover), fault.WithOutcome(outcome), fault.WithRetryable(outcome ==
		fault.NotExecuted), fault.WithHint("Look at the page, when the node is back, before repeating a change."))
}

// cancelTime is how long a node may take to say how a call ended that is not waited for any more.
const cancelTime = time.Second

// abandon has the node end the call, and says what is known of it.
func (f *flight) abandon(ctx context.Context) *fault.Error {
	ended := fault.CallEnded(ctx, "while the node "+f.node+" had it")
	if ended.Outcome = fault.Unknown; !f.sent {
		ended.Outcome = fault.NotExecuted
		if f.inParts() { // the node need not wait for the others
			_ = f.send(f.node, wire.OpCancel, f.withdrawal(), nil, f.conn.NewInbox())
		}
		return ended
	}
	return f.withdraw(ctx, ended)
}

// withdraw has the node end the call or never begin it, and returns how it ended: with this failure unless the node
// says otherwise.
func (f *flight) withdraw(ctx context.Context, ended *fault.Error) *fault.Error {
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer cancel()
	in := f.listen()
	defer in.close()
	if f.send(f.node, wire.OpCancel, f.withdrawal(), nil, in.subject) != nil {
		return ended
	}
	for {
		r, payload, err := in.next(late)
		switch {
		case err != nil || r.Kind == wire.Unsure:
			return ended
		case r.Kind == wire.Never:
			ended.Outcome = fault.NotExecuted
			return ended
		case r.Kind == wire.End:
			if _, failure, err := wire.DecodeOutcome(payload); err == nil && failure != nil {
				return failure
			} else if err == nil {
				ended.Outcome = fault.Executed
			}
			return ended
		}
	}
}

func (f *flight) withdrawal() wire.Request {
	r := wire.Request{V: wire.Version, ID: string(f.call.ID), Caller: f.caller, Life: f.life}
	if f.call.Resume { // another gateway sent it, perhaps to an earlier life of the node
		r.Life = ""
	}
	return r
}

// pause waits, and reports whether there is still time.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// send sends a request to a node, to be answered on reply. An error means that it did not leave.
func (g *Gateway) send(to string, op wire.Op, r wire.Request, payload []byte, reply string) error {
	data := wire.Encode(r, payload)
	if len(data) > wire.MaxMessage {
		return fmt.Errorf("the message has %d bytes, more than %d", len(data), wire.MaxMessage)
	}
	return g.conn.PublishRequest(wire.RequestSubject(to, g.Name, op), reply, data)
}
