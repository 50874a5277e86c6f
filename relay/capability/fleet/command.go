package fleet

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/rs/zerolog"
	"github.com/spf13/cobra"

	"tabrelay/relay/capability"
	"tabrelay/relay/capability/fleet/gateway"
	"tabrelay/relay/capability/fleet/local"
	"tabrelay/relay/capability/fleet/wire"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
)

const (
	fleetPath  = "/api/v1/fleet"
	statusPath = "/api/v1/status"
)

// command is `tabrelay fleet`.
var command = capability.Command{Heading: "Connect agents", Make: func(t capability.Terminal) *cobra.Command {
	c := commands{t}
	cmd := &cobra.Command{
		Use: "fleet", Short: "Lend this browser to agents elsewhere, or serve such agents",
		Long: "A relay that joins a fleet is a node: agents elsewhere can ask for its browser, and you are asked " +
			"before they may do anything.\nA gateway serves MCP to those agents and finds the node. Both connect " +
			"to a NATS server. docs/fleet.md has it all.",
	}
	cmd.AddCommand(c.join(), c.leave(), c.status(), c.release(), c.gateway(), c.up())
	return cmd
}}

type commands struct{ capability.Terminal }

func (c commands) join() *cobra.Command {
	var credentials, nodeName, ca string
	cmd := &cobra.Command{
		Use: "join URL", Short: "Make this relay a node of the fleet at a NATS server", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			edits, err := c.joining(args[0], credentials, nodeName, ca)
			if err != nil {
				return err
			}
			if err := c.apply(cmd.Context(), edits); err != nil {
				return err
			}
			c.Notef("This relay is a node of the fleet at %s. tabrelay fleet status says whether it is connected; "+
				"tabrelay fleet leave ends it.\n", args[0])
			return nil
		},
	}
	cmd.Flags().StringVar(&credentials, "creds", "", "file with the node's credentials: of nsc, or with an NKey seed")
	cmd.Flags().StringVar(&nodeName, "name", "", "name of this relay in the fleet (default: that of the machine)")
	cmd.Flags().StringVar(&ca, "ca", "", "file with the certificates to trust for the server, in PEM")
	return cmd
}

// joining are the changes of config.json by which a relay joins a fleet.
func (c commands) joining(url, credentials, name, ca string) ([]config.Edit, error) {
	if err := wire.CheckURL(url); err != nil {
		return nil, c.Usage(fault.HintOf(err), "%w", err)
	}
	if name != "" && !wire.IsName(name) {
		return nil, c.Usage("for example: --name laptop-ann", "%q is not a name in a fleet: %s", fault.Excerpt(name),
			wire.NameRule)
	}
	edits := []config.Edit{{Path: []string{"fleet", "url"}, Value: rawjson.MustEncode(url)}}
	set := func(key, value string) {
		if value != "" {
			edits = append(edits, config.Edit{Path: []string{"fleet", key}, Value: rawjson.MustEncode(value)})
		}
	}
	set("node", name)
	if ca != "" {
		file, err := filepath.Abs(ca)
		if err == nil {
			_, err = os.Stat(file)
		}
		if err != nil {
			return nil, c.Usage("correct --ca", "the certificates to trust cannot be read: %w", err)
		}
		set("ca", file)
	}
	if credentials == "" {
		return edits, nil
	}
	file, err := filepath.Abs(credentials)
	if err != nil {
		return nil, err
	}
	source := config.KeySource{File: file}
	if err := (wire.Peer{Credentials: source}).CheckCredentials(); err != nil {
		return nil, c.Usage(cmp.Or(fault.HintOf(err), "correct --creds"), "%w", err)
	}
	return append(edits, config.Edit{Path: []string{"fleet", "credentials"}, Value: rawjson.MustEncode(source)}), nil
}

// apply writes config.json and has the relay put it into effect, which a person confirms. Without their yes,
// config.json is again what it was.
func (c commands) apply(ctx context.Context, edits []config.Edit) error {
	undo, err := c.undoing(edits)
	if err != nil {
		return err
	}
	if err := config.Apply(c.Home(), edits...); err != nil {
		return err
	}
	if err = c.confirm(ctx); err == nil {
		return nil
	}
	ctx = context.WithoutCancel(ctx) // also when the person stopped it
	if config.Apply(c.Home(), undo...) == nil {
		_ = c.Reload(ctx) // the first failure is the one to tell
	}
	return err
}

// undoing are the changes that make config.json what it is now.
func (c commands) undoing(edits []config.Edit) (undo []config.Edit, err error) {
	cfg, err := config.Load(c.Home())
	if err != nil {
		return nil, err
	}
	s := section.Of(cfg)
	was := map[string]any{"fleet.url": s.URL, "fleet.node": s.Node, "fleet.ca": s.CA,
		"fleet.credentials": s.Credentials, "fleet.gateway.credentials": s.Gateway.Credentials}
	for _, e := range edits {
		value := rawjson.MustEncode(was[strings.Join(e.Path, ".")])
		if string(value) == `""` || string(value) == "{}" {
			value = nil
		}
		undo = append(undo, config.Edit{Path: e.Path, Value: value})
	}
	return undo, nil
}

