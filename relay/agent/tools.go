package agent

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/agent/provider"
	"tabrelay/relay/call"
	"tabrelay/relay/config"
	"tabrelay/relay/fault"
	"tabrelay/relay/plugin"
	"tabrelay/relay/rawjson"
	"tabrelay/relay/registry"
)

// OwnTools are the tools of delegation but bridge_health, which tells of more than delegation. They are listed where an
// agent is configured.
func (s *Sessions) OwnTools() []registry.Tool {
	return []registry.Tool{
		tool("agents_discover", "Agents to delegate to", "Lists the agents to whom a whole errand can be handed over, "+
			"with what they are for (capabilities) and whether they can take one now (status). Choose with it the "+
			"agentId for tasks_delegate or sessions_create.",
			discoverInput, discoverOutput, reads, 0, answering(s.discover)),
		tool("tasks_delegate", "Delegate a task", "Hands a whole errand to an agent that has the browser tools, and "+
			"returns only its answer: the pages that it reads cost you nothing. Say in prompt everything that it "+
			"has to know, and what the answer has to contain. On failure look at retryable, sessionValid and "+
			"recovery; never report success then.",
			delegateInput, promptOutput, writes, longestCall, answering(s.delegate)),
		tool("sessions_create", "Open an agent session", "Opens a session with an agent, for an errand of several "+
			"prompts: it remembers the conversation. For a single errand use tasks_delegate.",
			createInput, createOutput, writes, openingCall, answering(s.createSession)),
		tool("sessions_prompt", "Prompt an agent session", "Sends the next prompt to an agent session, and returns "+
			"its answer. A session takes one prompt at a time. After a failure the session can be used on if "+
			"sessionValid is true.",
			promptInput, promptOutput, writes, longestCall, answering(s.promptSession)),
		tool("sessions_status", "Agent session status", "What an agent session does at the moment: active (not "+
			"prompted yet), busy, idle or failed, the tool that it calls, and the tabs in which it worked.",
			sessionInput, statusOutput, reads, 0, answering(s.statusOf)),
		tool("sessions_cancel", "Cancel a prompt", "Stops what an agent session is doing: the request to its model, "+
			"and the action in the page. The prompt then answers with what was done so far. cancelled is false when "+
			"nothing was running.",
			cancelInput, cancelOutput, writes, 0, answering(s.cancelPrompt)),
		tool("sessions_close", "Close an agent session", "Ends an agent session, and what it is doing. A session that "+
			"is not there is closed already.",
			closeInput, closeOutput, repeats, 0, answering(s.closeSession)),
	}
}

const (
	longestCall = 10 * time.Minute // maxTimeoutMs bounds it; the sessions themselves end prompts before
	openingCall = 2 * time.Minute  // a worker may be fetched first
)

var yes, no = true, false

var (
	reads   = plugin.Annotations{ReadOnlyHint: &yes, IdempotentHint: &yes, OpenWorldHint: &no}
	repeats = plugin.Annotations{ReadOnlyHint: &no, DestructiveHint: &no, IdempotentHint: &yes, OpenWorldHint: &no}
	writes  = plugin.Annotations{ReadOnlyHint: &no, IdempotentHint: &no, OpenWorldHint: &yes}
)

type run = func(context.Context, call.Call, json.RawMessage) (*call.Result, *fault.Error)

func tool(name, title, about, input, output string, a plugin.Annotations, most time.Duration, do run) registry.Tool {
	failed := (*fault.Error).BridgeText
	if name == "tasks_delegate" {
		failed = (*fault.Error).TaskText
	}
	return registry.Tool{
		Name: name, Unqueued: true, Run: do, Bridge: failed, Task: name == "tasks_delegate",
		Spec: plugin.Tool{
			Name: name, DisplayName: title, Description: about, InputSchema: json.RawMessage(input),
			OutputSchema: json.RawMessage(output), Annotations: a, TimeoutMs: int(most.Milliseconds()),
		},
	}
}

