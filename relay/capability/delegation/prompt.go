package delegation

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"tabrelay/relay/capability/delegation/agentconfig"
	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// Errand is a prompt as a client sends it.
type Errand struct {
	Text    string
	Images  []provider.Image
	Timeout time.Duration // 0: as is configured
	Params  provider.Params
	Tell    func(call.Progress)
	Ask     func(ctx context.Context, q call.Question) (call.Answer, error)
	Form    *Form // that the answer has to have; nil: it is text

	begun func() // hears that the session has taken the prompt; may be nil
}

// Reply is the end of a prompt that was answered.
type Reply struct {
	Answer
	Value     json.RawMessage // of the form that was asked for; nil: it was none
	SessionID string
	AgentID   string
	On        *Thinks // nil: a program
	Summary   Summary
	Needs     *NeedsInput // what the agent asks before it goes on; nil: nothing
	Ended     bool        // by the agent itself; false: it asks something, was stopped, or its budget was used up
}

// Prompt has the agent of a session carry an errand out.
func (s *Sessions) Prompt(ctx context.Context, asker call.Session, id string, errand Errand) (Reply, *fault.Error) {
	if failure := s.checkPrompt(errand.Text); failure != nil {
		return Reply{}, failure
	}
	e, failure := s.find(asker, id)
	if failure != nil {
		return Reply{}, failure
	}
	done, failure := s.enter()
	if failure != nil {
		return Reply{}, inSession(failure, e, true)
	}
	defer done()
	return s.prompt(ctx, e, errand)
}

// Delegate opens a session, has its agent carry an errand out, and closes it, unless the agent asks something first.
func (s *Sessions) Delegate(ctx context.Context, asked Asked, errand Errand) (Reply, *fault.Error) {
	if failure := s.checkPrompt(errand.Text); failure != nil {
		return Reply{}, failure
	}
	asked.once, asked.Timeout = true, errand.Timeout
	began := time.Now()
	e, failure := s.create(ctx, asked)
	if failure != nil {
		return Reply{}, failure
	}
	errand.Timeout = max(s.allowed(e.member, errand.Timeout)-time.Since(began), time.Millisecond)
	done, failure := s.enter()
	if failure != nil {
		s.end(e, Failed, nil)
		return Reply{}, inSession(failure, e, false)
	}
	defer done()
	reply, failure := s.prompt(ctx, e, errand)
	if failure != nil {
		s.end(e, Failed, nil)
		return reply, inSession(failure, e, false)
	}
	if reply.Needs != nil {
		s.lastsOn(e)
		return reply, nil
	}
	s.end(e, Completed, nil)
	return reply, nil
}

func (s *Sessions) checkPrompt(text string) *fault.Error {
	s.mu.Lock()
	most := s.limits.MaxPromptBytes
	s.mu.Unlock()
	if len(text) > most {
		return fault.New(fault.InputTooLarge, "Prompt exceeds maximum size",
			fault.WithHint(fmt.Sprintf("The prompt has %d bytes, and may have %d.", len(text), most)))
	}
	return nil
}

// inSession says in a failure which session it belongs to.
func inSession(f *fault.Error, e *entry, valid bool) *fault.Error {
	fault.WithSession(e.ID, valid)(f)
	return f
}

// prompt runs one turn, and where a form was asked for that the answer has not, another one.
func (s *Sessions) prompt(ctx context.Context, e *entry, errand Errand) (Reply, *fault.Error) {
	form := errand.Form
	if form == nil {
		return s.runTurn(ctx, e, errand)
	}
	until := time.Now().Add(s.allowed(e.member, errand.Timeout))
	errand.Text += form.wanted()
	first, failure := s.runTurn(ctx, e, errand)
	if failure != nil || !first.Ended {
		return first, failure
	}
	var problem string
	if first.Value, problem = form.read(first.Text); problem == "" {
		return first, nil
	}
	errand.Text, errand.Images, errand.begun = form.again(problem), nil, nil
	errand.Timeout = max(time.Until(until), time.Millisecond)
	second, failure := s.runTurn(ctx, e, errand)
	second.after(first)
	if failure != nil || !second.Ended {
		return second, repeated(failure, second.Summary)
	}
	if second.Value, problem = form.read(second.Text); problem != "" {
		failure = fault.New(fault.InvalidOutput, "The answer of the agent "+e.AgentID+" does not fit outputSchema, "+
			"twice: "+
			problem, fault.WithOutcome(fault.NotExecuted), fault.WithData(rawjson.MustEncode(map[string]string{
			"text": piece(second.Text, mostAnswer/4)})),
			fault.WithHint("Delegate again with a simpler outputSchema, or without one."))
		return second, inSession(public(named(withActions(failure, second.Summary), e)), e, true)
	}
	return second, nil
}

