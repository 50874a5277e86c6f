package front

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/mark3labs/mcp-go/mcp"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
)

// peer is the client of a stdio attachment or of a legacy HTTP session, or the sender of one modern HTTP request.
type peer struct {
	session      call.Session
	tools        registry.Toolset // that it asked for
	offered      *offered
	listener     *listener       // nil for modern HTTP, which has no session
	ending       context.Context // ends when subscriptions must
	open         openRequests
	phase        atomic.Int32
	capabilities atomic.Pointer[clientCapabilities] // of a legacy client, from initialize
	selfName     atomic.Pointer[string]             // what it calls itself
	sentRequests sync.Map                           // requests to it that it has not answered, by id: chan reply
	noLinks      atomic.Bool                        // its version of MCP has no resource links
	parsesText   atomic.Bool                        // it is one of parsesText

	admitting lock.Mutex // one request at a time
}

// owner is who may continue a suspended request of this peer.
func (p *peer) owner() any {
	if p.listener != nil {
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

// lifecycleError refuses a method that a legacy client may not call in its present phase.
func (p *peer) lifecycleError(method string) *fault.Error {
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

// sender returns the session of a request. That of a client without a configured name also has what the client calls
// itself, for display only: nothing proves it.
func (p *peer) sender(meta *requestMeta) call.Session {
	s := p.session
	if s.Client != call.Unnamed {
		return s
	}
	if called := p.selfName.Load(); called != nil {
		s.Called = *called
	}
	if meta.Info != nil {
		s.Called = cmp.Or(nameIn(meta.Info), s.Called)
	}
	return s
}

// nameIn returns the title or name in a clientInfo; empty: it has neither.
func nameIn(info []byte) string {
	var says struct{ Name, Title string }
	if info == nil || json.Unmarshal(info, &says) != nil {
		return ""
	}
	return cmp.Or(says.Title, says.Name)
}

// rememberClient keeps the capabilities and the name that a legacy client sends with initialize.
func (p *peer) rememberClient(m *message) {
	var c mcp.ClientCapabilities
	if json.Unmarshal(m.param("capabilities"), &c) == nil {
		able := capabilitiesOf(&c)
		p.capabilities.Store(&able)
	}
	called := nameIn(m.param("clientInfo"))
	p.selfName.Store(&called)
	p.parsesText.Store(strings.HasPrefix(called, parsesText))
}

// setLevel answers logging/setLevel. Minimal mode (relay/agent/join) answers it in the same words.
func (p *peer) setLevel(x *exchange, m *message) response {
	level, ok := rawjson.Text(m.param("level"))
	if level = strings.ToLower(level); !ok || !slices.Contains(levels, level) {
		return x.errorResponse(fault.New(fault.InvalidParams, "Invalid log level",
			fault.WithHint("Use one of "+strings.Join(levels, ", ")+".")))
	}
	p.listener.SetLogLevel(mcp.LoggingLevel(level))
	return resultResponse(x.id, []byte("{}"))
}

// openRequests finds the requests of one client that are in flight by the exact text of their id, so that 1 and "1" are
// two requests and nobody can cancel a stranger's.
type openRequests struct {
	mu    lock.Mutex
	byID  map[string]*exchange
	ended bool
}

// add reports whether x may start: not while another request with its id is in flight, nor after end.
func (f *openRequests) add(x *exchange) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byID == nil {
		f.byID = map[string]*exchange{}
	}
	if f.byID[string(x.id)] != nil || f.ended {
		return false
	}
	f.byID[string(x.id)] = x
	x.onAnswered = func() { f.remove(x) }
	return true
}

// duplicateID refuses a request whose id is that of another request in flight.
func duplicateID(id []byte) response {
	return errorResponse(id, fault.New(fault.InvalidRequest, "Another request with this id is in flight",
		fault.WithHint("Give each request an id of its own.")), false)
}

// remove forgets x. Another request may have its id by now.
func (f *openRequests) remove(x *exchange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byID[string(x.id)] == x {
		delete(f.byID, string(x.id))
	}
}

// cancel abandons the request with this id. One that is not in flight, or is unknown, is not an error in MCP.
func (f *openRequests) cancel(id []byte) {
	f.mu.Lock()
	x := f.byID[string(id)]
	f.mu.Unlock()
	if x != nil {
		x.abandon()
	}
}

// end abandons every request and lets no more start.
func (f *openRequests) end() {
	f.mu.Lock()
	f.ended = true
	all := make([]*exchange, 0, len(f.byID))
	for _, x := range f.byID {
		all = append(all, x)
	}
	f.mu.Unlock()
	for _, x := range all {
		x.abandon()
	}
}

// count returns how many requests are in flight.
func (f *openRequests) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.byID)
}

// linksSince is the first version of MCP in which a result may hold resource links. Clients of earlier versions check
// content against the kinds they know, and lose the whole result over one they do not.
const linksSince = "2025-06-18"

