package front

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

// fixture is a Front with a few tools behind it. Its caller stands in for everything below the front.
type fixture struct {
	front *Front
	tools *registry.Registry
	features

	mu       sync.Mutex // shadows that of features
	calls    []call.Call
	held     []bool        // the positions that were reserved, and not withdrawn
	causes   []error       // why the calls to demo__wait ended
	released chan struct{} // lets the calls to demo__wait return
}

var demoPlugin = plugin.Plugin{Hash: "0", Manifest: plugin.Manifest{
	Name: "demo", Version: "1.0.0", DisplayName: "Demo", URLPatterns: []string{"*://demo.example/*"},
	World: plugin.Isolated,
	Tools: []plugin.Tool{
		demoTool("echo", "Echo", "Answers with its arguments.", ``),
		demoTool("typed", "Typed", "Declares what it returns.",
			`{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]}`),
		demoTool("throw", "Throw", "Fails as an adapter does.", ``),
		demoTool("throw_typed", "Throw typed", "Fails, and declares what it would return.", `{"type":"object"}`),
		demoTool("lost", "Lost", "Fails as the relay does.", ``),
		demoTool("steps", "Steps", "Reports progress.", ``),
		demoTool("log", "Log", "Logs one line of each level.", ``),
		demoTool("wait", "Wait", "Waits until it is released or cancelled.", ``),
		demoTool("warn", "Warn", "Succeeds with warnings.", ``),
		demoTool("image", "Image", "Answers with content.", ``),
		demoTool("panic", "Panic", "Has a bug.", ``),
		demoTool("timeout", "Timeout", "Answers with the timeout it was given.", ``),
		demoTool("wishes", "Wishes", "Answers with what the caller wants of it, and in which session.", ``),
		demoTool("content", "Content", "Answers with every kind of content.", ``),
		demoTool("ask", "Ask", "Asks the person, and repeats what they said.", ``),
		{Name: "header", Description: "Has an argument that is a header too.",
			InputSchema: json.RawMessage(`{"type":"object","properties":{"region":{"type":"string",` +
				`"x-mcp-header":"Region"}}}`)},
	},
}}

func demoTool(name, title, description, output string) plugin.Tool {
	t := plugin.Tool{Name: name, DisplayName: title, Description: description,
		InputSchema: json.RawMessage(`{"type":"object"}`)}
	if output != "" {
		t.OutputSchema = json.RawMessage(output)
	}
	return t
}

func newFixture(t testing.TB, o Options) *fixture {
	t.Helper()
	readOnly := true
	builtins := []registry.Tool{
		{Name: "bridge_health", Spec: plugin.Tool{DisplayName: "Health", Description: "Says how the relay is.",
			InputSchema: json.RawMessage(`{"type":"object"}`),
			Annotations: plugin.Annotations{ReadOnlyHint: &readOnly}}},
		{Name: "browser__tabs", Spec: plugin.Tool{DisplayName: "Tabs", Description: "Lists tabs.",
			InputSchema: json.RawMessage(`{"type":"object"}`)}},
		{Name: "relay__doctor", Spec: plugin.Tool{DisplayName: "Doctor", Description: "Says what is wrong.",
			InputSchema: json.RawMessage(`{"type":"object"}`)}},
	}
	if o.Tasks != nil {
		builtins = append(builtins, errandTool)
	}
	x := &fixture{released: make(chan struct{}), tools: registry.New(builtins)}
	if err := x.tools.Replace([]plugin.Plugin{demoPlugin}, nil); err != nil {
		t.Fatal(err)
	}
	o.Version, o.Instructions, o.Caller, o.Tools = "1.2.3", "Read errors.", x, x.tools
	o.Resources, o.Prompts, o.Completer = &x.features, promptFeatures{&x.features}, &x.features
	o.Log = zerolog.New(zerolog.NewTestWriter(t))
	x.front = New(o)
	return x
}

// addTool makes one more tool appear.
func (x *fixture) addTool(t testing.TB, name string) {
	t.Helper()
	more := demoPlugin
	more.Manifest.Tools = append(more.Manifest.Tools[:len(more.Manifest.Tools):len(more.Manifest.Tools)],
		demoTool(name, name, "New.", ""))
	if err := x.tools.Replace([]plugin.Plugin{more}, nil); err != nil {
		t.Fatal(err)
	}
}

func (x *fixture) Reserve(client string) call.Position {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.held = append(x.held, true)
	return call.Position(len(x.held))
}

func (x *fixture) Withdraw(p call.Position) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if p > 0 {
		x.held[p-1] = false
	}
}