// answering makes a tool of a function from its arguments to its answer. An agent that another one asked delegates
// nothing.
func answering[A any](do func(context.Context, call.Call, A) (answer, *fault.Error)) run {
	return func(ctx context.Context, c call.Call, raw json.RawMessage) (*call.Result, *fault.Error) {
		if c.Session.Delegation != nil {
			return nil, fault.New(fault.PermissionDenied, "A delegated agent cannot delegate",
				fault.WithHint("Do the errand yourself, with the tools that you have."))
		}
		var args A
		if err := json.Unmarshal(raw, &args); err != nil {
			return nil, fault.New(fault.ValidationError, "The arguments cannot be read: "+err.Error(),
				fault.WithSource(fault.SourceInternal))
		}
		a, failure := do(ctx, c, args)
		if failure != nil {
			return nil, failure
		}
		return &call.Result{Output: rawjson.MustEncode(a.value), Meta: call.Meta{Untrusted: a.untrusted}}, nil
	}
}

// answer is what a tool answers with.
type answer struct {
	value     any
	untrusted bool // words of pages may be in it
}

func (s *Sessions) discover(_ context.Context, _ call.Call, args struct {
	Capability *string `json:"capability"`
}) (answer, *fault.Error) {
	agents := slices.DeleteFunc(s.Agents(), func(i Info) bool {
		return args.Capability != nil && !slices.Contains(i.Capabilities, *args.Capability)
	})
	for i := range agents {
		agents[i].Trouble = ForClients(agents[i].Trouble)
	}
	return answer{value: map[string]any{"agents": agents}}, nil
}

type createArgs struct {
	AgentID  string          `json:"agentId"`
	WorkerID string          `json:"workerId"` // the name that agentId had before
	Metadata json.RawMessage `json:"metadata"`
}

func (a createArgs) asked(c call.Call) (Asked, *fault.Error) {
	m, failure := readMetadata(a.Metadata)
	id := cmp.Or(a.AgentID, a.WorkerID)
	return Asked{Asker: c.Session, AgentID: id, Metadata: m}, failure
}

func (s *Sessions) createSession(ctx context.Context, c call.Call, args createArgs) (answer, *fault.Error) {
	asked, failure := args.asked(c)
	if failure != nil {
		return answer{}, failure
	}
	v, failure := s.Create(ctx, asked)
	if failure != nil {
		return answer{}, failure
	}
	return answer{value: struct {
		SessionID string `json:"sessionId"`
		AgentID   string `json:"agentId"`
		Status    State  `json:"status"`
		CreatedAt int64  `json:"createdAt"`
	}{v.ID, v.AgentID, v.State, v.Created.UnixMilli()}}, nil
}

type errandArgs struct {
	Prompt        string          `json:"prompt"`
	Timeout       int64           `json:"timeout"` // milliseconds
	RuntimeParams provider.Params `json:"runtimeParams"`
}

func (a errandArgs) errand(c call.Call) Errand {
	const longest = int64(24 * time.Hour / time.Millisecond) // far beyond every maximum, and within a Duration
	return Errand{
		Text: a.Prompt, Timeout: time.Duration(min(a.Timeout, longest)) * time.Millisecond, Params: a.RuntimeParams,
		Tell: c.Progress, Ask: c.Ask,
	}
}

func (s *Sessions) promptSession(ctx context.Context, c call.Call, args struct {
	SessionID string `json:"sessionId"`
	errandArgs
}) (answer, *fault.Error) {
	reply, failure := s.Prompt(ctx, c.Session, args.SessionID, args.errand(c))
	if failure != nil {
		return answer{}, failure
	}
	return reply.answer(false), nil
}

func (s *Sessions) delegate(ctx context.Context, c call.Call, args struct {
	createArgs
	errandArgs
}) (answer, *fault.Error) {
	asked, failure := args.asked(c)
	if failure != nil {
		return answer{}, failure
	}
	reply, failure := s.Delegate(ctx, asked, args.errand(c))
	if failure != nil {
		return answer{}, failure
	}
	return reply.answer(true), nil
}

