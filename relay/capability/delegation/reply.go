package delegation

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"

	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// shown is a reply as clients read it.
type shown struct {
	Success    *bool           `json:"success,omitempty"`
	SessionID  string          `json:"sessionId,omitempty"`
	AgentID    string          `json:"agentId,omitempty"`
	Provider   string          `json:"provider,omitempty"`
	Model      string          `json:"model,omitempty"`
	Fallback   string          `json:"fallback,omitempty"` // why it was not the provider that comes first
	Error      string          `json:"error,omitempty"`
	Code       int             `json:"code,omitempty"`
	NeedsInput *NeedsInput     `json:"needsInput,omitempty"`
	Text       string          `json:"text"`
	Value      json.RawMessage `json:"value,omitempty"` // of the form that was asked for
	StopReason string          `json:"stopReason"`
	RequestID  string          `json:"requestId,omitempty"`
	Usage      *provider.Usage `json:"usage,omitempty"`
	Source     string          `json:"source,omitempty"`
	More       *rest           `json:"more,omitempty"` // the text is longer
	ToolCalls  []Action        `json:"toolCalls"`
	CallsLeft  int             `json:"toolCallsLeftOut,omitempty"` // the oldest that read
	Outcome    *Outcome        `json:"outcome,omitempty"`
}

// rest says where an answer goes on that is longer than a client is given at once.
type rest struct {
	TextBytes int            `json:"textBytes"`
	Tool      string         `json:"tool"`
	Arguments map[string]any `json:"arguments"`
}

// answer is a reply as clients read it.
func (s *Sessions) answer(asker call.Session, r Reply, task bool) answer {
	shown := shown{
		Text: r.Text, Value: r.Value, StopReason: r.StopReason, RequestID: r.RequestID, Usage: r.Usage,
		ToolCalls: r.Summary.Actions, SessionID: r.SessionID, AgentID: r.AgentID, NeedsInput: r.Needs,
	}
	if r.On != nil {
		shown.Provider, shown.Model, shown.Fallback = r.On.Provider, r.On.Model, r.On.Fallback
	}
	why := r.lacks()
	if task && r.Needs != nil {
		shown.Success, shown.Error = &no, "The agent asks for input before it goes on: see needsInput"
	} else if task && why == nil {
		shown.Success = &yes
	} else if task {
		shown.Success, shown.Error, shown.Code = &no, why.Message, why.RPC()
	}
	if r.Summary.Untrusted {
		shown.Source = "delegated agent " + r.AgentID + "; it read untrusted pages"
	}
	if !r.Ended {
		o := r.Summary.Outcome()
		shown.Outcome = &o
	}
	shown.fit()
	if shown.More != nil {
		s.texts.keep(r.SessionID, asker, r.AgentID, r.Text, r.Summary.Untrusted)
	}
	return answer{value: shown, untrusted: r.Summary.Untrusted, images: r.Images}
}

// lacks says why a reply is not the end of its errand; nil: it is. Without a text, nobody knows what was done.
func (r Reply) lacks() *fault.Error {
	switch {
	case r.StopReason == StopBudget:
		return fault.New(codes.BudgetExceeded, "The budget of the errand was used up before it was done")
	case r.StopReason == StopCancelled:
		return fault.New(fault.Cancelled, "The errand was cancelled before it was done")
	case r.Needs == nil && strings.TrimSpace(r.Text) == "":
		return fault.New(codes.ProviderUnknown, "The agent ended without an answer (stop reason: "+
			fault.Excerpt(r.StopReason)+")")
	}
	return nil
}

// An answer is made smaller here, and not by the relay as others are: its members stay where clients look for them.
const (
	mostAnswer = 28 << 10 // bytes
	mostCalls  = 60       // that are told of a long one
)

// fit leaves out the oldest calls that only read, and then the end of the text.
func (s *shown) fit() {
	size := len(rawjson.MustEncode(s))
	if size <= mostAnswer {
		return
	}
	if n := len(s.ToolCalls) - mostCalls; n > 0 {
		s.ToolCalls = slices.Clone(s.ToolCalls)
		s.ToolCalls = slices.DeleteFunc(s.ToolCalls, func(a Action) bool {
			out := s.CallsLeft < n && !a.Writes
			if out {
				s.CallsLeft++
			}
			return out
		})
		if s.Outcome != nil {
			o := Summary{Actions: s.ToolCalls}.Outcome()
			s.Outcome = &o
		}
		size = len(rawjson.MustEncode(s))
	}
	if size <= mostAnswer {
		return
	}
	whole := s.Text
	s.Text = piece(whole, max(mostAnswer-(size-len(rawjson.MustEncode(whole)))-256, 1<<10))
	s.More = s.rest(len(s.Text), len(whole))
}

