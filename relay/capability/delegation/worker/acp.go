package worker

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	acp "github.com/coder/acp-go-sdk"

	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/lib/clip"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// acpDialect is the Agent Client Protocol.
type acpDialect struct {
	http   bool // the program reaches tools over HTTP
	close  bool // it wants to know when a session is over
	images bool // prompts may have pictures
}

// methodNotFound is the number with which a program says that it does not know initialize.
const methodNotFound = -32601

// shakeHands finds out what a program speaks.
func (w *Worker) shakeHands(ctx context.Context, p *program) *fault.Error {
	id := w.options.ID
	answer, err := p.conn.request(ctx, acp.AgentMethodInitialize, acp.InitializeRequest{
		ProtocolVersion: acp.ProtocolVersionNumber,
		ClientInfo:      &acp.Implementation{Name: "tabrelay", Version: w.options.Version},
		// A program says then how a person signs in to it in a terminal, and asks questions.
		ClientCapabilities: acp.ClientCapabilities{Auth: acp.AuthCapabilities{Terminal: true},
			Elicitation: &acp.ElicitationCapabilities{Form: &acp.ElicitationFormCapabilities{}}},
	})
	var refused *acp.RequestError
	if errors.As(err, &refused) && refused.Code == methodNotFound && w.options.Protocol != ACP {
		p.speaks = stdiobus{agent: id}
		return nil
	}
	var hello struct {
		ProtocolVersion   *int `json:"protocolVersion"`
		AgentCapabilities acp.AgentCapabilities
		AuthMethods       []signIn
	}
	if err == nil && (json.Unmarshal(answer, &hello) != nil || hello.ProtocolVersion == nil) {
		err = badReply{"there is no protocolVersion in it"}
	}
	switch {
	case err != nil:
		return w.unfit(ctx, p, err)
	case *hello.ProtocolVersion != acp.ProtocolVersionNumber:
		return fault.New(codes.WorkerStartFailed, fmt.Sprintf("The worker %s speaks version %d of the Agent Client "+
			"Protocol, and tabrelay version %d, so it was ended", id, *hello.ProtocolVersion,
			acp.ProtocolVersionNumber),
			fault.WithHint("Ask the person to install a version of the program, or of tabrelay, that fits the other."))
	}
	p.speaks = acpDialect{
		http:   hello.AgentCapabilities.McpCapabilities.Http,
		close:  hello.AgentCapabilities.SessionCapabilities.Close != nil,
		images: hello.AgentCapabilities.PromptCapabilities.Image,
	}
	p.signIns = hello.AuthMethods
	return nil
}

// signIn is a way in which a person signs in to a program.
type signIn struct {
	Name, Description, Type string
	Args                    []string // of one of type terminal: what the program is then started with
}

// howToSignIn is the next step where a program wants the person to sign in first.
func (w *Worker) howToSignIn(ways []signIn) string {
	var commands, others []string
	for _, way := range ways {
		if way.Type == "terminal" {
			words := append([]string{filepath.Base(w.options.Command)}, append(slices.Clone(w.options.Args),
				way.Args...)...)
			commands = append(commands, "`"+strings.Join(words, " ")+"` ("+way.Name+")")
			continue
		}
		said := way.Name
		if way.Description != "" && way.Description != way.Name {
			said += " (" + way.Description + ")"
		}
		others = append(others, said)
	}
	switch next := "Ask the person to sign in to the program in a terminal"; {
	case len(commands) > 0:
		return next + ": " + clip.Runes(fault.Plain(strings.Join(commands, " or ")), mostSignIn)
	case len(others) > 0:
		return next + ". It offers: " + clip.Runes(fault.Plain(strings.Join(others, "; ")), mostSignIn)
	default:
		return next + "."
	}
}

// mostSignIn is how much is said of the ways to sign in, in characters.
const mostSignIn = 400

