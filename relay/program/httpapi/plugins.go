package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"time"

	"tabrelay/relay/browser/wire"
	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/plugin/review"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/store"
)

// PluginsView is the answer of GET /api/v1/plugins.
type PluginsView struct {
	Plugins []catalog.View `json:"plugins"`
}

// showPlugins answers a panel with how plugins are in its profile, and the terminal with how they are in any.
func (a *API) showPlugins(_ http.ResponseWriter, req *http.Request) (any, *Refusal) {
	return PluginsView{a.Catalog.List(AtProfile(Sender(req.Context())))}, nil
}

// AdapterView is the answer of GET /api/v1/extension/adapters/{file}.
type AdapterView struct {
	Code string `json:"code"`
}

// showAdapter hands the code of a plugin to an extension from a store, whose folder the relay does not write.
func (a *API) showAdapter(_ http.ResponseWriter, req *http.Request) (any, *Refusal) {
	code, failure := a.Catalog.Adapter(req.PathValue("file"))
	if failure != nil {
		return nil, NewRefusal(http.StatusNotFound, failure)
	}
	return AdapterView{string(code)}, nil
}

// noteUserScripts takes from an extension from a store which added plugins Chrome does not run there yet. Of what it
// names, only plugins that this relay has and did not bring itself count.
func (a *API) noteUserScripts(w http.ResponseWriter, req *http.Request) (any, *Refusal) {
	var body struct {
		Waiting *[]string `json:"waiting"`
	}
	failure := ReadBody(w, req, &body, `{"waiting": ["NAME"]}`)
	if failure == nil && body.Waiting == nil {
		failure = fault.New(fault.InvalidRequest, "The body does not say which plugins wait for user scripts",
			fault.WithHint(`Send {"waiting": []} when none does.`))
	}
	if failure != nil {
		return nil, NewRefusal(http.StatusBadRequest, failure)
	}
	waiting := []string{}
	for _, site := range a.Tools.Snapshot().Sites {
		if name := site.Plugin.Manifest.Name; !site.Plugin.Shipped && slices.Contains(*body.Waiting, name) {
			waiting = append(waiting, name)
		}
	}
	slices.Sort(waiting)
	waiting = slices.Compact(waiting)
	a.Hub.TellUserScripts(AtProfile(Sender(req.Context())), waiting)
	return map[string][]string{"waiting": waiting}, nil
}

// removePlugin answers DELETE /api/v1/plugins/{plugin}. Whoever waits for a call of it is told why it ended.
func (a *API) removePlugin(_ http.ResponseWriter, req *http.Request) (any, *Refusal) {
	name := req.PathValue("plugin")
	if failure := a.Catalog.Removable(name); failure != nil {
		return nil, NewRefusal(reviewStatus(failure), failure)
	}
	a.endCalls(req.Context(), name)
	if failure := a.Catalog.Remove(name, policy.Answerer(Sender(req.Context()))); failure != nil {
		return nil, NewRefusal(settingsStatus(failure), failure)
	}
	a.endCalls(req.Context(), name) // those that began meanwhile
	if err := a.Policy.ForgetPlugin(req.Context(), name, policy.Answerer(Sender(req.Context()))); err != nil {
		return nil, NewRefusal(http.StatusInternalServerError, fault.New(fault.RegistryError,
			"The plugin "+name+" is removed, but "+
				"what allows its tools without asking is not: "+err.Error(),
			fault.WithHint("`tabrelay permit list` shows the rules; `tabrelay permit unset TARGET` removes one.")))
	}
	if failure := a.Catalog.DropSettings(name); failure != nil {
		return nil, NewRefusal(settingsStatus(failure), failure)
	}
	return map[string]string{"removed": name}, nil
}

// endCalls ends the calls of a plugin that is removed.
func (a *API) endCalls(ctx context.Context, plugin string) {
	for _, ended := range a.Calls.Interrupt(func(r dispatch.Running) bool { return r.Plugin == plugin },
		"The person removed the plugin "+plugin) {
		select {
		case <-ended:
		case <-ctx.Done():
		}
	}
}

