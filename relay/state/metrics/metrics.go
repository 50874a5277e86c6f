// Package metrics counts what the relay does, for Prometheus.
package metrics

import (
	"maps"
	"net/http"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/fault"
)

// otherCode stands for every code that is not in the relay's table. Pages invent codes, and each would otherwise
// be a time series of its own for ever.
const otherCode = "other"

// Metrics holds the relay's collectors in a registry of their own. Its methods may be called concurrently.
type Metrics struct {
	registry *prometheus.Registry

	errors       *prometheus.CounterVec
	calls        *prometheus.CounterVec
	callSeconds  *prometheus.HistogramVec
	retries      *prometheus.CounterVec
	retrySeconds prometheus.Counter
	fatal        prometheus.Counter
	corruption   *prometheus.CounterVec
	inFlight     prometheus.GaugeFunc
	browsers     prometheus.Gauge
	late         prometheus.Counter
	repairs      *prometheus.CounterVec
	breakerState *prometheus.GaugeVec
	breakerTrips *prometheus.CounterVec
	deadLetters  *prometheus.CounterVec
	lateLetters  *prometheus.CounterVec

	mu      lock.Mutex // guards the rest
	corrupt map[string]int
}

// New returns metrics at zero. inFlight is asked how many calls run now.
func New(inFlight func() int) *Metrics {
	m := &Metrics{
		registry: prometheus.NewRegistry(),
		corrupt:  map[string]int{},
		errors:   counters("tabrelay_errors_total", "Calls that failed.", "class", "source", "code"),
		calls: counters("tabrelay_calls_total",
			"Calls that ended, by what became of them: ok, or the outcome of the failure.", "plugin", "outcome"),
		retries: counters("tabrelay_retries_total", "Calls the relay tried more than once, by how they ended.",
			"result"),
		corruption: counters("tabrelay_corruption_total", "Messages that were too large or could not be parsed.",
			"peer"),
		repairs: counters("tabrelay_repairs_total", "Fields of errors from pages that did not satisfy their schema.",
			"plugin"),
		retrySeconds: prometheus.NewCounter(prometheus.CounterOpts{Name: "tabrelay_retry_seconds_total",
			Help: "Time calls waited between tries."}),
		fatal: prometheus.NewCounter(prometheus.CounterOpts{Name: "tabrelay_fatal_total",
			Help: "Links that were closed because they can never work."}),
		late: prometheus.NewCounter(prometheus.CounterOpts{Name: "tabrelay_late_outcomes_total",
			Help: "Outcomes that came after their call was answered."}),
		inFlight: prometheus.NewGaugeFunc(prometheus.GaugeOpts{Name: "tabrelay_inflight",
			Help: "Calls that are running."}, func() float64 { return float64(inFlight()) }),
		browsers: prometheus.NewGauge(prometheus.GaugeOpts{Name: "tabrelay_browsers",
			Help: "Browser profiles that are connected."}),
		breakerTrips: counters("tabrelay_breaker_trips_total", "Times a circuit breaker opened.", "name"),
		deadLetters: counters("tabrelay_dead_letters_total",
			"Calls with unknown outcome, or that failed at every attempt, by their outcome.", "outcome"),
		lateLetters: counters("tabrelay_dead_letters_settled_total", "Dead letters whose outcome became known "+
			"late, by that outcome.",
			"outcome"),
		breakerState: prometheus.NewGaugeVec(prometheus.GaugeOpts{
			Name: "tabrelay_breaker_state", Help: "Circuit breakers: 0 closed, 1 half open, 2 open.",
		}, []string{"name"}),
		callSeconds: prometheus.NewHistogramVec(prometheus.HistogramOpts{
			Name: "tabrelay_call_seconds", Help: "Time from the call's arrival to its answer.",
			Buckets: []float64{.001, .0025, .005, .01, .025, .05, .1, .25, .5, 1, 2.5, 5, 10, 30, 60, 300},
		}, []string{"plugin"}),
	}
	m.registry.MustRegister(m.errors, m.calls, m.callSeconds, m.retries, m.retrySeconds, m.fatal, m.corruption,
		m.inFlight,
		m.browsers, m.late, m.repairs, m.breakerState, m.breakerTrips,
		m.deadLetters, m.lateLetters,
		collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	for _, result := range []string{"success", "failure"} { // what will be counted is seen at 0 before
		m.retries.WithLabelValues(result)
	}
	for _, peer := range []string{"extension", "stdout", "worker"} {
		m.corruption.WithLabelValues(peer)
	}
	return m
}

func counters(name, help string, labels ...string) *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
}

