// Package httpapi is what the relay serves over HTTP: MCP, the extension's WebSocket, and the API that the command
// line, the side panel and other programs use. There is one table of routes, which says who may use each; an access
// guard stands before all of them.
package httpapi

//go:generate go test -run TestPanelKnowsTheAnswers -update .

import (
	"context"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/agent/client"
	"tabrelay/relay/agent/front"
	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/hub"
	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/program/builtin"
	"tabrelay/relay/program/doctor"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/audit"
	"tabrelay/relay/state/config"
	"tabrelay/relay/state/metrics"
	"tabrelay/relay/state/store"
)

// ExtensionPath is where the browser extension dials.
const ExtensionPath = "/extension"

// apiPath is before everything that only known clients may know about.
const apiPath = "/api/"

// Access says who may use a route.
type Access string

// The kinds of access.
const (
	Anyone    Access = "anyone"    // there is nothing to hide
	Machine   Access = "machine"   // every program on this machine; on others, whoever has a token
	Extension Access = "extension" // the route checks Origin and pairing itself
	Client    Access = "client"    // whoever has a token, or may open the socket
	Remote    Access = "remote"    // a client of another machine, with its token
	Person    Access = "person"    // who acts for the person: the command line and the side panel
	Panel     Access = "panel"     // the side panel, over the link of its extension
)

// Route is one thing that is served.
type Route struct {
	Pattern string // as http.ServeMux reads it
	Access  Access
	Handler http.HandlerFunc
}

// Options are what an API serves.
type Options struct {
	Config  config.Config // of the start
	Home    config.Home
	Version string
	Began   time.Time
	Address string // of the relay
	Tokens  Tokens
	Limiter *Limiter
	Log     zerolog.Logger

	Secrets  *config.Secrets
	Clients  *client.Clients
	Shells   *client.Shells
	Policy   *policy.Policy
	Catalog  *catalog.Catalog
	Tools    *registry.Registry
	Calls    *dispatch.Dispatcher
	Letters  *builtin.DeadLetters
	Hub      *hub.Hub
	Front    *front.Front
	Store    *store.Store
	Audit    *audit.Recorder
	Meter    *metrics.Metrics
	Events   *event.Bus
	Trail    *event.Bus // of calls
	Notices  *event.Notices
	Pairings *Pairings
	Routes   []Route                // of capabilities
	Demo     *Demo                  // nil when switched off
	Lacks    func() []doctor.Lack   // what keeps capabilities from working
	Paused   func()                 // has capabilities end what they do, because the person stopped everything
	Changed  func(topics ...string) // what side panels show is different now; may be nil
	// Repair does what is done about one of the doctor's findings; nil: nothing is.
	Repair func(finding string) error

	Base     context.Context // of calls; ends when the relay has
	Stopping <-chan struct{} // closed when the relay is to stop
	Stop     func()          // makes it stop
	Keep     func()          // makes one stay that was started for a command
}

// API answers requests.
type API struct {
	Options
	guard *guard

	connecting sync.Mutex // held while the file of a client program is changed
}

// New makes an API.
func New(o Options) *API {
	a := newAPI(o)
	a.Routes = append(a.routes(), o.Routes...)
	return a
}

func newAPI(o Options) *API {
	return &API{Options: o, guard: newGuard(o.Config.AllowedOrigins, o.Tokens, o.Limiter, o.Log)}
}

// Door answers routes behind the checks that a relay's own door has, for a program that is no relay. cfg has the
// origins that may send requests, and the size of a body.
func Door(cfg config.Config, tokens Tokens, limiter *Limiter, log zerolog.Logger, routes []Route) http.Handler {
	a := newAPI(Options{Config: cfg, Tokens: tokens, Limiter: limiter, Log: log})
	a.Routes = append([]Route{{"/", Anyone, nothing}}, routes...)
	return a.Handler()
}

