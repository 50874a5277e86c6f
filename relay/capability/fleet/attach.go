// Package fleet is many relays as one: a relay (a node) lends its browser to agents elsewhere, and a gateway serves
// MCP to them and finds the browser wherever it is. They meet at a NATS server, to which both connect outwards.
//
// The way of a local call is not touched: where no fleet is configured nothing here runs. A gateway is a front
// (relay/agent/front) with another caller and other tools than those of a relay: see package gateway. A node carries
// calls out as its relay does those of any client: see package node.
package fleet

import (
	"cmp"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/capability"
	"tabrelay/relay/capability/fleet/lease"
	"tabrelay/relay/capability/fleet/node"
	"tabrelay/relay/capability/fleet/signin"
	"tabrelay/relay/capability/fleet/wire"
	"tabrelay/relay/lib/async"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/program/doctor"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/state/config"
)

// name is what settings call the capability.
const name = "fleet"

// findingApart is what the doctor says about a node whose fleet cannot be reached.
const findingApart = "fleet-unreachable"

// Capability is the fleet, as a program attaches it.
var Capability = capability.Capability{
	Name: name, Settings: section, New: attach, Commands: []capability.Command{command}, Tables: tables,
	Findings: []doctor.Row{{ID: findingApart, Severity: doctor.Warning,
		What: "The fleet that this relay is a node of cannot be reached.",
		Why: "Its server is away, does not take the credentials, or its certificate is not trusted. The browser " +
			"works for the agents of this machine as before.",
		Next: "tabrelay fleet status says why; tabrelay fleet leave ends it"}},
}

// settings are those of a node and of a gateway.
type settings struct {
	URL         string
	Credentials config.KeySource
	CA          string
	Node        string
	MaxCalls    int
	Exclusive   bool
	Lease       leaseSettings

	Gateway gatewaySettings
}

// leaseSettings are those of the leases of the node's browser profiles.
type leaseSettings struct {
	Idle    time.Duration
	Longest time.Duration
	Queue   int
}

type gatewaySettings struct {
	Name        string
	Credentials config.KeySource
	Listen      string
	Certificate string
	Key         string
	People      map[string]string
	Recover     time.Duration
	Queue       time.Duration
	SignIn      signInSettings
}

// signInSettings are those of people who sign in with a provider instead of having a token.
type signInSettings struct {
	Issuer   string
	Resource string
	Person   string
	Domain   string
	People   map[string]string
	Agents   map[string]string
	Scopes   []signin.Scope
}

var (
	natsAddress = config.Text{
		What: "tls://HOST:PORT, several of one cluster with commas between them, or nats://127.0.0.1:PORT of this " +
			"machine",
		Accepts: func(s string) bool { return wire.CheckURL(s) == nil },
	}
	nameInFleet  = config.Text{What: "a name of " + wire.NameRule, Accepts: wire.IsName}
	absoluteFile = config.Text{What: "the absolute path of a file", Accepts: filepath.IsAbs}
	people       = names("an object of names of people by client, such as {\"ann-laptop\": \"ann\"}", wire.IsAgent)
	peopleByWord = names("an object of names of people by the claim's value, such as {\"auth0|5f7c\": \"ann\"}", nil)
	agentsByID   = names("an object of names by the identifier of an OAuth client, such as "+
		"{\"https://claude.ai/client.json\": \"claude\"}", nil)
	signInAddress = config.Text{
		What:    "an address that begins with https://, or with http:// on this machine, without a query",
		Accepts: signin.CheckAddress,
	}
	claim  = config.Text{What: "the name of a claim", Accepts: regexp.MustCompile(`^[!-~]{1,128}$`).MatchString}
	domain = config.Text{What: "a domain in lower case, such as example.org",
		Accepts: regexp.MustCompile(`^[a-z0-9.-]{1,253}$`).MatchString}
	scopes = config.KindOf("a list of scopes with what they cover, such as [{\"scope\": \"tabrelay:read\", "+
		"\"readOnly\": true}]", scopesSchema, checkScopes)
)

// names is the kind of objects that give names to people or agents. key says what it is given to; nil: to any text.
func names(what string, key func(string) bool) config.Kind {
	return config.KindOf(what,
		map[string]any{"type": "object", "additionalProperties": map[string]any{"type": "string"}},
		func(list map[string]string) bool {
			for one, name := range list {
				if one == "" || key != nil && !key(one) || !wire.IsAgent(name) {
					return false
				}
			}
			return true
		})
}

