package relay

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/audit"
	"tabrelay/relay/call"
	"tabrelay/relay/config"
	"tabrelay/relay/event"
	"tabrelay/relay/join"
	"tabrelay/relay/permit"
	"tabrelay/relay/registry"
	"tabrelay/relay/store"
)

// The names under which rules are about what agents read of open tabs by URI. They are no tools that can be called.
const (
	readTab     = "relay__read_tab"
	readConsole = "relay__read_console"
)

// listTabs is the tool that tells which tabs are open.
const listTabs = "browser__list_tabs"

// openPermits reads the rules.
func (r *Relay) openPermits(ctx context.Context) (err error) {
	r.permits, err = permit.New(ctx, permit.Options{
		Store: r.store, Config: r.config.Permissions, Timeout: r.config.Approvals.Timeout, MaxBytes: r.config.Approvals.MaxBytes, Audit: r.record, Events: r.tellApproval,
		News: func(topic string) { r.news(topic) }, Known: r.knownTarget, TabGone: r.hub.TabGone,
	})
	if err != nil {
		return err
	}
	r.permits.OnChange(func() { r.views.changed(); r.news(topicPlugins) })
	return nil
}

// tellApproval tells whoever follows events, and panels, of which each counts the questions that wait at its profile.
func (r *Relay) tellApproval(owner event.Owner, kind event.Kind, message string, data map[string]any) {
	r.events.Publish(owner, kind, message, data)
	r.news(topicApprovals)
}

// questionsFor is how many questions wait for the person at a profile.
func (r *Relay) questionsFor(profileID string) int { return len(r.permits.Pending(profileID)) }

// knownTarget reports whether rules can be about a name: a tool or a plugin that exists, be it off or not reviewed.
func (r *Relay) knownTarget(name string) (exists bool, suggestion string) {
	var names []string
	for _, t := range r.tools.Snapshot().Tools {
		names = append(names, t.Name, t.PluginName())
	}
	if slices.Contains(names, name) {
		return true, ""
	}
	return known(name, append(names, namesOnDisk(r.Home)...))
}

// known looks a name up, and finds the one that was probably meant.
func known(name string, names []string) (exists bool, suggestion string) {
	names = append(names, readTab, readConsole, relayName, browserName)
	if slices.Contains(names, name) {
		return true, ""
	}
	return false, Meant(name, names)
}

// relayName is the plugin that rules about the relay's own tools name.
const relayName = "relay"

// browserName is the plugin that rules about the tools browser__* name.
const browserName = "browser"

// OfflinePermits are the rules of a home folder in which no relay runs; while they are open none can. When one does
// run, the error is a [*join.RunningError].
func OfflinePermits(ctx context.Context, home config.Home, cfg config.Config) (p *permit.Permits, done func() error, err error) {
	if err := home.Create(); err != nil {
		return nil, nil, err
	}
	seat, err := join.Take(ctx, home)
	if err != nil {
		return nil, nil, err
	}
	db, err := store.Open(ctx, home.Database(), keeping(cfg), zerolog.Nop())
	if err != nil {
		_ = seat.Leave() // the database is the news
		return nil, nil, err
	}
	log := audit.NewRecorder(db, zerolog.Nop(), nil)
	done = func() error {
		log.Close(ctx)
		if err := db.Close(); err != nil {
			return err
		}
		return seat.Leave()
	}
	p, err = permit.New(ctx, permit.Options{Store: db, Config: cfg.Permissions, Timeout: cfg.Approvals.Timeout, Known: offlineTarget(home), Audit: log.Record})
	if err != nil {
		_ = done() // the rules are the news
		return nil, nil, err
	}
	return p, done, nil
}

// offlineTarget is knownTarget without a relay.
func offlineTarget(home config.Home) func(string) (bool, string) {
	return func(name string) (bool, string) {
		names := namesOnDisk(home)
		for _, t := range (&Relay{}).builtins() {
			names = append(names, t.Name)
		}
		return known(name, names)
	}
}

// accessOf is a tool as the rules see it, for a client that has not called it.
func accessOf(s call.Session, t *registry.Tool) call.Access {
	a := call.Access{Session: s, Tool: t.Name, Plugin: t.PluginName(), ReadOnly: t.ReadOnly, BuiltIn: t.Plugin == nil}
	if t.Plugin != nil {
		a.Hash, a.Shipped = t.Plugin.Hash, t.Plugin.Shipped
	}
	return a
}

// checkRules says which rules of the configuration are about nothing that exists: a name that is misspelt forbids nothing.
func (r *Relay) checkRules(context.Context) error {
	for _, target := range slices.Sorted(maps.Keys(r.permits.Configured())) {
		if _, err := r.permits.Target(target); err != nil {
			message := "`permissions` in the configuration has a rule that does nothing: " + err.Error()
			r.Log.Warn().Msg(message)
			r.notices.add(Notice{Time: time.Now(), Kind: "config", Message: message})
		}
	}
	return nil
}
