package delegation

import (
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/capability"
	"tabrelay/relay/capability/delegation/agentconfig"
	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
)

// Member is an agent with what its person configured for it besides.
type Member struct {
	Agent    Agent
	Tools    []string // that it may use at the most; empty: those of its caller
	ReadOnly bool
	Program  string        // what runs, of an agent that is a program; empty: it is on models
	Budget   Budget        // of one prompt; 0: that of all
	Timeout  time.Duration // of one prompt, where its caller does not say; 0: that of all

	id string // set by Configure
}

// Options is what Sessions need of the relay. Functions may be nil; they must not block.
type Options struct {
	Tools      capability.Tools
	Log        zerolog.Logger
	MaxTimeout time.Duration // no prompt lasts longer

	// TabGone reports whether no connected browser has a tab of an id, although one is connected; nil: nobody knows.
	TabGone func(id int) bool

	// Lend hands the calls of an agent the tabs of its asker that are named in their session, until back.
	Lend func(acts call.Session) (back func())

	Transcripts Transcripts // nil: nothing that is said is kept, whatever is configured

	Events  func(owner event.Owner, kind event.Kind, message string, data map[string]any)
	Meter   Meter
	Left    func(sessionID string) // the session of calls of an agent has ended, and what it owns with it
	Changed func()                 // [Sessions.List] would answer something else
}

// Meter counts.
type Meter interface {
	AgentSessions(open int)
	AgentPrompt(agent, outcome string, took time.Duration)
	AgentSpent(agent string, input, output int, usd float64)
}

// State is what a session does.
type State string

// The states of a session. A failed one takes the next prompt.
const (
	StateActive State = "active" // it was not prompted yet
	StateBusy   State = "busy"
	StateIdle   State = "idle"
	StateFailed State = "failed"
)

// Sessions are the open sessions of all clients with all agents. Methods may be called concurrently.
type Sessions struct {
	options Options
	ending  sync.WaitGroup // of sessions that are being ended, and prompts in the background
	texts   longTexts

	mu      lock.Mutex // guards the rest, and what an entry says it does
	limits  agentconfig.Limits
	members []*Member
	open    map[string]*entry // by id
	running int               // prompts and openings
	closed  bool
}

// entry is a session that is open, or is being opened.
type entry struct {
	*Session
	member *Member
	once   bool // it ends with the call that asked for it

	// Guarded by Sessions.mu.
	state   State
	opened  bool
	last    time.Time     // of its creation, or the end of its last prompt
	over    chan struct{} // closed when the prompt under way has ended; nil: none is
	expiry  *time.Timer   // nil while it is busy
	closing Reason        // it is closed as soon as its agent has come back; empty: it is not to be

	behind   *ended // its last prompt in the background; nil: there was none
	finished bool
	kept     bool // something of it is in a transcript
}

// NewSessions makes sessions with no agents.
func NewSessions(o Options) *Sessions {
	if o.Events == nil {
		o.Events = func(event.Owner, event.Kind, string, map[string]any) {}
	}
	if o.Changed == nil {
		o.Changed = func() {}
	}
	if o.Left == nil {
		o.Left = func(string) {}
	}
	if o.Meter == nil {
		o.Meter = unmetered{}
	}
	return &Sessions{options: o, open: map[string]*entry{}}
}

type unmetered struct{}

func (unmetered) AgentSessions(int)                         {}
func (unmetered) AgentPrompt(string, string, time.Duration) {}
func (unmetered) AgentSpent(string, int, int, float64)      {}

// Configure replaces the agents and the limits. Sessions of agents that are not among them any more are closed.
func (s *Sessions) Configure(members []*Member, limits agentconfig.Limits) {
	for _, m := range members {
		if m.id == "" { // of one that nobody else knows yet
			m.id = m.Agent.Info().ID
		}
	}
	s.mu.Lock()
	s.members, s.limits = members, limits
	var gone []*entry
	for _, e := range s.open {
		if !slices.Contains(members, e.member) && e.opened {
			gone = append(gone, e)
		}
	}
	s.mu.Unlock()
	for _, e := range gone {
		s.end(e, Stopped, reconfigured(e.AgentID))
	}
}

func reconfigured(agent string) *fault.Error {
	return fault.New(fault.Cancelled, "The agent "+agent+" was changed in the configuration",
		fault.WithHint("Call agents_discover, then delegate again."))
}

// Members are the agents there are.
func (s *Sessions) Members() []*Member {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.members
}

// Agents describes the agents as they are now. One is busy while no session can be opened.
func (s *Sessions) Agents() []Info {
	s.mu.Lock()
	members, full := s.members, len(s.open) >= s.limits.MaxSessions
	s.mu.Unlock()
	list := []Info{}
	for _, m := range members {
		info := m.Agent.Info()
		if full && info.Status == Ready {
			info.Status = Busy
		}
		list = append(list, info)
	}
	return list
}

// Default is the id of the agent that errands go to which name none; empty: there is none.
func (s *Sessions) Default() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	m, failure := s.member("")
	if failure != nil {
		return ""
	}
	return m.id
}