// confirm has the relay read config.json, and the person confirm what it lets agents do more.
func (c commands) confirm(ctx context.Context) error {
	if err := c.Reload(ctx); err != nil {
		return err
	}
	var s httpapi.Status
	if err := c.Get(ctx, statusPath, &s); err != nil || s.Unapplied == "" {
		return err
	}
	var left httpapi.Approvals
	return c.Request(ctx, http.MethodPost, "/api/v1/approvals/config", httpapi.Verdict{Answer: "allow"}, &left)
}

func (c commands) leave() *cobra.Command {
	return &cobra.Command{
		Use: "leave", Short: "Lend this browser no longer", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := config.Load(c.Home())
			if err != nil {
				return err
			}
			if section.Of(cfg).URL == "" {
				return c.Failed("tabrelay fleet status shows what is configured", "this relay is in no fleet")
			}
			if err := config.Apply(c.Home(), config.Edit{Path: []string{"fleet", "url"}},
				config.Edit{Path: []string{"fleet", "credentials"}}); err != nil {
				return err
			}
			if err := c.Reload(cmd.Context()); err != nil {
				return err
			}
			c.Notef("This relay has left the fleet: its calls were ended, and nobody elsewhere can ask for it.\n")
			return nil
		},
	}
}

// Report is what `tabrelay fleet status --json` prints.
type Report struct {
	Status
	// of the directory, where this home has a gateway's credentials
	Nodes   []gateway.NodeState `json:"nodes,omitempty"`
	Trouble string              `json:"trouble,omitempty"` // why the directory cannot be read
}

const statusTime = 5 * time.Second

func (c commands) status() *cobra.Command {
	return c.WithJSON(&cobra.Command{
		Use: "status", Short: "Say how this relay is in its fleet, and which nodes its gateway sees",
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			var r Report
			if err := c.Get(cmd.Context(), fleetPath, &r.Status); err != nil {
				return err
			}
			cfg, err := config.Load(c.Home())
			if err != nil {
				return err
			}
			s := section.Of(cfg)
			if s.URL != "" && s.Gateway.Credentials != (config.KeySource{}) {
				r.Nodes, r.Trouble = seen(cmd.Context(), s)
			}
			if c.JSON() {
				return c.PrintJSON(r)
			}
			return c.print(r)
		},
	})
}

// seen are the nodes of the directory, as the gateway of this home folder sees them.
func seen(ctx context.Context, s settings) ([]gateway.NodeState, string) {
	ctx, cancel := context.WithTimeout(ctx, statusTime)
	defer cancel()
	list, err := gateway.Look(ctx, gateway.Options{Name: gatewayName(s),
		Peer: wire.Peer{URL: s.URL, Credentials: s.Gateway.Credentials, CA: s.CA}, Log: zerolog.Nop()})
	if err != nil {
		return nil, fault.Sanitize(err.Error())
	}
	return list, ""
}

func (c commands) print(r Report) error {
	switch {
	case r.Why != "":
		c.Printf("This relay does not join the fleet: %s\n", r.Why)
	case !r.Member:
		c.Printf("This relay is in no fleet.\n")
		c.Notef("Next: tabrelay fleet up tries one on this machine; tabrelay fleet join URL --creds FILE joins " +
			"another.\n")
	case r.Node.Connected:
		c.Printf("This relay is the node %s of the fleet at %s; %d calls of it run.\n", r.Node.Node, r.Node.URL,
			r.Node.Running)
		if r.Node.Trouble != "" {
			c.Printf("But %s\n", r.Node.Trouble)
		}
	default:
		c.Printf("This relay is the node %s of the fleet at %s, and does not reach it: %s\n", r.Node.Node, r.Node.URL,
			r.Node.Trouble)
	}
	if err := c.printLeases(r.Status); err != nil {
		return err
	}
	if r.Trouble != "" {
		c.Printf("The directory of the fleet cannot be read: %s\n", r.Trouble)
	}
	if len(r.Nodes) == 0 {
		return nil
	}
	rows := [][]string{{"NODE", "PROFILES", "PLUGINS", "RUNNING", "VERSION", "LEASES"}}
	for _, n := range r.Nodes {
		rows = append(rows, []string{n.Node, strings.Join(n.Profiles, ", "), fmt.Sprint(len(n.Plugins)),
			fmt.Sprint(n.Running), fault.Excerpt(n.Version), leasesInWords(n.Leases)})
	}
	return c.Table(rows...)
}

