package relay

import (
	"cmp"
	"context"

	"tabrelay/extension"
	"tabrelay/relay/agent/client"
	"tabrelay/relay/agent/front"
	"tabrelay/relay/agent/prompt"
	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/launch"
	"tabrelay/relay/lib/called"
	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/program/builtin"
	"tabrelay/relay/program/doctor"
	"tabrelay/relay/road/breaker"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/road/schedule"
	"tabrelay/relay/state/config"
	"tabrelay/relay/state/metrics"
)

// openPolicy reads the rules from the store, and restricts the configuration to what the person has allowed.
func (r *Relay) openPolicy(ctx context.Context) (err error) {
	r.policy, err = policy.New(ctx, policy.Options{
		Version: Version, Store: r.store, Config: r.config, Log: r.logFor("policy"),
		Audit: r.audit.Record, Events: r.tellApproval,
		Clients: r.secrets.Known(), Lost: cmp.Or(r.store.Lost(), r.audit.Gone()), Used: r.store.Used(),
		Tools: func() []call.Access { return policy.Accesses(r.tools.Snapshot().Tools) },
		Known: func(name string) (exists bool, suggestion string) {
			return catalog.RuleTarget(r.Home, r.tools.Snapshot().Tools, name)
		},
		Reconfigured: func(undone bool) { r.catalog.Reconfigure(undone) },
		TabGone:      func(profileID string, tabID int) bool { return r.hub.TabGone(profileID, tabID) },
		PanelsOpen:   func() bool { return r.hub.PanelsOpen() },
		Changed:      func(topic string) { r.panels.Changed(topic) },
		Notice:       r.notice,
	})
	if err != nil {
		return err
	}
	r.config = r.policy.Config()
	r.policy.OnChange(func() { r.panels.Changed(event.TopicPlugins) })
	return nil
}

// makeParts makes hub, registry, catalog, dispatcher and the capabilities. Functions passed to a part that name another
// one are called only after all are made.
func (r *Relay) makeParts(ctx context.Context) error {
	c := r.config
	r.meter = metrics.New(func() int { return r.calls.InFlight() })
	known, err := r.store.Profiles(ctx)
	if err != nil {
		return err
	}
	tabs, err := r.store.LastTabs(ctx)
	if err != nil {
		return err
	}
	r.hub = hub.New(hub.Config{
		Secret: r.secrets.Pairing, Pairings: &r.pairings, ExtensionIDs: c.Extensions(extension.ID),
		RelayVersion: Version, BundleHash: extension.FlavourOf(c.TrustedInput).Hash,
		StoreHash:   extension.StoreHash(extension.BundleHash()),
		InstallHint: r.installHint(),
		Known:       known, BrowserEnded: r.managedEnded, StartCommand: r.startCommand,
		ReconnectWait: c.ReconnectWait, PingEvery: c.PingEvery, StartTime: c.StartTimeout, FrameBytes: c.FrameBytes,
		Handshakes: min(r.limiter.Most()/4, 64),
		Log:        r.logFor("hub"), Journal: r.store, Meter: r.meter,
		Ownership: c.Tabs.Ownership, OwnedBy: c.Tabs.OwnedBy, OwnershipIdle: c.Tabs.OwnershipIdle,
		Groups: c.Tabs.Groups, OwnersChanged: func() { r.panels.Changed(event.TopicTabs) },
		LastTabs: tabs, LastTabChanged: r.store.KeepLastTab,
		Followed: r.tellFollowers,
	})
	r.hub.Events(r.linkChanged)
	r.hub.OnTabs(r.tabsChanged)
	letters := &builtin.DeadLetters{Store: r.store, Meter: r.meter, Events: &r.events, Audit: r.audit, Log: r.Log}
	r.store.OnLateOutcome(letters.Settled)
	r.store.OnRecovered(letters.Recovered)
	r.ownTools = &builtin.Sources{
		Version: Version, Began: r.began, Hub: r.hub, Store: r.store, Meter: r.meter, Notices: &r.notices,
		Policy: r.policy, Letters: letters, Agents: func() builtin.AgentHealth { return r.attached.health() },
		Findings:   func(ctx context.Context) []doctor.Finding { return r.api.Diagnose(ctx) },
		Unwritable: r.audit.Failing, MaxBytes: c.MaxBytes, ResultBytes: c.ResultBytes,
	}
	r.tools = registry.New(r.ownTools.List())
	if err := r.newCatalog(ctx); err != nil {
		return err
	}
	r.calls = r.dispatcher()
	r.policy.OnChange(func() {
		if !r.policy.Paused() { // stopping everything has its own end of calls
			r.calls.EndRefused()
		}
	})
	r.ownTools.Tools, r.ownTools.Calls, r.ownTools.Catalog = r.tools, r.calls, r.catalog
	letters.Tools, letters.Calls = r.tools, r.calls
	if err := r.attach(); err != nil {
		return err
	}
	r.hub.ServePageTools(r.attached.pageTools())
	r.calls.Watch = r.attached.watcher()
	return nil
}

// installHint is the next step where no browser has the extension. Agents read it out to a person who has what this
// relay was started with.
func (r *Relay) installHint() string {
	hint := "Ask the person to install it, once: " + launch.LoadUnpacked(r.config.ExtensionShown(r.Home)) + "."
	if called.Somehow() {
		hint += " In a terminal, `tabrelay up` shows each step."
	}
	return hint + " Then repeat the call."
}

