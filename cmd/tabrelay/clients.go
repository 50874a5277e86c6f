package main

import (
	"context"
	"errors"
	"fmt"
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
	"tabrelay/relay/agent/join"
	"tabrelay/relay/lib/suggest"
	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/program/connect"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/state/config"
)

const clientsPath = "/api/v1/clients"

// secrets opens secrets.json, and creates the home folder if it is missing.
func (a *app) secrets() (*config.Secrets, error) {
	if err := a.home.Create(); err != nil {
		return nil, err
	}
	return config.OpenSecrets(a.home)
}

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
	return cmd
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
				rows = append(rows, []string{c.Name, since(c), lastSeen(c), strings.Join(c.Via, ", "),
					policy.ScopeWords(c.Scope)})
			}
			return a.table(rows...)
		},
	})
}

// clientsNow asks the running relay, or reads the home folder when none runs.
func (a *app) clientsNow(ctx context.Context) ([]client.View, error) {
	if _, ok := join.Running(ctx, a.home); ok {
		var v httpapi.ClientsView
		err := a.get(ctx, clientsPath, &v)
		return v.Clients, err
	}
	secrets, err := a.secrets()
	if err != nil {
		return nil, err
	}
	return client.ListOffline(ctx, a.home, secrets), nil
}

func since(c client.View) string {
	if c.Created == nil {
		return "no token"
	}
	return c.Created.Local().Format(time.DateOnly)
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
	return a.withJSON(f.register(&cobra.Command{
		Use: "add NAME", Short: "Make a token for an HTTP client and print it, once", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			scope, err := f.apply(call.Scope{})
			if err != nil {
				return err
			}
			token, err := a.addClient(cmd.Context(), args[0], scope)
			if err != nil {
				return err
			}
			a.notePlugins(scope)
			return a.printToken(args[0], token)
		},
	}))
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
			secrets, err := a.secrets()
			if err != nil {
				return err
			}
			c, ok := findToken(secrets, args[0])
			if !ok {
				return unknownClient(secrets, args[0])
			}
			if cmd.Flags().NFlag() == 0 {
				a.printf("%s\n", policy.ScopeWords(c.Scope))
				return nil
			}
			scope, err := f.apply(c.Scope)
			if err != nil {
				return err
			}
			if err := a.setScope(cmd.Context(), secrets, c.Name, scope); err != nil {
				return err
			}
			a.notef("%s may use: %s.\n", c.Name, policy.ScopeWords(scope))
			a.notePlugins(scope)
			return nil
		},
	})
}

// findToken is the client of that name, if it has a token.
func findToken(secrets *config.Secrets, name string) (c config.Client, ok bool) {
	if secrets == nil {
		return c, false
	}
	all := secrets.Clients()
	if i := slices.IndexFunc(all, func(c config.Client) bool { return c.Name == name }); i >= 0 {
		return all[i], true
	}
	return c, false
}

func unknownClient(secrets *config.Secrets, name string) error {
	return withClientHint(config.UnknownClient(name, secrets.Clients()))
}

// withClientHint says where the names of clients are, when one is not among them.
func withClientHint(err error) error {
	if errors.Is(err, config.ErrNoClient) {
		return failed("%w", err).hinting("tabrelay clients list shows them; tabrelay clients add NAME makes one")
	}
	return err
}

func (a *app) clientsRotate() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use: "rotate NAME", Short: "Replace a client's token and print the new one, once", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			token, err := a.rotateToken(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			return a.printToken(args[0], token)
		},
	})
}

