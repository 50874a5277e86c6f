package front

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"strconv"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
)

// target is what a name in tools/call stands for.
type target struct {
	name     string
	declares bool // an output schema is listed, so nothing that misses it may stand in structuredContent
	run      func(context.Context, call.Call) (*call.Result, *fault.Error)
}

// find resolves a name among the tools the client sees.
func (f *Front) find(name string, s toolset) (target, *fault.Error) {
	snapshot := f.options.Tools.Snapshot()
	if t, ok := snapshot.Find(name); ok && s.shows(t) {
		return target{name, t.Declares(), f.options.Caller.Do}, nil
	}
	if g := findGateway(name); g != nil && s.gateway {
		return target{name, false, g.bind(f)}, nil
	}
	return target{}, unknownTool(name, snapshot, s)
}

// callTool turns tools/call into a call and its end into the response.
func (f *Front) callTool(ctx context.Context, p *party, x *exchange, m *message, meta *requestMeta) {
	c := call.Call{ID: x.callID, Session: p.session, Resume: x.resume}
	t, fail := f.readCall(&c, p, m, meta)
	if fail != nil {
		x.respond(refuse(x.id, fail, x.modern))
		return
	}
	if c.ID == "" {
		c.ID = randomID()
	}
	x.tool, x.level = t.name, meta.LogLevel
	if !x.modern {
		x.level = string(p.client.GetLogLevel())
	}
	if x.level != "" {
		c.Log = x.reportLog
	}
	if meta.Progress != nil {
		x.token, c.Progress = meta.Progress, x.reportProgress
	}
	result, failure := t.run(ctx, c)
	if context.Cause(ctx) == call.ErrCancelled {
		x.abandon()
	}
	if failure != nil {
		x.respond(f.renderFailure(x, failure, result, t.declares))
		return
	}
	x.respond(f.renderResult(x, result))
}

// readCall takes the params of tools/call apart.
func (f *Front) readCall(c *call.Call, p *party, m *message, meta *requestMeta) (t target, fail *fault.Error) {
	name, ok := unquote(m.param("name"))
	if !ok {
		return t, fault.New(fault.InvalidParams, "The params of tools/call have no name, or it is not a string")
	}
	if t, fail = f.find(name, p.tools); fail != nil {
		return t, fail
	}
	c.Tool = name
	if c.Arguments = m.param("arguments"); c.Arguments != nil && c.Arguments[0] != '{' {
		return t, fault.New(fault.InvalidParams, "The arguments of tools/call are not an object")
	}
	if token := meta.Progress; string(token) == "null" {
		meta.Progress = nil
	} else if token != nil && token[0] != '"' && token[0] != '-' && !isDigit(token[0]) {
		return t, fault.New(fault.InvalidParams, "The progressToken is neither a string nor a number")
	}
	if raw := meta.TimeoutMs; raw != nil {
		ms, err := strconv.ParseFloat(string(raw), 64)
		if err != nil && !errors.Is(err, strconv.ErrRange) || ms <= 0 || ms != math.Trunc(ms) {
			return t, fault.New(fault.InvalidParams, `_meta["tabrelay/timeoutMs"] is not a whole number of milliseconds above 0`)
		}
		c.Timeout = time.Duration(min(ms, maxTimeoutMs)) * time.Millisecond
	}
	return t, nil
}

// maxTimeoutMs keeps the number within a time.Duration. What a call may really take is decided where its deadline is.
const maxTimeoutMs = 1e12

// randomID makes the id of a call that nobody will ask for again.
func randomID() call.ID {
	var b [16]byte
	_, _ = rand.Read(b[:]) // never fails
	return call.ID(hex.EncodeToString(b[:]))
}

// derivedID makes the id of a stdio call from the attachment's key and the request's id, so that a client whose relay
// was restarted can have the same call asked for again.
func derivedID(key string, requestID []byte) call.ID {
	h := sha256.New()
	h.Write([]byte(key))
	h.Write([]byte{0})
	h.Write(requestID)
	return call.ID(hex.EncodeToString(h.Sum(nil)[:16]))
}
