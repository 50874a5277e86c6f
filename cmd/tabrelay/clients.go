package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay"
	"tabrelay/relay/call"
	"tabrelay/relay/config"
	"tabrelay/relay/join"
	"tabrelay/relay/policy"
)

// secrets opens secrets.json, and makes the home folder first if need be.
func (a *app) secrets() (*config.Secrets, error) {
	if err := a.home.Create(); err != nil {
		return nil, err
	}
	return config.OpenSecrets(a.home)
}

func (a *app) clients() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "clients",
		Short: "List, add, scope, rotate and revoke the clients that may use the relay",
		Args:  cobra.NoArgs,
		RunE:  func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(a.clientsList(), a.clientsAdd(), a.clientsScope(), a.clientsRotate(), a.clientsRevoke())
	return cmd
}

func (a *app) clientsList() *cobra.Command {
	var asJSON bool
	cmd := &cobra.Command{
		Use: "list", Short: "List who may use the relay, and who is here now", Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			list, err := a.clientsNow(cmd.Context())
			if err != nil {
				return err
			}
			if asJSON {
				return a.printJSON(list)
			}
			if len(list) == 0 {
				a.notef("No client has a token yet. tabrelay connect CLIENT gives it one.\n")
				return nil
			}
			rows := [][]string{{"NAME", "SINCE", "LAST SEEN", "NOW", "MAY USE"}}
			for _, c := range list {
				rows = append(rows, []string{c.Name, since(c), lastSeen(c), strings.Join(c.Via, ", "), policy.ScopeWords(c.Scope)})
			}
			return a.table(rows...)
		},
	}
	cmd.Flags().BoolVar(&asJSON, "json", false, "print JSON")
	return cmd
}

// clientsNow asks the relay that runs, and looks into the home folder when none does.
func (a *app) clientsNow(ctx context.Context) ([]relay.ClientView, error) {
	if _, ok := join.Running(ctx, a.home); ok {
		var v relay.ClientsView
		err := a.get(ctx, clientsPath, &v)
		return v.Clients, err
	}
	secrets, err := a.secrets()
	if err != nil {
		return nil, err
	}
	return relay.ClientsOf(a.home, secrets).Clients, nil
}

func since(c relay.ClientView) string {
	if c.Created == nil {
		return "no token"
	}
	return c.Created.Local().Format(time.DateOnly)
}

func lastSeen(c relay.ClientView) string {
	switch {
	case c.LastSeen == nil:
		return "never"
	case c.Attached > 0:
		return "now"
	}
	return c.LastSeen.Local().Format("2006-01-02 15:04")
}

// bounds are the flags for what a client may see and call.
type bounds struct {
	call.Scope
	cmd *cobra.Command
}

func (b *bounds) flags(cmd *cobra.Command) {
	b.cmd = cmd
	cmd.Flags().StringVar(&b.Toolset, "toolset", "", "at most these tools: gateway, agents, or names of plugins, separated by commas; all: no bound")
	cmd.Flags().StringVar(&b.Plugins, "plugins", "", "at most the tools of these plugins, separated by commas; browser for those of the browser; all: no bound")
	cmd.Flags().BoolVar(&b.ReadOnly, "read-only", false, "only tools that change nothing")
}

// over is a scope with the flags that were given in place of what it says.
func (b *bounds) over(now call.Scope) (call.Scope, error) {
	if b.cmd.Flags().Changed("toolset") {
		now.Toolset = b.Toolset
	}
	if b.cmd.Flags().Changed("plugins") {
		now.Plugins = b.Plugins
	}
	if b.cmd.Flags().Changed("read-only") {
		now.ReadOnly = b.ReadOnly
	}
	now, err := policy.NormalScope(now)
	if err != nil {
		return now, usage("%w", err).hinting("for example: --toolset gateway, --plugins mediawiki,browser, --read-only")
	}
	return now, nil
}

func (b *bounds) given() bool {
	f := b.cmd.Flags()
	return f.Changed("toolset") || f.Changed("plugins") || f.Changed("read-only")
}

func (a *app) clientsAdd() *cobra.Command {
	var b bounds
	cmd := &cobra.Command{
		Use: "add NAME", Short: "Make a token for an HTTP client and print it, once", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			within, err := b.over(call.Scope{})
			if err != nil {
				return err
			}
			token, err := a.newClient(cmd.Context(), args[0], within)
			if err != nil {
				return err
			}
			a.printToken(token)
			a.notePlugins(within)
			return nil
		},
	}
	b.flags(cmd)
	return cmd
}