// Reloaded is the answer of POST /api/v1/reload.
type Reloaded struct {
	Tools         int                `json:"tools"`
	Problems      []registry.Problem `json:"problems"`
	RestartNeeded bool               `json:"restartNeeded"`
	Restart       []string           `json:"restart"` // keys whose new values only a restart applies
}

// problemsFor are the problems of the plugins as somebody may read them: the person with folders, agents without.
func (a *API) problemsFor(s call.Session) []registry.Problem {
	if policy.IsPerson(s) {
		return a.Catalog.Problems()
	}
	return a.Catalog.PublicProblems()
}

// reloadNow reads plugins and their configuration again. A client may ask for it too: it brings nothing into effect but
// what the person wrote, which is read by itself a moment after it changes.
func (a *API) reloadNow(_ http.ResponseWriter, req *http.Request) (any, *Refusal) {
	a.Clients.Review()
	restart, failure := a.Catalog.Reload()
	s := Sender(req.Context())
	if failure != nil {
		if !policy.IsPerson(s) {
			failure.Message, failure.Hint = a.Catalog.Public(failure.Message), a.Catalog.Public(failure.Hint)
		}
		return nil, NewRefusal(http.StatusUnprocessableEntity, failure)
	}
	return Reloaded{Tools: len(a.Tools.Snapshot().Tools), Problems: a.problemsFor(s),
		RestartNeeded: len(restart) > 0, Restart: restart}, nil
}

// maxPanelSheet is how much of a plugin a side panel is given to read, in bytes of text. Some are longer in JSON.
const maxPanelSheet = 1 << 20

// Reviews is the answer of GET /api/v1/reviews: what waits for a person.
type Reviews struct {
	Reviews  []catalog.ReviewStatus `json:"reviews"`
	Required bool                   `json:"required"`
}

func (a *API) listReviews(_ http.ResponseWriter, _ *http.Request) (any, *Refusal) {
	_, required := a.Catalog.Reviews()
	return Reviews{a.Catalog.Waiting(), required}, nil
}

// showReview answers GET /api/v1/reviews/{plugin}.
func (a *API) showReview(_ http.ResponseWriter, req *http.Request) (any, *Refusal) {
	sheet, failure := a.Catalog.Sheet(req.PathValue("plugin"))
	if failure != nil {
		return nil, NewRefusal(reviewStatus(failure), failure)
	}
	if session := Sender(req.Context()); session.Via == call.ViaPanel && sheet.Size() > maxPanelSheet {
		return nil, NewRefusal(http.StatusRequestEntityTooLarge, fault.New(fault.OutputTooLarge,
			"The plugin "+sheet.Plugin+
				" is too large to be read here, so it stays as it is",
			fault.WithHint("In a terminal: tabrelay plugin review "+sheet.Plugin)))
	}
	return sheet, nil
}

// Decision is the body of POST /api/v1/reviews/{plugin}.
type Decision struct {
	Hash    string `json:"hash"`    // of the content that was looked at
	Verdict string `json:"verdict"` // accept or refuse
}

// decideReview answers POST /api/v1/reviews/{plugin} with how far the plugin is then.
func (a *API) decideReview(w http.ResponseWriter, req *http.Request) (any, *Refusal) {
	d, bad := decision(w, req)
	if bad != nil {
		return nil, bad
	}
	verdict, ok := map[string]store.Verdict{"accept": store.Accepted, "refuse": store.Refused}[d.Verdict]
	if !ok {
		return nil, NewRefusal(http.StatusBadRequest, fault.New(fault.InvalidRequest,
			"The verdict is neither accept nor refuse",
			fault.WithHint(`Send {"hash": "…", "verdict": "accept"}.`)))
	}
	name := req.PathValue("plugin")
	change, failure := a.acceptance(name, d.Hash, verdict)
	if failure != nil {
		return nil, NewRefusal(reviewStatus(failure), failure)
	}
	by, denied := a.Confirmed(w, req, change)
	if denied != nil {
		return nil, denied
	}
	session := Sender(req.Context())
	answer, failure := a.Catalog.Decide(name, d.Hash, verdict, by, session)
	if failure != nil {
		return nil, NewRefusal(reviewStatus(failure), failure)
	}
	return answer, nil
}

