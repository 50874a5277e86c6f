package relay

import (
	"context"
	"slices"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/event"
	"tabrelay/relay/fault"
	"tabrelay/relay/policy"
	"tabrelay/relay/suggest"
)

// The names under which rules are about what agents read of open tabs by URI. They are no tools that can be called.
const (
	readTab     = "relay__read_tab"
	readConsole = "relay__read_console"
)

// listTabs is the tool that tells which tabs are open.
const listTabs = "browser__list_tabs"

// openPolicy reads the rules, and bounds the configuration by what a person took back.
func (r *Relay) openPolicy(ctx context.Context) (err error) {
	r.policy, err = policy.New(ctx, policy.Options{
		Store: r.store, Config: r.config, Log: r.part("policy"), Audit: r.record, Events: r.tellApproval,
		Clients: r.secrets.Known, Tools: r.knownTools, Known: r.knownTarget, Reconfigured: r.reconfigure,
		TabGone:    func(profileID string, tabID int) bool { return r.hub.TabGone(profileID, tabID) },
		PanelsOpen: func() bool { return r.hub.PanelsOpen() },
		Changed:    func(topic string) { r.news(topic) },
		Notice: func(message string) {
			r.notices.add(Notice{Time: time.Now(), Kind: "config", Message: message})
		},
	})
	if err != nil {
		return err
	}
	r.config = r.policy.Config()
	r.policy.OnChange(func() { r.news(topicPlugins) })
	return nil
}

// tellApproval tells whoever follows events, and panels, of which each counts what waits at its profile.
func (r *Relay) tellApproval(of *call.Session, message string, data map[string]any) {
	owner := event.OfPerson()
	if of != nil {
		owner = event.Of(*of)
	}
	r.events.Publish(owner, event.Approval, message, data)
	r.news(topicApprovals)
}

// reconfigure takes over what of the configuration may be in effect, after a person said so.
func (r *Relay) reconfigure(undone bool) {
	r.refused.reading.Lock()
	defer r.refused.reading.Unlock()
	next := r.policy.Config()
	if undone && next.Review.Required {
		r.reviews.require()
	}
	if err := r.replace(next); err != nil {
		_ = r.refuse(fault.RegistryError, err) // it was told
	}
	r.tellRestart(next)
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
		list = append(list, policy.AccessOf(call.Session{}, t))
	}
	return list
}

// ownTools are those of the relay itself.
func ownTools() (list []call.Access) {
	for _, t := range (&Relay{}).builtins() {
		list = append(list, policy.AccessOf(call.Session{}, &t))
	}
	return list
}

// known looks a name up, and finds the one that was probably meant.
func known(name string, names []string) (exists bool, suggestion string) {
	names = append(names, readTab, readConsole, relayName, browserName)
	if slices.Contains(names, name) {
		return true, ""
	}
	return false, suggest.Nearest(name, names)
}

// relayName is the plugin that rules about the relay's own tools name.
const relayName = policy.RelayPlugin

// browserName is the plugin that rules about the tools browser__* name.
const browserName = "browser"

// startPolicy compares this start with the last one, and tells which rules of the configuration do nothing.
func (r *Relay) startPolicy(ctx context.Context) error {
	r.checkRules()
	return r.policy.Start(ctx)
}

// checkRules tells which rules of the configuration do nothing.
func (r *Relay) checkRules() {
	for _, problem := range r.policy.Misspelt() {
		r.Log.Warn().Msg(problem)
		r.notices.add(Notice{Time: time.Now(), Kind: "config", Message: problem})
	}
}