var scopesSchema = map[string]any{"type": "array", "minItems": 1, "items": map[string]any{
	"type": "object", "additionalProperties": false, "required": []string{"scope"}, "properties": map[string]any{
		"scope": map[string]any{"type": "string"}, "toolset": map[string]any{"type": "string"},
		"plugins": map[string]any{"type": "string"}, "readOnly": map[string]any{"type": "boolean"},
	}}}

// scopeForm is that of a scope of OAuth: RFC 6749, section 3.3.
var scopeForm = regexp.MustCompile(`^[!#-\[\]-~]{1,128}$`)

func checkScopes(list []signin.Scope) bool {
	return len(list) > 0 && !slices.ContainsFunc(list, func(s signin.Scope) bool {
		_, err := policy.ReadScope(call.Scope{Toolset: s.Toolset, Plugins: s.Plugins, ReadOnly: s.ReadOnly})
		return err != nil || !scopeForm.MatchString(s.Scope)
	})
}

const (
	defaultListen = "127.0.0.1:7720"
	defaultPort   = 7721 // of the server of `tabrelay fleet up`
)

var defaultScopes = []map[string]any{{"scope": "tabrelay"}, {"scope": "tabrelay:read", "readOnly": true}}

var section = &config.Section[settings]{
	Capability: name, Live: true, AtStart: map[string]string{"fleet.gateway": "tabrelay fleet gateway"},
	About: "Whether this relay can be a node of a fleet, whose gateways let agents elsewhere ask for its browser.",
	Settings: []config.Setting[settings]{
		config.Row("fleet.url", config.Optional(natsAddress), "", func(s *settings) any { return &s.URL },
			"NATS server of the fleet that this relay is a node of, for example tls://nats.example.org:4222, or "+
				"several of one cluster with commas between them. `tabrelay fleet join` sets it."),
		config.Row("fleet.credentials", config.KeySourceKind, map[string]any{},
			func(s *settings) any { return &s.Credentials },
			"Where the credentials of the node are: a file of nsc, or one with an NKey seed."),
		config.Row("fleet.ca", config.Optional(absoluteFile), "", func(s *settings) any { return &s.CA },
			"File with the certificates to trust for that server, in PEM. Empty: those that the system trusts."),
		config.Row("fleet.node", config.Optional(nameInFleet), "", func(s *settings) any { return &s.Node },
			"Name of this relay in the fleet. Empty: that of the machine."),
		config.Row("fleet.maxCalls", config.Count(1, 10_000), 64, func(s *settings) any { return &s.MaxCalls },
			"How many calls of the fleet may be open at this relay at once, those included that wait for you."),
		config.Row("fleet.exclusive", config.Boolean, false, func(s *settings) any { return &s.Exclusive },
			"Whether each browser profile of this node is leased to one session of the fleet at a time, while the "+
				"others wait for their turn."),
		config.Row("fleet.lease.idleMs", config.Millis(100, 2*time.Hour), 300_000,
			func(s *settings) any { return &s.Lease.Idle },
			"After how long without calls such a lease ends."),
		config.Row("fleet.lease.longestMs", config.Millis(0, 24*time.Hour), 3_600_000,
			func(s *settings) any { return &s.Lease.Longest },
			"After how long a lease ends when another session waits. 0: it does not."),
		config.Row("fleet.lease.queue", config.Count(0, wire.MaxQueue), 32,
			func(s *settings) any { return &s.Lease.Queue },
			"How many sessions may wait for one browser profile."),
		config.Row("fleet.gateway.name", config.Optional(nameInFleet), "",
			func(s *settings) any { return &s.Gateway.Name },
			"Name of the gateway that `tabrelay fleet gateway` runs, as its credentials have it. Empty: gateway."),
		config.Row("fleet.gateway.credentials", config.KeySourceKind, map[string]any{},
			func(s *settings) any { return &s.Gateway.Credentials }, "Where the credentials of the gateway are."),
		config.Row("fleet.gateway.listen", config.String(listenAddress), defaultListen,
			func(s *settings) any { return &s.Gateway.Listen },
			"Where the gateway serves MCP. Other machines reach it over TLS only."),
		config.Row("fleet.gateway.certificate", config.Optional(absoluteFile), "",
			func(s *settings) any { return &s.Gateway.Certificate },
			"File with the certificate of the gateway, and those between it and its root, in PEM."),
		config.Row("fleet.gateway.key", config.Optional(absoluteFile), "",
			func(s *settings) any { return &s.Gateway.Key },
			"File with its private key, in PEM, that nobody else can read."),
		config.Row("fleet.gateway.people", people, map[string]any{}, func(s *settings) any { return &s.Gateway.People },
			"Whose agents the clients of the gateway are, by client; the owners of browsers are told. A client that "+
				"is not here is of whoever runs the gateway."),
		config.Row("fleet.gateway.signIn.issuer", config.Optional(signInAddress), "",
			func(s *settings) any { return &s.Gateway.SignIn.Issuer },
			"OpenID Connect provider with which people sign in to the gateway, exactly as it calls itself (iss). "+
				"Empty: only tokens of `tabrelay clients add` are taken."),
		config.Row("fleet.gateway.signIn.resource", config.Optional(signInAddress), "",
			func(s *settings) any { return &s.Gateway.SignIn.Resource },
			"Address at which clients reach the gateway's MCP, for example https://agents.example.org/mcp. Access "+
				"tokens must be issued for exactly this (aud)."),
		config.Row("fleet.gateway.signIn.person", config.String(claim), "sub",
			func(s *settings) any { return &s.Gateway.SignIn.Person },
			"Claim of access tokens that names the person. It must be one that people cannot choose themselves."),
		config.Row("fleet.gateway.signIn.domain", config.Optional(domain), "",
			func(s *settings) any { return &s.Gateway.SignIn.Domain },
			"With the claim email: the domain of addresses whose part before the @ is the person's name."),
		config.Row("fleet.gateway.signIn.people", peopleByWord, map[string]any{},
			func(s *settings) any { return &s.Gateway.SignIn.People },
			"Names of people, by the value of that claim. One that cannot be a name, or is another's, needs one here."),
		config.Row("fleet.gateway.signIn.agents", agentsByID, map[string]any{},
			func(s *settings) any { return &s.Gateway.SignIn.Agents },
			"Names of OAuth clients, by their identifier; of one that is not here the identifier itself is the name, "+
				"or its host with a part of its hash."),
		config.Row("fleet.gateway.signIn.scopes", scopes, defaultScopes,
			func(s *settings) any { return &s.Gateway.SignIn.Scopes },
			"Scopes of access tokens, and what clients with them may see and call: toolset, plugins and readOnly as "+
				"in `tabrelay clients add`. The first one here that a token has is what it covers."),
		config.Row("fleet.gateway.recoverMs", config.Millis(0, time.Minute), 4_000,
			func(s *settings) any { return &s.Gateway.Recover },
			"How long a call waits for a node that has fallen silent, counted from when the node was heard last."),
		config.Row("fleet.gateway.queueMs", config.Millis(0, time.Hour), 50_000,
			func(s *settings) any { return &s.Gateway.Queue },
			"How long a call waits for its turn in a browser profile that another session uses. Many clients give up "+
				"after a minute."),
	},
	Check: func(s *settings, c config.Checker) {
		if (s.Gateway.Certificate == "") != (s.Gateway.Key == "") {
			c.Broken("fleet.gateway.certificate", "needs fleet.gateway.key, and the other way round")
		}
		if in := s.Gateway.SignIn; (in.Issuer == "") != (in.Resource == "") {
			c.Broken("fleet.gateway.signIn.issuer", "needs fleet.gateway.signIn.resource, and the other way round")
		}
	},
	Rights: []config.Right[settings]{
		config.NewRight("fleet", "fleet.url", func(s settings) string { return s.URL },
			func(before, after string) (was, is string) {
				if after == before || after == "" {
					return "", ""
				}
				return cmp.Or(before, "none"), after + ": agents elsewhere can ask for this browser"
			}, func(s *settings, before string) {
				if s.URL != "" {
					s.URL = before
				}
			}),
		config.Switch("fleetShared", "fleet.exclusive", false, false,
			func(s *settings) *bool { return &s.Exclusive }),
	},
}

