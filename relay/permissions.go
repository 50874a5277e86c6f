package relay

import (
	"context"
	"tabrelay/relay/builtin"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/catalog"
	"tabrelay/relay/event"
	"tabrelay/relay/policy"
)

// openPolicy reads the rules, and bounds the configuration by what a person took back.
func (r *Relay) openPolicy(ctx context.Context) (err error) {
	r.policy, err = policy.New(ctx, policy.Options{
		Store: r.store, Config: r.config, Log: r.part("policy"), Audit: r.audit.Record, Events: r.tellApproval,
		Clients: r.secrets.Known(), Tools: r.knownTools, Known: r.knownTarget,
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

// tellApproval tells whoever follows events, and panels, of which each counts what waits at its profile.
func (r *Relay) tellApproval(of *call.Session, message string, data map[string]any) {
	owner := event.OfPerson()
	if of != nil {
		owner = event.Of(*of)
	}
	r.events.Publish(owner, event.Approval, message, data)
	r.panels.Changed(event.TopicApprovals)
}

// notice tells the person something about the configuration.
func (r *Relay) notice(message string) {
	r.notices.Add(event.Notice{Time: time.Now(), Kind: "config", Message: message})
}

// knownTarget reports whether rules can be about a name: a tool or a plugin that exists, be it off or not reviewed.
func (r *Relay) knownTarget(name string) (exists bool, suggestion string) {
	return catalog.Target(r.Home, r.tools.Snapshot().Tools, name)
}

// knownTools are the tools there are, as rules see them.
func (r *Relay) knownTools() (list []call.Access) {
	for _, t := range r.tools.Snapshot().Tools {
		list = append(list, policy.AccessOf(call.Session{}, t))
	}
	return list
}

// ownTools are those of the relay itself.
func ownTools() (list []call.Access) {
	for _, t := range new(builtin.Sources).List() {
		list = append(list, policy.AccessOf(call.Session{}, &t))
	}
	return list
}

// startPolicy compares this start with the last one.
func (r *Relay) startPolicy(ctx context.Context) error { return r.policy.Start(ctx) }