func (s *shown) rest(offset, whole int) *rest {
	return &rest{whole, "sessions_status", map[string]any{"sessionId": s.SessionID, "textOffset": offset}}
}

// piece is the beginning of a text that takes so many bytes as JSON.
func piece(text string, most int) string {
	end := min(most, len(text))
	for end > 0 {
		for end < len(text) && end > 0 && !utf8.RuneStart(text[end]) {
			end--
		}
		if len(rawjson.MustEncode(text[:end])) <= most {
			break
		}
		end = end * 9 / 10
	}
	return text[:end]
}

// promptBehind begins a prompt for which its client does not wait. sessions_status tells how it goes, and the answer.
func (s *Sessions) promptBehind(c call.Call, id string, errand Errand) (answer, *fault.Error) {
	errand.Tell, errand.Ask = nil, nil // nobody is there to be told or asked; the person is asked in the panel
	if failure := s.checkPrompt(errand.Text); failure != nil {
		return answer{}, failure
	}
	e, failure := s.find(c.Session, id)
	if failure != nil {
		return answer{}, failure
	}
	begun := make(chan *fault.Error, 1)
	behind := &ended{}
	errand.begun = func() {
		s.mu.Lock()
		e.behind = behind
		s.mu.Unlock()
		begun <- nil
	}
	work := func() {
		reply, failure := s.Prompt(context.Background(), c.Session, id, errand)
		select {
		case begun <- failure: // it did not begin
		default:
		}
		s.mu.Lock()
		behind.done, behind.reply, behind.failure = true, reply, failure
		s.mu.Unlock()
	}
	s.mu.Lock()
	closed := s.closed
	if !closed {
		s.ending.Go(work)
	}
	s.mu.Unlock()
	if closed {
		return answer{}, stopping()
	}
	if failure := <-begun; failure != nil {
		return answer{}, failure
	}
	return answer{value: map[string]any{"sessionId": e.ID, "agentId": e.AgentID, "status": StateBusy,
		"next": "sessions_status has the answer when status is idle or failed."}}, nil
}

// ended is the end of a prompt in the background, once it is done.
type ended struct {
	done    bool
	reply   Reply
	failure *fault.Error
}

// statusArgs are the arguments of sessions_status.
type statusArgs struct {
	SessionID  string `json:"sessionId"`
	TextOffset *int   `json:"textOffset"`
}

func (s *Sessions) statusOf(_ context.Context, c call.Call, args statusArgs) (answer, *fault.Error) {
	if args.TextOffset != nil {
		if a, known := s.texts.read(args.SessionID, c.Session, *args.TextOffset); known {
			return a, nil
		}
	}
	v, failure := s.Status(c.Session, args.SessionID)
	if failure != nil {
		return answer{}, failure
	}
	status := v.status()
	a := answer{}
	if v.behind.done {
		if f := v.behind.failure; f != nil {
			status.Answer = json.RawMessage(f.AgenticText())
		} else {
			one := s.answer(c.Session, v.behind.reply, false)
			status.Answer, a.untrusted, a.images = rawjson.MustEncode(one.value), one.untrusted, one.images
		}
	}
	a.value = status
	return a, nil
}

// status is a session as sessions_status shows it.
type status struct {
	SessionID      string          `json:"sessionId"`
	AgentID        string          `json:"agentId"`
	Provider       string          `json:"provider,omitempty"`
	Model          string          `json:"model,omitempty"`
	Status         State           `json:"status"`
	CreatedAt      int64           `json:"createdAt"`
	LastActivityAt int64           `json:"lastActivityAt"`
	Turn           int             `json:"turn"`
	CurrentTool    *string         `json:"currentTool"` // null: none
	Tabs           []int           `json:"tabs"`
	Answer         json.RawMessage `json:"answer,omitempty"` // to the last prompt in the background
}

func (v View) status() status {
	shown := status{
		SessionID: v.ID, AgentID: v.AgentID, Status: v.State, CreatedAt: v.Created.UnixMilli(),
		LastActivityAt: v.Last.UnixMilli(), Turn: v.Doing.Turn, Tabs: v.Doing.Tabs,
	}
	if v.On != nil {
		shown.Provider, shown.Model = v.On.Provider, v.On.Model
	}
	if len(v.Doing.Tools) > 0 {
		shown.CurrentTool = &v.Doing.Tools[0]
	}
	return shown
}
