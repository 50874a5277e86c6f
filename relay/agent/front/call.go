package front

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"maps"
	"math"
	"slices"
	"strconv"
	"time"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// callable is what a name in tools/call stands for.
type callable struct {
	name            string
	hasOutputSchema bool // clients check structuredContent against it
	failureText     func(*fault.Error) string
	indent          bool // the result is shown as indented JSON
	long            bool // a call of it may become a task
	run             func(context.Context, call.Call, *Asker) (*call.Result, *fault.Error)
}

// find resolves a name among the tools of the client's toolset. A tool that policy or scope hide from it is found, too:
// dispatch refuses the call with the reason.
func (f *Front) find(name string, p *peer) (callable, *fault.Error) {
	snapshot := f.options.Tools.Snapshot()
	if t, ok := snapshot.Find(name); ok && p.tools.Shows(t) {
		return callable{name: name, hasOutputSchema: t.Spec.OutputSchema != nil, failureText: t.AgenticText,
			indent: t.AgenticText != nil && !t.Compact, long: t.Task, run: f.carryOut}, nil
	}
	if snapshot.Withheld(name) != nil {
		return callable{name: name, run: f.carryOut}, nil // which fails, and says why
	}
	v := f.visibleTo(p.session, p.tools, p.offered)
	if g := findGateway(name); g != nil && v.tools.Gateway {
		return callable{name: name, run: g.bind(f)}, nil
	}
	return callable{}, f.unknownTool(name, snapshot, v)
}

// callTool turns tools/call into a call and its end into the response.
func (f *Front) callTool(ctx context.Context, p *peer, x *exchange, m *message, meta *requestMeta) {
	c := call.Call{ID: x.callID, Session: p.sender(meta), Resume: x.resume, Position: x.position}
	t, fail := f.readCall(&c, p, m, meta)
	if c.ID == "" {
		c.ID = call.NewID()
	}
	if fail != nil {
		name, _ := rawjson.Text(m.param("name"))
		f.record(&c, name, time.Now(), fail)
		x.respond(x.errorResponse(fail))
		return
	}
	if x.tool, x.token = t.name, meta.Progress; x.modern {
		x.level = meta.LogLevel
	}
	x.callID, x.mayBeTask = c.ID, t.long && f.mayBeTask(p, meta)
	f.perform(ctx, p, x, m, meta, func(ctx context.Context, client *Asker, out reporter) answer {
		if x.level != "" {
			c.Log = out.reportLog
		}
		if x.token != nil || t.long {
			c.Progress = out.reportProgress
		}
		if client != nil {
			c.Ask = client.Question()
		}
		result, failure := t.run(ctx, c, client)
		return func(x *exchange) response {
			switch {
			case failure == nil:
				if p.noLinks.Load() {
					result = withoutLinks(result)
				}
				if t.indent {
					result = indented(result)
				}
				if p.parsesText.Load() {
					result = withObject(result)
				}
				return f.renderResult(x, result)
			case failure.Ours(fault.ClientCapabilityMissing) && x.modern:
				return f.failed(x, failure, "")
			}
			return f.renderFailure(x, failure, result, t, f.advice(p, failure))
		}
	})
}

// advice is the next step after a failure that takes a tool which the client may use; empty: there is none.
func (f *Front) advice(p *peer, e *fault.Error) string {
	for _, group := range slices.Sorted(maps.Keys(f.options.Advice)) {
		words := f.options.Advice[group](e)
		if words == "" {
			continue
		}
		v := f.visibleTo(p.session, p.tools, p.offered)
		for _, t := range f.options.Tools.Snapshot().Tools {
			if t.Group == group && v.shows(t) {
				return words
			}
		}
	}
	return ""
}

// readCall parses the params of tools/call.
func (f *Front) readCall(c *call.Call, p *peer, m *message, meta *requestMeta) (t callable, fail *fault.Error) {
	name, ok := rawjson.Text(m.param("name"))
	if !ok {
		return t, fault.New(fault.InvalidParams, "The params of tools/call have no name, or it is not a string")
	}
	if fail = f.readCallID(c, meta); fail != nil {
		return callable{name: name}, fail
	}
	if t, fail = f.find(name, p); fail != nil {
		if !f.options.CallIDs || !c.Resume {
			return t, fail
		}
		t = callable{name: name, run: f.carryOut} // the Caller says what became of it
	}
	c.Tool = name
	if c.Arguments = m.param("arguments"); c.Arguments != nil && c.Arguments[0] != '{' {
		return t, fault.New(fault.InvalidParams, "The arguments of tools/call are not an object")
	}
	if token := meta.Progress; string(token) == "null" {
		meta.Progress = nil
	} else if token != nil && !isID(token) {
		return t, fault.New(fault.InvalidParams, "The progressToken is neither a string nor a number")
	}
	return t, meta.readOptions(c)
}