// Decisions is the body of POST /api/v1/reviews: one verdict about some plugins.
type Decisions struct {
	Plugins []catalog.ContentID `json:"plugins"`
	Verdict string              `json:"verdict"` // accept or refuse
}

// Decided is the answer: how far each of the plugins is then.
type Decided struct {
	Reviews []catalog.ReviewStatus `json:"reviews"`
}

// decideReviews answers POST /api/v1/reviews. The person confirms all of them at once, or none.
func (a *API) decideReviews(w http.ResponseWriter, req *http.Request) (any, *Refusal) {
	d, verdict, bad := decisions(w, req)
	if bad != nil {
		return nil, bad
	}
	var changes []*policy.Change
	for _, one := range d.Plugins {
		change, failure := a.acceptance(one.Plugin, one.Hash, verdict)
		if failure != nil {
			return nil, NewRefusal(reviewStatus(failure), failure)
		}
		changes = append(changes, change)
	}
	by, denied := a.Confirmed(w, req, combined(changes))
	if denied != nil {
		return nil, denied
	}
	answer, failure := a.Catalog.DecideAll(d.Plugins, verdict, by, Sender(req.Context()))
	if failure != nil {
		return nil, NewRefusal(reviewStatus(failure), failure)
	}
	return Decided{answer}, nil
}

// combined makes one change of those of several plugins, with what a person should read of each below its name; nil
// when there is none.
func combined(changes []*policy.Change) *policy.Change {
	changes = slices.DeleteFunc(changes, func(c *policy.Change) bool { return c == nil })
	if len(changes) <= 1 {
		return slices.Concat(changes, []*policy.Change{nil})[0]
	}
	var differences []call.Difference
	var lines []string
	for _, c := range changes {
		for _, one := range c.Differences {
			differences = append(differences, call.Difference{What: c.Title + ", " + one.What, Before: one.Before,
				After: one.After})
		}
		lines = append(lines, c.Title+":", c.Text)
	}
	return policy.NewChange(fmt.Sprintf("%d plugins may run", len(changes)), "tabrelay plugin review --all",
		differences...).WithText(lines...)
}

// maxDecisions is how many plugins one request decides about.
const maxDecisions = 1000

// decisions reads the body of POST /api/v1/reviews.
func decisions(w http.ResponseWriter, req *http.Request) (d Decisions, verdict store.Verdict, bad *Refusal) {
	text, err := io.ReadAll(http.MaxBytesReader(w, req.Body, maxDecisions<<8))
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	verdict, known := map[string]store.Verdict{"accept": store.Accepted, "refuse": store.Refused}[d.Verdict]
	wrong := func(one catalog.ContentID) bool { return !hashForm.MatchString(one.Hash) }
	if err != nil || !known || len(d.Plugins) == 0 || len(d.Plugins) > maxDecisions ||
		slices.ContainsFunc(d.Plugins, wrong) {
		bad = NewRefusal(http.StatusBadRequest, fault.New(fault.InvalidRequest,
			"The body is not a decision about plugins",
			fault.WithHint(`Send {"plugins": [{"plugin": "…", "hash": "…"}], "verdict": "accept"} with the hashes of `+
				`what was looked at.`)))
	}
	return d, verdict, bad
}

// reviewStatus is the HTTP status of what cannot be reviewed or decided.
func reviewStatus(f *fault.Error) int {
	switch {
	case errors.Is(f, catalog.ErrStale):
		return http.StatusConflict
	case f.Code == fault.ResourceNotFound:
		return http.StatusNotFound
	case f.Code == fault.RegistryError:
		return http.StatusUnprocessableEntity
	case f.Code == fault.ShuttingDown:
		return http.StatusServiceUnavailable
	}
	return http.StatusInternalServerError
}

