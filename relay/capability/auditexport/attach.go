// Package auditexport sends the audit log to receivers of an organization: syslog, OpenTelemetry and a webhook. It
// reads the log that the relay keeps, behind the calls, and notes how far each receiver has it: a receiver that is away
// gets later what it missed, and keeps no call waiting.
package auditexport

import (
	"net/url"
	"slices"

	"tabrelay/relay/capability"
	"tabrelay/relay/program/doctor"
	"tabrelay/relay/state/config"
	"tabrelay/relay/state/store"
)

// name is what settings and tables call the capability.
const name = "auditexport"

// findingFailing is what the doctor says about a receiver that takes nothing.
const findingFailing = "audit-export"

// findingLost is what the doctor says about entries that a receiver will never have.
const findingLost = "audit-export-lost"

// Capability is the export, as a program attaches it.
var Capability = capability.Capability{
	Name: name, Settings: section, Tables: tables, New: attach,
	Findings: []doctor.Row{{ID: findingFailing, Severity: doctor.Problem,
		What: "A receiver of the audit log takes nothing.",
		Why: "It is away, refuses what it gets, or its key cannot be read. Calls go on, and it gets later what it " +
			"missed.",
		Next: "look at the receiver, and at auditExport in config.json or in the policy"},
		{ID: findingLost, Severity: doctor.Warning,
			What: "A receiver of the audit log does not have all entries.",
			Why: "It refused some for good while it took others, or was away for longer than the log is kept. They " +
				"are not sent again.",
			Next: "raise the receiver's limits; `tabrelay audit` still has the entries that it refused"}},
}

// tables say up to which row each receiver has the log.
var tables = &store.Tables{Capability: name, Migrations: []string{
	`CREATE TABLE audit_exported (receiver TEXT NOT NULL PRIMARY KEY, through INTEGER NOT NULL);`,
	`ALTER TABLE audit_exported ADD COLUMN lost INTEGER NOT NULL DEFAULT 0;
	ALTER TABLE audit_exported ADD COLUMN why TEXT NOT NULL DEFAULT '';`,
}}

// settings are the receivers. One without an address is none.
type settings struct {
	Arguments    bool
	Syslog       string
	OTLP         string
	OTLPToken    config.KeySource
	Webhook      string
	WebhookToken config.KeySource
}

var syslogAddress = config.Text{
	What: "tls://HOST:PORT, tcp://HOST:PORT, udp://HOST:PORT or unix:///PATH",
	Accepts: func(s string) bool {
		u, err := url.Parse(s)
		if err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
			return false
		}
		if u.Scheme == "unix" {
			return u.Host == "" && len(u.Path) > 1
		}
		return slices.Contains([]string{"tls", "tcp", "udp"}, u.Scheme) && u.Hostname() != "" && u.Port() != "" &&
			u.Path == ""
	},
}

var section = &config.Section[settings]{
	Capability: name,
	About:      "Whether the audit log is sent to the receivers under auditExport.",
	Duty:       true,
	Settings: []config.Setting[settings]{
		config.Row("auditExport.arguments", config.Boolean, false, func(s *settings) any { return &s.Arguments },
			"Whether what is sent has the beginning of the arguments, too; their hash is always in it."),
		config.Row("auditExport.syslog", config.Optional(syslogAddress), "", func(s *settings) any { return &s.Syslog },
			"Receiver of the audit log as syslog (RFC 5424), for example tls://logs.example.org:6514."),
		config.Row("auditExport.otlp.url", config.Optional(config.Receiver), "",
			func(s *settings) any { return &s.OTLP },
			"Receiver of the audit log as OpenTelemetry logs (OTLP/HTTP), for example "+
				"https://otel.example.org/v1/logs."),
		config.Row("auditExport.otlp.token", config.KeySourceKind, map[string]any{},
			func(s *settings) any { return &s.OTLPToken }, "Where the bearer token for that is, if it wants one."),
		config.Row("auditExport.webhook.url", config.Optional(config.Receiver), "",
			func(s *settings) any { return &s.Webhook }, "Receiver of the audit log as batches of JSON."),
		config.Row("auditExport.webhook.secret", config.KeySourceKind, map[string]any{},
			func(s *settings) any { return &s.WebhookToken },
			"Where the secret is with which those are signed, as Standard Webhooks says: whsec_ and base64."),
	},
	Check: func(s *settings, c config.Checker) {
		if s.Webhook != "" && s.WebhookToken == (config.KeySource{}) {
			c.Broken("auditExport.webhook.url",
				"needs auditExport.webhook.secret: a receiver cannot tell otherwise who sends")
		}
	},
	Rights: []config.Right[settings]{
		config.Elsewhere("auditExportSyslog", "auditExport.syslog", func(s *settings) *string { return &s.Syslog }),
		config.Elsewhere("auditExportOtlp", "auditExport.otlp.url", func(s *settings) *string { return &s.OTLP }),
		config.Elsewhere("auditExportWebhook", "auditExport.webhook.url",
			func(s *settings) *string { return &s.Webhook }),
		config.Switch("auditExportArguments", "auditExport.arguments", true, false,
			func(s *settings) *bool { return &s.Arguments }),
	},
}
