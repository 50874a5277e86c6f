package httpapi

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"slices"
	"strings"

	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
)

// NewSettings is the body of PUT /api/v1/plugins/{plugin}/settings.
type NewSettings struct {
	Settings map[string]json.RawMessage `json:"settings"` // by name; null takes back what was set
	Digest   string                     `json:"digest"`   // of the change that the person read, where they had to
}

// UnusableSettings is the answer, with status 422, when some values cannot be used. Nothing was saved.
type UnusableSettings struct {
	Error  *fault.Error      `json:"error"`
	Fields map[string]string `json:"fields"` // what is wrong, by setting
}

// showSettings answers GET /api/v1/plugins/{plugin}/settings.
func (a *API) showSettings(_ http.ResponseWriter, req *http.Request) (any, *Refusal) {
	view, failure := a.Catalog.Settings(req.PathValue("plugin"))
	if failure != nil {
		return nil, NewRefusal(settingsStatus(failure), failure)
	}
	return view, nil
}

// setSettings answers PUT /api/v1/plugins/{plugin}/settings. Pages that the plugin did not work on before are shown
// first, also to the person at a panel: nobody types an address and means to read what it allows.
func (a *API) setSettings(w http.ResponseWriter, req *http.Request) (any, *Refusal) {
	var body NewSettings
	const example = `{"settings": {"url": "https://wiki.example/", "limit": null}}`
	if failure := ReadBody(w, req, &body, example); failure != nil {
		return nil, NewRefusal(http.StatusBadRequest, failure)
	}
	name := req.PathValue("plugin")
	plan, failure := a.Catalog.PlanSettings(name, body.Settings)
	if failure != nil {
		return nil, NewRefusal(settingsStatus(failure), failure)
	}
	if len(plan.Problems) > 0 {
		return nil, &Refusal{http.StatusUnprocessableEntity, UnusableSettings{unusable(plan.Problems), plan.Problems}}
	}
	change := settingsChange(name, plan)
	session := Sender(req.Context())
	if change != nil && session.Via == call.ViaPanel && body.Digest != change.Digest() {
		return nil, &Refusal{http.StatusPreconditionRequired, Unconfirmed{Digest: change.Digest(), Change: change,
			Error: fault.New(fault.PermissionDenied, "The plugin would reach more sites, and nothing was saved yet")}}
	}
	by, denied := a.Confirmed(w, req, change)
	if denied != nil {
		return nil, denied
	}
	if failure := a.Catalog.SetSettings(plan); failure != nil {
		return nil, NewRefusal(settingsStatus(failure), failure)
	}
	if change != nil && session.Via == call.ViaPanel {
		a.Policy.RecordWidening(session, change, "allowed", by)
	}
	a.Log.Info().Str("plugin", name).Strs("settings", slices.Sorted(maps.Keys(body.Settings))).Str("by", by).
		Msg("settings of a plugin were changed")
	return a.showSettings(w, req)
}

// settingsChange is what settings let agents do more; nil: nothing.
func settingsChange(name string, plan catalog.SettingsPlan) *policy.Change {
	adds, names, command := plan.Adds(), plan.Names(), "tabrelay plugin configure "+name
	switch {
	case len(adds) == 0 && len(names) == 0:
		return nil
	case len(adds) == 0:
		return policy.NewChange("Settings of the plugin "+name+" name other sites", command, names...)
	}
	before := "none"
	if len(plan.Before) > 0 {
		before = strings.Join(plan.Before, ", ")
	}
	return policy.NewChange("The plugin "+name+" works on more pages: "+strings.Join(adds, ", "),
		command, append([]call.Difference{{What: "pages of " + name, Before: before,
			After: strings.Join(plan.After, ", ")}}, names...)...)
}

func unusable(problems map[string]string) *fault.Error {
	names := slices.Sorted(maps.Keys(problems))
	message := names[0] + ": " + problems[names[0]]
	if len(names) > 1 {
		message = fmt.Sprintf("%d settings cannot be used, among them %s", len(names), message)
	}
	return fault.New(fault.InvalidRequest, message, fault.WithHint("Nothing was saved. Correct it, and save again."))
}

func settingsStatus(f *fault.Error) int {
	switch f.Code {
	case fault.PluginNotReviewed:
		return http.StatusConflict
	case fault.ConfigError:
		return http.StatusUnprocessableEntity
	}
	return reviewStatus(f)
}
