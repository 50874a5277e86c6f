package delegation

import (
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// meters count what delegated agents do and take.
type meters struct {
	sessions prometheus.Gauge
	prompts  *prometheus.CounterVec
	seconds  *prometheus.HistogramVec
	tokens   *prometheus.CounterVec
	usd      *prometheus.CounterVec
}

func newMeters() *meters {
	return &meters{
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
func (m *meters) AgentSessions(open int) { m.sessions.Set(float64(open)) }

// AgentPrompt counts a prompt that ended.
func (m *meters) AgentPrompt(agent, outcome string, took time.Duration) {
	m.prompts.WithLabelValues(agent, outcome).Inc()
	m.seconds.WithLabelValues(agent).Observe(took.Seconds())
}

// AgentSpent counts what a prompt took.
func (m *meters) AgentSpent(agent string, input, output int, usd float64) {
	m.tokens.WithLabelValues(agent, "input").Add(float64(max(input, 0)))
	m.tokens.WithLabelValues(agent, "output").Add(float64(max(output, 0)))
	m.usd.WithLabelValues(agent).Add(max(usd, 0))
}

// collectors are what Prometheus reads.
func (m *meters) collectors() []prometheus.Collector {
	return []prometheus.Collector{m.sessions, m.prompts, m.seconds, m.tokens, m.usd}
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}