func (c commands) gateway() *cobra.Command {
	var listen string
	cmd := &cobra.Command{
		Use: "gateway", Short: "Serve MCP to agents elsewhere, with the browsers of a fleet", Args: cobra.NoArgs,
		Long: "Serve MCP to agents elsewhere, with the browsers of the fleet at fleet.url, until it is interrupted.\n" +
			"Clients have the tokens of this home folder: tabrelay clients add --remote NAME.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, s, err := c.settings(listen)
			if err != nil {
				return err
			}
			if s.URL == "" {
				return c.Failed("tabrelay fleet up tries one on this machine; or set fleet.url and "+
					"fleet.gateway.credentials", "%w", errNoFleet)
			}
			v, err := serve(cmd.Context(), c.Home(), cfg, s, c.Version, logTo(cmd))
			if err != nil {
				return err
			}
			c.serves(v)
			return v.run(cmd.Context())
		},
	}
	cmd.Flags().StringVar(&listen, "listen", "", "address to serve at (default: fleet.gateway.listen)")
	return cmd
}

// settings are those of this home folder, with what flags say.
func (c commands) settings(listen string) (cfg config.Config, s settings, err error) {
	if cfg, err = config.Load(c.Home()); err != nil {
		return cfg, s, err
	}
	s = section.Of(cfg)
	if listen != "" {
		if !listenAddress.Valid(listen) {
			return cfg, s, c.Usage("for example: --listen "+defaultListen, "%q is not an address to serve at",
				fault.Excerpt(listen))
		}
		s.Gateway.Listen = listen
	}
	return cfg, s, nil
}

// serves says where a gateway serves, and how an agent gets there.
func (c commands) serves(v *serving) {
	c.Printf("%s\n", v.URL())
	if v.door.people != nil {
		c.Notef("People sign in with %s.\n", v.door.people.Issuer)
	}
	c.Notef("The gateway serves MCP there. An agent needs a token: tabrelay clients add%s NAME\n",
		map[bool]string{false: " --remote"}[v.plain])
}

func logTo(cmd *cobra.Command) zerolog.Logger {
	return zerolog.New(zerolog.ConsoleWriter{Out: cmd.ErrOrStderr(), NoColor: true, TimeFormat: "15:04:05"}).
		With().Timestamp().Logger()
}

func (c commands) up() *cobra.Command {
	var listen string
	var others []string
	port := defaultPort
	cmd := &cobra.Command{
		Use: "up", Short: "Try a fleet on this machine: a server, a gateway, and this relay as a node",
		Args: cobra.NoArgs,
		Long: "Try a fleet on this machine, until it is interrupted: a NATS server and a gateway in this process, " +
			"and this relay as a node.\nAgents that connect to the gateway are clients from elsewhere to the relay: " +
			"you are asked before they may do anything.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, s, err := c.settings(listen)
			if err != nil {
				return err
			}
			if port < 1 || port > 65535 {
				return c.Usage("for example: --port 7721", "%d is no port", port)
			}
			for _, name := range others {
				if !wire.IsName(name) {
					return c.Usage("for example: --node laptop-ann", "%q is not a name in a fleet: %s",
						fault.Excerpt(name), wire.NameRule)
				}
			}
			l, err := local.Start(c.Home().Fleet(), []string{gatewayName(s)}, append(others, nodeName(s)), port)
			if err != nil {
				return err
			}
			defer l.Stop()
			if err := c.joinLocal(cmd.Context(), l, s); err != nil {
				return err
			}
			s.URL, s.Gateway.Credentials = l.URL, config.KeySource{File: l.GatewayKey(gatewayName(s))}
			v, err := serve(cmd.Context(), c.Home(), cfg, s, c.Version, logTo(cmd))
			if err != nil {
				return err
			}
			c.serves(v)
			for _, name := range others {
				c.Notef("Another home folder joins with: tabrelay fleet join %s --name %s --creds %s\n", l.URL, name,
					c.ShellWord(l.NodeKey(name)))
			}
			return v.run(cmd.Context())
		},
	}
	cmd.Flags().StringSliceVar(&others, "node", nil, "name under which the relay of another home folder may join, too")
	cmd.Flags().StringVar(&listen, "listen", "", "address of the gateway (default: fleet.gateway.listen)")
	cmd.Flags().IntVar(&port, "port", defaultPort, "port of the NATS server, on 127.0.0.1")
	return cmd
}

// joinLocal makes this relay a node of a fleet on this machine. A relay that is one of another fleet stays that.
func (c commands) joinLocal(ctx context.Context, l *local.Server, s settings) error {
	if s.URL != "" && s.URL != l.URL {
		host, _, _ := net.SplitHostPort(strings.TrimPrefix(s.URL, "nats://"))
		if host != "127.0.0.1" {
			return c.Failed("tabrelay fleet leave, and then this again", "this relay is a node of the fleet at %s",
				s.URL)
		}
	}
	source := func(file string) json.RawMessage { return rawjson.MustEncode(config.KeySource{File: file}) }
	return c.apply(ctx, []config.Edit{
		{Path: []string{"fleet", "url"}, Value: rawjson.MustEncode(l.URL)},
		{Path: []string{"fleet", "credentials"}, Value: source(l.NodeKey(nodeName(s)))},
		{Path: []string{"fleet", "gateway", "credentials"}, Value: source(l.GatewayKey(gatewayName(s)))},
	})
}