func (a *app) clientsScope() *cobra.Command {
	var b bounds
	cmd := &cobra.Command{
		Use: "scope NAME", Short: "Show or set what a client may see and call at the most", Args: cobra.ExactArgs(1),
		Long: "Show or set what a client may see and call at the most, whatever the permissions say. Only the flags that are given change;\n" +
			"--toolset all, --plugins all and --read-only=false take a bound away. It holds at once, for calls that come from then on.",
		RunE: func(cmd *cobra.Command, args []string) error {
			secrets, err := a.secrets()
			if err != nil {
				return err
			}
			for _, c := range secrets.Clients() {
				if c.Name != args[0] {
					continue
				}
				if !b.given() {
					a.printf("%s\n", policy.ScopeWords(c.Scope))
					return nil
				}
				within, err := b.over(c.Scope)
				if err != nil {
					return err
				}
				if err := a.setScope(cmd.Context(), secrets, c.Name, within); err != nil {
					return err
				}
				a.notef("%s may use: %s.\n", c.Name, policy.ScopeWords(within))
				a.notePlugins(within)
				return nil
			}
			return hintClients(secrets.SetScope(args[0], call.Scope{})) // which says that there is no such client
		},
	}
	b.flags(cmd)
	return cmd
}

// hintClients says where the names of clients are, when one is not among them.
func hintClients(err error) error {
	if errors.Is(err, config.ErrNoClient) {
		return failed("%w", err).hinting("tabrelay clients list shows them; tabrelay clients add NAME makes one")
	}
	return err
}

func (a *app) clientsRotate() *cobra.Command {
	return &cobra.Command{
		Use: "rotate NAME", Short: "Replace a client's token and print the new one, once", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			token, err := a.rotateToken(cmd.Context(), args[0])
			if err != nil {
				return err
			}
			a.printToken(token)
			return nil
		},
	}
}

// newClient admits a client: through the relay that runs, or in the home folder when none does.
func (a *app) newClient(ctx context.Context, name string, within call.Scope) (token string, err error) {
	if err := config.CheckClientName(name); err != nil {
		return "", usage("%w", err)
	}
	if _, ok := join.Running(ctx, a.home); ok {
		var made relay.Token
		err := a.post(ctx, clientsPath, relay.NewClient{Name: name, Scope: within}, &made)
		return made.Token, err
	}
	secrets, err := a.secrets()
	switch {
	case err != nil:
		return "", err
	case known(secrets, name):
		return "", config.Exists(name)
	}
	err = a.changeClients(ctx, secrets, policy.AddChange(name, within), func() (err error) {
		token, err = secrets.AddWithin(name, within)
		return err
	})
	return token, err
}

// errUnrecorded is that a change was not made, because it could not be written into the audit log.
var errUnrecorded = errors.New("nothing was changed, because it could not be written into the audit log")

// changeClients changes secrets.json where no relay does it: a person confirms the change at the terminal, unless it is
// nil, and it is written into the audit log. A relay that runs notices the change, and does that itself.
func (a *app) changeClients(ctx context.Context, secrets *config.Secrets, c *policy.Change, change func() error) error {
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

// shutOut revokes a client, also when that cannot be written into the audit log.
func (a *app) shutOut(ctx context.Context, secrets *config.Secrets, name string) error {
	revoke := func() error { return secrets.Revoke(name) }
	err := a.changeClients(ctx, secrets, nil, revoke)
	if errors.Is(err, errUnrecorded) {
		a.notef("The audit log does not have that %s is shut out: %s\n", name, err)
		err = revoke()
	}
	return err
}

// rotateToken gives a client a new token, as newClient does.
func (a *app) rotateToken(ctx context.Context, name string) (token string, err error) {
	secrets, err := a.secrets()
	switch {
	case err != nil:
		return "", err
	case !known(secrets, name):
		return "", hintClients(config.UnknownClient(name, secrets.Clients()))
	}
	if _, ok := join.Running(ctx, a.home); ok {
		var made relay.Token
		err := a.post(ctx, clientsPath+"/"+url.PathEscape(name)+"/rotate", struct{}{}, &made)
		return made.Token, err
	}
	err = a.changeClients(ctx, secrets, policy.RotateClientChange(name), func() (err error) {
		token, err = secrets.Rotate(name)
		return err
	})
	return token, err
}

// setScope bounds a client anew, as newClient does.
func (a *app) setScope(ctx context.Context, secrets *config.Secrets, name string, within call.Scope) error {
	if _, ok := join.Running(ctx, a.home); ok {
		var now relay.ClientsView
		return a.request(ctx, http.MethodPut, clientsPath+"/"+url.PathEscape(name), map[string]call.Scope{"scope": within}, &now)
	}
	change := policy.ScopeChange(name, secrets.Clients(), within)
	return a.changeClients(ctx, secrets, change, func() error { return secrets.SetScope(name, within) })
}

const clientsPath = "/api/v1/clients"

func (a *app) printToken(token string) {
	if a.interactive() {
		a.notef("The token is shown only now. Send it as “Authorization: Bearer …”.\n")
	}
	a.printf("%s\n", token)
}

func (a *app) clientsRevoke() *cobra.Command {
	return &cobra.Command{
		Use: "revoke NAME", Short: "Shut a client out at once", Args: cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			secrets, err := a.secrets()
			if err != nil {
				return err
			}
			if err := a.shutOut(cmd.Context(), secrets, args[0]); err != nil {
				return hintClients(err)
			}
			a.notef("%s is shut out.\n", args[0])
			return nil
		},
	}
}
