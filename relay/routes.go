package relay

import (
	"net/http"
	"slices"
	"strings"

	"tabrelay/relay/fault"
	"tabrelay/relay/front"
)

// extensionPath is where the browser extension dials.
const extensionPath = "/extension"

// apiPath is before everything that only known clients may know about.
const apiPath = "/api/"

// routes are all paths of the relay, and who may use them. The door's guard is before each of them.
func (r *Relay) routes(d *door) map[string]http.Handler {
	client := d.known
	return map[string]http.Handler{
		"/mcp":                                  client(http.HandlerFunc(r.mcp)),
		extensionPath:                           r.hub.Handler(), // which checks Origin and pairing itself
		"GET /healthz":                          http.HandlerFunc(r.healthz(d)),
		"GET /metrics":                          r.metricsFor(d),
		"GET /api/v1/tools":                     client(http.HandlerFunc(r.listTools)),
		"POST /api/v1/tools/{name}/call":        client(http.HandlerFunc(r.callTool)),
		"GET /api/v1/doctor":                    d.operator(r.showDiagnosis),
		"GET /api/v1/status":                    client(http.HandlerFunc(r.showStatus)),
		"GET /api/v1/events":                    client(http.HandlerFunc(r.streamEvents)),
		"GET /api/v1/calls":                     d.operator(r.streamCalls),
		"GET /api/v1/clients":                   d.operator(r.showClients),
		"POST /api/v1/clients":                  d.operator(r.addClient),
		"PUT /api/v1/clients/{name}":            d.operator(r.scopeClient),
		"POST /api/v1/clients/{name}/rotate":    d.operator(r.rotateClient),
		"DELETE /api/v1/clients/{name}":         d.operator(r.revokeClient),
		"GET /api/v1/plugins":                   d.operator(r.showPlugins),
		"GET /api/v1/running":                   d.operator(r.showRunning),
		"DELETE /api/v1/running/{id}":           d.operator(r.cancelCall),
		"POST /api/v1/reload":                   client(http.HandlerFunc(r.reloadNow)),
		"POST /api/v1/pairing":                  d.operator(r.makePairing),
		"POST /api/v1/pairing/rotate":           d.operator(r.rotatePairing),
		"POST /api/v1/stop":                     d.operator(r.stopNow),
		"GET /api/v1/reviews":                   d.operator(r.listReviews),
		"GET /api/v1/reviews/{plugin}":          d.operator(r.showReview),
		"POST /api/v1/reviews/{plugin}":         d.operator(r.decideReview),
		"POST /api/v1/reviews/{plugin}/dev":     d.operator(r.developHere),
		"GET /api/v1/audit":                     client(http.HandlerFunc(r.showAudit)),
		"GET /api/v1/audit/verify":              d.operator(r.verifyAudit),
		"GET /api/v1/dead-letters":              client(http.HandlerFunc(r.showLetters)),
		"GET /api/v1/dead-letters/{id}":         client(http.HandlerFunc(r.showLetter)),
		"POST /api/v1/dead-letters/{id}/replay": client(http.HandlerFunc(r.replayLetter)),
		apiPath:                                 client(http.HandlerFunc(nothing)),
		"/":                                     http.HandlerFunc(nothing), // /.well-known/ too: clients that look for OAuth there fail cleanly

		"GET /api/v1/approvals":                d.operator(r.showApprovals),
		"POST /api/v1/approvals/{id}":          d.operator(r.answerApproval),
		"GET /api/v1/approvals/{id}/arguments": d.operator(r.openArguments),
		"GET /api/v1/confirmations":            d.operator(r.showConfirmations),
		"POST /api/v1/confirmations/{id}":      d.operator(r.answerConfirmation),
		"GET /api/v1/permissions":              d.operator(r.showPermissions),
		"PUT /api/v1/permissions":              d.operator(r.setPermission),
		"DELETE /api/v1/permissions":           d.operator(r.unsetPermission),
		"DELETE /api/v1/grants/{id}":           d.operator(r.revokeGrant),
		"GET /api/v1/paused":                   d.operator(r.showPaused),
		"PUT /api/v1/paused":                   d.operator(r.setPaused),

		"GET /api/v1/tabs":                          d.operator(r.showTabs),
		"POST /api/v1/tabs":                         d.operator(r.openTabNow),
		"DELETE /api/v1/tabs/{profile}/{tab}/owner": d.operator(r.releaseTab),
	}
}

func (r *Relay) handler() http.Handler {
	return r.behind(newDoor(r.config.AllowedOrigins, r.secrets, &r.passes, &r.visitors, r.part("door")))
}

// behind puts all routes behind a door.
func (r *Relay) behind(d *door) http.Handler {
	d.arrived = r.arrived
	mux := http.NewServeMux()
	methods := map[string][]string{}
	for pattern, handler := range r.routes(d) {
		mux.Handle(pattern, handler)
		if method, path, ok := strings.Cut(pattern, " "); ok {
			methods[path] = append(methods[path], method)
		}
	}
	// The mux would say this itself, had it not the route for everything else.
	for path, allowed := range methods {
		other := onlyTakes(allowed)
		if strings.HasPrefix(path, apiPath) {
			other = d.known(other)
		}
		mux.Handle(path, other)
	}
	return d.guard(bounded(r.config.BodyBytes, mux))
}

// onlyTakes answers requests with another method than a path has.
func onlyTakes(methods []string) http.Handler {
	slices.Sort(methods)
	allowed := strings.Join(methods, ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Allow", allowed)
		refuse(w, http.StatusMethodNotAllowed, fault.New(fault.InvalidRequest, excerpt(req.URL.Path)+" does not take "+excerpt(req.Method),
			fault.WithHint("Use "+allowed+".")))
	})
}

// mcp tells the front who is asking.
func (r *Relay) mcp(w http.ResponseWriter, req *http.Request) {
	session, _ := sender(req.Context())
	r.front.Handler().ServeHTTP(w, req.WithContext(front.WithSession(req.Context(), session)))
}

func (r *Relay) metricsFor(d *door) http.Handler {
	if r.config.Metrics.Open {
		return r.meter.Handler()
	}
	return d.known(r.meter.Handler())
}

// healthz says little to strangers.
func (r *Relay) healthz(d *door) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		answer := map[string]any{"name": "tabrelay", "status": "ok"}
		if _, ok := d.identify(req); ok {
			answer["version"], answer["browsers"], answer["tools"] = Version, len(r.hub.Browsers()), len(r.tools.Snapshot().Tools)
		}
		reply(w, http.StatusOK, answer)
	}
}

func nothing(w http.ResponseWriter, req *http.Request) {
	refuse(w, http.StatusNotFound, fault.New(fault.ResourceNotFound, "There is nothing at "+excerpt(req.URL.Path),
		fault.WithHint("Programs speak MCP with /mcp; the paths of the HTTP API begin with /api/v1/.")))
}
