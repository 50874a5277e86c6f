package front

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"runtime/debug"
	"strconv"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"

	"slices"
	"tabrelay/relay/call"
	"tabrelay/relay/clip"
	"tabrelay/relay/fault"
	"tabrelay/relay/rawjson"
	"tabrelay/relay/registry"
)

// party is who sends requests: a stdio attachment, a session of legacy HTTP, or a modern HTTP client for one request.
type party struct {
	session call.Session
	tools   registry.Toolset // that it asked for
	client  *client          // nil for modern HTTP, which has no session
	ending  context.Context  // ends when subscriptions must
	flights flights
	phase   atomic.Int32
	able    atomic.Pointer[abilities] // what a legacy client said it can be asked
	called  atomic.Pointer[string]    // what it calls itself
	asked   asked
	version atomic.Pointer[string] // that was agreed on with a legacy client
	old     atomic.Bool            // it knows no resource links

	admitting sync.Mutex // one request at a time
}

// owner is who may go on with a request of this party that stands still because something was asked.
func (p *party) owner() any {
	if p.client != nil {
		return p
	}
	return p.session.Client
}

// The phases of a legacy client.
const (
	phaseNew         = iota // it has not sent initialize
	phaseInitialized        // it may work
	phaseShutdown           // it has sent shutdown, and may only exit
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
	Session      json.RawMessage         `json:"tabrelay/session"`
	Lane         json.RawMessage         `json:"tabrelay/lane"` // the earlier name of Session
	modern       bool
}

// readMeta decides the era of a request: modern is what names a version from 2026-07-28 on.
func readMeta(m *message) (meta requestMeta, fail *fault.Error) {
	if raw := m.param("_meta"); raw != nil {
		if err := json.Unmarshal(raw, &meta); err != nil {
			return requestMeta{}, fault.New(fault.InvalidParams, "The _meta of the request is malformed", fault.WithCause(err))
		}
	}
	meta.modern = mcp.IsModernProtocol(meta.Version)
	return meta, nil
}

// sound reports whether the request is in order as far as its era asks for it. How one that is not gets refused is
// decided by mcp-go.
func (meta *requestMeta) sound() bool {
	return !meta.modern || mcp.IsValidProtocolVersion(meta.Version) && meta.Capabilities != nil
}

// serve answers one request and returns when its response, if it gets one, is written.
func (f *Front) serve(ctx context.Context, p *party, x *exchange, m *message) {
	f.admit(ctx, p, x, m)()
}

// admit decides whether a request may run, and makes every change by which it alters what later requests of the same
// party mean. Both transports call it in the order in which requests were read. The work it returns is what is left: it
// writes the response, may run beside the work of other requests, and has to run in any case.
func (f *Front) admit(ctx context.Context, p *party, x *exchange, m *message) (work func()) {
	x.log = &f.options.Log
	defer func() {
		rest := work
		work = func() {
			defer f.options.Caller.Withdraw(x.position) // of one that never became a call
			defer f.leave(x)
			defer f.catch(x, m.method)
			rest()
		}
	}()
	meta, fail := readMeta(m)
	x.modern = meta.modern
	p.admitting.Lock()
	defer p.admitting.Unlock()
	if fail == nil && !meta.modern && !x.resume { // what an earlier relay had admitted comes before initialize is repeated
		fail = p.refusal(m.method)
	}
	if fail == nil {
		fail = f.enter(x)
	}
	switch {
	case fail != nil:
		return func() { x.respond(x.refuse(fail)) }
	case !meta.sound():
		return func() { x.respond(f.delegate(ctx, nil, x, m, f.nextName())) }
	case m.method == string(mcp.MethodToolsCall) && p.client != nil:
		x.position = f.options.Caller.Reserve(p.session.ID)
		x.level = string(p.client.GetLogLevel()) // of now, in the legacy era
	case !meta.modern:
		if changed := f.changeState(ctx, p, x, m); changed != nil {
			return changed
		}
	}
	return func() { f.route(ctx, p, x, m, &meta) }
}