// routes are everything that the relay serves, and who may use it.
func (a *API) routes() []Route {
	metrics := Client
	if a.Config.Metrics.Open {
		metrics = Machine
	}
	return []Route{
		{mcpPath, Client, a.mcp},
		{ExtensionPath, Extension, a.Hub.Handler().ServeHTTP},
		{"GET " + join.AttachPath, Remote, a.attach},
		{"GET /healthz", Anyone, Answers(a.healthz)},
		{"GET /metrics", metrics, a.Meter.Handler().ServeHTTP},
		{"GET /api/v1/tools", Client, Answers(a.listTools)},
		{"POST /api/v1/tools/{name}/call", Client, a.inShell(a.callTool)},
		{"GET /api/v1/sessions", Person, Answers(a.showShells)},
		{"DELETE /api/v1/sessions/{name}", Person, Answers(a.closeShell)},
		{"GET /api/v1/doctor", Person, Answers(a.showDiagnosis)},
		{"POST /api/v1/doctor/{finding}", Panel, Answers(a.repair)},
		{"GET /api/v1/status", Client, Answers(a.showStatus)},
		{"GET /api/v1/events", Client, a.streamEvents},
		{"GET /api/v1/calls", Person, Streams(a.streamCalls)},
		{"GET /api/v1/clients", Person, Answers(a.showClients)},
		{"POST /api/v1/clients", Person, Answers(a.addClient)},
		{"PUT /api/v1/clients/{name}", Person, Answers(a.scopeClient)},
		{"POST /api/v1/clients/{name}/rotate", Person, Answers(a.rotateClient)},
		{"DELETE /api/v1/clients/{name}", Person, Answers(a.revokeClient)},
		{"GET /api/v1/installed-clients", Panel, Answers(a.showInstalled)},
		{"POST /api/v1/installed-clients/{name}", Panel, Answers(a.connectInstalled)},
		{"DELETE /api/v1/installed-clients/{name}", Panel, Answers(a.disconnectInstalled)},
		{"GET /api/v1/plugins", Person, Answers(a.showPlugins)},
		{"GET /api/v1/running", Person, Answers(a.showRunning)},
		{"DELETE /api/v1/running/{id}", Person, Answers(a.cancelCall)},
		{"POST /api/v1/reload", Client, Answers(a.reloadNow)},
		{"POST /api/v1/pairing", Person, Answers(a.makePairing)},
		{"POST /api/v1/pairing/rotate", Person, a.rotatePairing},
		{"POST /api/v1/stop", Person, a.stopNow},
		{"GET /api/v1/reviews", Person, Answers(a.listReviews)},
		{"GET /api/v1/plugins/{plugin}/hints", Person, Answers(a.showHints)},
		{"PUT /api/v1/plugins/{plugin}/hints", Person, Answers(a.setHints)},
		{"PUT /api/v1/hints", Person, Answers(a.setManyHints)},
		{"GET /api/v1/addition", Panel, Answers(a.showAddition)},
		{"POST /api/v1/addition", Panel, Answers(a.addPlugin)},
		{"DELETE /api/v1/addition", Panel, Answers(a.stopAddition)},
		{"GET /api/v1/offers", Panel, Answers(a.showOffers)},
		{"GET /api/v1/extension/adapters/{file}", Panel, Answers(a.showAdapter)},
		{"PUT /api/v1/extension/user-scripts", Panel, Answers(a.noteUserScripts)},
		{"DELETE /api/v1/plugins/{plugin}", Person, Answers(a.removePlugin)},
		{"GET /api/v1/plugins/{plugin}/settings", Person, Answers(a.showSettings)},
		{"PUT /api/v1/plugins/{plugin}/settings", Person, Answers(a.setSettings)},
		{"POST /api/v1/reviews", Person, Answers(a.decideReviews)},
		{"GET /api/v1/reviews/{plugin}", Person, Answers(a.showReview)},
		{"POST /api/v1/reviews/{plugin}", Person, Answers(a.decideReview)},
		{"POST /api/v1/reviews/{plugin}/dev", Person, a.developHere},
		{"GET /api/v1/audit", Client, a.showAudit},
		{"GET /api/v1/audit/verify", Person, Answers(a.verifyAudit)},
		{"GET /api/v1/dead-letters", Client, Answers(a.showLetters)},
		{"GET /api/v1/dead-letters/{id}", Client, Answers(a.showLetter)},
		{"POST /api/v1/dead-letters/{id}/replay", Client, a.inShell(a.replayLetter)},
		{apiPath, Client, nothing},
		{"/", Anyone, nothing},
		{"GET /api/v1/approvals", Person, Answers(a.showApprovals)},
		{"POST /api/v1/approvals/{id}", Person, Answers(a.answerApproval)},
		{"GET /api/v1/approvals/{id}/arguments", Person, Answers(a.openArguments)},
		{"GET /api/v1/permissions", Person, Answers(a.showPermissions)},
		{"PUT /api/v1/permissions", Person, Answers(a.setPermission)},
		{"DELETE /api/v1/permissions", Person, Answers(a.unsetPermission)},
		{"DELETE /api/v1/grants/{id}", Person, Answers(a.revokeGrant)},
		{"GET /api/v1/paused", Person, Answers(a.showPaused)},
		{"PUT /api/v1/paused", Person, Answers(a.setPaused)},
		{"GET /api/v1/profiles", Person, Answers(a.showProfiles)},
		{"DELETE /api/v1/profiles/{id}", Person, Answers(a.forgetProfile)},
		{"GET /api/v1/tabs", Person, Answers(a.showTabs)},
		{"POST /api/v1/tabs", Person, Answers(a.openTabNow)},
		{"DELETE /api/v1/tabs/{profile}/{tab}/owner", Person, Answers(a.releaseTab)},
	}
}