// after adds what the turn before took and did.
func (r *Reply) after(before Reply) {
	r.Summary.Actions = append(append([]Action{}, before.Summary.Actions...), r.Summary.Actions...)
	if u := before.Usage; u != nil && r.Usage != nil {
		r.Usage = &provider.Usage{InputTokens: u.InputTokens + r.Usage.InputTokens,
			OutputTokens: u.OutputTokens + r.Usage.OutputTokens, CachedTokens: u.CachedTokens + r.Usage.CachedTokens}
	}
}

// repeated says in the failure of a second turn what both turns did.
func repeated(f *fault.Error, both Summary) *fault.Error {
	if f == nil {
		return nil
	}
	data, _ := rawjson.Members(f.Data)
	data = slices.DeleteFunc(data, func(m rawjson.Member) bool { return m.Name == "toolCalls" || m.Name == "outcome" })
	fault.WithData(json.RawMessage(rawjson.Join(data)))(f)
	return withActions(f, both)
}

// runTurn runs one turn.
func (s *Sessions) runTurn(ctx context.Context, e *entry, errand Errand) (Reply, *fault.Error) {
	began, before := time.Now(), e.Spent()
	turn, failure := s.begin(ctx, e, errand)
	if failure != nil {
		return Reply{}, failure
	}
	if s.options.Lend != nil {
		defer s.options.Lend(e.Acts)()
	}
	if errand.begun != nil {
		errand.begun()
	}
	back := make(chan returned, 1)
	gone := make(chan struct{}) // closed when the agent has come back
	go func() {
		var answer Answer
		failure := s.guard(e, func() (failure *fault.Error) {
			answer, failure = e.member.Agent.Prompt(turn.Context(), e.Session, turn.prompt)
			return failure
		})
		close(gone)
		back <- returned{answer, failure}
	}()
	got, cause := await(turn, back)
	if errors.Is(cause, context.DeadlineExceeded) {
		cause = late(e, turn.prompt.Deadline.Sub(began), got.failure)
	}
	reply, failure := s.conclude(e, turn, got, cause)
	s.account(e, before, &reply, failure, time.Since(began))
	s.keep(e, turn, began, reply, failure)
	s.release(e, gone, failure)
	if failure != nil {
		s.mu.Lock()
		valid := e.closing == "" && (failure.SessionValid == nil || *failure.SessionValid)
		s.mu.Unlock()
		return reply, inSession(failure, e, valid)
	}
	return reply, nil
}

// returned is what an agent came back with.
type returned struct {
	answer  Answer
	failure *fault.Error
}

// await waits for the agent, but hardly longer than its turn lasts. cause is why the turn was ended before the agent
// came back; nil: it was not.
func await(turn *Turn, back <-chan returned) (got returned, cause error) {
	select {
	case got = <-back:
		return got, nil
	case <-turn.Context().Done():
	}
	cause = context.Cause(turn.Context())
	late := time.NewTimer(grace)
	defer late.Stop()
	select {
	case got = <-back:
	case <-late.C:
	}
	return got, cause
}

