package delegation

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"

	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/capability/delegation/worker"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// ProgramOptions is what an agent that is a program needs.
type ProgramOptions struct {
	ID           string
	Capabilities []string
	Worker       *worker.Worker

	// How the program reaches the tools of the relay.
	URL     string            // of MCP
	Command string            // absolute, of this program, for those that want a stdio proxy
	Env     map[string]string // of that one
	Lend    func(s call.Session) (token string, revoke func())
	Calls   *ProgramCalls

	// Approve asks the person for what a program wants to do by itself, as Ask of package policy does. client asks
	// through the client that delegated, and may be nil.
	Approve func(ctx context.Context, a call.Access, client func(context.Context, call.Question) (call.Answer, error),
		tell func(string)) *fault.Error
}

// Program is an agent that is a program of its own.
type Program struct{ options ProgramOptions }

var _ Agent = (*Program)(nil)

// NewProgram makes an agent.
func NewProgram(o ProgramOptions) *Program { return &Program{o} }

// Info implements [Agent].
func (p *Program) Info() Info {
	i := Info{ID: p.options.ID, Capabilities: append([]string{}, p.options.Capabilities...), Status: Ready}
	if i.Trouble = p.options.Worker.Trouble(); i.Trouble == "" {
		for _, lack := range p.Lacks() {
			i.Trouble = lack.What
		}
	}
	if i.Trouble != "" {
		i.Status = Unavailable
	}
	return i
}

// programSession is what a program keeps of one session, as its State.
type programSession struct {
	session *worker.Session
	leave   func() // revokes the session's token
	prompts int    // that the program got
}

// Open implements [Agent]: the program gets a session, and in it a token that stands for s and nothing else.
func (p *Program) Open(ctx context.Context, s *Session) *fault.Error {
	if failure := p.fits(s.Metadata.Provider, s.Metadata.RuntimeParams); failure != nil {
		return failure
	}
	token, revoke := p.options.Lend(s.Acts)
	p.options.Calls.begin(s)
	leave := func() {
		p.options.Calls.end(s)
		revoke()
	}
	session, failure := p.options.Worker.Open(ctx, worker.Tools{
		Token: token, URL: p.options.URL, Command: p.options.Command, Args: []string{"mcp"}, Env: p.options.Env,
	})
	if failure != nil {
		leave()
		return failure
	}
	s.State = &programSession{session: session, leave: leave}
	return nil
}

// fits refuses a provider and runtime parameters: a program chooses its model and parameters itself.
func (p *Program) fits(chosen string, params provider.Params) *fault.Error {
	own := params
	own.SystemPrompt = nil
	switch {
	case chosen != "":
		return fault.New(fault.ConfigError, "The agent "+p.options.ID+" is a program and has no provider "+
			fault.Excerpt(chosen), fault.WithHint("Leave out metadata.provider."))
	case !reflect.DeepEqual(own, provider.Params{}):
		return fault.New(fault.ConfigError, "The agent "+p.options.ID+" is a program, which chooses its model and "+
			"parameters itself", fault.WithHint("Leave out runtimeParams, except systemPrompt."))
	}
	return nil
}

// Prompt implements [Agent].
func (p *Program) Prompt(ctx context.Context, s *Session, one Prompt) (Answer, *fault.Error) {
	v, ok := s.State.(*programSession)
	t := s.Turn()
	if !ok || t == nil {
		return Answer{}, fault.New(codes.SessionNotFound, "The session has ended", fault.WithOutcome(fault.NotExecuted))
	}
	if failure := p.fits("", one.Params); failure != nil {
		return Answer{}, failure
	}
	reply, failure := v.session.Prompt(ctx, worker.Turn{
		Text: v.words(s, one), Images: one.Images, Tell: func(step string) { t.tell(step) },
		Permit: func(ctx context.Context, wanted worker.Permission) bool { return p.permit(ctx, s, t, wanted) },
		Ask: func(ctx context.Context, q call.Question) (call.Answer, error) {
			a, later, failure := t.question(ctx, q)
			if failure != nil {
				return a, failure
			}
			if later {
				t.Cancel(errNeedsInput)
			}
			return a, nil
		},
	})
	if failure != nil {
		return Answer{}, failure
	}
	v.prompts++
	return answerOf(ctx, reply)
}

// words are a prompt as the program gets it: it has no place of its own for what its system prompt would be.
func (v *programSession) words(s *Session, one Prompt) string {
	system := one.Params.SystemPrompt
	if system == nil && v.prompts == 0 {
		system = s.Metadata.RuntimeParams.SystemPrompt
	}
	if system == nil || strings.TrimSpace(*system) == "" {
		return one.Text
	}
	return *system + "\n\n" + one.Text
}

