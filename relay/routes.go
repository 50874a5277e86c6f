package relay

import (
	"net/http"

	"tabrelay/relay/front"
	"tabrelay/relay/httpapi"
)

// routes are everything that the relay serves, and who may use it.
func (r *Relay) routes() []httpapi.Route {
	metrics := httpapi.Client
	if r.config.Metrics.Open {
		metrics = httpapi.Anyone
	}
	route := func(pattern string, access httpapi.Access, handler http.HandlerFunc) httpapi.Route {
		return httpapi.Route{Pattern: pattern, Access: access, Handler: handler}
	}
	return []httpapi.Route{
		route("/mcp", httpapi.Client, r.mcp),
		route(httpapi.ExtensionPath, httpapi.Extension, r.hub.Handler().ServeHTTP),
		route("GET /healthz", httpapi.Anyone, r.healthz),
		route("GET /metrics", metrics, r.meter.Handler().ServeHTTP),
		route("GET /api/v1/tools", httpapi.Client, r.listTools),
		route("POST /api/v1/tools/{name}/call", httpapi.Client, r.callTool),
		route("GET /api/v1/doctor", httpapi.Person, r.showDiagnosis),
		route("GET /api/v1/status", httpapi.Client, r.showStatus),
		route("GET /api/v1/events", httpapi.Client, r.streamEvents),
		route("GET /api/v1/calls", httpapi.Person, r.streamCalls),
		route("GET /api/v1/clients", httpapi.Person, r.showClients),
		route("POST /api/v1/clients", httpapi.Person, r.addClient),
		route("PUT /api/v1/clients/{name}", httpapi.Person, r.scopeClient),
		route("POST /api/v1/clients/{name}/rotate", httpapi.Person, r.rotateClient),
		route("DELETE /api/v1/clients/{name}", httpapi.Person, r.revokeClient),
		route("GET /api/v1/plugins", httpapi.Person, r.showPlugins),
		route("GET /api/v1/running", httpapi.Person, r.showRunning),
		route("DELETE /api/v1/running/{id}", httpapi.Person, r.cancelCall),
		route("POST /api/v1/reload", httpapi.Client, r.reloadNow),
		route("POST /api/v1/pairing", httpapi.Person, r.makePairing),
		route("POST /api/v1/pairing/rotate", httpapi.Person, r.rotatePairing),
		route("POST /api/v1/stop", httpapi.Person, r.stopNow),
		route("GET /api/v1/reviews", httpapi.Person, r.listReviews),
		route("GET /api/v1/reviews/{plugin}", httpapi.Person, r.showReview),
		route("POST /api/v1/reviews/{plugin}", httpapi.Person, r.decideReview),
		route("POST /api/v1/reviews/{plugin}/dev", httpapi.Person, r.developHere),
		route("GET /api/v1/audit", httpapi.Client, r.showAudit),
		route("GET /api/v1/audit/verify", httpapi.Person, r.verifyAudit),
		route("GET /api/v1/dead-letters", httpapi.Client, r.showLetters),
		route("GET /api/v1/dead-letters/{id}", httpapi.Client, r.showLetter),
		route("POST /api/v1/dead-letters/{id}/replay", httpapi.Client, r.replayLetter),
		route("/api/", httpapi.Client, httpapi.Nothing),
		route("/", httpapi.Anyone, httpapi.Nothing),
		route("GET /api/v1/approvals", httpapi.Person, r.showApprovals),
		route("POST /api/v1/approvals/{id}", httpapi.Person, r.answerApproval),
		route("GET /api/v1/approvals/{id}/arguments", httpapi.Person, r.openArguments),
		route("GET /api/v1/permissions", httpapi.Person, r.showPermissions),
		route("PUT /api/v1/permissions", httpapi.Person, r.setPermission),
		route("DELETE /api/v1/permissions", httpapi.Person, r.unsetPermission),
		route("DELETE /api/v1/grants/{id}", httpapi.Person, r.revokeGrant),
		route("GET /api/v1/paused", httpapi.Person, r.showPaused),
		route("PUT /api/v1/paused", httpapi.Person, r.setPaused),
		route("GET /api/v1/tabs", httpapi.Person, r.showTabs),
		route("POST /api/v1/tabs", httpapi.Person, r.openTabNow),
		route("DELETE /api/v1/tabs/{profile}/{tab}/owner", httpapi.Person, r.releaseTab),
	}
}

// mcp tells the front who is asking.
func (r *Relay) mcp(w http.ResponseWriter, req *http.Request) {
	r.front.Handler().ServeHTTP(w, req.WithContext(front.WithSession(req.Context(), httpapi.Sender(req.Context()))))
}

// healthz says little to strangers.
func (r *Relay) healthz(w http.ResponseWriter, req *http.Request) {
	answer := map[string]any{"name": "tabrelay", "status": "ok"}
	if _, ok := r.api.Identify(req); ok {
		answer["version"], answer["browsers"], answer["tools"] = Version, len(r.hub.Browsers()), len(r.tools.Snapshot().Tools)
	}
	reply(w, http.StatusOK, answer)
}
