package metrics

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// agents is what delegated agents do and take.
type agents struct {
	sessions prometheus.Gauge
	prompts  *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	tokens   *prometheus.CounterVec
	usd      *prometheus.CounterVec
}

func newAgents() agents {
	return agents{
		sessions: prometheus.NewGauge(prometheus.GaugeOpts{Name: "tabrelay_agent_sessions",
			Help: "Sessions with delegated agents that are open."}),
		prompts: counters("tabrelay_agent_prompts_total", "Prompts of delegated agents that ended, by what became of "+
			"them: ok, a stop reason, or the code of the failure.", "agent", "outcome"),
		seconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "tabrelay_agent_prompt_seconds", Help: "Time from a prompt to the answer of the agent.",
			Buckets: []float64{.1, .5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600},
		}, []string{"agent"}),
		tokens: counters("tabrelay_agent_tokens_total", "Tokens that delegated agents took, by direction: input, "+
			"output.", "agent", "direction"),
		usd: counters("tabrelay_agent_cost_usd_total", "What delegated agents cost, in US dollars, where the price is "+
			"configured.", "agent"),
	}
}

// AgentSessions says how many sessions with agents are open.
func (m *Metrics) AgentSessions(open int) { m.agents.sessions.Set(float64(open)) }

// AgentPrompt counts a prompt that ended.
func (m *Metrics) AgentPrompt(agent, outcome string, took time.Duration) {
	m.agents.prompts.WithLabelValues(agent, outcome).Inc()
	m.agents.seconds.WithLabelValues(agent).Observe(took.Seconds())
}

// AgentSpent counts what a prompt took.
func (m *Metrics) AgentSpent(agent string, input, output int, usd float64) {
	m.agents.tokens.WithLabelValues(agent, "input").Add(float64(max(input, 0)))
	m.agents.tokens.WithLabelValues(agent, "output").Add(float64(max(output, 0)))
	m.agents.usd.WithLabelValues(agent).Add(max(usd, 0))
}