// acceptance is what acceptance a plugin allows; nil: nothing, because that is accepted already, or the verdict is
// another.
func (a *API) acceptance(name, hash string, verdict store.Verdict) (c *policy.Change, failure *fault.Error) {
	if verdict != store.Accepted {
		return nil, nil
	}
	sheet, failure := a.Catalog.Sheet(name)
	switch {
	case failure != nil:
		return nil, failure
	case sheet.Hash != hash:
		return nil, catalog.Stale(name)
	case sheet.State == review.Accepted:
		return nil, nil
	}
	return runChange(sheet, "reviewed, and runs", "tabrelay plugin review "+name), nil
}

// runChange is what letting a content of a plugin run changes.
func runChange(s review.Sheet, after, command string) *policy.Change {
	before := map[bool]string{true: "off", false: "the content that was reviewed before runs"}[s.Serving == ""]
	if s.Serving == s.Hash {
		before = "runs while plugin dev does"
	}
	return policy.NewChange("The plugin "+s.Plugin+" may run", command,
		call.Difference{What: "content " + s.Hash[:12], Before: before, After: after}).WithText(s.Permissions...)
}

var hashForm = lazyregexp.New(`^[0-9a-f]{64}$`)

// decision reads the body of a decision.
func decision(w http.ResponseWriter, req *http.Request) (d Decision, bad *Refusal) {
	text, err := io.ReadAll(http.MaxBytesReader(w, req.Body, 1<<10))
	if err == nil {
		err = json.Unmarshal(text, &d)
	}
	if err != nil || !hashForm.MatchString(d.Hash) {
		bad = NewRefusal(http.StatusBadRequest, fault.New(fault.InvalidRequest, "The body is not a decision",
			fault.WithHint(`Send {"hash": "…", "verdict": "accept"} with the hash of what was looked at.`)))
	}
	return d, bad
}

// DevelopHeader names one run of plugin dev, which was confirmed once: the relay chooses it, and the next build of that
// run brings it along while the one before is still served.
const DevelopHeader = "Tabrelay-Development"

// developHere answers POST /api/v1/reviews/{plugin}/dev, which `plugin dev` sends from a terminal: the content runs as
// long as the request lasts, and at most until the relay ends. The answer begins when it may.
func (a *API) developHere(w http.ResponseWriter, req *http.Request) {
	d, bad := decision(w, req)
	if bad != nil {
		bad.Reply(w)
		return
	}
	name, run := req.PathValue("plugin"), req.Header.Get(DevelopHeader)
	var change *policy.Change
	if !a.Catalog.Develops(name, run) {
		sheet, failure := a.Catalog.Sheet(name)
		if failure != nil {
			Refuse(w, reviewStatus(failure), failure)
			return
		}
		change = policy.NewChange("Each build of the plugin "+name+" may run while plugin dev does",
			"tabrelay plugin dev",
			call.Difference{What: name, Before: "off until a person reviewed a build",
				After: "each build runs without a review, until plugin dev ends"}).WithText(sheet.Permissions...)
		run = wire.NewID()
	}
	by, denied := a.Confirmed(w, req, change)
	if denied != nil {
		denied.Reply(w)
		return
	}
	end, failure := a.Catalog.Develop(name, d.Hash, run, by, Sender(req.Context()))
	if failure != nil {
		Refuse(w, reviewStatus(failure), failure)
		return
	}
	defer end()
	w.Header().Set(DevelopHeader, run)
	w.Header().Set("Content-Type", "text/plain; charset=utf-8")
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	beat := time.NewTicker(heartbeat)
	defer beat.Stop()
	for {
		_ = control.SetWriteDeadline(time.Now().Add(eventWrite)) // one that cannot be set does not fail later
		if _, err := w.Write([]byte("\n")); err != nil || control.Flush() != nil {
			return
		}
		select {
		case <-beat.C:
		case <-req.Context().Done():
			return
		case <-a.Stopping:
			return
		}
	}
}
