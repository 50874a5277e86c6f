// Package tracing sends the way of each call to a collector of an organization, as spans of OpenTelemetry: a span for
// the call, in the trace that its client names, and one inside it for each step, from the relay to the page and back.
package tracing

import (
	"tabrelay/relay/capability"
	"tabrelay/relay/program/doctor"
	"tabrelay/relay/state/config"
)

// name is what settings call the capability.
const name = "tracing"

// findingFailing is what the doctor says about a collector that takes nothing.
const findingFailing = "traces"

// Capability is tracing, as a program attaches it.
var Capability = capability.Capability{
	Name: name, Settings: Section, New: attach,
	Findings: []doctor.Row{{ID: findingFailing, Severity: doctor.Warning,
		What: "The collector of traces takes nothing.",
		Why:  "It is away, refuses what it gets, or its key cannot be read. Calls go on; their spans are lost.",
		Next: "look at the collector, and at tracing.otlp in config.json or in the policy"}},
}

// Settings are the collector. Without an address nothing is traced.
type Settings struct {
	URL   string
	Token config.KeySource
}

// Section is that of the configuration.
var Section = &config.Section[Settings]{
	Capability: name,
	About:      "Whether calls are traced to the collector under tracing.",
	Settings: []config.Setting[Settings]{
		config.Row("tracing.otlp.url", config.Optional(config.Receiver), "", func(s *Settings) any { return &s.URL },
			"Collector of OpenTelemetry that gets a span of each call and of its steps (OTLP/HTTP), for example "+
				"https://otel.example.org/v1/traces."),
		config.Row("tracing.otlp.token", config.KeySourceKind, map[string]any{},
			func(s *Settings) any { return &s.Token }, "Where the bearer token for that is, if it wants one."),
	},
	Rights: []config.Right[Settings]{
		config.Elsewhere("tracingOtlp", "tracing.otlp.url", func(s *Settings) *string { return &s.URL }),
	},
}
