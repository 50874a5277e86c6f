package relay

import (
	"context"
	"errors"
	"maps"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/audit"
	"tabrelay/relay/call"
	"tabrelay/relay/config"
	"tabrelay/relay/confirm"
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
		News: func(topic string) { r.news(topic) }, Known: r.knownTarget, Tools: r.knownTools, TabGone: r.hub.TabGone,
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
func (r *Relay) questionsFor(profileID string) int {
	waiting := len(r.permits.Pending(profileID)) + len(r.desk.Open())
	if r.rights.asks() {
		waiting++
	}
	return waiting
}

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

// knownTools are the tools there are, as rules see them.
func (r *Relay) knownTools() (list []call.Access) {
	for _, t := range r.tools.Snapshot().Tools {
		list = append(list, accessOf(call.Session{}, t))
	}
	return list
}

// ownTools are those of the relay itself.
func ownTools() (list []call.Access) {
	for _, t := range (&Relay{}).builtins() {
		list = append(list, accessOf(call.Session{}, &t))
	}
	return list
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

// Offline are the rules of a home folder in which no relay runs.
type Offline struct {
	*permit.Permits
	log   *audit.Recorder
	close func() error
}

// Confirmed records that a person confirmed a change at a terminal.
func (o *Offline) Confirmed(c *confirm.Change) {
	o.log.Record(widening(call.Session{Client: config.LocalClient, Via: viaSocket}, c, "allowed", "terminal"))
}

// Close closes them, so that a relay can run.
func (o *Offline) Close() error {
	o.Permits.Close()
	return o.close()
}

// OfflinePermits are the rules of a home folder in which no relay runs; while they are open none can. When one does
// run, the error is a [*join.RunningError].
func OfflinePermits(ctx context.Context, home config.Home, cfg config.Config) (*Offline, error) {
	if err := home.Create(); err != nil {
		return nil, err
	}
	lock, err := join.AcquireLock(ctx, home)
	if err != nil {
		return nil, err
	}
	db, err := store.Open(ctx, home.Database(), keeping(cfg), zerolog.Nop())
	if err != nil {
		_ = lock.Release() // the database is the news
		return nil, err
	}
	recorder, err := audit.NewRecorder(ctx, db, home.AuditPosition(), zerolog.Nop(), nil)
	if err != nil {
		return nil, errors.Join(err, db.Close(), lock.Release())
	}
	o := &Offline{log: recorder}
	o.close = func() error {
		o.log.Close(ctx)
		if err := db.Close(); err != nil {
			return err
		}
		return lock.Release()
	}
	o.Permits, err = permit.New(ctx, permit.Options{Store: db, Config: cfg.Permissions, Timeout: cfg.Approvals.Timeout, Known: offlineTarget(home), Tools: ownTools, Audit: o.log.Record})
	if err != nil {
		_ = o.close() // the rules are the news
		return nil, err
	}
	return o, nil
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
