package config

import (
	"cmp"
	"reflect"
	"time"

	"tabrelay/relay/road/plugin"
)

// Units of [Size].
const (
	KiB = 1 << 10
	MiB = 1 << 20
)

// renamed has the settings that were called otherwise before, and what they are called now.
var renamed = map[string]string{"gapWaitMs": "reconnectWaitMs"}

// former has the settings that may still be called what they were called before, and what they are called now.
var former = map[string]string{
	"resources.tabs.urlPatterns": "tabs.urlPatterns", "resources.tabs.excludePatterns": "tabs.excludePatterns",
}

// namesOf are those that a setting has had, and at last the one that it has.
func namesOf(key string) (names []string) {
	for was, now := range former {
		if now == key {
			names = append(names, was)
		}
	}
	return append(names, key)
}

// Now is what a setting is called now.
func Now(key string) string { return cmp.Or(former[key], key) }

// settings is the table. A setting that is not here, and that no capability adds, does not exist.
var settings = []Setting[Config]{
	{"listen", String(ownAddress), "127.0.0.1:7717", func(c *Config) any { return &c.Listen },
		"Where the relay listens: host and port on this machine. Port 0 takes a free one."},
	{"remote.listen", Optional(networkAddress), "", func(c *Config) any { return &c.Remote.Listen },
		"Where clients of other machines reach the relay, always over TLS: host and port, for example 0.0.0.0:7719. " +
			"Empty: nowhere. See docs/remote.md."},
	{"remote.certificate", Optional(absoluteFile), "", func(c *Config) any { return &c.Remote.Certificate },
		"File with the certificate for that, in PEM, and after it those up to its root. A new one is taken at once."},
	{"remote.key", Optional(absoluteFile), "", func(c *Config) any { return &c.Remote.Key },
		"File with the private key of that certificate, in PEM, which nobody else can read."},
	{"demo.listen", Optional(loopback), "127.0.0.1:7718", func(c *Config) any { return &c.Demo.Listen },
		"Where the demo site listens. Empty switches it off. It is never the relay's own address."},
	{"extensionDir", Optional(AbsolutePath), "", func(c *Config) any { return &c.ExtensionDir },
		"Folder the unpacked extension is written to, for a sandboxed browser that cannot read the home folder. " +
			"Empty means extension/ in the home folder."},
	{"trustedInput", Boolean, false, func(c *Config) any { return &c.TrustedInput },
		"Whether the extension may use Chrome's debugger, for clicks and keys that count as a person's, PDF and " +
			"emulation. `tabrelay up --trusted-input` sets it, and `tabrelay up` takes it back."},
	{"nativeHost", Boolean, true, func(c *Config) any { return &c.NativeHost },
		"Whether a relay of ~/.tabrelay that starts tells your browsers about itself, as a native-messaging host: an " +
			"extension that came from a store finds it by that. See docs/native-host.md."},
	{"extensionIds", List(extensionID), []string{}, func(c *Config) any { return &c.ExtensionIDs },
		"Extension ids allowed to connect, besides the one shipped with tabrelay."},
	{"allowedOrigins", List(webOrigin), []string{}, func(c *Config) any { return &c.AllowedOrigins },
		"Web origins whose pages may call /mcp and /api with a token, for example http://localhost:6274. Requests " +
			"without an Origin header are always allowed."},

	{"timeoutMs", Millis(100, 10*time.Minute), 30_000, func(c *Config) any { return &c.Timeout },
		"How long a tool may take when neither the tool nor the caller sets a timeout."},
	{"maxTimeoutMs", Millis(100, 10*time.Minute), 300_000, func(c *Config) any { return &c.MaxTimeout },
		"The longest a tool may take, however much progress it reports."},
	{"startTimeoutMs", Millis(100, time.Minute), 4_000, func(c *Config) any { return &c.StartTimeout },
		"How long a page may take to start a tool; one that still loads has three times as long. After that the " +
			"call ends with TAB_UNRESPONSIVE. A page that shows a dialog is not waited for."},
	{"progressExtendsTimeout", Boolean, true, func(c *Config) any { return &c.ProgressExtendsTimeout },
		"Whether each progress report restarts a tool's timeout, up to maxTimeoutMs."},

	{"maxBytes", Size(1*KiB, 10*MiB), 32 * KiB, func(c *Config) any { return &c.MaxBytes },
		"Size above which a result is truncated in the answer to the agent, and kept whole for relay__read_result. A " +
			"call may ask for another size."},
	{"resultBytes", Size(1*KiB, 32*MiB), 10 * MiB, func(c *Config) any { return &c.ResultBytes },
		"Size above which a result is refused with OUTPUT_TOO_LARGE, and not kept."},
	{"results.totalBytes", Size(1*MiB, 16<<30), 256 * MiB, func(c *Config) any { return &c.Results.TotalBytes },
		"How much of results that were too large for an answer is kept; the oldest go first."},
	{"results.keepHours", Count(1, 24*365), 24, func(c *Config) any { return &c.Results.KeepHours },
		"How long results that were too large for an answer are kept."},
	{"deadLetters.max", Count(1, 100_000), 1_000, func(c *Config) any { return &c.DeadLetters.Max },
		"How many calls with unknown outcome, or that failed at every attempt, are kept; the oldest go first."},
	{"deadLetters.keepDays", Count(1, 365), 7, func(c *Config) any { return &c.DeadLetters.KeepDays },
		"How long dead letters are kept."},
	{"audit.keepDays", Count(1, 3650), 90, func(c *Config) any { return &c.Audit.KeepDays },
		"How long entries of the audit log are kept."},
	{"audit.maxRows", Count(1_000, 50_000_000), 1_000_000, func(c *Config) any { return &c.Audit.MaxRows },
		"How many entries of the audit log are kept; the oldest go first."},
	{"frameBytes", Size(1*MiB, 64*MiB), 16 * MiB, func(c *Config) any { return &c.FrameBytes },
		"Size of the largest message between relay and extension. It has to exceed resultBytes by at least 64 KiB."},
	{"bodyBytes", Size(64*KiB, 64*MiB), 16 * MiB, func(c *Config) any { return &c.BodyBytes },
		"Size of the largest HTTP request."},

	{"pluginSources.gitBytes", Size(1*MiB, 16<<30), 256 * MiB, func(c *Config) any { return &c.PluginSources.GitBytes },
		"How much a git repository that plugins come from may take on disk while it is fetched; it is deleted then."},

	{"reconnectWaitMs", Millis(0, time.Minute), 5_000, func(c *Config) any { return &c.ReconnectWait },
		"How long a call waits for a browser profile that was connected a moment ago."},
	{"pingMs", Millis(1_000, 25*time.Second), 20_000, func(c *Config) any { return &c.PingEvery },
		"How often the extension pings the relay. Chrome stops a worker that is silent for 30 seconds."},

	{"consoleTail.capture", Boolean, true, func(c *Config) any { return &c.ConsoleTail.Capture },
		"Whether a failed call comes with the last lines that the page wrote to its console."},
	{"consoleTail.limitBytes", Size(256, 64*KiB), 4 * KiB, func(c *Config) any { return &c.ConsoleTail.LimitBytes },
		"How many bytes of those lines at most."},

	{"errors.trace", Boolean, false, func(c *Config) any { return &c.Errors.Trace },
		"Whether an error thrown by an adapter names its place: path, line and column of the top frame of its stack, " +
			"as traceLine in _meta[\"tabrelay/error\"]."},
	{"errors.transient.retry.maxAttempts", Count(1, 10), 3,
		func(c *Config) any { return &c.Errors.Transient.Retry.MaxAttempts },
		"How often a call that may safely be repeated is attempted, the first attempt included."},
	{"errors.transient.retry.initialDelayMs", Millis(0, time.Minute), 1_000,
		func(c *Config) any { return &c.Errors.Transient.Retry.InitialDelay },
		"Pause before the second attempt. Up to half of it is added at random."},
	{"errors.transient.retry.maxDelayMs", Millis(0, 5*time.Minute), 30_000,
		func(c *Config) any { return &c.Errors.Transient.Retry.MaxDelay },
		"The longest pause, a page's retryAfterMs included."},
	{"errors.transient.retry.backoffMultiplier", Decimal(1, 10), 2,
		func(c *Config) any { return &c.Errors.Transient.Retry.Multiplier },
		"What each pause is multiplied by to give the next one."},
	{"errors.transient.patterns", List(pattern), []string{"ECONNRESET", "ETIMEDOUT", "WebSocket.*close"},
		func(c *Config) any { return &c.Errors.Transient.Patterns },
		"Regular expressions (RE2). An error of the link that has no type and matches one counts as transient."},
	{"errors.fatal.patterns", List(pattern), []string{"Authentication failed", "Topic not found",
		"Invalid protocol version"}, func(c *Config) any { return &c.Errors.Fatal.Patterns },
		"Regular expressions (RE2). An error of the link that has no type and matches one counts as fatal."},

	{"recovery", actions("ADAPTER_NOT_READY", "INJECTION_FAILED", "TAB_BUSY", "TAB_NOT_FOUND", "TAB_UNRESPONSIVE",
		"TIMEOUT"), map[string]any{}, func(c *Config) any { return &c.Recovery },
		"What the relay does about a failure before the next attempt, or the next call: codes, each with " +
			"\"reload_tab\", \"reinject_adapter\" or \"open_url\" (the web app's address, in a new tab). One action " +
			"for each failure; none unless it is named here."},

	{"limits.running", Count(1, 10_000), 50, func(c *Config) any { return &c.Limits.Running },
		"How many calls run at once."},
	{"limits.runningPerPlugin", Count(1, 10_000), 25, func(c *Config) any { return &c.Limits.RunningPerPlugin },
		"How many of them may be of one plugin."},
	{"limits.waiting", Count(0, 10_000), 64, func(c *Config) any { return &c.Limits.Waiting },
		"How many more may wait until they can run. Beyond it a call is answered with OVERLOADED."},
	{"limits.waitMs", Millis(0, time.Minute), 2_000, func(c *Config) any { return &c.Limits.Wait },
		"How long they may wait."},
	{"limits.waitingPerTab", Count(0, 10_000), 32, func(c *Config) any { return &c.Limits.WaitingPerTab },
		"How many calls of one client session may wait for their turn in one tab, where calls that change something " +
			"run one after the other."},

	{"breaker.failures", Count(1, 1_000), 5, func(c *Config) any { return &c.Breaker.Failures },
		"After how many calls in a row that failed because of the link or a deadline, further calls of that plugin " +
			"in that profile " +
			"are held back (CIRCUIT_OPEN)."},
	{"breaker.percent", Count(1, 100), 50, func(c *Config) any { return &c.Breaker.Percent },
		"Or when this many of a hundred calls failed so within windowMs, if there were at least minCalls."},
	{"breaker.minCalls", Count(1, 100_000), 20, func(c *Config) any { return &c.Breaker.MinCalls },
		"See percent."},
	{"breaker.windowMs", Millis(1_000, time.Hour), 60_000, func(c *Config) any { return &c.Breaker.Window },
		"See percent."},
	{"breaker.openMs", Millis(100, time.Hour), 30_000, func(c *Config) any { return &c.Breaker.Open },
		"How long calls are held back. Then one is let through: when it succeeds, all are."},

	{"logging.level", Choice("debug", "info", "warn", "error"), "info", func(c *Config) any { return &c.Logging.Level },
		"The least important lines the log shows."},
	{"logging.includeStackTraces", Boolean, false, func(c *Config) any { return &c.Logging.IncludeStackTraces },
		"Whether the log shows stack traces of internal errors. Clients never see them."},

	{"browser.path", String(Text{}), "", func(c *Config) any { return &c.Browser.Path },
		"The browser that tabrelay starts itself. Empty means the first Chromium or Chrome for Testing found."},
	{"browser.headless", Boolean, true, func(c *Config) any { return &c.Browser.Headless },
		"Whether that browser runs without a window."},
	{"browser.args", List(Text{}), []string{}, func(c *Config) any { return &c.Browser.Args },
		"Arguments added to its command line."},

	{"permissions", permissions, map[string]any{}, func(c *Config) any { return &c.Permissions },
		"Which tools agents may call: \"off\" (not listed, refused), \"ask\" (a person is asked) or \"auto\", by " +
			"tool, plugin, origin or default, for all clients or by client. A variable may hold one of the three " +
			"words: the default. Rules of `tabrelay permit` win over these, unless these say off. See " +
			"docs/permissions.md."},
	{"approvals.timeoutMs", Millis(1_000, 5*time.Minute), 50_000, func(c *Config) any { return &c.Approvals.Timeout },
		"How long a person has to answer a question. Many clients give up on a call after a minute."},
	{"approvals.missedMs", Millis(0, 24*time.Hour), 600_000, func(c *Config) any { return &c.Approvals.Missed },
		"How long a missed question is kept, to allow the next such call. 0: not at all."},
	{"approvals.maxBytes", Size(1*MiB, 1024*MiB), 64 * MiB, func(c *Config) any { return &c.Approvals.MaxBytes },
		"How much the arguments of the calls that wait for a person may have together. One that comes when there is " +
			"no room is refused with OVERLOADED; a call that is alone may have more."},
	{"review.required", Boolean, true, func(c *Config) any { return &c.Review.Required },
		"Whether a plugin that is new or changed stays off until a person reviewed it. Plugins in the tabrelay " +
			"binary need no review."},

	{"tabs.urlPatterns", List(MatchPattern), []string{"*://*/*"}, func(c *Config) any { return &c.Tabs.URLPatterns },
		"Match patterns of pages whose text, markup and console agents may read, as resources and with the tools of " +
			"browser. Empty: none. Other plugins work on pages of their own."},
	{"tabs.excludePatterns", List(MatchPattern), []string{}, func(c *Config) any { return &c.Tabs.ExcludePatterns },
		"Match patterns of pages that are neither listed nor read, for example https://bank.example/*."},
	{"tabs.ownership", Choice("writes", "all", "off"), "writes", func(c *Config) any { return &c.Tabs.Ownership },
		"What makes an agent the owner of a tab, where other agents then get TAB_OWNED: \"writes\", its first call " +
			"there that may change something (others may still read); \"all\", its first call (others may not even " +
			"read); \"off\", nothing. See docs/tabs.md."},
	{"tabs.ownedBy", Choice("client", "session"), "client", func(c *Config) any { return &c.Tabs.OwnedBy },
		"Who may share a tab that is owned: \"client\", every window and session of the client that owns it; " +
			"\"session\", only the window or session that does. Sessions that an agent names itself are always kept " +
			"apart."},
	{"tabs.ownershipIdleMs", Millis(1_000, 24*time.Hour), 3_600_000,
		func(c *Config) any { return &c.Tabs.OwnershipIdle },
		"How long an agent stays the owner of a tab without a call."},
	{"tabs.groups", Boolean, true, func(c *Config) any { return &c.Tabs.Groups },
		"Whether tabs that have an owner are put into a tab group with the agent's name. Only in browsers where the " +
			"person has allowed it, in the side panel."},

	{"metrics.open", Boolean, false, func(c *Config) any { return &c.Metrics.Open },
		"Whether every program on this machine may read /metrics without a token."},
	{"mcp.listChangedMs", Millis(0, 5*time.Second), 150, func(c *Config) any { return &c.MCP.ListChangedDelay },
		"Changes of the tool list within this time are announced to clients once."},
	{"mcp.toolsPageSize", Count(0, 1_000), 0, func(c *Config) any { return &c.MCP.ToolsPageSize },
		"How many tools one answer to tools/list has. 0 sends them all at once: widely used clients read the first " +
			"answer only."},
	{"mcp.listTokens", Count(0, 1_000_000), 6_000, func(c *Config) any { return &c.MCP.ListTokens },
		"The estimated tokens that a list of tools may cost, unless a toolset is asked for. 0: any."},
	{"plugins", pluginSection, map[string]any{}, func(c *Config) any { return &c.Plugins },
		"Settings of single plugins, by plugin name."},
}