// unfit is the failure of a program that did not say what it speaks.
func (w *Worker) unfit(ctx context.Context, p *program, err error) *fault.Error {
	why := err.Error()
	var refused *acp.RequestError
	switch {
	case errors.Is(err, errEnded):
		<-p.process.exited // what says nothing more is ended
		why = "it ended (" + p.process.how + ")"
	case errors.As(err, &refused):
		why = "it said: " + p.process.plain(refused.Message)
	case ctx.Err() != nil:
		why = "it did not answer within " + startTime.String()
	}
	return fault.New(codes.WorkerStartFailed, "The worker "+w.options.ID+" did not say what it speaks: "+why,
		w.evidence(p),
		fault.WithHint("Ask the person to check the worker's command, and its `protocol`, in config.json."))
}

func (d acpDialect) open(ctx context.Context, p *program, dir string, tools Tools) (string, error) {
	servers := []acp.McpServer{}
	if tools.Token != "" {
		servers = append(servers, d.server(tools))
	}
	answer, err := p.conn.request(ctx, acp.AgentMethodSessionNew, acp.NewSessionRequest{Cwd: dir, McpServers: servers})
	if err != nil {
		return "", err
	}
	var made acp.NewSessionResponse
	if json.Unmarshal(answer, &made) != nil || made.SessionId == "" {
		return "", badReply{"there is no sessionId in it"}
	}
	return string(made.SessionId), nil
}

// server is our own MCP server, as the program can reach it.
func (d acpDialect) server(t Tools) acp.McpServer {
	if d.http && t.URL != "" {
		return acp.McpServer{Http: &acp.McpServerHttpInline{Name: "tabrelay", Type: "http", Url: t.URL,
			Headers: []acp.HttpHeader{{Name: "Authorization", Value: "Bearer " + t.Token}}}}
	}
	env := []acp.EnvVariable{{Name: "TABRELAY_TOKEN", Value: t.Token}}
	for name, value := range t.Env {
		env = append(env, acp.EnvVariable{Name: name, Value: value})
	}
	return acp.McpServer{Stdio: &acp.McpServerStdio{Name: "tabrelay", Command: t.Command, Args: t.Args, Env: env}}
}

func (d acpDialect) sees() bool { return d.images }

func (d acpDialect) prompt(ctx context.Context, s *Session, t *turn, one Turn) (Reply, error) {
	blocks := []acp.ContentBlock{acp.TextBlock(one.Text)}
	for _, p := range one.Images {
		blocks = append(blocks, acp.ImageBlock(base64.StdEncoding.EncodeToString(p.Data), p.MIMEType))
	}
	var meta map[string]any // where ACP has the trace, too: its "Extensibility" reserves these names
	call.TraceOf(t.ctx).Each(func(name, value string) {
		if meta == nil {
			meta = map[string]any{}
		}
		meta[name] = value
	})
	answer, err := s.program.conn.request(ctx, acp.AgentMethodSessionPrompt, acp.PromptRequest{
		Meta: meta, SessionId: acp.SessionId(s.id), Prompt: blocks})
	if err != nil {
		return Reply{}, err
	}
	var said acp.PromptResponse
	if json.Unmarshal(answer, &said) != nil || said.StopReason == "" {
		return Reply{}, badReply{"there is no stopReason in it"}
	}
	reply := t.reply(stopReason(said.StopReason))
	if t.tooLong() {
		return Reply{}, badReply{"its text is longer than 10 MiB"}
	}
	if u := said.Usage; u != nil {
		reply.Usage = &Usage{Input: u.InputTokens, Output: u.OutputTokens}
		if u.CachedReadTokens != nil {
			reply.Usage.Cached = *u.CachedReadTokens
		}
	}
	return reply, nil
}

// stopReason is why a program ended a turn, in the words that models of providers have for it.
func stopReason(r acp.StopReason) string {
	switch r {
	case acp.StopReasonRefusal:
		return "content_filter"
	case acp.StopReasonMaxTurnRequests:
		return "budget_exceeded"
	}
	return string(r)
}

func (acpDialect) cancel(s *Session) {
	s.program.conn.notify(acp.AgentMethodSessionCancel, acp.CancelNotification{SessionId: acp.SessionId(s.id)})
}

