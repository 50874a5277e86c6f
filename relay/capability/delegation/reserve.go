package delegation

import (
	"context"

	"tabrelay/relay/capability/delegation/agentconfig"
	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/road/fault"
)

const (
	usualOutput = 16_384 // tokens that a message is expected to have at the most where nobody bounds it
	safeOutput  = 4_096  // a bound that every model takes
	leastOutput = 256    // no message is asked for that may not have so many
)

// expected is what one request is expected to take, and the money that is held for it.
type expected struct {
	model         string
	price         agentconfig.Price
	priced        bool
	input, output int     // tokens
	usd           float64 // held; 0: there is no bound
}

// scale is how what the last request to a model took related to what was expected of it.
type scale struct {
	input  float64 // factor of the tokens
	output int     // tokens
}

// reserve holds the money for a request before it is sent: requests at once must not spend it twice. Where the day has
// only so much left, the message may have so many tokens less.
func (l *loop) reserve(ctx context.Context, r *provider.Request) (*expected, *fault.Error) {
	e := &expected{model: l.provider.ID + " " + *r.Params.Model, input: l.history.estimate() + l.overhead()}
	e.price, e.priced = l.provider.Pricing[*r.Params.Model]
	e.output = usualOutput
	if r.Params.MaxTokens != nil {
		e.output = *r.Params.MaxTokens
	}
	if !e.priced {
		return e, l.options.Costs.Refuse()
	}
	most, failure := l.options.Costs.hold(ctx, e)
	if failure == nil && most < e.output {
		if r.Params.MaxTokens == nil {
			most = min(most, safeOutput)
		}
		r.Params.MaxTokens = &most
	}
	return e, failure
}

// hold takes what a request is expected to cost out of what the day has left, and returns how many tokens its message
// may have. While others hold what is missing it waits for them: most cost less than is held. The first request to a
// model goes alone, because nobody knows yet how its provider counts.
func (c *Costs) hold(ctx context.Context, e *expected) (output int, failure *fault.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for {
		c.turnDay()
		if c.perDay <= 0 {
			return e.output, nil
		}
		known, measured := c.counted[e.model]
		if !measured {
			known = scale{input: 1, output: e.output}
		}
		input := e.price.InputPerMillion / 1e6 * float64(e.input) * known.input
		each := e.price.OutputPerMillion / 1e6
		all := input + each*float64(max(e.output, known.output))
		least := input + each*float64(min(e.output, known.output, leastOutput))
		left := c.perDay - c.today
		switch {
		case left <= 0 || measured && left < least:
			return 0, c.spent()
		case c.held == 0 && !measured:
			return c.take(e, left, e.output), nil
		case c.held == 0 && left < all:
			return c.take(e, left, tokensFor(left-input, each, e.output)), nil
		case measured && left-c.held >= all:
			return c.take(e, all, e.output), nil
		}
		if c.freed == nil {
			c.freed = make(chan struct{})
		}
		if failure := c.wait(ctx, c.freed); failure != nil {
			return 0, failure
		}
	}
}

// take holds money. It is called while mu is held.
func (c *Costs) take(e *expected, usd float64, output int) int {
	e.usd = usd
	c.held += usd
	return output
}

// tokensFor is how many tokens some money buys; most where they cost nothing.
func tokensFor(usd, each float64, most int) int {
	if each <= 0 {
		return most
	}
	return int(min(usd/each, float64(most)))
}

// wait lets mu go until a request has ended.
func (c *Costs) wait(ctx context.Context, freed <-chan struct{}) *fault.Error {
	c.mu.Unlock()
	defer c.mu.Lock()
	select {
	case <-freed:
		return nil
	case <-ctx.Done():
		return fault.CallEnded(ctx, "while it waited for the cost of other errands")
	}
}

// settle gives back what was held for a request, and counts what it took. Of one that did not say what it took, the
// provider may have worked on it nevertheless when it answered, began to, or was not waited for: then the input counts
// as it was expected.
func (l *loop) settle(e *expected, done provider.Completion, answered, begun bool) {
	u := done.Usage
	told := u != provider.Usage{}
	if !told && (answered || begun) {
		u = provider.Usage{InputTokens: e.input, OutputTokens: messageTokens(done.Message)}
	}
	counted := answered || u != provider.Usage{}
	if price, known := l.provider.Pricing[done.Model]; known {
		e.price, e.priced = price, true
	}
	spent := Spent{InputTokens: u.InputTokens, OutputTokens: u.OutputTokens}
	switch {
	case !counted:
	case e.priced:
		spent.Requests, spent.USD = 1, costOf(u, e.price)
	default:
		spent.Requests, spent.Unpriced = 1, 1
	}
	if counted {
		l.session.spend(spent)
		l.options.Costs.add(l.options.ID, spent) // before free: a request that waits must not see the money in neither
	}
	l.options.Costs.free(e, u, told)
}

// free gives back what was held.
func (c *Costs) free(e *expected, u provider.Usage, told bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.held = max(c.held-e.usd, 0)
	if e.usd > 0 && c.held < 1e-9 {
		c.held = 0 // what rounding leaves
	}
	if told {
		if c.counted == nil {
			c.counted = map[string]scale{}
		}
		c.counted[e.model] = scale{float64(u.InputTokens) / float64(max(e.input, 1)), u.OutputTokens}
	}
	if c.freed != nil {
		close(c.freed)
		c.freed = nil
	}
}
