package front

import (
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"

	"github.com/mark3labs/mcp-go/mcp"

	"tabrelay/relay/road/fault"
)

// requestMeta is what _meta of a request says about how it is to be served.
type requestMeta struct {
	Version      string                  `json:"io.modelcontextprotocol/protocolVersion"`
	Capabilities *mcp.ClientCapabilities `json:"io.modelcontextprotocol/clientCapabilities"`
	LogLevel     string                  `json:"io.modelcontextprotocol/logLevel"`
	Info         json.RawMessage         `json:"io.modelcontextprotocol/clientInfo"`
	Progress     json.RawMessage         `json:"progressToken"`
	TimeoutMs    json.RawMessage         `json:"tabrelay/timeoutMs"`
	MaxBytes     json.RawMessage         `json:"tabrelay/maxBytes"`
	ArrayPath    json.RawMessage         `json:"tabrelay/arrayPath"`
	Structured   json.RawMessage         `json:"tabrelay/structured"`
	Reason       json.RawMessage         `json:"tabrelay/reason"`
	Session      json.RawMessage         `json:"tabrelay/session"`
	Lane         json.RawMessage         `json:"tabrelay/lane"` // the earlier name of Session
	CallID       json.RawMessage         `json:"tabrelay/callId"`
	Again        json.RawMessage         `json:"tabrelay/again"`
	Traceparent  json.RawMessage         `json:"traceparent"`
	Tracestate   json.RawMessage         `json:"tracestate"`
	modern       bool
}

// readMeta decides the era of a request: modern is what names a version from 2026-07-28 on.
func readMeta(m *message) (*requestMeta, *fault.Error) {
	if m.meta != nil {
		return m.meta, nil
	}
	meta := &requestMeta{}
	if raw := m.param("_meta"); raw != nil {
		if err := json.Unmarshal(raw, meta); err != nil {
			return &requestMeta{}, fault.New(fault.InvalidParams, "The _meta of the request is malformed",
				fault.WithCause(err))
		}
	}
	meta.modern = mcp.IsModernProtocol(meta.Version)
	m.meta = meta
	return meta, nil
}

// serve answers one request and returns when its response, if it gets one, is written.
func (f *Front) serve(ctx context.Context, p *peer, x *exchange, m *message) {
	f.admit(ctx, p, x, m)()
}

// admit checks a request and applies its state changes, in the order in which requests were read. The returned work
// writes the response, may run concurrently, and must always be run.
func (f *Front) admit(ctx context.Context, p *peer, x *exchange, m *message) (work func()) {
	x.log = &f.options.Log
	rest := f.prepare(ctx, p, x, m)
	return func() {
		defer f.options.Caller.Withdraw(x.position) // has an effect only if the request never became a call
		defer f.leave(x)
		if bug := f.catchPanic(m.method, rest); bug != nil {
			x.respond(x.errorResponse(bug))
		}
	}
}

// prepare checks a request, applies the state change that it asks for, and returns the rest of the work.
func (f *Front) prepare(ctx context.Context, p *peer, x *exchange, m *message) (rest func()) {
	meta, fail := readMeta(m)
	x.modern = meta.modern
	p.admitting.Lock()
	defer p.admitting.Unlock()
	// what an earlier relay had admitted comes before initialize is repeated
	if fail == nil && !meta.modern && !x.resume {
		fail = p.lifecycleError(m.method)
	}
	if fail == nil {
		fail = f.enter(x)
	}
	switch {
	case fail != nil:
		return func() { x.respond(x.errorResponse(fail)) }
	// mcp-go says what is wrong
	case meta.modern && (!mcp.IsValidProtocolVersion(meta.Version) || meta.Capabilities == nil):
		return func() { x.respond(f.askEngine(ctx, nil, x, m, f.nextName())) }
	case m.method == string(mcp.MethodToolsCall) && p.listener != nil:
		x.position = f.options.Caller.Reserve(p.session.ID)
		level, _ := p.listener.level.Load().(mcp.LoggingLevel)
		x.level = string(level) // of now, in the legacy era
	case !meta.modern:
		var changed func()
		if bug := f.catchPanic(m.method, func() { changed = f.changeState(ctx, p, x, m) }); bug != nil {
			return func() { x.respond(x.errorResponse(bug)) }
		}
		if changed != nil {
			return changed
		}
	}
	return func() { f.route(ctx, p, x, m, meta) }
}