func (d acpDialect) end(ctx context.Context, s *Session) {
	if d.close {
		_, _ = s.program.conn.request(ctx, acp.AgentMethodSessionClose, // it is over for us in any case
			acp.CloseSessionRequest{SessionId: acp.SessionId(s.id)})
	}
}

// Permission is what a program asks leave for. That is something it wants to do by itself; some programs ask before
// they call any tool, ours too, which nothing tells apart for sure.
type Permission struct {
	Title     string
	Kind      string // such as edit or execute
	Arguments json.RawMessage
	Shown     string   // text, and what a file would become
	Places    []string // files that it concerns
}

// permit asks the person for what a program wants to do. Without a clear yes it is not permitted. A program is never
// told that it may always do so: it would not ask again.
func permit(ctx context.Context, t *turn, r *acp.RequestPermissionRequest) acp.RequestPermissionOutcome {
	if t == nil {
		return acp.NewRequestPermissionOutcomeCancelled()
	}
	option := func(kind acp.PermissionOptionKind) (acp.PermissionOptionId, bool) {
		i := slices.IndexFunc(r.Options, func(o acp.PermissionOption) bool { return o.Kind == kind })
		if i < 0 {
			return "", false
		}
		return r.Options[i].OptionId, true
	}
	if yes, offered := option(acp.PermissionOptionKindAllowOnce); offered && t.permitted(ctx, wanted(&r.ToolCall)) {
		return acp.NewRequestPermissionOutcomeSelected(yes)
	}
	if t.ctx.Err() == nil {
		for _, kind := range []acp.PermissionOptionKind{acp.PermissionOptionKindRejectOnce,
			acp.PermissionOptionKindRejectAlways} {
			if no, offered := option(kind); offered {
				return acp.NewRequestPermissionOutcomeSelected(no)
			}
		}
	}
	return acp.NewRequestPermissionOutcomeCancelled()
}

// question is what a program asks whoever prompted it. The types of acp have no sessionId for it.
type question struct {
	SessionID acp.SessionId   `json:"sessionId"`
	Mode      string          `json:"mode"`
	Message   string          `json:"message"`
	Schema    json.RawMessage `json:"requestedSchema"`
}

// formAnswer is the answer to a question.
type formAnswer struct {
	Action  string          `json:"action"`
	Content json.RawMessage `json:"content,omitempty"`
}

// elicit asks whoever prompted. Only forms were announced: nobody is sent to an address that a program names.
func elicit(ctx context.Context, t *turn, q *question) (formAnswer, *acp.RequestError) {
	if q.Mode != "form" && q.Mode != "" {
		return formAnswer{}, acp.NewInvalidParams(map[string]string{"error": "only the mode form is supported"})
	}
	answer := call.Answer{Action: "cancel"}
	var err error
	if t != nil && t.ask != nil {
		t.asking(ctx, func(ctx context.Context) {
			answer, err = t.ask(ctx, call.Question{Message: q.Message, Schema: q.Schema})
		})
	}
	if err != nil {
		return formAnswer{}, acp.NewInvalidParams(map[string]string{"error": err.Error()})
	}
	return formAnswer{answer.Action, answer.Content}, nil
}

// wanted is what a program wants to do, for the person.
func wanted(c *acp.ToolCallUpdate) Permission {
	p := Permission{Title: "something that it does not name", Kind: "other"}
	if c.Title != nil && strings.TrimSpace(*c.Title) != "" {
		p.Title = *c.Title
	}
	if c.Kind != nil {
		p.Kind = string(*c.Kind)
	}
	if raw, err := json.Marshal(c.RawInput); err == nil && c.RawInput != nil {
		p.Arguments = raw
	}
	for _, l := range c.Locations {
		p.Places = append(p.Places, l.Path)
	}
	var texts []string
	for _, shown := range c.Content {
		switch {
		case shown.Content != nil && shown.Content.Content.Text != nil:
			texts = append(texts, shown.Content.Content.Text.Text)
		case shown.Diff != nil:
			texts = append(texts, shown.Diff.Path+" becomes:", shown.Diff.NewText)
		}
	}
	p.Shown = strings.Join(texts, "\n")
	return p
}
