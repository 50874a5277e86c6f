// Package config reads what a person configured: config.json and its environment twins, the secrets beside it,
// and the home folder both live in.
//
// Every setting is one row of the table in settings.go. Loading, the environment twins, the published JSON Schema
// and docs/configuration.md are all made from that table, so that they cannot disagree.
package config

import (
	"encoding/json"
	"time"

	"tabrelay/relay/road/plugin"
)

// Config is every setting with its value: from the environment, else from config.json, else the default.
type Config struct {
	Listen         string   // host and port of the relay, loopback only
	Remote         Remote   //
	Demo           Demo     //
	ExtensionDir   string   // where the unpacked extension is written; empty: extension/ in the home folder
	NativeHost     bool     // browsers are told how to find the relay
	ExtensionIDs   []string // extensions allowed to connect besides the shipped one
	AllowedOrigins []string // web origins allowed to call /mcp and /api

	Timeout                time.Duration // of a call whose tool and caller name none
	MaxTimeout             time.Duration // no call lasts longer
	StartTimeout           time.Duration // how long a page may take to begin with a tool
	ProgressExtendsTimeout bool          // a tool that reports progress gets its timeout anew, up to MaxTimeout

	MaxBytes      int // of a result in one answer to an agent
	ResultBytes   int // of a result a page may send
	Results       Results
	PluginSources PluginSources
	DeadLetters   DeadLetters
	Audit         Audit
	FrameBytes    int // of one WebSocket message
	BodyBytes     int // of one HTTP request

	ReconnectWait time.Duration // how long a call waits for a profile that lost its connection
	PingEvery     time.Duration // how often the extension pings

	ConsoleTail ConsoleTail
	Errors      Errors
	Recovery    map[string]string // by code of the failure: reload_tab, reinject_adapter or open_url
	Limits      Limits
	Breaker     Breaker
	Logging     Logging
	Browser     Browser
	Metrics     Metrics
	// TrustedInput says that the extension has Chrome's debugger.
	TrustedInput bool
	MCP          MCP
	Permissions  map[string]map[string]string // by target, then by client ([EveryClient] for all): off, ask or auto
	Approvals    Approvals
	Review       Review
	Tabs         Tabs
	Plugins      map[string]Plugin // by plugin name; a plugin that is not here has the defaults

	Managed *Managed // what the administrator's policy says; nil: there is none

	sections map[string]any // values of what capabilities add, by capability

	Warnings []string // what looks like a mistake and was not an error; one sentence each

	found bool // there was a config.json
}

// Demo is the site the demo plugin works on.
type Demo struct {
	Listen string // host and port, loopback only; empty: no demo site
}

// PluginSources is how plugins are fetched.
type PluginSources struct {
	GitBytes int64
}

// Results is how much is kept of results that were too large for an answer.
type Results struct {
	TotalBytes int64
	KeepHours  int
}

// Audit is how much of the audit log is kept.
type Audit struct {
	KeepDays int
	MaxRows  int
}

// DeadLetters is how much is kept of calls with unknown outcome.
type DeadLetters struct {
	Max      int
	KeepDays int
}

// ConsoleTail is what a failed call shows of the page's console.
type ConsoleTail struct {
	Capture    bool
	LimitBytes int
}

// Errors says how failures are retried and classified.
type Errors struct {
	Trace     bool // failures name the line of the adapter they came from
	Transient Transient
	Fatal     Fatal
}

// Transient is what the relay tries again.
type Transient struct {
	Retry    Retry
	Patterns []string // RE2; a link error without a type that matches one is transient
}

// Retry is how often and how fast.
type Retry struct {
	MaxAttempts  int // the first try included
	InitialDelay time.Duration
	MaxDelay     time.Duration
	Multiplier   float64
}

// Fatal is what ends a link.
type Fatal struct {
	Patterns []string // RE2; a link error without a type that matches one is fatal
}

// Limits is how much may go on at once.
type Limits struct {
	Running          int           // calls at once
	RunningPerPlugin int           // of one plugin
	Waiting          int           // until they can run
	Wait             time.Duration // at the most
	WaitingPerTab    int           // of one session, for one tab
}

// Breaker is when calls to a place that keeps failing are held back, and for how long.
type Breaker struct {
	Failures int           // in a row
	Percent  int           // of the calls within Window, if there are MinCalls
	MinCalls int           //
	Window   time.Duration //
	Open     time.Duration // how long
}

// Logging is what the relay's log shows.
type Logging struct {
	Level              string // "debug", "info", "warn" or "error"
	IncludeStackTraces bool
}

// Browser is the browser the relay itself starts.
type Browser struct {
	Path     string // empty: the first one found
	Headless bool
	Args     []string // added to the command line
}

// Metrics is who may read /metrics.
type Metrics struct {
	Open bool // every program on this machine, without a token
}

// MCP is what concerns MCP clients only.
type MCP struct {
	ListChangedDelay time.Duration // changes of the tool list within this time are announced once
	ToolsPageSize    int           // tools in one answer to tools/list; 0: all
	ListTokens       int           // what a list of tools that adapts may cost; 0: whatever it costs
}

// Approvals is how a person is asked whether a call may run.
type Approvals struct {
	Timeout  time.Duration // a question is open so long
	Missed   time.Duration // after that, the call can be allowed for the next time so long; 0: it cannot
	MaxBytes int           // arguments of calls that wait for a person have no more together
}

// Tabs is which of them agents may read, and who works in which.
type Tabs struct {
	URLPatterns     []string // of pages that may be read; none: nothing
	ExcludePatterns []string

	Ownership     string        // what makes a session the owner of a tab: "writes", "all" or "off"
	OwnedBy       string        // who may share such a tab: the sessions of one "client", or no other "session"
	OwnershipIdle time.Duration // how long it stays so without a call
	Groups        bool          // tabs with an owner are put into a tab group
}

// Review is what becomes of plugins that are new or changed.
type Review struct {
	Required bool // their tools are off until a person reviewed them
}

// Plugin is what a person configured for one plugin. The zero value is not the default: see [Config.Plugin].
type Plugin struct {
	Enabled     bool
	URLPatterns []string        // added to the plugin's own
	Settings    json.RawMessage // an object for the plugin's configSchema; nil when there is none
	// Held are settings that are not among these, because what they name waits for the person.
	Held []string
}

// Plugin returns what is configured for the plugin of that name, or the defaults.
func (c *Config) Plugin(name string) Plugin {
	if p, ok := c.Plugins[name]; ok {
		return p
	}
	return defaultPlugin(name)
}

// defaultPlugin is a plugin for which nothing is configured.
func defaultPlugin(name string) Plugin {
	p := defaults(pluginSettings)
	p.Enabled = name != plugin.OptIn
	return p
}

// Default is the configuration of an empty file and an empty environment.
func Default() Config { return defaults(settings) }

// Found reports whether there was a config.json.
func (c *Config) Found() bool { return c.found }
