package delegation

import (
	"context"
	"fmt"
	"math"
	"sync/atomic"
	"time"

	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/lib/async"
	"tabrelay/relay/road/breaker"
	"tabrelay/relay/road/fault"
)

// ask sends one request to the provider, and again where nothing was taken from the last one and that promises
// something. It is the one place where requests to providers are repeated.
func (l *loop) ask(ctx context.Context) (provider.Completion, *fault.Error) {
	retry := l.options.Retry
	r := l.request
	l.history.fit(l.overhead())
	r.Messages = l.history.messages
	l.bound(&r.Params)
	for n := 1; ; n++ {
		var heard atomic.Bool
		r.Text = func(piece string) {
			heard.Store(true)
			if l.options.StreamText && piece != "" {
				l.turn.tell(piece)
			}
		}
		done, failure := l.once(ctx, r, &heard)
		if failure == nil {
			return done, nil
		}
		failure.Attempts = n
		wait, again := l.again(ctx, failure, n)
		if heard.Load() || !again {
			return done, failure
		}
		l.turn.tell(fmt.Sprintf("%s: %s; retry %d of %d in %s", l.provider.ID, failure.Code, n+1, retry.MaxAttempts,
			wait.Round(100*time.Millisecond)))
		if !async.Sleep(ctx, wait) {
			return done, failure
		}
	}
}

// bound lowers what one answer may take to what is left of the turn's budget.
func (l *loop) bound(p *provider.Params) {
	most := l.turn.Budget().MaxTokens
	if most <= 0 {
		return
	}
	left := max(most-l.used.InputTokens-l.used.OutputTokens-l.history.estimate()-l.overhead(), 1)
	if p.MaxTokens != nil && *p.MaxTokens > left || p.MaxTokens == nil && left < 4096 {
		p.MaxTokens = &left
	}
}

// once sends one request, if the day's money and the provider's breaker allow it. heard reports whether a part of the
// answer has come.
func (l *loop) once(ctx context.Context, r provider.Request, heard *atomic.Bool) (provider.Completion, *fault.Error) {
	key := breaker.Key{Kind: "provider", Name: l.provider.ID}
	pass, left := l.options.Breakers.Allow(key)
	if pass == nil {
		why := ""
		if last, known := l.options.Causes.Load(l.provider.ID); known {
			why = fmt.Sprintf(": %v", last)
		}
		return provider.Completion{}, fault.New(fault.CircuitOpen,
			"Requests to the provider "+l.provider.ID+" are held back, because the last ones failed"+why,
			fault.WithRetryAfter(left), fault.WithHint("Delegate the errand again after retryAfterMs."))
	}
	expected, failure := l.reserve(ctx, &r)
	if failure != nil {
		pass(breaker.Nothing)
		return provider.Completion{}, failure
	}
	done, failure := l.provider.Provider.Complete(ctx, r)
	l.settle(expected, done, failure == nil, heard.Load() || ctx.Err() != nil)
	if failure == nil {
		pass(breaker.Success)
		return done, nil
	}
	verdict := verdictOf(ctx, failure)
	if verdict == breaker.Failure {
		l.options.Causes.Store(l.provider.ID, fmt.Sprintf("%s (%s)", failure.Message, failure.Code))
	}
	pass(verdict)
	return done, failure
}

// verdictOf is what the failure of a request says about its provider. One that answers is well, whatever it answers;
// one that is asked to slow down is not to be asked on.
func verdictOf(ctx context.Context, f *fault.Error) breaker.Verdict {
	switch {
	case ctx.Err() != nil:
		return breaker.Nothing
	case f.Class == fault.Transient:
		return breaker.Failure
	}
	return breaker.Success
}

// again says whether a request is sent once more, and when: never sooner than the provider asked, and never when that
// would be after the end of the turn.
func (l *loop) again(ctx context.Context, f *fault.Error, n int) (wait time.Duration, again bool) {
	retry := l.options.Retry
	if n >= retry.MaxAttempts || ctx.Err() != nil || f.Class != fault.Transient || !f.Retryable ||
		f.Code == fault.CircuitOpen {
		return 0, false
	}
	grown := float64(retry.InitialDelay) * math.Pow(max(retry.Multiplier, 1), float64(n-1))
	wait = min(time.Duration(grown*(1+l.options.Jitter()/2)), retry.MaxDelay)
	if f.RetryAfterMs != nil {
		asked := time.Duration(*f.RetryAfterMs) * time.Millisecond
		if asked > retry.MaxDelay {
			return 0, false // the client decides
		}
		wait = max(wait, asked)
	}
	if deadline, ok := ctx.Deadline(); ok && time.Until(deadline) <= wait {
		return 0, false
	}
	return wait, true
}