// begin takes a session for one prompt.
func (s *Sessions) begin(ctx context.Context, e *entry, errand Errand) (*Turn, *fault.Error) {
	s.mu.Lock()
	switch {
	case e.closing != "":
		s.mu.Unlock()
		return nil, fault.New(codes.SessionNotFound, "Session not found: "+e.ID, fault.WithSession(e.ID, false))
	case e.state == StateBusy:
		s.mu.Unlock()
		return nil, fault.New(codes.SessionBusy, "Session "+e.ID+" is busy: it takes one prompt at a time",
			fault.WithSession(e.ID, true))
	}
	e.state, e.over = StateBusy, make(chan struct{})
	if e.expiry != nil {
		e.expiry.Stop()
		e.expiry = nil
	}
	limits := s.limits
	s.mu.Unlock()
	timeout := s.allowed(e.member, errand.Timeout)
	p := Prompt{Text: errand.Text, Images: errand.Images, Params: errand.Params, Tell: errand.Tell, Ask: errand.Ask,
		Keep:     limits.KeepTranscripts && s.options.Transcripts != nil,
		Deadline: time.Now().Add(timeout)}
	budget := e.Metadata.Budget.Within(e.member.Budget.or(limits.Budget))
	turn := e.Begin(ctx, p, budget)
	s.mu.Lock()
	if e.closing != "" { // just now
		turn.Cancel(errCancelled)
	}
	s.mu.Unlock()
	s.options.Changed()
	return turn, nil
}

// longest is how long a prompt may take at the most: a little less than the call that brought it, so that its end can
// be told.
func (s *Sessions) longest() time.Duration {
	return max(s.options.MaxTimeout-2*grace, s.options.MaxTimeout/2)
}

// or is the budget, with what is configured for all agents where it says nothing.
func (b Budget) or(all agentconfig.Budget) Budget {
	return Budget{
		MaxTurns: cmp.Or(b.MaxTurns, all.MaxTurns), MaxToolCalls: cmp.Or(b.MaxToolCalls, all.MaxToolCalls),
		MaxTokens: cmp.Or(b.MaxTokens, all.MaxTokens), MaxMs: cmp.Or(b.MaxMs, all.MaxTime.Milliseconds()),
	}
}

// conclude says how a turn ended: as the agent says, or as whoever ended it before.
func (s *Sessions) conclude(e *entry, turn *Turn, got returned, cause error) (Reply, *fault.Error) {
	summary := turn.End()
	reply := Reply{Answer: got.answer, SessionID: e.ID, AgentID: e.AgentID, On: e.on.Load(), Summary: summary}
	failure := got.failure
	stopped, isFailure := errors.AsType[*fault.Error](cause)
	switch needs := turn.waitsFor(); {
	case needs != nil && failure == nil:
		reply.StopReason, reply.Needs = StopNeedsInput, needs
		return reply, nil
	case cause == nil && failure == nil:
		reply.Ended = reply.StopReason != StopCancelled && reply.StopReason != StopBudget
		return reply, nil
	case cause == nil, errors.Is(cause, errNeedsInput):
	case errors.Is(cause, errCancelled):
		reply.StopReason = StopCancelled
		return reply, nil
	case errors.Is(cause, ErrTimeBudget):
		reply.StopReason = StopBudget
		return reply, nil
	case isFailure:
		failure = stopped
	default:
		failure = fault.New(fault.Cancelled, "The prompt was cancelled", fault.WithOutcome(e.member.unfinished()),
			fault.WithCause(cause))
	}
	own := *failure             // whoever made it may use it for others
	if e.member.Program == "" { // it does nothing but call tools, each of which is known
		fault.WithOutcome(fault.NotExecuted)(&own)
	}
	return reply, public(named(withActions(&own, summary), e))
}

// named says in a failure which agent, provider and model it is about.
func named(f *fault.Error, e *entry) *fault.Error {
	on := e.on.Load()
	if on != nil && f.ProviderID == "" && f.Source != fault.SourceConfig {
		f.ProviderID = on.Provider
	}
	data, _ := rawjson.Members(f.Data)
	add := func(name, value string) {
		if value != "" && rawjson.Get(data, name) == nil {
			data = append(data, rawjson.Make(name, rawjson.MustEncode(value)))
		}
	}
	add("agentId", e.AgentID)
	if on != nil {
		add("model", on.Model)
		add("fallback", on.Fallback)
	}
	fault.WithData(json.RawMessage(rawjson.Join(data)))(f)
	return f
}

