package relay

import (
	"context"

	"tabrelay/relay/call"
	"tabrelay/relay/catalog"
	"tabrelay/relay/event"
	"tabrelay/relay/fault"
	"tabrelay/relay/plugin"
	"tabrelay/relay/policy"
	"tabrelay/relay/registry"
)

// newCatalog makes the catalog of plugins.
func (r *Relay) newCatalog(ctx context.Context) (err error) {
	r.catalog, err = catalog.New(ctx, catalog.Options{
		Home: r.Home, Config: r.config, Plugins: r.Plugins, Bundle: bundle(), Store: r.store, Tools: r.tools,
		Policy: r.policy,
		Log:    r.part("catalog"), Browsers: r.hub, Place: func(list []plugin.Plugin) { r.demo.Place(list) },
		Changed: r.panels.Changed, SignedOut: func(p, profileID string) bool { return r.calls.SignedOut(p, profileID) },
		Mode: func(t *registry.Tool) (call.Mode, string) {
			return r.policy.Mode(policy.AccessOf(call.Session{Client: anyClient}, t))
		},
		Audit: r.audit.Record, Notice: r.notice, Problem: r.pluginProblem, Refused: r.configRefused,
		Accepted: func(message string) { r.front.Log("notice", "tabrelay", message) },
	})
	return err
}

// anyClient is nobody in particular: no client can be called that, so no rule is about it.
const anyClient = "*"

// pluginProblem tells clients what is wrong with a plugin. At the start there are none.
func (r *Relay) pluginProblem(p registry.Problem) {
	if r.front != nil {
		r.front.Log("warning", "tabrelay", map[string]any{"code": fault.RegistryError, "plugin": p.Plugin,
			"message": p.Reason})
	}
}

// configRefused tells clients and events what was not taken over.
func (r *Relay) configRefused(f *fault.Error, public *catalog.Refusal) {
	r.meter.ErrorRaised(f.Class, f.Source, f.Code)
	r.events.Publish(event.OfPerson(), event.Error, public.Reason,
		map[string]any{"code": public.Code, "source": string(f.Source)})
	r.front.Log("error", "tabrelay", map[string]any{"code": f.Code, "message": public.Reason, "hint": f.Hint})
}
