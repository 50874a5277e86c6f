package main

import (
	"cmp"
	"context"
	"errors"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay"
	"tabrelay/relay/agent/client"
	"tabrelay/relay/lib/suggest"
	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/program/connect"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/state/config"
)

const clientsPath = "/api/v1/clients"

// knownSecrets opens secrets.json where there is one, and makes nothing.
func (a *app) knownSecrets() (*config.Secrets, error) {
	if _, err := os.Stat(a.home.Secrets()); errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	return config.OpenSecrets(a.home)
}

func (a *app) clients() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "clients",
		Short: "List, add, scope, rotate and revoke the clients that may use the relay",
	}
	cmd.AddCommand(a.clientsList(), a.clientsAdd(), a.clientsScope(), a.clientsRotate(), a.clientsRevoke())
	return a.startingRelay(cmd)
}

func (a *app) clientsList() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use: "list", Short: "List who may use the relay, and who is here now",
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := a.clientsNow(cmd.Context())
			if err != nil {
				return err
			}
			if a.json {
				return a.printJSON(list)
			}
			if len(list) == 0 {
				a.notef("No client has a token yet. tabrelay connect CLIENT gives it one.\n")
				return nil
			}
			rows := [][]string{{"NAME", "SINCE", "LAST SEEN", "NOW", "MAY USE"}}
			for _, c := range list {
				rows = append(rows, []string{c.Name, since(c), lastSeen(c), now(c),
					policy.ScopeWords(c.Scope)})
			}
			return a.table(rows...)
		},
	})
}

// clientsNow are those that have a token or are connected.
func (a *app) clientsNow(ctx context.Context) ([]client.View, error) {
	var v httpapi.ClientsView
	err := a.get(ctx, clientsPath, &v)
	return v.Clients, err
}

// now is how a client is here, and from which machines.
func now(c client.View) string {
	words := strings.Join(c.Via, ", ")
	switch {
	case !c.Remote:
		return words
	case len(c.From) == 0:
		return strings.TrimSpace(words + " from elsewhere")
	}
	return words + " from " + strings.Join(c.From, ", ")
}

func since(c client.View) string {
	if c.Created == nil {
		return "no token"
	}
	words := c.Created.Local().Format(time.DateOnly)
	switch {
	case c.Expires == nil:
		return words
	case !time.Now().Before(*c.Expires):
		return words + ", expired"
	}
	return words + ", until " + c.Expires.Local().Format("2006-01-02 15:04")
}

func lastSeen(c client.View) string {
	switch {
	case c.LastSeen == nil:
		return "never"
	case c.Attached > 0:
		return "now"
	}
	return c.LastSeen.Local().Format("2006-01-02 15:04")
}

// scopeFlags are the flags that limit what a client may see and call.
type scopeFlags struct {
	call.Scope
	cmd *cobra.Command
}

func (f *scopeFlags) register(cmd *cobra.Command) *cobra.Command {
	f.cmd = cmd
	cmd.Flags().StringVar(&f.Toolset, "toolset", "",
		"at most these tools: "+strings.Join(relay.Toolsets(config.Default())[1:], ", ")+", or names of plugins, "+
			"separated by commas; all: no limit")
	cmd.Flags().StringVar(&f.Plugins, "plugins", "",
		"at most the tools of these plugins, separated by commas; browser for those of the browser; all: no limit")
	cmd.Flags().BoolVar(&f.ReadOnly, "read-only", false, "only tools that change nothing")
	return cmd
}

// apply returns a scope changed by the flags that were given.
func (f *scopeFlags) apply(now call.Scope) (call.Scope, error) {
	if f.cmd.Flags().Changed("toolset") {
		now.Toolset = f.Toolset
	}
	if f.cmd.Flags().Changed("plugins") {
		now.Plugins = f.Plugins
	}
	if f.cmd.Flags().Changed("read-only") {
		now.ReadOnly = f.ReadOnly
	}
	now, err := policy.NormalScope(now)
	if err != nil {
		return now, usage("%w", err).hinting("for example: --toolset gateway, --plugins mediawiki,browser, --read-only")
	}
	return now, nil
}

func (a *app) clientsAdd() *cobra.Command {
	var f scopeFlags
	var remote bool
	var expires string
	cmd := a.withJSON(f.register(&cobra.Command{
		Use: "add NAME", Short: "Make a token for a client and print it, once", Args: cobra.ExactArgs(1),
		Long: "Make a token for a client and print it, once: for one that speaks HTTP, or for an agent in a shell, " +
			"whose `tabrelay call`\nand `tabrelay run` are this client's where TABRELAY_TOKEN is set to it.",
		RunE: func(cmd *cobra.Command, args []string) error {
			scope, err := f.apply(call.Scope{})
			if err != nil {
				return err
			}
			token, err := a.addClient(cmd.Context(),
				httpapi.NewClient{Name: args[0], Scope: scope, Remote: remote, Expires: expires})
			if err != nil {
				return err
			}
			a.notePlugins(scope)
			return a.printToken(args[0], token)
		},
	}))
	cmd.Flags().BoolVar(&remote, "remote", false,
		"the client is on another machine, where tabrelay mcp --relay uses the token")
	expiresFlag(cmd, &expires, "until it is revoked")
	return cmd
}

func expiresFlag(cmd *cobra.Command, expires *string, otherwise string) {
	cmd.Flags().StringVar(expires, "expires", "",
		"how long the token lasts, such as 12h or 30d, or never; left out: "+otherwise)
}