// Handler answers everything that comes over the port and the socket.
func (a *API) Handler() http.Handler {
	mux := http.NewServeMux()
	methods := map[string][]string{}
	for _, r := range a.Routes {
		mux.Handle(r.Pattern, a.guard.admit(r.Access, r.Handler))
		if method, path, ok := strings.Cut(r.Pattern, " "); ok {
			methods[path] = append(methods[path], method)
		}
	}
	// The mux would say this itself, had it not the route for everything else.
	for path, allowed := range methods {
		access := Anyone
		if strings.HasPrefix(path, apiPath) {
			access = Client
		}
		mux.Handle(path, a.guard.admit(access, onlyTakes(allowed)))
	}
	return a.guard.check(bounded(a.Config.BodyBytes, mux))
}

// Panel answers what side panels ask, with the same handlers behind the same guard.
func (a *API) Panel() hub.PanelAnswer { return servePanel(a.Handler(), a.Log) }

// mcp tells the front who is asking.
func (a *API) mcp(w http.ResponseWriter, req *http.Request) {
	a.Keep() // for the session of a client
	a.Front.Handler().ServeHTTP(w, req.WithContext(front.WithSession(req.Context(), Sender(req.Context()))))
}

// healthz says little to strangers.
func (a *API) healthz(_ http.ResponseWriter, req *http.Request) (any, *Refusal) {
	answer := map[string]any{"name": "tabrelay", "status": "ok"}
	if _, ok := a.guard.identify(req); ok {
		answer["version"], answer["browsers"], answer["tools"] = a.Version, len(a.Hub.Browsers()),
			len(a.Tools.Snapshot().Tools)
	}
	return answer, nil
}

// onlyTakes answers requests with another method than a path has.
func onlyTakes(methods []string) http.Handler {
	slices.Sort(methods)
	allowed := strings.Join(methods, ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Allow", allowed)
		Refuse(w, http.StatusMethodNotAllowed, fault.New(fault.InvalidRequest,
			fault.Excerpt(req.URL.Path)+" does not take "+fault.Excerpt(req.Method),
			fault.WithHint("Use "+allowed+".")))
	})
}

// nothing answers requests for paths that there are none of; /.well-known/ too, so that clients that look for OAuth
// there fail cleanly.
func nothing(w http.ResponseWriter, req *http.Request) {
	Refuse(w, http.StatusNotFound, fault.New(fault.ResourceNotFound, "There is nothing at "+fault.Excerpt(req.URL.Path),
		fault.WithHint("Programs speak MCP with /mcp; the paths of the HTTP API begin with /api/v1/.")))
}