// readCallID reads the id that the client has given the call, and whether it was sent before.
func (f *Front) readCallID(c *call.Call, meta *requestMeta) *fault.Error {
	if meta.CallID == nil && meta.Again == nil {
		return nil
	}
	if !f.options.CallIDs {
		return fault.New(fault.InvalidParams, `_meta["tabrelay/callId"] and _meta["tabrelay/again"] are for gateways `+
			`of a fleet`, fault.WithHint("Leave them out here. A call whose answer was lost may have been carried "+
			"out: read the page before repeating it."))
	}
	id, ok := rawjson.Text(meta.CallID)
	if !ok || !callIDForm.MatchString(id) {
		return fault.New(fault.InvalidParams, `_meta["tabrelay/callId"] is not 32 of the digits 0-9 and a-f`,
			fault.WithHint("Make a random one for each call, and send it again only with that same call."))
	}
	switch again := string(meta.Again); again {
	case "", "true", "false":
		c.Resume = c.Resume || again == "true"
	default:
		return fault.New(fault.InvalidParams, `_meta["tabrelay/again"] is neither true nor false`)
	}
	if c.ID == "" {
		c.ID = call.ID(id)
	}
	return nil
}

var callIDForm = lazyregexp.New(`^[0-9a-f]{32}$`)

// readOptions reads the options of this one call from _meta.
func (meta *requestMeta) readOptions(c *call.Call) *fault.Error {
	parent, _ := rawjson.Text(meta.Traceparent)
	state, _ := rawjson.Text(meta.Tracestate)
	c.Trace = call.ReadTrace(parent, state)
	if raw := meta.TimeoutMs; raw != nil {
		ms, ok := wholeNumber(raw)
		if !ok {
			return fault.New(fault.InvalidParams, `_meta["tabrelay/timeoutMs"] is not a whole number of milliseconds `+
				`above 0`)
		}
		c.Timeout = call.Timeout(ms)
	}
	if raw := meta.MaxBytes; raw != nil {
		size, ok := wholeNumber(raw)
		if !ok {
			return fault.New(fault.InvalidParams, `_meta["tabrelay/maxBytes"] is not a whole number of bytes above 0`)
		}
		c.MaxBytes = int(min(size, math.MaxInt32))
	}
	switch raw := string(meta.Structured); raw {
	case "", "true", "false":
		c.Structured = raw == "true"
	default:
		return fault.New(fault.InvalidParams, `_meta["tabrelay/structured"] is neither true nor false`)
	}
	if raw := meta.Reason; raw != nil {
		reason, ok := rawjson.Text(raw)
		if !ok || len(reason) > maxReason {
			return fault.New(fault.InvalidParams,
				`_meta["tabrelay/reason"] is not a string, or longer than 2,000 bytes`,
				fault.WithHint("Say in one line why the person should allow the call."))
		}
		c.Reason = reason
	}
	if raw := meta.ArrayPath; raw != nil {
		path, ok := rawjson.Text(raw)
		if !ok || len(path) > maxArrayPath {
			return fault.New(fault.InvalidParams, `_meta["tabrelay/arrayPath"] is not a string, or too long`)
		}
		c.ArrayPath = path
	}
	return nil
}

const (
	// maxReason bounds why an agent says that it needs a call; the person is shown the beginning of it.
	maxReason = 2000

	maxArrayPath = 1000 // bytes
)

// wholeNumber reads a JSON number that is a whole one above 0. One too large for a float64 is infinite.
func wholeNumber(raw []byte) (float64, bool) {
	n, err := strconv.ParseFloat(string(raw), 64)
	return n, (err == nil || errors.Is(err, strconv.ErrRange)) && n > 0 && n == math.Trunc(n)
}

// derivedID makes the id of a stdio call from the attachment's key and the request's id, so that the next relay, which
// gets the pending request again, finds the same call in the journal.
func derivedID(key string, requestID []byte) call.ID {
	h := sha256.New()
	h.Write([]byte(key))
	h.Write([]byte{0})
	h.Write(requestID)
	return call.ID(hex.EncodeToString(h.Sum(nil)[:16]))
}

// Audit records the calls that do not reach the Caller, because they were refused before or answered here. The Caller
// records its own.
type Audit interface {
	// Record does not wait for the disk. The entry's arguments belong to the caller again once it returns.
	Record(e call.Entry)
}

// record writes down the end of a call that the Caller did not see; fail is nil when it succeeded.
func (f *Front) record(c *call.Call, name string, began time.Time, fail *fault.Error) {
	if f.options.Audit == nil {
		return
	}
	e := call.Entry{
		At: time.Now(), Kind: call.EntryCall, Session: c.Session, Tool: name, Plugin: "relay", Arguments: c.Arguments,
		Outcome:  "returned",
		Duration: time.Since(began), CallID: c.ID,
	}
	if fail != nil {
		e.Outcome, e.Code, e.Detail = string(fault.NotExecuted), string(fail.Code), fail.Message
		if findGateway(name) == nil {
			e.Plugin = "" // there is no such tool
		}
	}
	f.options.Audit.Record(e)
}

// carryOut passes a call to the Caller, or to the capability that bounds its session.
func (f *Front) carryOut(ctx context.Context, c call.Call, client *Asker) (*call.Result, *fault.Error) {
	if bounds := c.Session.Bounds; bounds != nil {
		by, there := f.options.Bounded[bounds.By]
		if !there { // nobody would keep it within its bounds
			return nil, fault.New(fault.PermissionDenied, "Nothing here runs calls of the agent "+bounds.Agent)
		}
		return by.Do(ctx, c)
	}
	if asking, ok := f.options.Caller.(AskingCaller); ok {
		return asking.DoAsking(ctx, c, client)
	}
	return f.options.Caller.Do(ctx, c)
}
