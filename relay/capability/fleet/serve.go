package fleet

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"net"
	"net/http"
	"os"
	"os/user"
	"slices"
	"strings"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/agent/front"
	"tabrelay/relay/capability/fleet/gateway"
	"tabrelay/relay/capability/fleet/signin"
	"tabrelay/relay/capability/fleet/wire"
	"tabrelay/relay/lib/access"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
)

var listenAddress = config.Text{
	What: "an IP address with a port, for example 0.0.0.0:7720",
	Accepts: func(s string) bool {
		host, _, err := net.SplitHostPort(s)
		return err == nil && (host == "localhost" || net.ParseIP(host) != nil)
	},
}

// serving is a gateway that serves MCP.
type serving struct {
	gateway  *gateway.Gateway
	front    *front.Front
	door     *door
	server   *http.Server
	listener net.Listener
	plain    bool // without TLS, for this machine only
	failed   chan error
}

const drainTime = 3 * time.Second

// serve begins to serve as a gateway. cfg has the settings of its home folder, and s those of the fleet in it.
func serve(ctx context.Context, home config.Home, cfg config.Config, s settings, version string, log zerolog.Logger,
) (*serving, error) {
	secrets, err := config.OpenSecrets(home)
	if err != nil {
		return nil, err
	}
	v := &serving{door: &door{secrets: secrets, open: map[*entered]struct{}{}}, failed: make(chan error, 1)}
	limiter := httpapi.NewLimiter()
	var certificate *httpapi.Certificate
	if s.Gateway.Certificate != "" {
		certificate, err = httpapi.OpenCertificate(
			config.Remote{Certificate: s.Gateway.Certificate, Key: s.Gateway.Key}, log)
		if err != nil {
			return nil, err
		}
	} else if v.plain = true; !access.LocalHost(s.Gateway.Listen) {
		return nil, fault.Hinted(fmt.Errorf("a gateway at %s would send tokens, and what pages show, readable for "+
			"everybody on the way", s.Gateway.Listen), "set fleet.gateway.certificate and fleet.gateway.key, as "+
			"docs/fleet.md shows; or listen on 127.0.0.1")
	}
	host, _ := os.Hostname() // without one, it is called by its address
	v.gateway, err = gateway.Open(gateway.Options{
		Name:    gatewayName(s),
		Peer:    wire.Peer{URL: s.URL, Credentials: s.Gateway.Credentials, CA: s.CA},
		Machine: host, Recover: s.Gateway.Recover, Queue: s.Gateway.Queue, Log: log,
		Caller: func(client string) (person, agent string) {
			if person, agent, ok := strings.Cut(client, "/"); ok { // who has signed in
				return person, agent
			}
			return cmp.Or(s.Gateway.People[client], ownPerson()), client
		},
	})
	if err != nil {
		return nil, err
	}
	v.front = front.New(front.Options{
		Name: "tabrelay", Version: version, Instructions: instructions, Caller: v.gateway, Tools: v.gateway,
		Views: gateway.Views{}, MaxBody: int64(cfg.BodyBytes), AllowedOrigins: cfg.AllowedOrigins,
		ListChangedDelay: cfg.MCP.ListChangedDelay, PageSize: cfg.MCP.ToolsPageSize, ListTokens: cfg.MCP.ListTokens,
		SessionEnded: v.gateway.SessionEnded, ScopeOfSession: true, CallIDs: true, Log: log,
	})
	routes := []httpapi.Route{
		{Pattern: "/mcp", Access: httpapi.Client, Handler: v.mcp},
		{Pattern: "GET /healthz", Access: httpapi.Anyone, Handler: v.healthz},
	}
	if in := s.Gateway.SignIn; in.Issuer != "" {
		v.door.people = signin.New(signin.Options{Issuer: in.Issuer, Resource: in.Resource, Person: in.Person,
			Domain: in.Domain, People: in.People, Agents: in.Agents, Scopes: in.Scopes,
			Taken: append(slices.Collect(maps.Values(s.Gateway.People)), ownPerson()), IsClient: v.door.has, Log: log,
		}, http.DefaultTransport)
		// A client asks at the root where it does not know the path, or below it with the path of the resource.
		paths := []string{signin.RootMetadataPath, signin.RootMetadataPath + "/mcp"}
		if at := v.door.people.MetadataPath(); !slices.Contains(paths, at) {
			paths = append(paths, at) // a proxy that serves this gateway elsewhere passes it on
		}
		for _, at := range paths {
			routes = append(routes,
				httpapi.Route{Pattern: "GET " + at, Access: httpapi.Anyone, Handler: v.howToSignIn})
		}
	}
	handler := httpapi.Door(cfg, v.door, limiter, log, routes)
	if v.plain {
		v.listener, err = httpapi.Listen(ctx, s.Gateway.Listen, limiter)
	} else {
		v.listener, err = httpapi.ListenRemote(ctx, s.Gateway.Listen, certificate, limiter)
	}
	if err != nil {
		v.gateway.Close()
		return nil, err
	}
	v.server = httpapi.NewServer(handler, limiter, func(net.Listener) context.Context {
		if certificate == nil {
			return context.Background()
		}
		return httpapi.FromRemote(context.Background(), certificate)
	}, log)
	go func() { v.failed <- v.server.Serve(v.listener) }()
	v.door.watch()
	return v, nil
}

// instructions are what clients of a gateway are told besides what every front says.
const instructions = front.Instructions + "\n\nThese browsers belong to people elsewhere, who are asked before " +
	"you may use them. Where several have a tool, `profile` says whose."

// ownPerson is whoever runs the gateway.
func ownPerson() string {
	u, err := user.Current()
	if err != nil {
		return "someone"
	}
	name := u.Username[strings.LastIndexByte(u.Username, '\\')+1:]
	if name = strings.ToLower(name); !wire.IsAgent(name) {
		return "someone"
	}
	return name
}

func gatewayName(s settings) string { return cmp.Or(s.Gateway.Name, "gateway") }

// URL is where MCP is served.
func (v *serving) URL() string {
	scheme := "https://"
	if v.plain {
		scheme = "http://"
	}
	return scheme + v.listener.Addr().String() + "/mcp"
}

// run serves until ctx ends. Calls in flight have a moment to end; the others go on at their nodes.
func (v *serving) run(ctx context.Context) (err error) {
	select {
	case <-ctx.Done():
	case err = <-v.failed:
	}
	late, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTime)
	defer cancel()
	_ = v.front.Shutdown(late) // its error is that of the time
	v.close()
	return err
}

func (v *serving) close() {
	v.door.close()
	_ = v.server.Close()
	v.gateway.Close()
}

func (v *serving) mcp(w http.ResponseWriter, req *http.Request) {
	s := httpapi.Sender(req.Context())
	v.front.Handler().ServeHTTP(w, req.WithContext(front.WithSession(req.Context(), s)))
}

func (v *serving) healthz(w http.ResponseWriter, _ *http.Request) {
	httpapi.Reply(w, http.StatusOK, map[string]string{"name": "tabrelay", "status": "ok"})
}

func (v *serving) howToSignIn(w http.ResponseWriter, _ *http.Request) {
	httpapi.Reply(w, http.StatusOK, v.door.people.Metadata())
}

var errNoFleet = errors.New("no fleet is configured")