func (x *fixture) Do(ctx context.Context, c call.Call) (*call.Result, *fault.Error) {
	x.mu.Lock()
	x.calls = append(x.calls, c)
	x.mu.Unlock()
	meta := call.Meta{CorrelationID: c.ID, TabID: 7, Profile: "Chrome 1", Origin: "https://demo.example", Attempts: 1,
		Duration: 5 * time.Millisecond}
	result := func(output string) *call.Result { return &call.Result{Output: json.RawMessage(output), Meta: meta} }
	thrown := &fault.Error{Code: fault.RateLimited, Category: fault.RateLimit, Source: fault.SourceUpstream,
		Class: fault.Tool, Message: "Too many requests",
		Retryable: true, RetryAfterMs: new(int64(2000)), Outcome: fault.Executed, Attempts: 1,
		CorrelationID: string(c.ID), FromPage: true, RPCCode: -32002}
	switch c.Tool {
	case "demo__echo":
		if c.Arguments == nil {
			return result("{}"), nil
		}
		return result(string(c.Arguments)), nil
	case "demo__typed":
		r := result(`{"sum":9007199254740993}`)
		r.Structured = true
		if strings.Contains(string(c.Arguments), "noted") {
			r.Note, r.Warnings = json.RawMessage(`{"warnings":["It is a part."]}`), []string{"It is a part."}
		}
		if strings.Contains(string(c.Arguments), "empty") {
			r.Output = json.RawMessage(` { } `)
		}
		return r, nil
	case "demo__throw_typed":
		thrown.Warnings = []string{"its category was dropped"}
		return nil, thrown
	case "demo__throw":
		return nil, thrown
	case "demo__lost":
		e := fault.New(fault.ExtensionLost, "The link was lost after the call was sent")
		e.CorrelationID, e.Attempts = string(c.ID), 1
		return nil, e
	case "demo__steps":
		return x.steps(c, result)
	case "demo__log":
		if c.Log != nil {
			for _, level := range []string{"debug", "info", "warning", "error"} {
				c.Log(call.LogEntry{Level: level, Message: "at " + level, Data: json.RawMessage(`{"n":1}`)})
			}
		}
		return result(strconv.FormatBool(c.Log != nil)), nil
	case "demo__wait":
		select {
		case <-x.released:
			return result(`"released"`), nil
		case <-ctx.Done():
			x.mu.Lock()
			x.causes = append(x.causes, context.Cause(ctx))
			x.mu.Unlock()
			return nil, fault.New(fault.Cancelled, "cancelled")
		}
	case "demo__warn":
		r := result("1")
		r.Warnings = []string{"The code was repaired.", "The override was ignored."}
		return r, nil
	case "demo__image":
		return &call.Result{Meta: meta, Content: []call.Content{call.Content(`{"type":"image","data":"AA==",` +
			`"mimeType":"image/png"}`)}}, nil
	case "demo__panic":
		panic("secret")
	case "demo__wishes":
		if c.Reason != "" {
			return result(fmt.Sprintf(`{"reason":%q}`, c.Reason)), nil
		}
		return result(fmt.Sprintf(`{"maxBytes":%d,"arrayPath":%q,"session":%q}`, c.MaxBytes, c.ArrayPath,
			c.Session.ID)), nil
	case "demo__content":
		return &call.Result{Meta: meta, Content: []call.Content{
			call.Content(`{"type":"text","text":"a"}`),
			call.Content(`{"type":"image","data":"AA==","mimeType":"image/png"}`),
			call.Content(`{"type":"audio","data":"AA==","mimeType":"audio/wav"}`),
			call.Content(`{"type":"resource","resource":{"uri":"demo://text","mimeType":"text/plain","text":"b"}}`),
			call.Content(`{"type":"resource_link","uri":"demo://text","name":"text"}`),
		}}, nil
	case "demo__ask":
		return x.ask(ctx, c, result)
	case errandTool.Name:
		return x.errand(ctx, c, result)
	case "demo__timeout":
		return result(strconv.Quote(c.Timeout.String())), nil
	}
	return result(fmt.Sprintf("%q", c.Tool)), nil
}

// ask asks one question, with progress before it and a log line after it.
func (x *fixture) ask(ctx context.Context, c call.Call, result func(string) *call.Result) (*call.Result, *fault.Error) {
	if c.Ask == nil {
		return result(`"cannot ask"`), nil
	}
	if c.Progress != nil {
		c.Progress(call.Progress{Progress: 1})
	}
	q := call.Question{Message: "Really?", Schema: json.RawMessage(`{"type":"object",` +
		`"properties":{"sure":{"type":"boolean"}}}`)}
	if strings.Contains(string(c.Arguments), "nested") {
		q.Schema = json.RawMessage(`{"type":"object","properties":{"sure":{"type":"object"}}}`)
	}
	answer, err := c.Ask(ctx, q)
	if err != nil {
		x.mu.Lock()
		x.causes = append(x.causes, err)
		x.mu.Unlock()
		return result(strconv.Quote("no answer: " + err.Error())), nil
	}
	if c.Progress != nil {
		c.Progress(call.Progress{Progress: 2})
	}
	return result(fmt.Sprintf(`{"action":%q,"content":%q}`, answer.Action, string(answer.Content))), nil
}

// steps reports progress in one burst, as many steps as the arguments say.
func (x *fixture) steps(c call.Call, result func(string) *call.Result) (*call.Result, *fault.Error) {
	a := struct{ Count, GapMs int }{Count: 5}
	if c.Arguments != nil {
		if err := json.Unmarshal(c.Arguments, &a); err != nil {
			panic(err)
		}
	}
	if c.Progress != nil {
		total := float64(a.Count)
		for i := range a.Count {
			c.Progress(call.Progress{Progress: float64(i + 1), Total: &total, Message: "step"})
			time.Sleep(time.Duration(a.GapMs) * time.Millisecond)
		}
	}
	return result(strconv.FormatBool(c.Progress != nil)), nil
}

// namedCalls tells which of the requests with these ids each call was made by, as the ids derived from them show.
func (x *fixture) namedCalls(requests ...int) string {
	x.mu.Lock()
	defer x.mu.Unlock()
	var names []string
	for _, c := range x.calls {
		name := "other"
		for _, n := range requests {
			switch {
			case c.ID != derivedID("key", strconv.AppendInt(nil, int64(n), 10)):
			case c.Resume:
				name = fmt.Sprintf("%d:resumed", n)
			default:
				name = fmt.Sprintf("%d:derived", n)
			}
		}
		names = append(names, name)
	}
	return strings.Join(names, " ")
}