// Add adds what capabilities count.
func (m *Metrics) Add(list ...prometheus.Collector) { m.registry.MustRegister(list...) }

// Describe sends what there is to count, as a prometheus.Collector does.
func (m *Metrics) Describe(to chan<- *prometheus.Desc) { m.registry.Describe(to) }

// Handler serves the metrics.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// CallDone counts a call that ended. The outcome is "ok", or that of the failure.
func (m *Metrics) CallDone(plugin, outcome string, took time.Duration) {
	m.calls.WithLabelValues(plugin, outcome).Inc()
	m.callSeconds.WithLabelValues(plugin).Observe(took.Seconds())
}

// ErrorRaised counts a failure that was answered.
func (m *Metrics) ErrorRaised(class fault.Class, source fault.Source, code fault.Code) {
	label := string(code)
	if _, known := fault.Lookup(code); !known {
		label = otherCode
	}
	m.errors.WithLabelValues(string(class), string(source), label).Inc()
	if class == fault.Fatal {
		m.fatal.Inc()
	}
}

// DeadLetter counts a dead letter, by its outcome.
func (m *Metrics) DeadLetter(outcome string) { m.deadLetters.WithLabelValues(outcome).Inc() }

// DeadLetterSettled counts a dead letter whose end came late, by that end.
func (m *Metrics) DeadLetterSettled(outcome string) { m.lateLetters.WithLabelValues(outcome).Inc() }

// Browsers sets how many browser profiles are connected.
func (m *Metrics) Browsers(n int) { m.browsers.Set(float64(n)) }

// Retry counts a call that was tried more than once: how it ended, and how long it waited in between.
func (m *Metrics) Retry(result string, waited time.Duration) {
	m.retries.WithLabelValues(result).Inc()
	m.retrySeconds.Add(waited.Seconds())
}

// Corruption counts a message of a peer ("extension", "stdout", "worker") that could not be used.
func (m *Metrics) Corruption(peer string) {
	m.corruption.WithLabelValues(peer).Inc()
	m.mu.Lock()
	defer m.mu.Unlock()
	m.corrupt[peer]++
}

// Corruptions is how many messages of each peer could not be used.
func (m *Metrics) Corruptions() map[string]int {
	m.mu.Lock()
	defer m.mu.Unlock()
	return maps.Clone(m.corrupt)
}

// LinkRefused counts a link that was closed because it can never work: wrong proof, wrong version.
func (m *Metrics) LinkRefused() { m.fatal.Inc() }

// LateAnswer counts an outcome that came after its call was answered.
func (m *Metrics) LateAnswer() { m.late.Inc() }

// Repaired counts fields of a plugin's error that had to be repaired or dropped.
func (m *Metrics) Repaired(plugin string, fields int) {
	m.repairs.WithLabelValues(plugin).Add(float64(fields))
}

// Breaker sets the state of a circuit breaker (0 closed, 1 half open, 2 open) and counts when it opens.
func (m *Metrics) Breaker(name string, state int) {
	m.breakerState.WithLabelValues(name).Set(float64(state))
	trips := m.breakerTrips.WithLabelValues(name) // is there from the first call on, at 0
	if state == 2 {
		trips.Inc()
	}
}

// Letters counts dead letters. Its methods may be called concurrently.
type Letters struct{ added, settled *prometheus.CounterVec }

// Letters makes the counters of dead letters. It is called once.
func (m *Metrics) Letters() *Letters {
	l := &Letters{
		added: counters("tabrelay_dead_letters_total",
			"Calls with unknown outcome, or that failed at every attempt, by their outcome.", "outcome"),
		settled: counters("tabrelay_dead_letters_settled_total", "Dead letters whose outcome became known late, by "+
			"that outcome.",
			"outcome"),
	}
	m.registry.MustRegister(l.added, l.settled)
	return l
}

// Added counts a letter.
func (l *Letters) Added(outcome string) { l.added.WithLabelValues(outcome).Inc() }

// Settled counts a letter whose end came late.
func (l *Letters) Settled(outcome string) { l.settled.WithLabelValues(outcome).Inc() }
