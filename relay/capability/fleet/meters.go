package fleet

import (
	"github.com/prometheus/client_golang/prometheus"

	"tabrelay/relay/capability/fleet/node"
)

// meters counts what a node does in its fleet. There is nothing to see in a relay that is none.
func (m *member) meters() []prometheus.Collector { return []prometheus.Collector{meters{m.current}} }

type meters struct{ node func() *node.Node }

var (
	callsNow = prometheus.NewDesc("tabrelay_fleet_calls", "Calls of the fleet that are open at this node.", nil, nil)
	leased   = prometheus.NewDesc("tabrelay_fleet_leases", "Browser profiles of this node that are leased.", nil, nil)
	queued   = prometheus.NewDesc("tabrelay_fleet_queue",
		"Sessions that wait for a browser profile of this node.", []string{"profile"}, nil)
	leaseEnds = prometheus.NewDesc("tabrelay_fleet_leases_ended_total", "Leases that ended: left (with their "+
		"session), idle, longest (another session waited), owner (ended them), unused (nothing was done).",
		[]string{"why"}, nil)
)

// Describe implements prometheus.Collector.
func (meters) Describe(to chan<- *prometheus.Desc) {
	for _, one := range []*prometheus.Desc{callsNow, leased, queued, leaseEnds} {
		to <- one
	}
}

// Collect implements prometheus.Collector.
func (m meters) Collect(to chan<- prometheus.Metric) {
	n := m.node()
	if n == nil {
		return
	}
	s := n.State()
	gauge := func(of *prometheus.Desc, value int, labels ...string) {
		to <- prometheus.MustNewConstMetric(of, prometheus.GaugeValue, float64(value), labels...)
	}
	gauge(callsNow, s.Running)
	if !s.Exclusive {
		return
	}
	gauge(leased, len(s.Leases))
	waiting := map[string]int{} // people may call two profiles the same
	for _, one := range s.Leases {
		waiting[one.Profile] += len(one.Waiting)
	}
	for profile, length := range waiting {
		gauge(queued, length, profile)
	}
	for why, times := range n.Ended() {
		to <- prometheus.MustNewConstMetric(leaseEnds, prometheus.CounterValue, float64(times), why)
	}
}
