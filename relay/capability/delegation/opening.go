package delegation

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/lib/random"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
)

// Asked is what a client asks for when it creates a session.
type Asked struct {
	Asker    call.Session
	AgentID  string // empty: the default one
	Metadata Metadata

	Timeout time.Duration // for the session to open, and for the errand with it; 0: as is configured

	once bool // the session is for one errand, and ends with the call that asks for it
}

// Create opens a session.
func (s *Sessions) Create(ctx context.Context, asked Asked) (View, *fault.Error) {
	e, failure := s.create(ctx, asked)
	if failure != nil {
		return View{}, failure
	}
	return s.view(e), nil
}

func (s *Sessions) create(ctx context.Context, asked Asked) (*entry, *fault.Error) {
	if failure := s.checkBounds(asked); failure != nil {
		return nil, failure
	}
	done, failure := s.enter()
	if failure != nil {
		return nil, failure
	}
	defer done()
	m, failure := s.choose(asked)
	if failure != nil {
		return nil, failure
	}
	e, failure := s.reserve(asked, m)
	if failure != nil {
		return nil, failure
	}
	timeout := s.allowed(m, asked.Timeout)
	ctx, stop := context.WithTimeoutCause(ctx, timeout, errOpening)
	defer stop()
	if failure := s.openAgent(ctx, e); failure != nil {
		s.remove(e)
		own := *failure
		if errors.Is(context.Cause(ctx), errOpening) {
			own = *lateOpening(e, timeout)
		}
		fault.WithOutcome(fault.NotExecuted)(&own) // no prompt was sent
		return nil, public(named(&own, e))
	}
	s.mu.Lock()
	e.opened, e.last = true, time.Now()
	stops, gone := s.closed, !slices.Contains(s.members, e.member)
	if !stops && !gone {
		s.armExpiry(e)
	}
	s.mu.Unlock()
	switch {
	case stops:
		s.end(e, RelayStopping, nil)
		return nil, stopping()
	case gone:
		s.end(e, Stopped, nil)
		return nil, reconfigured(e.AgentID)
	}
	s.tell(e, "opened a session with the agent "+e.AgentID, nil)
	return e, nil
}

// errOpening is why an opening ends that takes too long.
var errOpening = fmt.Errorf("the agent was not ready in time: %w", context.DeadlineExceeded)

// lateOpening is the failure of a session whose agent was not ready in time.
func lateOpening(e *entry, allowed time.Duration) *fault.Error {
	code := fault.TimeoutCode
	if e.member.Program != "" {
		code = codes.WorkerTimeout
	}
	return fault.New(code, fmt.Sprintf("Agent %s was not ready within %s, so it was sent no prompt", e.AgentID,
		allowed.Round(time.Millisecond)), fault.WithRetryable(true),
		fault.WithHint("Give it more time with the argument timeout, or ask the person to look at `tabrelay agents "+
			"test "+e.AgentID+"`."))
}

// allowed is how long an errand of an agent may take: as its caller says, else as is configured for it or for all.
func (s *Sessions) allowed(m *Member, asked time.Duration) time.Duration {
	s.mu.Lock()
	defer s.mu.Unlock()
	timeout := cmp.Or(max(asked, 0), m.Timeout, s.limits.Timeout)
	return min(timeout, s.longest())
}

func stopping() *fault.Error {
	return fault.New(fault.ShuttingDown, "Delegation is stopping and takes no new work")
}

// enter counts what runs at once.
func (s *Sessions) enter() (done func(), failure *fault.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.closed:
		return nil, stopping()
	case s.running >= s.limits.MaxConcurrent:
		return nil, fault.New(fault.Overloaded, "Server overloaded", fault.WithRetryAfter(time.Second))
	}
	s.running++
	return func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.running--
	}, nil
}

// choose finds the agent that a client asks for, and refuses a provider that is none of its.
func (s *Sessions) choose(asked Asked) (*Member, *fault.Error) {
	s.mu.Lock()
	m, failure := s.member(asked.AgentID)
	s.mu.Unlock()
	if failure != nil {
		return nil, failure
	}
	info := m.Agent.Info() // which may look at files
	if id := asked.Metadata.Provider; id != "" && info.Status != Unavailable && !info.has(id) {
		return nil, fault.New(fault.ConfigError,
			fmt.Sprintf("Provider %q is not one of the agent %s", fault.Excerpt(id), info.ID), fault.WithProvider(id),
			fault.WithHint("Leave metadata.provider out, or use one that agents_discover shows for this agent."))
	}
	return m, nil
}