// member is a relay that may be a node.
type member struct {
	core    capability.Core
	changes func() *async.Queue // opens and closes the node; made when it is needed first
	want    atomic.Pointer[settings]

	mu   lock.Mutex // guards the rest; nothing nests in it
	now  settings   // as the node was opened
	node *node.Node // nil: the relay is none
	why  string     // why it is none although it should be; empty: it is one, or should not be
}

func attach(core capability.Core) capability.Attachment {
	m := &member{core: core, changes: sync.OnceValue(async.NewQueue)}
	return capability.Attachment{
		Configured: m.configure, Lacks: m.lacks, Close: m.close,
		Meters: m.meters(), Paused: m.stopped,
		Routes: []httpapi.Route{
			{Pattern: "GET /api/v1/fleet", Access: httpapi.Person, Handler: httpapi.Answers(m.show)},
			{Pattern: "DELETE /api/v1/fleet/leases/{profile}", Access: httpapi.Person,
				Handler: httpapi.Answers(m.release)},
		},
	}
}

// configure joins or leaves a fleet, behind the start: a server that does not answer must not hold it up.
func (m *member) configure(c config.Config) {
	s := section.Of(c)
	if m.want.Swap(&s) == nil && s.URL == "" {
		return // as in most relays
	}
	go func() { _ = m.changes().Do(m.become) }() // a relay that stops joins nothing
}