// changeState makes the change that a request of the legacy era asks for, and returns what is left to do; nil: it
// changes nothing.
func (f *Front) changeState(ctx context.Context, p *party, x *exchange, m *message) (work func()) {
	defer func() {
		if r := recover(); r != nil {
			work = func() { panic(r) } // where it becomes an answer
		}
	}()
	var r response
	switch m.method {
	case methodShutdown, methodExit:
		p.phase.Store(phaseShutdown)
		r = succeed(x.id, []byte("{}"))
	case string(mcp.MethodInitialize):
		if r = f.delegate(ctx, p.client, x, m.versioned(), f.nextName()); r.code == 0 {
			p.phase.Store(phaseInitialized)
			p.learn(m)
			r.body = p.asOfVersion(r.body)
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

// route has the request carried out by whoever knows its method. What an interface would be needed for that is not
// there is left to mcp-go, which says so.
func (f *Front) route(ctx context.Context, p *party, x *exchange, m *message, meta *requestMeta) {
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
		f.carry(ctx, p, x, m, meta, func(ctx context.Context, _ *way) func(*exchange) response { return f.readResource(ctx, p.who(meta), m) })
	case method == mcp.MethodPromptsList && prompts:
		x.respond(f.list(x, m, "prompts", encodeAll(f.listPrompts(p)), pageSize))
	case method == mcp.MethodPromptsGet && prompts:
		f.carry(ctx, p, x, m, meta, func(ctx context.Context, _ *way) func(*exchange) response { return f.getPrompt(ctx, p, m) })
	case method == mcp.MethodCompletionComplete && f.options.Completer != nil:
		x.respond(f.complete(ctx, p, x, m))
	case method == mcp.MethodSubscriptionsListen && meta.modern:
		f.listen(ctx, p, x, m, meta)
	case meta.modern:
		x.respond(f.delegate(ctx, nil, x, m, f.nextName()))
	default:
		x.respond(f.delegate(ctx, p.client, x, m, f.nextName()))
	}
}

// catch turns a bug into an answer that tells nothing about it; the log does.
func (f *Front) catch(x *exchange, method string) {
	if r := recover(); r != nil {
		f.options.Log.Error().Str("method", method).Str("panic", fmt.Sprint(r)).Bytes("stack", debug.Stack()).Msg("a request panicked")
		x.respond(x.refuse(fault.New(fault.InternalError, "internal error")))
	}
}

// refusal keeps a legacy client to its lifecycle.
func (p *party) refusal(method string) *fault.Error {
	phase := p.phase.Load()
	switch {
	case method == string(mcp.MethodPing):
		return nil
	case method == methodExit && phase != phaseShutdown:
		return fault.New(fault.ShutdownNotRequested, "Shutdown not requested")
	case method == methodExit:
		return nil
	case phase == phaseShutdown:
		return fault.New(fault.ShuttingDown, "Server shutting down",
			fault.WithHint("This connection was shut down by its client; open a new one."))
	case method == string(mcp.MethodInitialize) && phase == phaseInitialized:
		return fault.New(fault.AlreadyInitialized, "Server already initialized")
	case phase == phaseNew && method != string(mcp.MethodInitialize) && method != methodShutdown:
		return fault.New(fault.NotInitialized, "Server not initialized")
	}
	return nil
}

// Methods of a lifecycle that MCP does not have and some clients use.
const (
	methodShutdown = "shutdown"
	methodExit     = "exit"
)

// who is who sends a request. One without a name is told apart by what it calls itself; nothing depends on that.
func (p *party) who(meta *requestMeta) call.Session {
	s := p.session
	if s.Client != call.Unnamed {
		return s
	}
	if called := p.called.Load(); called != nil {
		s.Called = *called
	}
	s.Called = cmp.Or(calledIn(meta.Info), s.Called)
	return s
}

// calledIn is the name in what a client says of itself; empty: there is none.
func calledIn(info []byte) string {
	var says struct{ Name, Title string }
	if info == nil || json.Unmarshal(info, &says) != nil {
		return ""
	}
	return cmp.Or(says.Title, says.Name)
}

// learn remembers what a legacy client says it can be asked, and what it calls itself.
func (p *party) learn(m *message) {
	var c mcp.ClientCapabilities
	if json.Unmarshal(m.param("capabilities"), &c) == nil {
		able := abilitiesOf(&c)
		p.able.Store(&able)
	}
	called := calledIn(m.param("clientInfo"))
	p.called.Store(&called)
}

// delegate has mcp-go answer. It gets a message that was put together anew from what our parser read, so that the two
// cannot read it differently; under an id of ours, unique among all clients; and without arguments, which it would
// decode eight times.
func (f *Front) delegate(ctx context.Context, c *client, x *exchange, m *message, name string) response {
	if c != nil {
		ctx = f.engine.WithContext(ctx, c)
	}
	switch r := f.engine.HandleMessage(ctx, m.forEngine(name)).(type) {
	case mcp.JSONRPCResponse:
		result, err := json.Marshal(r.Result)
		if err != nil {
			panic(err)
		}
		return succeed(x.id, result)
	case mcp.JSONRPCError:
		return f.translate(x, m, r.Error)
	default:
		panic(fmt.Sprintf("mcp-go answered %s with %T", m.method, r))
	}
}

// nextName makes a name that no request and no session had before.
func (f *Front) nextName() string { return "tabrelay:" + strconv.FormatUint(f.serial.Add(1), 10) }

// forEngine writes the message as mcp-go gets it.
func (m *message) forEngine(id string) json.RawMessage {
	b := append([]byte(`{"jsonrpc":"2.0"`), `,"id":`...)
	b = rawjson.AppendText(b, id)
	b = rawjson.AppendText(append(b, `,"method":`...), m.method)
	if m.params != nil {
		b = append(append(b, `,"params":`...), m.withoutArguments()...)
	}
	return append(b, '}')
}

// withoutArguments returns the params without the member that can be large.
func (m *message) withoutArguments() []byte {
	if m.method != string(mcp.MethodToolsCall) {
		return m.params
	}
	return rawjson.Join(without(slices.Clone(m.members), "arguments"))
}

// translate gives an error of mcp-go the number that MCP has for it, and our data. Data it has itself is the protocol's
// own, such as the versions that are supported.
func (f *Front) translate(x *exchange, m *message, e mcp.JSONRPCErrorDetails) response {
	var code fault.Code
	switch e.Code {
	case mcp.METHOD_NOT_FOUND:
		code = fault.MethodNotFound
	case mcp.INVALID_PARAMS:
		code = fault.InvalidParams
	case mcp.INVALID_REQUEST: // the request itself is in order, so it is the params that do not decode
		return x.refuse(fault.New(fault.InvalidParams, "The params of "+clip.Runes(m.method, 60)+" do not have the form that the method asks for"))
	case mcp.INTERNAL_ERROR:
		f.options.Log.Error().Str("method", m.method).Str("error", e.Message).Msg("mcp-go failed")
		return x.refuse(fault.New(fault.InternalError, "internal error"))
	}
	if code != "" && e.Data == nil {
		return x.refuse(fault.New(code, e.Message))
	}
	details, err := json.Marshal(e)
	if err != nil {
		panic(err)
	}
	b := append(appendID(nil, x.id), `,"error":`...)
	return response{body: append(append(b, details...), '}'), code: e.Code}
}

// listTools answers tools/list with bytes that were encoded before. Unless configured otherwise the list comes whole:
// widely used clients read one page only.
func (f *Front) listTools(p *party, x *exchange, m *message) response {
	l := f.catalog.list(f.options.Tools.Snapshot(), f.sightOf(p.session, p.tools))
	from, to, next, fail := page(m, l.digest, len(l.ends), f.options.PageSize)
	if fail != nil {
		return x.refuse(fail)
	}
	part := l.part(from, to)
	body := append(f.openResult(x, true, len(part)), `"tools":[`...)
	return closeList(append(body, part...), next)
}

// openResult begins a response, up to and including the members of a result that its era asks for; what the method
// answers, and two closing braces, follow. Results that a client may keep say for how long: not at all, because what
// there is changes with what a person has open.
func (f *Front) openResult(x *exchange, cacheable bool, size int) []byte {
	body := make([]byte, 0, size+len(f.identity)+len(x.id)+200)
	body = append(appendID(body, x.id), `,"result":{`...)
	if !x.modern {
		return body
	}
	body = append(append(body, `"_meta":{`...), f.identity...)
	body = append(body, `},"resultType":"complete",`...)
	if cacheable {
		body = append(body, `"ttlMs":0,"cacheScope":"private",`...)
	}
	return body
}
