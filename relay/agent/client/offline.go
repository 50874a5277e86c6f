package client

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/program/builtin"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/audit"
	"tabrelay/relay/state/config"
	"tabrelay/relay/state/store"
)

// Offline is the policy of a home folder in which no relay runs.
type Offline struct {
	*policy.Policy
	log   *audit.Recorder
	store *store.Store
	close func() error
}

// offlinePerson is the person at a terminal, while no relay runs.
var offlinePerson = call.Session{Client: config.LocalClient, Via: call.ViaSocket}

// Confirmed writes into the audit log that the person allowed a change at a terminal.
func (o *Offline) Confirmed(c *policy.Change) {
	o.Policy.Confirmed(offlinePerson, c, "allowed", policy.ByTerminal)
}

// ChangeClients changes secrets.json, and writes into the audit log what is different then.
func (o *Offline) ChangeClients(secrets *config.Secrets, change func() error) error {
	before := secrets.Clients()
	err := change()
	for _, one := range Compare(before, secrets.Clients()) {
		o.log.Record(one.Entry(offlinePerson))
	}
	return err
}

// ForgetPlugin forgets what was said of a plugin that is removed, so that another one of its name begins anew.
func (o *Offline) ForgetPlugin(ctx context.Context, plugin, by string) error {
	dropped, err := o.store.DropHints(ctx, plugin)
	if len(dropped) > 0 {
		o.log.Record(catalog.Forgotten(plugin, dropped, by))
	}
	return errors.Join(err, o.Policy.ForgetPlugin(ctx, plugin, by), o.store.DropContent(ctx, plugin))
}

// ForgetProfile forgets that a browser profile was connected.
func (o *Offline) ForgetProfile(ctx context.Context, id string) error {
	return o.store.ForgetProfile(ctx, id)
}

// RotatePairing replaces the pairing secret, and writes that into the audit log. The extension is given it by the next
// start.
func (o *Offline) RotatePairing(secrets *config.Secrets) error {
	if err := secrets.RotatePairing(); err != nil {
		return err
	}
	o.log.Record(PairingRotated(offlinePerson, policy.ByTerminal))
	return nil
}

// Close closes it, so that a relay can run.
func (o *Offline) Close() error {
	o.Policy.Close()
	return o.close()
}

// OpenOffline opens the policy of a home folder in which no relay runs; while it is open none can. When one does run,
// the error is a [*join.RunningError]. own are the tools of capabilities, which rules can be about.
func OpenOffline(ctx context.Context, home config.Home, cfg config.Config, own []registry.Tool) (*Offline, error) {
	if err := home.Create(); err != nil {
		return nil, err
	}
	instance, err := join.AcquireLock(ctx, home)
	if err != nil {
		return nil, err
	}
	db, err := store.Open(ctx, home.Database(), store.LimitsOf(cfg), zerolog.Nop())
	if err != nil {
		_ = instance.Release() // the database is the news
		return nil, err
	}
	recorder, err := audit.NewRecorder(ctx, db, home.AuditPosition(), zerolog.Nop(), nil)
	if err != nil {
		return nil, errors.Join(err, db.Close(), instance.Release())
	}
	o := &Offline{log: recorder, store: db}
	o.close = func() error {
		o.log.Close(ctx)
		if err := db.Close(); err != nil {
			return err
		}
		return instance.Release()
	}
	tools := registry.New(slices.Concat(new(builtin.Sources).List(), own)).Snapshot().Tools
	o.Policy, err = policy.New(ctx, policy.Options{
		Store: db, Config: cfg, Audit: o.log.Record, Lost: cmp.Or(db.Lost(), o.log.Gone()), Used: db.Used(),
		Tools: func() []call.Access { return policy.Accesses(tools) },
		Known: func(name string) (bool, string) { return catalog.Target(home, tools, name) },
	})
	if err != nil {
		_ = o.close() // the rules are the news
		return nil, err
	}
	return o, nil
}

// PairingRotated is a new pairing secret as the audit log has it.
func PairingRotated(s call.Session, by string) call.Entry {
	return call.Entry{
		At: time.Now(), Kind: call.EntryWidening, Session: s, Decision: "rotated", DecidedBy: by,
		Detail: "the pairing secret was replaced",
	}
}