func (a *app) clientsScope() *cobra.Command {
	var f scopeFlags
	return f.register(&cobra.Command{
		Use: "scope NAME", Short: "Show or set the most that a client may see and call", Args: cobra.ExactArgs(1),
		Long: "Show or set the most that a client may see and call, whatever the permissions say. Only the flags " +
			"that you give change\n" +
			"something; --toolset all, --plugins all and --read-only=false remove a limit. It applies at once to " +
			"new calls.",
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.client(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			if cmd.Flags().NFlag() == 0 {
				a.printf("%s\n", policy.ScopeWords(c.Scope))
				return nil
			}
			scope, err := f.apply(c.Scope)
			if err != nil {
				return err
			}
			body := map[string]call.Scope{"scope": scope}
			var now httpapi.ClientsView
			if err := a.request(cmd.Context(), http.MethodPut, clientPath(c.Name), body, &now); err != nil {
				return err
			}
			a.notef("%s may use: %s.\n", c.Name, policy.ScopeWords(scope))
			a.notePlugins(scope)
			return nil
		},
	})
}

// client is the one of that name that has a token.
func (a *app) client(ctx context.Context, name string) (one client.View, err error) {
	list, err := a.clientsNow(ctx)
	if err != nil {
		return one, err
	}
	var known []config.Client
	for _, c := range list {
		switch {
		case !c.Registered:
		case c.Name == name:
			return c, nil
		default:
			known = append(known, config.Client{Name: c.Name})
		}
	}
	return one, failed("%w", config.UnknownClient(name, known)).
		hinting("tabrelay clients list shows them; tabrelay clients add NAME makes one")
}

func clientPath(name string) string { return clientsPath + "/" + url.PathEscape(name) }

func (a *app) clientsRotate() *cobra.Command {
	var expires string
	cmd := a.withJSON(&cobra.Command{
		Use: "rotate NAME", Short: "Replace a client's token and print the new one, once", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			token, err := a.rotateToken(cmd.Context(), args[0], expires)
			if err != nil {
				return err
			}
			return a.printToken(args[0], token)
		},
	})
	expiresFlag(cmd, &expires, "until the old one would have expired")
	return cmd
}

func checkExpires(text string) error {
	if text == "" {
		return nil
	}
	if _, err := config.ReadExpiry(text, time.Now()); err != nil {
		return usage("%w", err)
	}
	return nil
}

// addClient adds a client.
func (a *app) addClient(ctx context.Context, one httpapi.NewClient) (token string, err error) {
	if err := config.CheckClientName(one.Name); err != nil {
		return "", usage("%w", err)
	}
	if err := checkExpires(one.Expires); err != nil {
		return "", err
	}
	var made httpapi.Token
	err = a.post(ctx, clientsPath, one, &made)
	return made.Token, err
}

// rotateToken gives a client a new token.
func (a *app) rotateToken(ctx context.Context, name, expires string) (token string, err error) {
	if err := checkExpires(expires); err != nil {
		return "", err
	}
	var made httpapi.Token
	err = a.post(ctx, clientPath(name)+"/rotate", httpapi.NewToken{Expires: expires}, &made)
	return made.Token, err
}

// revokeClient revokes a client, also where no relay can be started, which would write that into the audit log.
func (a *app) revokeClient(ctx context.Context, name string) error {
	noRelay := a.reach(ctx)
	if noRelay == nil {
		return a.request(ctx, http.MethodDelete, clientPath(name), nil, &httpapi.ClientsView{})
	}
	secrets, err := a.knownSecrets()
	if err != nil || secrets == nil {
		return cmp.Or(err, noRelay)
	}
	if err := secrets.Revoke(name); err != nil {
		return err
	}
	a.notef("The token of %s was revoked, but the audit log does not say so: %s\n", name, noRelay)
	return nil
}

func (a *app) printToken(name, token string) error {
	if a.json {
		return a.printJSON(map[string]string{"name": name, "token": token})
	}
	if a.interactive() {
		a.notef("The token is shown only now. Send it as “Authorization: Bearer …”, or set TABRELAY_TOKEN to it.\n")
	}
	a.printf("%s\n", token)
	return nil
}

func (a *app) clientsRevoke() *cobra.Command {
	return &cobra.Command{
		Use: "revoke NAME", Short: "Revoke a client's token: it loses access at once", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if err := a.revokeClient(cmd.Context(), args[0]); err != nil {
				return err
			}
			a.notef("%s cannot connect any more.\n", args[0])
			return nil
		},
	}
}

// notePlugins warns of names in a scope that no plugin has. They are kept: a plugin of that name may be added later.
func (a *app) notePlugins(s call.Scope) {
	known := catalog.PluginNames(a.home)
	for name := range strings.FieldsFuncSeq(s.Toolset+","+s.Plugins, func(r rune) bool { return r == ',' }) {
		if !slices.Contains(known, name) {
			a.notef("note: no plugin is called %q%s; it takes effect when a plugin of that name is "+
				"added\n", name, suggestion(name, known))
		}
	}
}

// noteClient warns of a rule for a client that has never attached. It is kept: the client may attach later.
func (a *app) noteClient(ctx context.Context, name string) {
	clients, err := a.clientsNow(ctx)
	if err != nil || name == "" {
		return // the rule was made, which is what was asked for
	}
	name = config.Spelled(name) // as the rule has it
	known := []string{config.LocalClient}
	for _, c := range clients {
		known = append(known, c.Name)
	}
	if !slices.Contains(known, name) {
		others := slices.DeleteFunc(append(known, connect.Names()...), func(one string) bool { return one == name })
		a.notef("note: no client is called %q yet%s; the rule takes effect when there is one\n", name,
			suggestion(name, others))
	}
}

func suggestion(name string, known []string) string {
	if one := suggest.Nearest(name, known); one != "" {
		return " (did you mean " + one + "?)"
	}
	return ""
}