// answerOf is what a program replied. Where its turn was ended, the cause says what that was.
func answerOf(ctx context.Context, r worker.Reply) (Answer, *fault.Error) {
	a := Answer{Text: r.Text, Images: r.Images, StopReason: r.StopReason, RequestID: r.RequestID}
	if u := r.Usage; u != nil {
		a.Usage = &provider.Usage{InputTokens: u.Input, OutputTokens: u.Output, CachedTokens: u.Cached}
	}
	if a.StopReason != worker.Cancelled {
		return a, nil
	}
	cause := context.Cause(ctx)
	if failure, ok := errors.AsType[*fault.Error](cause); ok {
		return a, failure
	}
	if a.StopReason = StopCancelled; errors.Is(cause, ErrTimeBudget) {
		a.StopReason = StopBudget
	}
	return a, nil
}

// Close implements [Agent].
func (p *Program) Close(s *Session, _ Reason) {
	if v, ok := s.State.(*programSession); ok {
		s.State = nil
		v.leave()
		v.session.Close()
	}
}

// changing are the kinds of what a program does that an errand which only reads has no use for. Of the others nobody
// knows: programs also say "other" of tools that only read, those of tabrelay among them.
var changing = []string{"edit", "delete", "move", "execute"}

// permit asks the person for what the program wants to do by itself.
func (p *Program) permit(ctx context.Context, s *Session, t *Turn, wanted worker.Permission) bool {
	if p.options.Approve == nil || s.Acts.Bounds.ReadOnly && slices.Contains(changing, wanted.Kind) {
		return false
	}
	only := ""
	if s.Acts.Bounds.ReadOnly {
		only = " that should only read"
	}
	shown := map[string]any{"does": wanted.Kind}
	if wanted.Arguments != nil {
		shown["input"] = wanted.Arguments
	}
	if wanted.Shown != "" {
		shown["shows"] = wanted.Shown
	}
	if len(wanted.Places) > 0 {
		shown["places"] = wanted.Places
	}
	arguments, _ := json.Marshal(shown) // it came as JSON
	failure := p.options.Approve(ctx, call.Access{
		ID: call.NewID(), Session: s.Acts, Tool: p.options.ID + "__" + kindWord(wanted.Kind),
		Title: wanted.Title, Plugin: p.options.ID, PluginTitle: "the program " + p.options.ID,
		ReadOnly: wanted.Kind == "read" || wanted.Kind == "search", Destructive: wanted.Kind == "delete",
		BuiltIn: true, Once: true, Arguments: arguments,
		Note: fmt.Sprintf("The program of the delegated agent %s asks for this itself, in an errand of %s%s. It may "+
			"be something on this machine; for tools of tabrelay, your rules hold besides.",
			p.options.ID, fault.Excerpt(s.Asker.Client), only),
	}, t.asker(), t.tell)
	return failure == nil
}

// kindWord is a kind of action as a part of a tool's name.
func kindWord(kind string) string {
	word := strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r == '_' {
			return r
		}
		return -1
	}, kind)
	if word == "" || len(word) > 32 {
		return "other"
	}
	return word
}

// ProgramCalls knows the sessions whose agents are programs: their calls come in as those of clients do.
type ProgramCalls struct {
	mu       lock.Mutex
	sessions map[string]*Session // by id
}

// NewProgramCalls returns one without sessions.
func NewProgramCalls() *ProgramCalls { return &ProgramCalls{sessions: map[string]*Session{}} }

func (v *ProgramCalls) begin(s *Session) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.sessions[s.ID] = s
}

func (v *ProgramCalls) end(s *Session) {
	v.mu.Lock()
	defer v.mu.Unlock()
	delete(v.sessions, s.ID)
}

// Do carries out a call that a program makes, as one of its session: whatever it says of itself, it is counted, bounded
// and told like every other.
func (v *ProgramCalls) Do(ctx context.Context, c call.Call) (*call.Result, *fault.Error) {
	v.mu.Lock()
	s := v.sessions[c.Session.Bounds.Session]
	v.mu.Unlock()
	if s == nil {
		return nil, fault.New(codes.SessionNotFound,
			"The session of the agent "+c.Session.Bounds.Agent+" has ended",
			fault.WithOutcome(fault.NotExecuted))
	}
	return s.Do(ctx, c)
}
