package config

import "time"

// A setting is one row of the table: a key, what it accepts, its default and its meaning.
// T is what the key belongs to: Config, or the Plugin of one name.
type setting[T any] struct {
	key      string // dotted path in config.json
	kind     kind
	fallback any // the default, as the JSON value a person would write
	field    func(*T) any
	about    string
}

const (
	kib = 1 << 10
	mib = 1 << 20
)

// settings is the table. A setting that is not here does not exist.
var settings = []setting[Config]{
	{"listen", loopback, "127.0.0.1:7717", func(c *Config) any { return &c.Listen },
		"Where the relay listens: host and port on this machine. Port 0 takes a free one."},
	{"demo.listen", optional(loopback), "127.0.0.1:7718", func(c *Config) any { return &c.Demo.Listen },
		"Where the demo site listens. Empty switches it off. It is never the relay's own address."},
	{"extensionDir", optional(absolute), "", func(c *Config) any { return &c.ExtensionDir },
		"Folder the unpacked extension is written to, for a sandboxed browser that cannot read the home folder. Empty means extension/ in the home folder."},
	{"extensionIds", list{extensionID}, []string{}, func(c *Config) any { return &c.ExtensionIDs },
		"Extension ids allowed to connect, besides the one shipped with tabrelay."},
	{"allowedOrigins", list{webOrigin}, []string{}, func(c *Config) any { return &c.AllowedOrigins },
		"Web origins whose pages may call /mcp and /api with a token, for example http://localhost:6274. Requests without an Origin header are always allowed."},

	{"timeoutMs", millis(100, 10*time.Minute), 30_000, func(c *Config) any { return &c.Timeout },
		"How long a tool may take when neither the tool nor the caller says."},
	{"maxTimeoutMs", millis(100, 10*time.Minute), 300_000, func(c *Config) any { return &c.MaxTimeout },
		"How long a tool may take at the very most, with all its progress."},
	{"progressExtendsTimeout", boolean{}, true, func(c *Config) any { return &c.ProgressExtendsTimeout },
		"Whether a tool that reports progress gets its timeout anew, up to maxTimeoutMs."},

	{"maxBytes", size(1*kib, 10*mib), 100 * kib, func(c *Config) any { return &c.MaxBytes },
		"Size above which a result is to be truncated in the answer to the agent. Not in effect yet: results up to resultBytes pass whole."},
	{"resultBytes", size(1*kib, 32*mib), 10 * mib, func(c *Config) any { return &c.ResultBytes },
		"Size above which a result is refused with OUTPUT_TOO_LARGE."},
	{"frameBytes", size(1*mib, 64*mib), 16 * mib, func(c *Config) any { return &c.FrameBytes },
		"Size of the largest message between relay and extension. It has to exceed resultBytes by at least 64 KiB."},
	{"bodyBytes", size(64*kib, 64*mib), 16 * mib, func(c *Config) any { return &c.BodyBytes },
		"Size of the largest HTTP request."},

	{"gapWaitMs", millis(0, time.Minute), 5_000, func(c *Config) any { return &c.GapWait },
		"How long a call waits for a browser profile that was connected a moment ago."},
	{"pingMs", millis(1_000, 25*time.Second), 20_000, func(c *Config) any { return &c.PingEvery },
		"How often the extension pings the relay. Chrome stops a worker that is silent for 30 seconds."},

	{"consoleTail.capture", boolean{}, true, func(c *Config) any { return &c.ConsoleTail.Capture },
		"Whether a failed call carries the end of what the page wrote to its console meanwhile."},
	{"consoleTail.limitBytes", size(256, 64*kib), 4 * kib, func(c *Config) any { return &c.ConsoleTail.LimitBytes },
		"How much of it."},

	{"errors.trace", boolean{}, false, func(c *Config) any { return &c.Errors.Trace },
		"Whether a failure is to name the line of the adapter it came from. Not in effect yet."},
	{"errors.transient.retry.maxAttempts", count(1, 10), 3, func(c *Config) any { return &c.Errors.Transient.Retry.MaxAttempts },
		"How often a call that may safely be repeated is tried, the first try included."},
	{"errors.transient.retry.initialDelayMs", millis(0, time.Minute), 1_000, func(c *Config) any { return &c.Errors.Transient.Retry.InitialDelay },
		"Pause before the second try. Up to half of it is added at random."},
	{"errors.transient.retry.maxDelayMs", millis(0, 5*time.Minute), 30_000, func(c *Config) any { return &c.Errors.Transient.Retry.MaxDelay },
		"The longest pause, a page's retryAfterMs included."},
	{"errors.transient.retry.backoffMultiplier", decimal{1, 10}, 2, func(c *Config) any { return &c.Errors.Transient.Retry.Multiplier },
		"What each pause is multiplied by to give the next one."},
	{"errors.transient.patterns", list{pattern}, []string{"ECONNRESET", "ETIMEDOUT", "WebSocket.*close"}, func(c *Config) any { return &c.Errors.Transient.Patterns },
		"Regular expressions (RE2). An error of the link that has no type and matches one counts as transient."},
	{"errors.fatal.patterns", list{pattern}, []string{"Authentication failed", "Topic not found", "Invalid protocol version"}, func(c *Config) any { return &c.Errors.Fatal.Patterns },
		"Regular expressions (RE2). An error of the link that has no type and matches one counts as fatal."},

	{"logging.level", choice{"debug", "info", "warn", "error"}, "info", func(c *Config) any { return &c.Logging.Level },
		"The least important lines the log shows."},
	{"logging.includeStackTraces", boolean{}, false, func(c *Config) any { return &c.Logging.IncludeStackTraces },
		"Whether the log shows stack traces of internal errors. Clients never see them."},

	{"browser.path", text{}, "", func(c *Config) any { return &c.Browser.Path },
		"The browser that tabrelay starts itself. Empty means the first Chromium or Chrome for Testing found."},
	{"browser.headless", boolean{}, true, func(c *Config) any { return &c.Browser.Headless },
		"Whether that browser runs without a window."},
	{"browser.args", list{text{}}, []string{}, func(c *Config) any { return &c.Browser.Args },
		"Arguments added to its command line."},

	{"metrics.open", boolean{}, false, func(c *Config) any { return &c.Metrics.Open },
		"Whether every program on this machine may read /metrics without a token."},
	{"mcp.listChangedMs", millis(0, 5*time.Second), 150, func(c *Config) any { return &c.MCP.ListChangedDelay },
		"Changes of the tool list within this time are announced to clients once."},
	{"plugins", plugins{}, map[string]any{}, func(c *Config) any { return &c.Plugins },
		"Settings of single plugins, by plugin name."},
}

// pluginSettings is the table of one plugin: plugins.<name>.<key>.
var pluginSettings = []setting[Plugin]{
	{"enabled", boolean{}, true, func(p *Plugin) any { return &p.Enabled },
		"Whether the plugin's tools are offered."},
	{"urlPatterns", list{matchPattern}, []string{}, func(p *Plugin) any { return &p.URLPatterns },
		"Match patterns of further pages the plugin works on, for example https://wiki.example.org/*."},
	{"settings", object{}, map[string]any{}, func(p *Plugin) any { return &p.Settings },
		"Values for the settings the plugin itself declares."},
}
