package dispatch_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

// browser does what its script says. The lines of a paragraph:
//
//	at TAB others N                      first: the tab it is routed to, and how many others there are; else tab 7
//	started                              the page started the tool
//	wait D                               time passes; the call's end ends the attempt
//	progress VALUE[/TOTAL] MESSAGE       log LEVEL MESSAGE
//	return JSON                          the tool returned
//	page CODE retryable|final [MS] TEXT  the page threw
//	fault CODE OUTCOME [retryable|idle|fixed|max_exceeded]   the hub or the extension failed the call
//	untyped OUTCOME TEXT                 an error of the link without a code of its own
//	later progress|log …                 the same after the attempt returned
type browser struct {
	t *testing.T
	*transcript
	mu     sync.Mutex
	script [][]string
	lines  []string // of the attempt that was resolved last
}

func (b *browser) next() []string {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.script) == 0 {
		b.t.Error("the browser was asked once more than the story says")
		return []string{"fault INTERNAL_ERROR executed"}
	}
	lines := b.script[0]
	b.script = b.script[1:]
	return lines
}

func (b *browser) left() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.TrimSpace(strings.Trim(fmt.Sprint(b.script), "[]"))
}

// Resolve begins the next paragraph with each attempt.
func (b *browser) Resolve(r call.Selector) (call.Target, *fault.Error, time.Duration) {
	if r.Stay.TabID != 0 {
		return r.Stay, nil, 0
	}
	b.lines = b.next()
	at := call.Target{ProfileID: "p1", Profile: "Chrome 1", TabID: 7}
	if there, ok := strings.CutPrefix(b.lines[0], "at "); ok {
		if _, err := fmt.Sscanf(there, "%d others %d", &at.TabID, &at.Others); err != nil {
			b.t.Error(err)
		}
		b.lines = b.lines[1:]
	}
	return at, nil, 0
}

func (b *browser) Send(ctx context.Context, _ call.Target, r call.Invocation) (*call.Reply, *fault.Error) {
	s := fmt.Sprintf("invoke %s %s.%s %s timeout=%s max=%s", r.ID[28:], r.Plugin, r.Tool, r.Arguments, r.Timeout,
		r.MaxTimeout)
	if r.Write {
		s += " write"
	}
	if r.TabID != 0 || r.Profile != "" {
		s += fmt.Sprintf(" tab=%d profile=%q", r.TabID, r.Profile)
	}
	if r.Plugin == "wiki" {
		s += fmt.Sprintf(" matches=%s settings=%s", r.Matches, r.Settings)
	}
	if len(r.Avoid) > 0 {
		s += fmt.Sprintf(" avoid=%v", r.Avoid)
	}
	b.say("%s", s)
	return b.perform(ctx, r, b.lines)
}

func (*browser) Changed() <-chan struct{} { return nil }
func (*browser) Leave(call.ID, bool)      {}

// oneTab is what all browsers of these tests have in common: every call goes to the same tab.
type oneTab struct{}

func (oneTab) Resolve(r call.Selector) (call.Target, *fault.Error, time.Duration) {
	return call.Target{ProfileID: "p1", Profile: "Chrome 1", TabID: 7}, nil, 0
}

func (oneTab) Changed() <-chan struct{} { return nil }
func (oneTab) Leave(call.ID, bool)      {}

func (oneTab) FindOutcome(context.Context, call.ID) (*call.Reply, *fault.Error, bool) {
	return nil, nil, false
}

func (oneTab) Recover(context.Context, string, call.Target, call.Invocation) *fault.Error { return nil }

func (b *browser) FindOutcome(ctx context.Context, id call.ID) (*call.Reply, *fault.Error, bool) {
	b.say("recover %s", id[28:])
	lines := b.next()
	if lines[0] == "recover unknown" {
		return nil, nil, false
	}
	reply, failure := b.perform(ctx, call.Invocation{}, lines[1:])
	return reply, failure, true
}

func (b *browser) perform(ctx context.Context, r call.Invocation, lines []string) (*call.Reply, *fault.Error) {
	started := false
	for _, line := range lines {
		verb, rest, _ := strings.Cut(line, " ")
		switch verb {
		case "hidden":
			r.Hidden()
		case "started":
			started = true
			r.Started()
		case "wait":
			select {
			case <-time.After(duration(b.t, rest)):
			case <-ctx.Done():
				b.say("browser aborts: %v", context.Cause(ctx))
				if started {
					return nil, fault.New(fault.TimeoutCode, "gone", fault.WithOutcome(fault.Unknown))
				}
				return nil, fault.New(fault.TimeoutCode, "gone", fault.WithOutcome(fault.NotExecuted))
			}
		case "progress", "log":
			b.feed(r, line)
		case "later":
			time.AfterFunc(time.Second, func() { b.feed(r, rest) })
		case "return":
			return &call.Reply{Output: json.RawMessage(rest), TabID: 7, Profile: "Chrome 1"}, nil
		case "page":
			return nil, thrown(rest)
		case "fault":
			return nil, raised(rest)
		case "untyped":
			known, text, _ := strings.Cut(rest, " ")
			return nil, fault.New(fault.InternalError, "the link broke", fault.WithOutcome(fault.Outcome(known)),
				fault.WithCause(errors.New(text)))
		default:
			b.t.Errorf("unknown line %q", line)
		}
	}
	return nil, fault.New(fault.InternalError, "the story's paragraph has no end")
}