// answer is a reply as clients read it.
func (r Reply) answer(task bool) answer {
	shown := struct {
		Success    *bool           `json:"success,omitempty"`
		SessionID  string          `json:"sessionId,omitempty"`
		AgentID    string          `json:"agentId,omitempty"`
		Text       string          `json:"text"`
		StopReason string          `json:"stopReason"`
		RequestID  string          `json:"requestId,omitempty"`
		Usage      *provider.Usage `json:"usage,omitempty"`
		Source     string          `json:"source,omitempty"`
		ToolCalls  []Action        `json:"toolCalls"`
		Outcome    *Outcome        `json:"outcome,omitempty"`
	}{
		Text: r.Text, StopReason: r.StopReason, RequestID: r.RequestID, Usage: r.Usage, ToolCalls: r.Summary.Actions,
	}
	if task {
		shown.Success, shown.SessionID, shown.AgentID = &yes, r.SessionID, r.AgentID
	}
	if r.Summary.Untrusted {
		shown.Source = "delegated agent " + r.AgentID + "; it read untrusted pages"
	}
	if !r.Ended {
		o := r.Summary.Outcome()
		shown.Outcome = &o
	}
	return answer{shown, r.Summary.Untrusted}
}

type sessionArgs struct {
	SessionID string `json:"sessionId"`
	RequestID string `json:"requestId"`
}

func (s *Sessions) statusOf(_ context.Context, c call.Call, args sessionArgs) (answer, *fault.Error) {
	v, failure := s.Status(c.Session, args.SessionID)
	if failure != nil {
		return answer{}, failure
	}
	return answer{value: v.status()}, nil
}

// status is a session as sessions_status shows it.
type status struct {
	SessionID      string  `json:"sessionId"`
	AgentID        string  `json:"agentId"`
	Status         State   `json:"status"`
	CreatedAt      int64   `json:"createdAt"`
	LastActivityAt int64   `json:"lastActivityAt"`
	Turn           int     `json:"turn"`
	CurrentTool    *string `json:"currentTool"` // null: none
	Tabs           []int   `json:"tabs"`
}

func (v View) status() status {
	shown := status{
		SessionID: v.ID, AgentID: v.AgentID, Status: v.State, CreatedAt: v.Created.UnixMilli(),
		LastActivityAt: v.Last.UnixMilli(), Turn: v.Doing.Turn, Tabs: v.Doing.Tabs,
	}
	if len(v.Doing.Tools) > 0 {
		shown.CurrentTool = &v.Doing.Tools[0]
	}
	return shown
}

func (s *Sessions) cancelPrompt(_ context.Context, c call.Call, args sessionArgs) (answer, *fault.Error) {
	stopped, failure := s.Cancel(c.Session, args.SessionID)
	if failure != nil {
		return answer{}, failure
	}
	return answer{value: struct {
		Cancelled bool   `json:"cancelled"`
		SessionID string `json:"sessionId"`
		RequestID string `json:"requestId,omitempty"`
	}{stopped, args.SessionID, args.RequestID}}, nil
}

func (s *Sessions) closeSession(_ context.Context, c call.Call, args sessionArgs) (answer, *fault.Error) {
	s.Close(c.Session, args.SessionID, Closed)
	return answer{value: struct {
		Closed    bool   `json:"closed"`
		SessionID string `json:"sessionId"`
	}{true, args.SessionID}}, nil
}

// readMetadata reads what a client says of a session. Its form was checked; members that nobody knows are the client's
// own.
func readMetadata(raw json.RawMessage) (m Metadata, failure *fault.Error) {
	if raw == nil {
		return m, nil
	}
	var form struct {
		Provider      string            `json:"provider"`
		RuntimeParams provider.Params   `json:"runtimeParams"`
		Tools         []string          `json:"tools"`
		Tabs          []json.RawMessage `json:"tabs"`
		ReadOnly      bool              `json:"readOnly"`
		Budget        Budget            `json:"budget"`
	}
	if err := json.Unmarshal(raw, &form); err != nil {
		return m, fault.New(fault.ValidationError, "metadata cannot be read: "+err.Error(),
			fault.WithSource(fault.SourceInternal))
	}
	m = Metadata{Provider: form.Provider, RuntimeParams: form.RuntimeParams, Tools: form.Tools,
		ReadOnly: form.ReadOnly, Budget: form.Budget, Rest: raw}
	for _, tab := range form.Tabs {
		text, isText := rawjson.Text(tab)
		if !isText {
			text = string(tab) // a number
		}
		m.Tabs = append(m.Tabs, text)
	}
	return m, nil
}