// changeState applies the state change of a request of the legacy era, and returns the rest of the work; nil: the
// request changes no state.
func (f *Front) changeState(ctx context.Context, p *peer, x *exchange, m *message) (rest func()) {
	var r response
	switch m.method {
	case methodShutdown, methodExit:
		p.phase.Store(phaseShutdown)
		r = resultResponse(x.id, []byte("{}"))
	case string(mcp.MethodInitialize):
		if r = f.askEngine(ctx, p.listener, x, m.withVersion(), f.nextName()); r.code == 0 {
			p.phase.Store(phaseInitialized)
			p.rememberClient(m)
			r.body = p.adaptToVersion(r.body, f.options.GroupInstructions)
		}
	case string(mcp.MethodSetLogLevel):
		r = p.setLevel(x, m)
	case string(mcp.MethodResourcesSubscribe), string(mcp.MethodResourcesUnsubscribe):
		if f.options.Resources == nil {
			return nil
		}
		return f.subscribeResource(p, x, m)
	default:
		return nil
	}
	return func() { x.respond(r) }
}

// route dispatches a request by its method. mcp-go gets everything else, including methods whose option is not set
// (Resources, Prompts, Completer, Tasks): it answers that they are not found.
func (f *Front) route(ctx context.Context, p *peer, x *exchange, m *message, meta *requestMeta) {
	resources, prompts := f.options.Resources != nil, f.options.Prompts != nil
	switch method := mcp.MCPMethod(m.method); {
	case method == mcp.MethodToolsCall:
		f.callTool(ctx, p, x, m, meta)
	case method == mcp.MethodToolsList:
		x.respond(f.listTools(p, x, m))
	case method == mcp.MethodResourcesList && resources:
		x.respond(f.listResources(ctx, p, x, m))
	case method == mcp.MethodResourcesTemplatesList && resources:
		x.respond(f.listTemplates(x, m))
	case method == mcp.MethodResourcesRead && resources:
		f.perform(ctx, p, x, m, meta, func(ctx context.Context, client *Asker, _ reporter) answer {
			return f.readResource(ctx, p.sender(meta), m, client)
		})
	case method == mcp.MethodPromptsList && prompts:
		x.respond(f.list(x, m, "prompts", encodeAll(f.listPrompts(p)), pageSize))
	case method == mcp.MethodPromptsGet && prompts:
		f.perform(ctx, p, x, m, meta, func(ctx context.Context, client *Asker, _ reporter) answer {
			return f.getPrompt(ctx, p, m, client)
		})
	case method == mcp.MethodCompletionComplete && f.options.Completer != nil:
		x.respond(f.complete(ctx, p, x, m))
	case isTaskMethod(m.method) && meta.modern && f.options.Tasks != nil:
		x.respond(f.serveTask(ctx, p, x, m, meta))
	case method == mcp.MethodSubscriptionsListen && meta.modern:
		f.listen(ctx, p, x, m, meta)
	case meta.modern:
		x.respond(f.askEngine(ctx, nil, x, m, f.nextName()))
	default:
		x.respond(f.askEngine(ctx, p.listener, x, m, f.nextName()))
	}
}

// catchPanic runs work and turns a panic into an internal error without details, which are in the log.
func (f *Front) catchPanic(method string, work func()) (bug *fault.Error) {
	defer func() {
		if p := recover(); p != nil {
			bug = f.panicked(method, p)
		}
	}()
	work()
	return nil
}

// panicked logs a panic with its stack, and returns the failure that the client gets.
func (f *Front) panicked(method string, p any) *fault.Error {
	f.options.Log.Error().Str("method", method).Str("panic", fmt.Sprint(p)).Bytes("stack", debug.Stack()).
		Msg("a request panicked")
	return fault.New(fault.InternalError, "internal error")
}