// addClient adds a client: through the running relay, or in the home folder when none runs.
func (a *app) addClient(ctx context.Context, name string, scope call.Scope) (token string, err error) {
	if err := config.CheckClientName(name); err != nil {
		return "", usage("%w", err)
	}
	if _, ok := join.Running(ctx, a.home); ok {
		var made httpapi.Token
		err := a.post(ctx, clientsPath, httpapi.NewClient{Name: name, Scope: scope}, &made)
		return made.Token, err
	}
	secrets, err := a.secrets()
	if err != nil {
		return "", err
	}
	if err := config.CheckNew(name, secrets.Clients()); err != nil {
		return "", err
	}
	err = a.changeClients(ctx, secrets, policy.AddChange(name, scope), func() (err error) {
		token, err = secrets.AddWithin(name, scope)
		return err
	})
	return token, err
}

// errUnrecorded is that a change was not made, because it could not be written into the audit log.
var errUnrecorded = errors.New("nothing was changed, because it could not be written into the audit log")

// changeClients changes secrets.json where no relay does it: a person confirms the change at the terminal, unless it is
// nil, and it is written into the audit log. A running relay notices the change and records it itself.
func (a *app) changeClients(
	ctx context.Context, secrets *config.Secrets, c *policy.Change, change func() error,
) error {
	if err := a.confirmHere(ctx, c); err != nil {
		return err
	}
	if _, ok := join.Running(ctx, a.home); ok {
		return change()
	}
	offline, err := a.openOffline(ctx)
	var running *join.RunningError
	switch {
	case c == nil && errors.As(err, &running): // it has just started
		return change()
	case err != nil:
		return fmt.Errorf("%w: %w", errUnrecorded, err)
	}
	if c != nil {
		offline.Confirmed(c)
	}
	err = offline.ChangeClients(secrets, change)
	return errors.Join(err, offline.Close())
}

// revokeClient revokes a client even when that cannot be written into the audit log.
func (a *app) revokeClient(ctx context.Context, secrets *config.Secrets, name string) error {
	revoke := func() error { return secrets.Revoke(name) }
	err := a.changeClients(ctx, secrets, nil, revoke)
	if errors.Is(err, errUnrecorded) {
		a.notef("The token of %s was revoked, but the audit log does not say so: %s\n", name, err)
		err = revoke()
	}
	return err
}

// rotateToken gives a client a new token, as addClient does.
func (a *app) rotateToken(ctx context.Context, name string) (token string, err error) {
	secrets, err := a.secrets()
	if err != nil {
		return "", err
	}
	if _, ok := findToken(secrets, name); !ok {
		return "", unknownClient(secrets, name)
	}
	if _, ok := join.Running(ctx, a.home); ok {
		var made httpapi.Token
		err := a.post(ctx, clientsPath+"/"+url.PathEscape(name)+"/rotate", struct{}{}, &made)
		return made.Token, err
	}
	err = a.changeClients(ctx, secrets, policy.RotateClientChange(name), func() (err error) {
		token, err = secrets.Rotate(name)
		return err
	})
	return token, err
}

// setScope changes the scope of a client, as addClient does.
func (a *app) setScope(ctx context.Context, secrets *config.Secrets, name string, scope call.Scope) error {
	if _, ok := join.Running(ctx, a.home); ok {
		var now httpapi.ClientsView
		path := clientsPath + "/" + url.PathEscape(name)
		return a.request(ctx, http.MethodPut, path, map[string]call.Scope{"scope": scope}, &now)
	}
	change := policy.ScopeChange(name, secrets.Clients(), scope)
	return a.changeClients(ctx, secrets, change, func() error { return secrets.SetScope(name, scope) })
}

func (a *app) printToken(name, token string) error {
	if a.json {
		return a.printJSON(map[string]string{"name": name, "token": token})
	}
	if a.interactive() {
		a.notef("The token is shown only now. Send it as “Authorization: Bearer …”.\n")
	}
	a.printf("%s\n", token)
	return nil
}

func (a *app) clientsRevoke() *cobra.Command {
	return &cobra.Command{
		Use: "revoke NAME", Short: "Revoke a client's token: it loses access at once", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			secrets, err := a.secrets()
			if err != nil {
				return err
			}
			if err := a.revokeClient(cmd.Context(), secrets, args[0]); err != nil {
				return withClientHint(err)
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