// instructionsSince is the first version whose clients get instructions.
const instructionsSince = "2025-03-26"

// withVersion returns an initialize that names no version with the newest one of the legacy era.
func (m *message) withVersion() *message {
	if asked := m.param("protocolVersion"); asked != nil && string(asked) != `""` {
		return m
	}
	changed := *m
	version := json.RawMessage(strconv.Quote(mcp.LATEST_LEGACY_PROTOCOL_VERSION))
	changed.members = append(without(slices.Clone(m.members), "protocolVersion"),
		rawjson.Make("protocolVersion", version))
	changed.params = rawjson.Join(changed.members)
	return &changed
}

// adaptToVersion remembers from the answer to initialize which version the client speaks, and leaves out of it what
// clients of that version are not offered: extensions, until 2025-03-26 changes of lists and completions, before it
// instructions. Versions are dates.
func (p *peer) adaptToVersion(answer []byte, ofGroups map[string]string) []byte {
	members, _ := rawjson.Members(answer)
	result, _ := rawjson.Members(rawjson.Get(members, "result"))
	var version string
	if json.Unmarshal(rawjson.Get(result, "protocolVersion"), &version) != nil {
		return answer
	}
	offered := withoutExtensions
	if version < linksSince {
		p.noLinks.Store(true)
		p.listener.unchanging.Store(true)
		offered = plainCapabilities
	}
	replace(result, "capabilities", offered)
	if own := p.ownInstructions(ofGroups); own != "" {
		for i := range result {
			if result[i].Name == "instructions" {
				result[i].Value = rawjson.MustEncode(own)
			}
		}
	}
	if version < instructionsSince {
		result = without(result, "instructions")
	}
	replace(members, "result", func([]rawjson.Member) []rawjson.Member { return result })
	return rawjson.Join(members)
}

// ownInstructions are those of the group of tools that a client has asked for, when it has asked for nothing else.
func (p *peer) ownInstructions(ofGroups map[string]string) string {
	names := p.tools.Plugins()
	if len(names) != 1 || p.tools.Gateway || p.tools.All {
		return ""
	}
	return ofGroups[names[0]]
}

// withoutExtensions are the capabilities of the legacy era.
func withoutExtensions(all []rawjson.Member) []rawjson.Member { return without(all, "extensions") }

// plainCapabilities are capabilities without the parts that came with later versions.
func plainCapabilities(all []rawjson.Member) []rawjson.Member {
	for _, name := range []string{"tools", "prompts", "resources"} {
		replace(all, name, func(one []rawjson.Member) []rawjson.Member { return without(one, "listChanged") })
	}
	return withoutExtensions(without(all, "completions"))
}

// replace changes the members of the object that a member holds, if it is there.
func replace(members []rawjson.Member, name string, change func([]rawjson.Member) []rawjson.Member) {
	for i := range members {
		if members[i].Name == name {
			inner, _ := rawjson.Members(members[i].Value)
			members[i].Value = rawjson.Join(change(inner))
		}
	}
}

func without(members []rawjson.Member, name string) []rawjson.Member {
	return slices.DeleteFunc(members, func(m rawjson.Member) bool { return m.Name == name })
}

// parsesText begins the name of a client, Gemini CLI, that takes a first text which is JSON for the structured content
// of a result that has none, and tells its model that the call failed where that is no object (seen with 0.61.0).
const parsesText = "gemini-cli-mcp-client"

// withObject gives a result whose first text is JSON but no object structured content in which that is the member
// "result", as in the results of tools whose output schema is not one of an object.
func withObject(r *call.Result) *call.Result {
	if r.Structured {
		return r
	}
	var value []byte
	copied := *r
	if r.Content == nil {
		value = oneLine(r.Output)
		copied.Content = []call.Content{append(rawjson.AppendDocument([]byte(`{"type":"text","text":`), value), '}')}
	} else if len(r.Content) > 0 {
		members, _ := rawjson.Members(r.Content[0])
		text, _ := rawjson.Text(rawjson.Get(members, "text"))
		value = []byte(text)
	}
	if value = bytes.TrimSpace(value); len(value) == 0 || value[0] == '{' || !rawjson.Valid(value) {
		return r
	}
	copied.Structured, copied.Output = true, rawjson.Join([]rawjson.Member{rawjson.Make("result", value)})
	return &copied
}

// withoutLinks removes resource links from a result, for clients that fail on them. The text names the same resources.
func withoutLinks(r *call.Result) *call.Result {
	if len(r.Content) == 0 {
		return r
	}
	copied := *r
	copied.Content = slices.DeleteFunc(slices.Clone(r.Content), func(item call.Content) bool {
		members, _ := rawjson.Members(item)
		return bytes.Equal(rawjson.Get(members, "type"), []byte(`"resource_link"`))
	})
	return &copied
}