// pluginSettings is the table of one plugin: plugins.<name>.<key>.
var pluginSettings = []Setting[Plugin]{
	{"enabled", Boolean, true, func(p *Plugin) any { return &p.Enabled },
		"Whether the plugin's tools are offered. Only " + plugin.OptIn + " is off until this says true."},
	{"urlPatterns", List(MatchPattern), []string{}, func(p *Plugin) any { return &p.URLPatterns },
		"Match patterns of further pages the plugin works on, for example https://wiki.example.org/*."},
	{"settings", object, map[string]any{}, func(p *Plugin) any { return &p.Settings },
		"Values for the settings the plugin itself declares."},
}

// pluginSection is the plugins by name. Whether there is a plugin of a name is checked where plugins are known.
var pluginSection = Named("plugins", pluginSettings, nil, defaultPlugin)

// Changed lists the keys whose values differ, in the order of the table.
func Changed(a, b Config) []string {
	keys := []string{}
	for _, s := range settings {
		before, after := reflect.ValueOf(s.field(&a)).Elem(), reflect.ValueOf(s.field(&b)).Elem()
		if before.Kind() == reflect.Slice && before.Len() == 0 && after.Len() == 0 {
			continue
		}
		if !reflect.DeepEqual(before.Interface(), after.Interface()) {
			keys = append(keys, s.key)
		}
	}
	return keys
}

// Values are the settings that differ from their defaults, by key, without things by name, which may hold secrets.
func Values(c Config) map[string]any {
	values := map[string]any{}
	for _, key := range Changed(Default(), c) {
		for _, s := range settings {
			if s.key == key && s.kind.fill == nil {
				values[key] = reflect.ValueOf(s.field(&c)).Elem().Interface()
			}
		}
	}
	return values
}