// late is the failure of a turn that took too long. found is the failure that its agent came back with; nil: none.
func late(e *entry, allowed time.Duration, found *fault.Error) *fault.Error {
	code, hint := fault.TimeoutCode, "Give it more time with the argument timeout, or delegate a smaller errand."
	outcome := e.member.unfinished()
	if e.member.Program != "" {
		code = codes.WorkerTimeout
		if found != nil {
			outcome = found.Outcome
		}
		if outcome != fault.NotExecuted {
			hint = "Check what it has done before delegating the errand again, with more time (the argument " +
				"timeout) or " +
				"in smaller parts."
		}
	}
	f := fault.New(code, fmt.Sprintf("Agent %s did not finish within %s", e.AgentID, allowed.Round(time.Millisecond)),
		fault.WithOutcome(outcome), fault.WithRetryable(true), fault.WithHint(hint))
	if found != nil {
		f.Attempts, f.Data = found.Attempts, found.Data
	}
	return f
}

// unfinished is what is known of an errand that was ended, as far as no call of a tool tells: on models an agent does
// nothing else, but a program may have done anything.
func (m *Member) unfinished() fault.Outcome {
	if m.Program != "" {
		return fault.Unknown
	}
	return fault.NotExecuted
}

// withActions says in a failure what the agent did before it.
func withActions(f *fault.Error, summary Summary) *fault.Error {
	if len(summary.Actions) == 0 {
		return f
	}
	data, _ := rawjson.Members(f.Data)
	data = append(data, rawjson.Make("toolCalls", rawjson.MustEncode(summary.Actions)),
		rawjson.Make("outcome", rawjson.MustEncode(summary.Outcome())))
	fault.WithData(json.RawMessage(rawjson.Join(data)))(f)
	summary.Tell(f)
	return f
}

// public leaves out of a failure of an agent what is for nobody but the person: folders of this machine, and what looks
// like a credential.
func public(f *fault.Error) *fault.Error {
	f.Message = fault.Redact(fault.WithoutPlaces(f.Message))
	f.Hint = fault.Redact(fault.WithoutPlaces(f.Hint))
	return f
}

// release lets the session take the next prompt when the agent has come back, or ends it.
func (s *Sessions) release(e *entry, gone <-chan struct{}, failure *fault.Error) {
	free := func() {
		s.mu.Lock()
		e.state, e.last = StateIdle, time.Now()
		if failure != nil {
			e.state = StateFailed
		}
		if failure != nil && failure.SessionValid != nil && !*failure.SessionValid && e.closing == "" {
			e.closing = Failed
		}
		over, ends := e.over, e.closing != ""
		e.over = nil
		if !ends {
			s.armExpiry(e)
		}
		s.mu.Unlock()
		if ends {
			s.finishClosing(e)
		}
		close(over)
		s.options.Changed()
	}
	select {
	case <-gone:
		free()
		return
	default:
	}
	s.options.Log.Warn().Str("agent", e.AgentID).Str("session", e.ID).
		Msg("an agent goes on although its prompt has ended; its session stays busy until it comes back")
	go func() {
		<-gone
		free()
	}()
}

// account counts a prompt.
func (s *Sessions) account(e *entry, before Spent, reply *Reply, failure *fault.Error, took time.Duration) {
	outcome := "ok"
	switch {
	case failure != nil:
		outcome = string(failure.Code)
	case !reply.Ended:
		outcome = reply.StopReason
	}
	s.options.Meter.AgentPrompt(e.AgentID, outcome, took)
	spent := e.Spent()
	more := Spent{InputTokens: spent.InputTokens - before.InputTokens,
		OutputTokens: spent.OutputTokens - before.OutputTokens, USD: spent.USD - before.USD}
	if u := reply.Usage; u != nil && more == (Spent{}) { // a program, which has a provider of its own
		more.InputTokens, more.OutputTokens = u.InputTokens, u.OutputTokens
	}
	s.options.Meter.AgentSpent(e.AgentID, more.InputTokens, more.OutputTokens, more.USD)
}
