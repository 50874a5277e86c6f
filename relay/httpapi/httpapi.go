// Package httpapi is what the relay serves over HTTP: MCP, the extension's WebSocket, and the API that the command line,
// the side panel and other programs use. There is one table of routes, which says who may use each; an access guard
// stands before all of them.
package httpapi

import (
	"net/http"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
	"tabrelay/relay/hub"
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
	Extension Access = "extension" // the route checks Origin and pairing itself
	Client    Access = "client"    // whoever has a token, or may open the socket
	Person    Access = "person"    // who acts for the person: the command line and the side panel
)

// Route is one thing that is served.
type Route struct {
	Pattern string // as http.ServeMux reads it
	Access  Access
	Handler http.HandlerFunc
}

// Options configure an API.
type Options struct {
	AllowedOrigins []string // of web pages that may send requests, besides those of this machine
	BodyBytes      int      // of the largest request
	Clients        Clients
	Limiter        *Limiter
	Log            zerolog.Logger
}

// API answers requests.
type API struct {
	Options
	guard  *guard
	Routes []Route
}

// New makes an API of these routes.
func New(o Options, routes []Route) *API {
	return &API{Options: o, guard: newGuard(o.AllowedOrigins, o.Clients, o.Limiter, o.Log), Routes: routes}
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
	return a.guard.check(bounded(a.BodyBytes, mux))
}

// Panel answers what side panels ask, with the same handlers behind the same guard.
func (a *API) Panel() hub.PanelAnswer { return servePanel(a.Handler(), a.Log) }

// Identify finds out who sends a request to a route for anyone.
func (a *API) Identify(req *http.Request) (call.Session, bool) { return a.guard.identify(req) }

// onlyTakes answers requests with another method than a path has.
func onlyTakes(methods []string) http.Handler {
	slices.Sort(methods)
	allowed := strings.Join(methods, ", ")
	return http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		w.Header().Set("Allow", allowed)
		Refuse(w, http.StatusMethodNotAllowed, fault.New(fault.InvalidRequest,
			fault.Excerpt(req.URL.Path)+" does not take "+fault.Excerpt(req.Method), fault.WithHint("Use "+allowed+".")))
	})
}

// Nothing answers requests for paths that there are none of; /.well-known/ too, so that clients that look for OAuth there
// fail cleanly.
func Nothing(w http.ResponseWriter, req *http.Request) {
	Refuse(w, http.StatusNotFound, fault.New(fault.ResourceNotFound, "There is nothing at "+fault.Excerpt(req.URL.Path),
		fault.WithHint("Programs speak MCP with /mcp; the paths of the HTTP API begin with /api/v1/.")))
}
