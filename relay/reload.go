package relay

import (
	"context"
	"net/http"

	"tabrelay/relay/call"
	"tabrelay/relay/catalog"
	"tabrelay/relay/event"
	"tabrelay/relay/fault"
	"tabrelay/relay/plugin"
	"tabrelay/relay/policy"
	"tabrelay/relay/registry"
)

// Reloaded is the answer of POST /api/v1/reload.
type Reloaded struct {
	Tools         int                `json:"tools"`
	Problems      []registry.Problem `json:"problems"`
	RestartNeeded bool               `json:"restartNeeded"`
	Restart       []string           `json:"restart"` // keys whose new values only a restart applies
}

// newCatalog makes the catalog of plugins.
func (r *Relay) newCatalog(ctx context.Context) (err error) {
	r.catalog, err = catalog.New(ctx, catalog.Options{
		Home: r.Home, Config: r.config, Plugins: r.Plugins, Bundle: bundle(), Store: r.store, Tools: r.tools, Policy: r.policy,
		Log: r.part("catalog"), Browsers: r.hub, Place: func(list []plugin.Plugin) { r.demo.Place(list) }, Changed: r.panels.Changed,
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
		r.front.Log("warning", "tabrelay", map[string]any{"code": fault.RegistryError, "plugin": p.Plugin, "message": p.Reason})
	}
}

// configRefused tells clients and events what was not taken over.
func (r *Relay) configRefused(f *fault.Error, public *catalog.Refusal) {
	r.meter.ErrorRaised(f.Class, f.Source, f.Code)
	r.events.Publish(event.OfPerson(), event.Error, public.Reason, map[string]any{"code": public.Code, "source": string(f.Source)})
	r.front.Log("error", "tabrelay", map[string]any{"code": f.Code, "message": public.Reason, "hint": f.Hint})
}

// problemsFor are the problems of the plugins as somebody may read them: the person with folders, agents without.
func (r *Relay) problemsFor(s call.Session) []registry.Problem {
	if policy.IsPerson(s) {
		return r.catalog.Problems()
	}
	return r.catalog.PublicProblems()
}

// reloadNow reads plugins and their configuration again. A client may ask for it too: it brings nothing into effect but
// what the person wrote, which is read by itself a moment after it changes.
func (r *Relay) reloadNow(w http.ResponseWriter, req *http.Request) {
	restart, failure := r.catalog.Reload()
	s, _ := sender(req.Context())
	if failure != nil {
		if !policy.IsPerson(s) {
			failure.Message, failure.Hint = r.catalog.Public(failure.Message), r.catalog.Public(failure.Hint)
		}
		refuse(w, http.StatusUnprocessableEntity, failure)
		return
	}
	reply(w, http.StatusOK, Reloaded{Tools: len(r.tools.Snapshot().Tools), Problems: r.problemsFor(s), RestartNeeded: len(restart) > 0, Restart: restart})
}
