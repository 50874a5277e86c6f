package call

import (
	"context"
	"strconv"
	"strings"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/random"
)

// Trace is the place of a call in a distributed trace (https://www.w3.org/TR/trace-context-2/). The zero value is none.
type Trace struct {
	ID    string // of the trace: 32 hexadecimal digits, in lower case
	Span  string // of what is going on: 16 such digits
	Flags string // 2 such digits, of which the relay knows two bits and passes on no other
	State string // of those who trace, for each other; may be empty
}

// Bounds of tracestate, which are the least that the specification has everybody pass on.
const (
	maxTraceState   = 512 // bytes
	maxTraceMembers = 32
)

// flags of a trace that are passed on: sampled, and random trace id.
const traceFlags = 0b11

var (
	traceParent = lazyregexp.New(`^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$`)
	traceMember = lazyregexp.New(
		`^([a-z][_0-9a-z\-*/]{0,255}|[a-z0-9][_0-9a-z\-*/]{0,240}@[a-z][_0-9a-z\-*/]{0,13})` +
			`=[ -+\--<>-~]{0,255}[!-+\--<>-~]$`)
)

// ReadTrace reads the values of traceparent and tracestate. What is malformed is as if it were not there: a call does
// not fail because of how its client is watched.
func ReadTrace(parent, state string) Trace {
	if len(parent) > maxTraceState {
		return Trace{}
	}
	m := traceParent.FindStringSubmatch(parent)
	switch {
	case m == nil, m[1] == "ff", m[1] == "00" && m[5] != "",
		strings.Trim(m[2], "0") == "", strings.Trim(m[3], "0") == "":
		return Trace{}
	}
	flags, _ := strconv.ParseUint(m[4], 16, 8)
	t := Trace{ID: m[2], Span: m[3], Flags: "0" + strconv.FormatUint(flags&traceFlags, 16)}
	if validTraceState(state) {
		t.State = state
	}
	return t
}

// validTraceState reports whether a tracestate is one that is passed on as it is.
func validTraceState(state string) bool {
	if len(state) > maxTraceState {
		return false
	}
	members := strings.Split(state, ",")
	seen := map[string]bool{}
	for _, member := range members {
		member = strings.Trim(member, " \t")
		if member == "" {
			continue // which the specification allows
		}
		m := traceMember.FindStringSubmatch(member)
		if m == nil || seen[m[1]] {
			return false
		}
		seen[m[1]] = true
	}
	return len(members) <= maxTraceMembers
}

// Within is the same trace inside a call of it: what is asked for the call is asked in this. The span is the first half
// of the call's id, so that whoever has one finds the other.
func (t Trace) Within(id ID) Trace {
	if t.ID == "" {
		return t
	}
	if t.Span = string(id[:min(len(id), 16)]); !spanOfID.MatchString(t.Span) || t.Span == "0000000000000000" {
		t.Span = random.Hex(8)
	}
	return t
}

var spanOfID = lazyregexp.New(`^[0-9a-f]{16}$`)

// NewTrace is a trace that begins, sampled, with an id of 32 random hexadecimal digits.
func NewTrace(id string) Trace { return Trace{ID: id, Flags: "03"} }

// Sampled reports whether whoever began the trace keeps it.
func (t Trace) Sampled() bool {
	flags, err := strconv.ParseUint(t.Flags, 16, 8)
	return err == nil && flags&1 == 1
}

// Parent is the value of traceparent; empty for none.
func (t Trace) Parent() string {
	if t.ID == "" {
		return ""
	}
	return "00-" + t.ID + "-" + t.Span + "-" + t.Flags
}

// Each calls set with each name and value by which a trace is passed on, as headers of HTTP or members of _meta.
func (t Trace) Each(set func(name, value string)) {
	if t.ID == "" {
		return
	}
	set("traceparent", t.Parent())
	if t.State != "" {
		set("tracestate", t.State)
	}
}

type traceKey struct{}

// WithTrace is the context of what is done for a call of a trace.
func WithTrace(ctx context.Context, t Trace) context.Context {
	if t.ID == "" {
		return ctx
	}
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf is the trace in which something is done; the zero value: none.
func TraceOf(ctx context.Context) Trace {
	t, _ := ctx.Value(traceKey{}).(Trace)
	return t
}
