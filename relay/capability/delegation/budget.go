package delegation

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"time"

	"tabrelay/relay/capability/delegation/agentconfig"
	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/fault"
)

// Within is the budget, but in nothing more than another one allows. 0 is what that allows.
func (b Budget) Within(most Budget) Budget {
	return Budget{
		MaxTurns: least(b.MaxTurns, most.MaxTurns), MaxToolCalls: least(b.MaxToolCalls, most.MaxToolCalls),
		MaxTokens: least(b.MaxTokens, most.MaxTokens), MaxMs: least(b.MaxMs, most.MaxMs),
	}
}

// least is the smaller of two bounds, of which 0 is none.
func least[T cmp.Ordered](a, b T) T {
	var none T
	if a <= none {
		return b
	}
	if b <= none {
		return a
	}
	return min(a, b)
}

// costOf is what a request cost. Cached tokens are among those of the input.
func costOf(u provider.Usage, p agentconfig.Price) float64 {
	cached := p.InputPerMillion
	if p.CachedPerMillion != nil {
		cached = *p.CachedPerMillion
	}
	return (float64(u.InputTokens-u.CachedTokens)*p.InputPerMillion + float64(u.CachedTokens)*cached +
		float64(u.OutputTokens)*p.OutputPerMillion) / 1e6
}

// Spent is what requests to providers have taken.
type Spent struct {
	Requests     int     `json:"requests"`
	InputTokens  int     `json:"inputTokens"`
	OutputTokens int     `json:"outputTokens"`
	USD          float64 `json:"usd"`
	Unpriced     int     `json:"unpriced,omitempty"` // requests to models whose price nobody configured: not in USD
}

func (s *Spent) add(more Spent) {
	s.Requests += more.Requests
	s.InputTokens += more.InputTokens
	s.OutputTokens += more.OutputTokens
	s.USD += more.USD
	s.Unpriced += more.Unpriced
}

// Spent is what a session has spent.
func (s *Session) Spent() Spent {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.spent
}

func (s *Session) spend(more Spent) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.spent.add(more)
}

// Ledger keeps what each day has cost.
type Ledger interface {
	SpentOn(ctx context.Context, day string) (usd float64, err error)
	// AddSpent does not wait for the disk.
	AddSpent(day string, usd float64)
}

// Costs holds all agents to what a day may cost. The zero value bounds nothing and forgets everything.
type Costs struct {
	ledger  Ledger
	changed func() // something was spent; may be nil

	mu     lock.Mutex
	perDay float64 // 0: no bound
	day    string
	today  float64 // USD
	by     map[string]Spent

	held    float64          // USD, by requests under way
	freed   chan struct{}    // closed when one of them has ended; nil: nobody waits
	counted map[string]scale // by model: how what it took related to what was expected
}

// NewCosts reads what this day has cost so far. perDay is in US dollars, 0 for no bound.
func NewCosts(ctx context.Context, l Ledger, perDay float64) (*Costs, error) {
	c := &Costs{ledger: l, perDay: perDay, day: today()}
	var err error
	if c.today, err = l.SpentOn(ctx, c.day); err != nil {
		return nil, fmt.Errorf("cannot read what delegated agents have spent today: %w", err)
	}
	return c, nil
}

// Bound changes what a day may cost.
func (c *Costs) Bound(perDay float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.perDay = perDay
}

// today names a day, as it is where the person is.
func today() string { return time.Now().Format(time.DateOnly) }

// Refuse says why no request may be sent: the day has cost as much as it may.
func (c *Costs) Refuse() *fault.Error {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.turnDay(); c.perDay <= 0 || c.today < c.perDay {
		return nil
	}
	return c.spent()
}

// spent is the failure of a request for which there is no money. It is called while mu is held.
func (c *Costs) spent() *fault.Error {
	return fault.New(codes.BudgetExceeded, fmt.Sprintf("Delegated agents have spent $%.2f today, and may spend $%.2f",
		c.today, c.perDay), fault.WithOutcome(fault.NotExecuted),
		fault.WithHint("Do the task yourself, or delegate it tomorrow. The person can change "+
			"`delegation.costPerDayUsd` in config.json."))
}

// turnDay begins to count anew when another day has begun. It is called while mu is held.
func (c *Costs) turnDay() {
	if now := today(); now != c.day {
		c.day, c.today = now, 0
	}
}

func (c *Costs) add(agent string, s Spent) {
	c.mu.Lock()
	c.turnDay()
	day := c.day
	c.today += s.USD
	if c.by == nil {
		c.by = map[string]Spent{}
	}
	all := c.by[agent]
	all.add(s)
	c.by[agent] = all
	c.mu.Unlock()
	if c.ledger != nil && s.USD > 0 {
		c.ledger.AddSpent(day, s.USD)
	}
	if c.changed != nil {
		c.changed()
	}
}

// Today is what this day has cost, and what it may cost, in US dollars; 0: there is no bound.
func (c *Costs) Today() (spent, most float64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.turnDay()
	return c.today, c.perDay
}

// ByAgent is what each agent has spent since the relay started.
func (c *Costs) ByAgent() map[string]Spent {
	c.mu.Lock()
	defer c.mu.Unlock()
	return maps.Clone(c.by)
}
