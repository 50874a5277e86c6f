package metrics

import "github.com/prometheus/client_golang/prometheus"

// Letters counts dead letters. Its methods may be called concurrently.
type Letters struct{ added, settled *prometheus.CounterVec }

// Letters makes the counters of dead letters. It is called once.
func (m *Metrics) Letters() *Letters {
	l := &Letters{
		added: counters("tabrelay_dead_letters_total",
			"Calls whose end nobody saw, or that failed at every try, by their outcome.", "outcome"),
		settled: counters("tabrelay_dead_letters_settled_total", "Dead letters whose end came late, by that end.", "outcome"),
	}
	m.registry.MustRegister(l.added, l.settled)
	return l
}

// Added counts a letter.
func (l *Letters) Added(outcome string) { l.added.WithLabelValues(outcome).Inc() }

// Settled counts a letter whose end came late.
func (l *Letters) Settled(outcome string) { l.settled.WithLabelValues(outcome).Inc() }