// newCatalog makes the catalog of plugins.
func (r *Relay) newCatalog(ctx context.Context) (err error) {
	r.catalog, err = catalog.New(ctx, catalog.Options{
		Home: r.Home, Config: r.config, Plugins: r.Plugins, Bundle: extension.FlavourOf(r.config.TrustedInput).Files,
		Store: r.store, Tools: r.tools,
		Policy: r.policy,
		Log:    r.logFor("catalog"), Browsers: r.hub, PointDemo: func(list []plugin.Plugin) { r.demo.Point(list) },
		Changed:   r.panels.Changed,
		SignedOut: func(p, profileID string) bool { return r.calls.SignedOut(p, profileID) },
		Mode:      r.policy.ToolMode,
		Applied:   r.configure,
		Audit:     r.audit.Record, Notice: r.notice, Problem: r.pluginProblem, ReloadRefused: r.configRefused,
		ReloadAccepted: func(message string) { r.front.Log("notice", "tabrelay", message) },
	})
	return err
}

// dispatcher makes the dispatcher with the configured limits and timeouts.
func (r *Relay) dispatcher() *dispatch.Dispatcher {
	c := r.config
	return dispatch.New(dispatch.Options{
		Tools: r.tools, Policy: r.policy, Browser: r.hub, Meter: r.meter, Log: r.logFor("dispatch"),
		Events: r.events.Publish, Calls: &r.trail, Audit: r.audit, Scopes: r.policy,
		TopicsChanged: r.panels.Changed,
		Timeout:       c.Timeout, MaxTimeout: c.MaxTimeout, ProgressExtends: c.ProgressExtendsTimeout,
		ReconnectWait: c.ReconnectWait,
		Retry: dispatch.Retry{
			MaxAttempts: c.Errors.Transient.Retry.MaxAttempts, InitialDelay: c.Errors.Transient.Retry.InitialDelay,
			MaxDelay: c.Errors.Transient.Retry.MaxDelay, Multiplier: c.Errors.Transient.Retry.Multiplier,
		},
		Limits: schedule.Limits{
			Running: c.Limits.Running, RunningPerPlugin: c.Limits.RunningPerPlugin, Waiting: c.Limits.Waiting,
			Wait:          c.Limits.Wait,
			WaitingPerTab: c.Limits.WaitingPerTab,
		},
		Breaker:  breaker.Settings(c.Breaker),
		Recovery: recovery(c.Recovery), Trace: c.Errors.Trace, StackTraces: c.Logging.IncludeStackTraces,
		TransientPatterns: c.Errors.Transient.Patterns, FatalPatterns: c.Errors.Fatal.Patterns,
		MaxInputBytes: c.FrameBytes - frameRoom, MaxResultBytes: c.ResultBytes, MaxBytes: c.MaxBytes,
		ConsoleTailBytes: consoleTail(c), Results: r.store, DeadLetters: r.ownTools.Letters,
	})
}

// recovery returns the configured recovery actions, by code of the failure.
func recovery(configured map[string]string) map[fault.Code]string {
	by := make(map[fault.Code]string, len(configured))
	for code, action := range configured {
		by[fault.Code(code)] = action
	}
	return by
}

// frameRoom is how many bytes of a frame are reserved for its header, so that the arguments fit into the rest.
const frameRoom = 64 << 10

func consoleTail(c config.Config) int {
	if !c.ConsoleTail.Capture {
		return 0
	}
	return c.ConsoleTail.LimitBytes
}

// makeFront makes the front and the clients. The tools are published before, so that no client is notified of a change
// of the list at the start.
func (r *Relay) makeFront(context.Context) error {
	c := r.config
	prompts, resources := prompt.New(r.tools), r.attached.resources()
	completer := &prompt.Completer{
		Prompts: prompts, Tools: r.tools, Tabs: r.hub.Tabs, Browsers: r.hub.Browsers,
		Views: r.policy, Told: func(s call.Session, t hub.Tab) (seen, told bool) {
			at := call.Target{ProfileID: t.ProfileID, Profile: t.Profile, TabID: t.ID, Origin: t.Origin(), URL: t.URL}
			return !r.policy.HidesTab(s, at), r.policy.TellsTab(s, at)
		},
		Letters: func(ctx context.Context, most int) ([]call.DeadLetter, error) {
			return r.store.DeadLetters(ctx, call.Owner{}, "", most)
		},
	}
	if resources != nil {
		completer.Templates = resources.Templates
	}
	r.front = front.New(front.Options{
		GroupInstructions: r.instructions(),
		Prompts:           prompts, Resources: resources, Views: r.policy, Audit: r.audit, Completer: completer,
		Missing: r.catalog.UnknownName, Open: openPages{r.hub}, Tasks: r.store,
		Name: "tabrelay", Version: Version, Caller: r.calls, Bounded: r.bounded(), Tools: r.tools,
		Advice:           r.advice(),
		MaxBody:          int64(c.BodyBytes),
		AllowedOrigins:   c.AllowedOrigins,
		ListChangedDelay: c.MCP.ListChangedDelay, PageSize: c.MCP.ToolsPageSize,
		ListTokens: c.MCP.ListTokens, SessionEnded: r.sessionEnded,
		Log: r.logFor("front"),
	})
	r.clients = client.New(client.Options{
		Version: Version, Secrets: r.secrets, Seen: r.seen, Front: r.front, Calls: r.calls, Policy: r.policy,
		Hub:   r.hub,
		Meter: r.meter, Events: &r.events, Log: r.Log, Audit: r.audit.Record, Changed: r.panels.Changed,
		SessionEnded: r.sessionEnded, Base: r.base, Stopping: r.stop, Stop: r.Stop,
	})
	return nil
}
