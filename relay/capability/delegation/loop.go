package delegation

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"sync"

	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
)

// loop is one turn of a model: it is asked, its calls are carried out, and it is asked again with what they answered,
// until it answers without a call. A loop belongs to one goroutine.
type loop struct {
	*Model
	session  *Session
	turn     *Turn
	provider *ModelProvider
	request  provider.Request
	history  history
	gateway  bool // tools are searched and called by name
	keep     bool // the conversation can go on from here

	handed handed
	used   provider.Usage
	answer Answer // as far as it is known
}

// run asks until there is an answer.
func (l *loop) run(ctx context.Context) (Answer, *fault.Error) {
	budget := l.turn.Budget()
	for n := 1; ; n++ {
		if ctx.Err() != nil {
			return l.ended(ctx)
		}
		spent := l.used.InputTokens + l.used.OutputTokens
		if budget.MaxTurns > 0 && n > budget.MaxTurns ||
			budget.MaxTokens > 0 && spent+l.history.estimate()+l.overhead() > budget.MaxTokens {
			return l.exhausted()
		}
		exceeded := l.turn.Summary().Exceeded
		done, failure := l.ask(ctx)
		switch {
		case ctx.Err() != nil:
			return l.ended(ctx)
		case failure != nil:
			return Answer{}, failure
		}
		l.take(done)
		calls := done.Message.Calls
		switch {
		case l.tooShort(done):
			continue
		case len(calls) == 0, done.StopReason == provider.MaxTokens, done.StopReason == provider.ContentFilter:
			return l.conclude(done)
		case exceeded: // it was told, and calls on
			l.refuse(calls)
			return l.exhausted()
		}
		l.history.add(done.Message)
		answers := provider.Message{Role: provider.User, Results: l.carryOut(ctx, calls)}
		l.turn.note(answers)
		l.history.add(answers)
		if l.turn.waitsFor() != nil {
			return l.waits()
		}
	}
}

// longMessage is how many tokens a message may have when the provider's default cut one off in the middle of a call.
const longMessage = 8192

// tooShort reports whether a message was cut off in the middle of a call although nobody has said how long it may be.
// The calls of such a message cannot be made: the model is asked again, for a message that may be longer.
func (l *loop) tooShort(done provider.Completion) bool {
	if done.StopReason != provider.MaxTokens || len(done.Message.Calls) == 0 || l.request.Params.MaxTokens != nil {
		return false
	}
	most := longMessage
	l.request.Params.MaxTokens = &most
	return true
}

// take notes what a request took and said.
func (l *loop) take(done provider.Completion) {
	l.used.InputTokens += done.Usage.InputTokens
	l.used.OutputTokens += done.Usage.OutputTokens
	l.used.CachedTokens += done.Usage.CachedTokens
	l.turn.note(done.Message)
	l.history.measured(done.Usage.InputTokens, l.overhead())
	used := l.used
	l.answer.Usage, l.answer.RequestID = &used, done.RequestID
	if done.Message.Text != "" {
		l.answer.Text, l.answer.Images = done.Message.Text, done.Message.Images
	}
}

// conclude ends the turn with what the model said. Calls in a message that was cut off are not carried out.
func (l *loop) conclude(done provider.Completion) (Answer, *fault.Error) {
	l.refuse(done.Message.Calls)
	l.answer.StopReason = done.StopReason
	if done.StopReason == provider.ToolUse || done.StopReason == "" {
		l.answer.StopReason = provider.EndTurn
	}
	l.handed.handOver(&l.answer)
	message := done.Message
	if len(message.Calls) > 0 {
		message.Calls, message.Provider = nil, nil
	}
	if l.keep = message.Text != ""; l.keep {
		l.history.add(message)
	}
	return l.answer, nil
}

// exhausted ends the turn because its budget is used up. The conversation can go on, and knows why it stopped.
func (l *loop) exhausted() (Answer, *fault.Error) {
	l.answer.StopReason, l.keep = StopBudget, true
	l.history.add(provider.Message{Role: provider.Assistant, Text: "(The budget of this errand was used up before I " +
		"could finish it.)"})
	return l.answer, nil
}