func (m *member) current() *node.Node {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.node
}

func (m *member) trouble() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.why
}

// become makes the relay what its settings say. Only changes call it.
func (m *member) become() {
	s := *m.want.Load()
	m.mu.Lock()
	before, was := m.node, m.now
	m.mu.Unlock()
	if before != nil {
		if was.URL == s.URL && was.Credentials == s.Credentials && was.CA == s.CA && was.Node == s.Node &&
			was.MaxCalls == s.MaxCalls && was.Exclusive == s.Exclusive && was.Lease == s.Lease {
			before.Changed() // its tools may be others
			return
		}
		before.Close()
	}
	var now *node.Node
	why := ""
	if s.URL != "" {
		var err error
		if now, err = m.open(s); err != nil {
			why = fault.Sanitize(err.Error())
			log := m.core.Log(name)
			log.Warn().Err(err).Msg("the relay does not join the fleet")
		}
	}
	m.mu.Lock()
	m.node, m.now, m.why = now, s, why
	m.mu.Unlock()
}

func (m *member) open(s settings) (*node.Node, error) {
	return node.Open(node.Options{
		Name:  nodeName(s),
		Peer:  wire.Peer{URL: s.URL, Credentials: s.Credentials, CA: s.CA},
		Relay: lent{m.core.Tools, m.core}, Version: m.core.Version, MaxCalls: s.MaxCalls, Log: m.core.Log(name),
		Exclusive: s.Exclusive, Lease: lease.Options{Idle: s.Lease.Idle, Longest: s.Lease.Longest,
			Queue: s.Lease.Queue}, Kept: m.kept(s), Keep: m.keep,
	})
}

func nodeName(s settings) string {
	host, _ := os.Hostname() // a machine without a name is called node
	return cmp.Or(s.Node, wire.NameOf(host))
}

// close leaves the fleet because the relay stops.
func (m *member) close() {
	if s := m.want.Swap(&settings{}); s == nil || s.URL == "" && m.current() == nil {
		return
	}
	_ = m.changes().Do(m.become) // it is closed by nobody else
	m.changes().Close()
}

// Status is how the relay is a node, as GET /api/v1/fleet answers it.
type Status struct {
	Member bool        `json:"member"`
	Node   *node.State `json:"node,omitempty"`
	Why    string      `json:"why,omitempty"` // why it is none although fleet.url says so
}

func (m *member) show(http.ResponseWriter, *http.Request) (any, *httpapi.Refusal) {
	return m.status(), nil
}

func (m *member) status() (s Status) {
	s.Why = m.trouble()
	if n := m.current(); n != nil {
		state := n.State()
		s.Member, s.Node = true, &state
	}
	return s
}

func (m *member) lacks() []doctor.Lack {
	s := m.status()
	switch {
	case s.Why != "":
		return []doctor.Lack{{ID: findingApart, What: "This relay does not join the fleet: " + s.Why}}
	case s.Node != nil && s.Node.Trouble != "":
		return []doctor.Lack{{ID: findingApart, What: "The fleet at " + s.Node.URL + " cannot be reached: " +
			s.Node.Trouble}}
	}
	return nil
}

// lent is what of the relay a node lends.
type lent struct {
	capability.Tools
	core capability.Core
}

func (l lent) Tabs() []hub.Tab { return l.core.Browsers.Tabs() }
func (l lent) OnTabs(listener func(hub.TabNews)) (end func()) {
	return l.core.Browsers.OnTabs(listener)
}
func (l lent) Left(session string) { l.core.ReleaseSession(session) }
func (l lent) Corrupt(peer string) { l.core.Corrupt(peer) }