func (b *browser) feed(r call.Invocation, line string) {
	verb, rest, _ := strings.Cut(line, " ")
	first, message, _ := strings.Cut(rest, " ")
	if verb == "log" {
		r.Log(call.LogEntry{Level: first, Message: message})
		return
	}
	value, total, of := strings.Cut(first, "/")
	p := call.Progress{Message: message}
	p.Progress, _ = strconv.ParseFloat(value, 64)
	if of {
		n, _ := strconv.ParseFloat(total, 64)
		p.Total = &n
	}
	r.Progress(p)
}

func thrown(line string) *fault.Error {
	words := strings.Fields(line)
	e := &fault.Error{Code: fault.Code(words[0]), Class: fault.Tool, Source: fault.SourceUpstream,
		Retryable: words[1] == "retryable", Outcome: fault.Executed, FromPage: true}
	if ms, err := strconv.ParseInt(words[2], 10, 64); err == nil {
		e.RetryAfterMs = &ms
		words = words[1:]
	}
	e.Message = strings.Join(words[2:], " ")
	return e
}

func raised(line string) *fault.Error {
	words := strings.Fields(line)
	e := fault.New(fault.Code(words[0]), "the browser said so", fault.WithOutcome(fault.Outcome(words[1])))
	switch {
	case len(words) > 2 && words[2] == "retryable":
		e.Retryable = true
	case len(words) > 2 && words[2] == "settled":
		e.AlreadyWaited = true
	case len(words) > 2:
		e.Reason = fault.Reason(words[2])
	}
	return e
}

func yes() *bool { b := true; return &b }

const anything = `{"type":"object"}`

var demo = plugin.Plugin{Hash: strings.Repeat("d", 64), Manifest: plugin.Manifest{
	Name: "demo", URLPatterns: []string{"https://demo.example/*"}, Homepage: "https://demo.example/",
	World: plugin.Isolated,
	Tools: []plugin.Tool{
		{Name: "read", Annotations: plugin.Annotations{ReadOnlyHint: yes()},
			InputSchema: json.RawMessage(`{"type":"object","properties":{"id":{"type":"integer"}},` +
				`"additionalProperties":false}`),
			OutputSchema: json.RawMessage(`{"type":"object","properties":{"title":{"type":"string"}},` +
				`"required":["title"]}`)},
		{Name: "write", InputSchema: json.RawMessage(anything)},
		{Name: "put", InputSchema: json.RawMessage(anything), Annotations: plugin.Annotations{IdempotentHint: yes()}},
		{Name: "slow", InputSchema: json.RawMessage(anything), TimeoutMs: 5000, MaxTimeoutMs: 12000,
			TimeoutHint: "ask for fewer pages.", ProgressPattern: "^page "},
		{Name: "list", InputSchema: json.RawMessage(anything),
			OutputSchema: json.RawMessage(`{"type":"array","items":{"type":"integer"}}`)},
		{Name: "broken", InputSchema: json.RawMessage(`{"type":"object","properties":{"a":{"$ref":"#/nowhere"}}}`)},
	},
}}

var wiki = plugin.Plugin{Hash: strings.Repeat("e", 64), Manifest: plugin.Manifest{
	Name: "wiki", URLPatterns: []string{"https://wiki.example/*"}, World: plugin.Isolated,
	ConfigSchema: json.RawMessage(`{"site":{"type":"url"}}`),
	Tools: []plugin.Tool{{Name: "page", InputSchema: json.RawMessage(anything),
		Annotations: plugin.Annotations{ReadOnlyHint: yes()}}},
}}

var shop = plugin.Plugin{Hash: strings.Repeat("d", 64), Manifest: plugin.Manifest{
	Name: "shop", URLPatterns: []string{"https://shop.example/*"}, World: plugin.Isolated,
	ConfigSchema: json.RawMessage(`{"token":{"type":"string","required":true},` +
		`"size":{"type":"number","required":true},` +
		`"limit":{"type":"number","required":true,"default":20},"note":{"type":"string"}}`),
	Tools: []plugin.Tool{{Name: "order", InputSchema: json.RawMessage(anything)}},
}}

var builtins = []registry.Tool{
	{Name: "bridge_health", Unqueued: true, Spec: plugin.Tool{InputSchema: json.RawMessage(anything),
		Annotations: plugin.Annotations{ReadOnlyHint: yes()}},
		Run: func(ctx context.Context, c call.Call, args json.RawMessage) (*call.Result, *fault.Error) {
			c.Progress(call.Progress{Progress: 1})
			return &call.Result{Output: json.RawMessage(`{"ok":true}`)}, nil
		}},
	{Name: "relay__hang", Spec: plugin.Tool{InputSchema: json.RawMessage(anything)},
		Run: func(ctx context.Context, c call.Call, args json.RawMessage) (*call.Result, *fault.Error) {
			<-ctx.Done()
			return nil, fault.New(fault.InternalError, "interrupted", fault.WithOutcome(fault.Unknown))
		}},
	{Name: "relay__ask", Spec: plugin.Tool{InputSchema: json.RawMessage(anything)},
		Run: func(ctx context.Context, c call.Call, args json.RawMessage) (*call.Result, *fault.Error) {
			answer, err := c.Ask(ctx, call.Question{Message: "Really?"})
			if err != nil {
				return nil, fault.New(fault.ApprovalTimeout, "nobody answered", fault.WithCause(err))
			}
			if answer.Action == "hang" {
				<-ctx.Done()
				return nil, fault.New(fault.InternalError, "interrupted", fault.WithOutcome(fault.Unknown))
			}
			return &call.Result{Output: json.RawMessage(`{}`)}, nil
		}},
	{Name: "relay__panic", Spec: plugin.Tool{InputSchema: json.RawMessage(anything)},
		Run: func(context.Context, call.Call, json.RawMessage) (*call.Result, *fault.Error) { panic("secret") }},
}