// refuse writes down calls that are not carried out any more.
func (l *loop) refuse(calls []provider.ToolCall) {
	for _, c := range calls {
		l.session.RecordRefusal(c.Name, fault.New(fault.Cancelled, "The errand ended before the call was made",
			fault.WithOutcome(fault.NotExecuted)))
	}
}

// ended says how a turn ends whose context did: with the failure that is the context's cause, in time that was too
// short, for want of budget, or because somebody stopped it. The last two are answers.
func (l *loop) ended(ctx context.Context) (Answer, *fault.Error) {
	cause := context.Cause(ctx)
	if failure, ok := errors.AsType[*fault.Error](cause); ok {
		return Answer{}, failure
	}
	switch {
	case errors.Is(cause, ErrTimeBudget):
		l.answer.StopReason = StopBudget
	case errors.Is(cause, context.DeadlineExceeded):
		return Answer{}, fault.New(fault.TimeoutCode, "The errand was not finished in time",
			fault.WithOutcome(fault.NotExecuted), fault.WithRetryable(true),
			fault.WithHint("Give it more time with `timeout`, or delegate a smaller errand."), fault.WithCause(cause))
	default:
		l.answer.StopReason = StopCancelled
	}
	return l.answer, nil
}

// atOnce is how many reading calls of one message run at once.
const atOnce = 8

// carryOut makes the calls of one message. Those that only read and stand together run at once, all others one after
// the other. Every call gets an answer, whatever happens.
func (l *loop) carryOut(ctx context.Context, calls []provider.ToolCall) []provider.ToolResult {
	results := make([]provider.ToolResult, len(calls))
	var reads sync.WaitGroup
	places := make(chan struct{}, atOnce)
	for i, c := range calls {
		if !l.reads(c) {
			reads.Wait()
			results[i] = l.carryOutOne(ctx, c)
			continue
		}
		places <- struct{}{}
		reads.Go(func() {
			defer func() { <-places }()
			results[i] = l.carryOutOne(ctx, c)
		})
	}
	reads.Wait()
	return results
}

// reads reports whether a call changes nothing.
func (l *loop) reads(c provider.ToolCall) bool {
	if !l.gateway || !isGateway(c.Name) {
		return !l.turn.writes(c.Name)
	}
	return c.Name != registry.CallTool || !l.turn.writes(calledByName(c))
}

// carryOutOne makes one call.
func (l *loop) carryOutOne(ctx context.Context, c provider.ToolCall) provider.ToolResult {
	if put, off := l.asksFirst(c); off {
		return put
	}
	arguments := bytes.TrimSpace(c.Arguments)
	if len(arguments) == 0 || string(arguments) == "null" {
		arguments = noArguments
	}
	if !rawjson.Valid(arguments) || !rawjson.IsObject(arguments) {
		why := fault.New(fault.ValidationError, fmt.Sprintf("The arguments of %.64s are not a JSON object",
			fault.Excerpt(c.Name)), fault.WithHint("Call it again with a JSON object that fits its input schema."))
		l.session.RecordRefusal(fault.Excerpt(c.Name), why)
		return failed(c, why)
	}
	if c.Name == askCaller {
		return l.askItsCaller(ctx, c, arguments)
	}
	tool := c.Name
	if l.gateway && isGateway(tool) {
		answer, failure, on := l.lookUp(tool, arguments)
		switch {
		case failure != nil:
			return failed(c, failure)
		case on == nil:
			return l.answered(c, answer)
		}
		tool, arguments = on.Tool, on.Arguments
	}
	result, failure := l.session.Do(ctx, call.Call{Tool: tool, Arguments: arguments, MaxBytes: l.options.ResultBytes})
	if failure != nil {
		return failed(c, failure)
	}
	return l.answered(c, result)
}
