package front

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"math"
	"strconv"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/random"
	"tabrelay/relay/rawjson"
)

// target is what a name in tools/call stands for.
type target struct {
	name     string
	declares bool // an output schema is listed, so nothing that misses it may stand in structuredContent
	run      func(context.Context, call.Call) (*call.Result, *fault.Error)
}

// find resolves a name among the tools of the toolset that the client asked for. One that is not shown to it is found
// all the same: whoever carries calls out says why it may not have it.
func (f *Front) find(name string, p *party) (target, *fault.Error) {
	snapshot := f.options.Tools.Snapshot()
	if t, ok := snapshot.Find(name); ok && p.tools.Shows(t) {
		return target{name, t.Declares(), f.options.Caller.Do}, nil
	}
	if snapshot.Withheld(name) != nil {
		return target{name, false, f.options.Caller.Do}, nil // which fails, and says why
	}
	v := f.sightOf(p.session, p.tools)
	if g := findGateway(name); g != nil && v.tools.Gateway {
		return target{name, false, g.bind(f)}, nil
	}
	return target{}, unknownTool(name, snapshot, v)
}

// callTool turns tools/call into a call and its end into the response.
func (f *Front) callTool(ctx context.Context, p *party, x *exchange, m *message, meta *requestMeta) {
	c := call.Call{ID: x.callID, Session: p.who(meta), Resume: x.resume, Position: x.position}
	t, fail := f.readCall(&c, p, m, meta)
	if c.ID == "" {
		c.ID = randomID()
	}
	if fail != nil {
		name, _ := rawjson.Text(m.param("name"))
		f.record(&c, name, time.Now(), fail)
		x.respond(x.refuse(fail))
		return
	}
	if x.tool, x.token = t.name, meta.Progress; x.modern {
		x.level = meta.LogLevel
	}
	f.carry(ctx, p, x, m, meta, func(ctx context.Context, via *way) func(*exchange) response {
		if x.level != "" {
			c.Log = via.reportLog
		}
		if x.token != nil {
			c.Progress = via.reportProgress
		}
		c.Ask = AskerFrom(ctx).Question()
		result, failure := t.run(ctx, c)
		return func(x *exchange) response {
			switch {
			case failure == nil:
				return f.renderResult(x, p.understood(result))
			case failure.Code == fault.ClientCapabilityMissing && x.modern:
				return f.failed(x, failure, "")
			}
			return f.renderFailure(x, failure, result, t.declares)
		}
	})
}

// readCall takes the params of tools/call apart.
func (f *Front) readCall(c *call.Call, p *party, m *message, meta *requestMeta) (t target, fail *fault.Error) {
	name, ok := rawjson.Text(m.param("name"))
	if !ok {
		return t, fault.New(fault.InvalidParams, "The params of tools/call have no name, or it is not a string")
	}
	if t, fail = f.find(name, p); fail != nil {
		return t, fail
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
	return t, meta.wishes(c)
}

// wishes reads what the caller wants of this one call.
func (meta *requestMeta) wishes(c *call.Call) *fault.Error {
	if raw := meta.TimeoutMs; raw != nil {
		ms, ok := wholeNumber(raw)
		if !ok {
			return fault.New(fault.InvalidParams, `_meta["tabrelay/timeoutMs"] is not a whole number of milliseconds above 0`)
		}
		c.Timeout = time.Duration(min(ms, maxTimeoutMs)) * time.Millisecond
	}
	if raw := meta.MaxBytes; raw != nil {
		size, ok := wholeNumber(raw)
		if !ok {
			return fault.New(fault.InvalidParams, `_meta["tabrelay/maxBytes"] is not a whole number of bytes above 0`)
		}
		c.MaxBytes = int(min(size, math.MaxInt32))
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
	// maxTimeoutMs keeps the number within a time.Duration. What a call may really take is decided where its deadline is.
	maxTimeoutMs = 1e12
	maxArrayPath = 1000 // bytes
)

// wholeNumber reads a JSON number that is a whole one above 0. One too large for a float64 is infinite.
func wholeNumber(raw []byte) (float64, bool) {
	n, err := strconv.ParseFloat(string(raw), 64)
	return n, (err == nil || errors.Is(err, strconv.ErrRange)) && n > 0 && n == math.Trunc(n)
}

// randomID makes the id of a call that nobody will ask for again.
func randomID() call.ID {
	return call.ID(random.Hex(16))
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