// has reports whether a provider is one of the agent's, also where it cannot be used: what it lacks is said then.
func (i Info) has(id string) bool {
	return slices.Contains(i.unusable, id) ||
		slices.ContainsFunc(i.Providers, func(p ProviderInfo) bool { return p.ID == id })
}

// reserve makes a session that nobody can use yet.
func (s *Sessions) reserve(asked Asked, m *Member) (*entry, *fault.Error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) >= s.limits.MaxSessions {
		return nil, fault.New(codes.SessionCapacity, "Session capacity reached")
	}
	now := time.Now()
	e := &entry{member: m, state: StateActive, last: now, once: asked.once, Session: &Session{
		ID: random.Hex(16), AgentID: m.id, Asker: asked.Asker, Metadata: asked.Metadata, Created: now,
		Tools: s.options.Tools,
	}}
	e.Acts = acts(e.Session, m)
	e.Acts.Bounds.Color = s.color()
	s.open[e.ID] = e
	s.options.Meter.AgentSessions(len(s.open))
	return e, nil
}

// color is one that no open session has, or as few as possible. It is called while mu is held.
func (s *Sessions) color() string {
	used := map[string]int{}
	for _, e := range s.open {
		used[e.Acts.Bounds.Color]++
	}
	return slices.MinFunc(call.Colors[:], func(a, b string) int { return cmp.Compare(used[a], used[b]) })
}

// acts is the session of the calls that an agent makes.
func acts(s *Session, m *Member) call.Session {
	own := s.Asker
	base, _, _ := strings.Cut(own.ID, call.NamedSession)
	own.ID = base + call.NamedSession + "agent-" + s.ID[:8]
	own.Bounds = &call.Bounds{
		By: Name, Agent: s.AgentID, Session: s.ID, Asker: s.Asker.ID, Tabs: s.Metadata.Tabs,
		Tools: intersect(s.Metadata.Tools, m.Tools), ReadOnly: s.Metadata.ReadOnly || m.ReadOnly,
	}
	return own
}

// intersect is what two lists of tools and plugins allow together. An empty one bounds nothing.
func intersect(a, b []string) (list []string) {
	if len(a) == 0 || len(b) == 0 {
		return slices.Concat(a, b)
	}
	covers := func(names []string, one string) bool {
		return slices.Contains(names, one) || slices.Contains(names, plugin.Owner(one))
	}
	for _, one := range slices.Concat(a, b) {
		if covers(a, one) && covers(b, one) && !slices.Contains(list, one) {
			list = append(list, one)
		}
	}
	if list == nil {
		return []string{"none"} // no tool is called that
	}
	return list
}

// openAgent has the agent prepare a session, and does not wait for it beyond the end of ctx.
func (s *Sessions) openAgent(ctx context.Context, e *entry) *fault.Error {
	done := make(chan *fault.Error, 1)
	go func() {
		done <- s.guard(e, func() *fault.Error { return e.member.Agent.Open(ctx, e.Session) })
	}()
	select {
	case failure := <-done:
		return failure
	case <-ctx.Done():
	}
	select {
	case failure := <-done:
		return failure
	case <-time.After(grace):
	}
	go func() {
		if <-done == nil {
			s.closeAgent(e, Failed)
		}
	}()
	return fault.CallEnded(ctx, "before the agent "+e.AgentID+" was ready")
}

// grace is how long an agent may take to stop what it began.
const grace = 500 * time.Millisecond

// guard turns a panic of an agent into a failure.
func (s *Sessions) guard(e *entry, do func() *fault.Error) (failure *fault.Error) {
	defer func() {
		if p := recover(); p != nil {
			s.options.Log.Error().Str("agent", e.AgentID).Interface("panic", p).Msg("an agent failed")
			failure = fault.New(codes.AgentFailed, "Agent "+e.AgentID+" failed")
		}
	}()
	return do()
}

func (s *Sessions) closeAgent(e *entry, why Reason) {
	_ = s.guard(e, func() *fault.Error {
		e.member.Agent.Close(e.Session, why)
		return nil
	})
}