// Load is how many sessions are open, and how many may be.
func (s *Sessions) Load() (active, capacity int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return len(s.open), s.limits.MaxSessions
}

// member finds an agent; without a name it is the default one. It is called while mu is held.
func (s *Sessions) member(id string) (*Member, *fault.Error) {
	if len(s.members) == 0 {
		return nil, fault.New(fault.ConfigError, "No agents registered", fault.WithHint(noAgents))
	}
	if id == "" {
		if id = s.limits.DefaultAgent; id == "" {
			return s.members[0], nil
		}
	}
	for _, m := range s.members {
		if m.id == id {
			return m, nil
		}
	}
	return nil, fault.New(codes.AgentNotFound, "Agent not found: "+fault.Excerpt(id))
}

// View is a session as its client and the person see it.
type View struct {
	ID      string
	AgentID string
	Asker   call.Session
	Color   string // of the groups of its tabs, one of call.Colors
	State   State
	Created time.Time
	Last    time.Time // of its creation, or the end of its last prompt
	Doing   Doing
	Spent   Spent
	On      *Thinks // nil: a program
	behind  ended   // of its last prompt in the background
}

func (s *Sessions) view(e *entry) View {
	s.mu.Lock()
	v := View{ID: e.ID, AgentID: e.AgentID, Asker: e.Asker, Color: e.Acts.Bounds.Color, State: e.state,
		Created: e.Created, Last: e.last, On: e.on.Load()}
	if e.behind != nil {
		v.behind = *e.behind
	}
	s.mu.Unlock()
	v.Doing, v.Spent = e.Doing(), e.Spent()
	return v
}

// find returns a session of a client. That of another client does not exist for it.
func (s *Sessions) find(asker call.Session, id string) (*entry, *fault.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	e, ok := s.open[id]
	if !ok || !e.opened || e.closing != "" || !owns(asker, e.Asker) {
		return nil, fault.New(codes.SessionNotFound, "Session not found: "+fault.Excerpt(id), fault.WithSession(
			fault.Excerpt(id), false))
	}
	return e, nil
}

// owns reports whether a session may use what another one created: they are of the same client. Clients without a name
// share one, so of these it has to be the same attachment.
func owns(asker, of call.Session) bool {
	if asker.Client != of.Client || asker.Bounds != nil {
		return false
	}
	base := func(id string) string { first, _, _ := strings.Cut(id, "/"); return first }
	return asker.Client != call.Unnamed || base(asker.ID) == base(of.ID)
}

// Status is a session as it is now.
func (s *Sessions) Status(asker call.Session, id string) (View, *fault.Error) {
	e, failure := s.find(asker, id)
	if failure != nil {
		return View{}, failure
	}
	return s.view(e), nil
}

// List is all open sessions, the one that was created first before the others.
func (s *Sessions) List() []View {
	s.mu.Lock()
	var open []*entry
	for _, e := range s.open {
		if e.opened && e.closing == "" {
			open = append(open, e)
		}
	}
	s.mu.Unlock()
	list := make([]View, len(open))
	for i, e := range open {
		list[i] = s.view(e)
	}
	slices.SortFunc(list, func(a, b View) int { return a.Created.Compare(b.Created) })
	return list
}

// errCancelled is the cause of a turn's end that its client asked for.
var errCancelled = errors.New("the client cancelled the prompt")

// Cancel stops the prompt under way, and reports whether there was one. It returns when the prompt has ended.
func (s *Sessions) Cancel(asker call.Session, id string) (stopped bool, failure *fault.Error) {
	e, failure := s.find(asker, id)
	if failure != nil {
		return false, failure
	}
	return s.interrupt(e, errCancelled), nil
}

// interrupt ends the turn of a session, and waits a moment for it.
func (s *Sessions) interrupt(e *entry, cause error) bool {
	turn := e.Turn()
	s.mu.Lock()
	over := e.over
	s.mu.Unlock()
	if turn == nil || over == nil || turn.Context().Err() != nil {
		return false
	}
	turn.Cancel(cause)
	select {
	case <-over:
	case <-time.After(2 * grace):
	}
	return true
}

// Thinks is what an agent on models thinks with.
type Thinks struct {
	Provider string
	Model    string // of the last request; empty: there was none
	Fallback string // why it is not the provider that comes first; empty: it is
}

// Session is one session of a client with an agent. What is not static belongs to [Sessions].
type Session struct {
	ID       string // 32 hexadecimal digits
	AgentID  string
	Asker    call.Session // of the client that created it
	Acts     call.Session // of the calls that the agent makes; Bounds are set
	Metadata Metadata
	Created  time.Time

	Tools capability.Tools // what the agent calls, by Do
	State any              // the agent's own

	// untrusted is set once its agent has read text of a page: its output may follow instructions in that text.
	untrusted atomic.Bool

	// on is the provider and model of its agent; nil for a program, whose model is not known, and before it is opened.
	on atomic.Pointer[Thinks]

	mu    lock.Mutex
	turn  *Turn // nil: none is under way
	turns int   // that have begun
	tabs  tabList
	spent Spent
}