// The schemas of the tools. Runtime parameters are checked alike wherever they are given.
var (
	params = string(rawjson.MustEncode(config.RuntimeParamsSchema()))

	timeoutProperty = `"timeout":{"type":"integer","minimum":1,"description":"Milliseconds for the whole errand."}`
	promptProperty  = `"prompt":{"type":"string"}`
	idProperty      = `"sessionId":{"type":"string"}`
	agentProperty   = `"agentId":{"type":"string","description":"Of agents_discover. Default: the configured one."}`

	metadataProperty = `"metadata":{"type":"object","description":"What the agent may use at the most, and notes of ` +
		`your own.","properties":{"provider":{"type":"string"},"runtimeParams":` + params + `,` +
		`"tools":{"type":"array","items":{"type":"string"},"description":"Names of tools or plugins."},` +
		`"tabs":{"type":"array","items":{"type":["integer","string"]},"description":"Ids of tabs, or URL match ` +
		`patterns."},"readOnly":{"type":"boolean"},"budget":{"type":"object","additionalProperties":false,` +
		`"properties":{"maxTurns":{"type":"integer","minimum":1},"maxToolCalls":{"type":"integer","minimum":1},` +
		`"maxTokens":{"type":"integer","minimum":1},"maxMs":{"type":"integer","minimum":1}}}}}`
	paramsProperty = `"runtimeParams":` + params

	discoverInput = object(nil, `"capability":{"type":"string"}`, `"refresh":{"type":"boolean"}`)
	createInput   = object(nil, agentProperty, `"workerId":{"type":"string","description":"Former name of agentId."}`,
		metadataProperty)
	promptInput   = object([]string{"sessionId", "prompt"}, idProperty, promptProperty, timeoutProperty, paramsProperty)
	sessionInput  = object([]string{"sessionId"}, idProperty)
	cancelInput   = object([]string{"sessionId"}, idProperty, `"requestId":{"type":"string"}`)
	closeInput    = object([]string{"sessionId"}, idProperty, `"reason":{"type":"string"}`)
	delegateInput = object([]string{"prompt"}, promptProperty, agentProperty, timeoutProperty, metadataProperty,
		paramsProperty)
)

// The output schemas name what clients read. Members may be added, so they do not close their objects.
var (
	discoverOutput = returns(`"agents":{"type":"array","items":{"type":"object"}}`)
	createOutput   = returns(idProperty, `"agentId":{"type":"string"}`, `"status":{"type":"string"}`,
		`"createdAt":{"type":"integer"}`)
	promptOutput = returns(`"text":{"type":"string"}`, `"stopReason":{"type":"string"}`,
		`"toolCalls":{"type":"array","items":{"type":"object"}}`)
	statusOutput = returns(idProperty, `"agentId":{"type":"string"}`, `"status":{"type":"string"}`,
		`"lastActivityAt":{"type":"integer"}`)
	cancelOutput = returns(`"cancelled":{"type":"boolean"}`, idProperty)
	closeOutput  = returns(`"closed":{"type":"boolean"}`, idProperty)
)

// object is the schema of arguments.
func object(required []string, properties ...string) string {
	rest := ""
	if len(required) > 0 {
		rest = `,"required":` + string(rawjson.MustEncode(required))
	}
	return fmt.Sprintf(`{"type":"object","properties":{%s}%s,"additionalProperties":false}`,
		strings.Join(properties, ","), rest)
}

// returns is the schema of an answer.
func returns(properties ...string) string {
	return `{"type":"object","properties":{` + strings.Join(properties, ",") + "}}"
}
