package main

import (
	"context"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"tabrelay/relay/config"
	"tabrelay/relay/connect"
	"tabrelay/relay/join"
)

func (a *app) connect() *cobra.Command {
	var print bool
	cmd := &cobra.Command{
		Use:   "connect CLIENT",
		Short: "Write tabrelay into an MCP client's configuration",
		Long: "Write tabrelay into the configuration of one of: " + strings.Join(connect.Names(), ", ") + ".\n" +
			"The file as it was is kept beside it, with .before-tabrelay at the end of its name.",
		ValidArgs: connect.Names(),
		Args:      cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, env, err := findClient(args[0])
			if err != nil {
				return err
			}
			secrets, err := a.secrets()
			if err != nil {
				return err
			}
			if print {
				return a.printEntry(cmd.Context(), client, env, secrets)
			}
			return a.writeEntry(cmd.Context(), client, env, secrets)
		},
	}
	cmd.Flags().BoolVar(&print, "print", false, "print the entry instead of writing it")
	return cmd
}

func findClient(name string) (connect.Client, connect.Environment, error) {
	client, ok := connect.Find(name)
	if !ok {
		return client, connect.Environment{},
			usage("there is no client %q", name).hinting("the clients are: " + strings.Join(connect.Names(), ", "))
	}
	env, err := connect.Here()
	return client, env, err
}

// server is what a client is to run. Its token comes later.
func (a *app) server() (connect.Server, error) {
	path, err := join.Executable()
	if err != nil {
		return connect.Server{}, err
	}
	s := connect.Server{Command: path}
	if os.Getenv("TABRELAY_HOME") != "" {
		s.Home = string(a.home)
	}
	return s, nil
}

// writeEntry connects a client. A token that works already is kept, so that doing it twice changes nothing.
func (a *app) writeEntry(
	ctx context.Context, client connect.Client, env connect.Environment, secrets *config.Secrets,
) error {
	server, err := a.server()
	if err != nil {
		return err
	}
	old, _, err := client.Entry(env) // also finds a broken file before a token is made
	if err != nil {
		return err
	}
	server.Token = old.Token
	if name, ok := secrets.Verify(old.Token); !ok || name != client.Name {
		if server.Token, err = a.freshToken(ctx, secrets, client.Name); err != nil {
			return err
		}
	}
	change, err := client.Connect(env, server)
	if err != nil {
		return err
	}
	if !change.Changed {
		a.notef("%s is connected already: %s\n", client.Title, change.File)
		return nil
	}
	a.notef("%s is connected: %s\n", client.Title, change.File)
	if change.Backup != "" {
		a.notef("The file as it was: %s\n", change.Backup)
	}
	a.notef("Next: %s.\n", client.Restart)
	return nil
}

// freshToken makes a token for a client whose old one, if any, is not known any more. Who has none so far may attach
// over the socket by that name anyway, so that a first token adds nothing to what it may do. One in place of another
// token is confirmed: whoever is given it takes the client's place.
func (a *app) freshToken(ctx context.Context, secrets *config.Secrets, name string) (string, error) {
	if known(secrets, name) {
		return a.rotateToken(ctx, name)
	}
	return a.firstToken(ctx, secrets, name)
}

// firstToken makes a token for a client that has none.
func (a *app) firstToken(ctx context.Context, secrets *config.Secrets, name string) (token string, err error) {
	err = a.changeClients(ctx, secrets, nil, func() (err error) {
		token, err = secrets.Add(name)
		return err
	})
	return token, err
}

func known(secrets *config.Secrets, name string) bool {
	return slices.ContainsFunc(secrets.Clients(), func(c config.Client) bool { return c.Name == name })
}

// printEntry shows what connect would write. It never changes a token that may be in use elsewhere.
func (a *app) printEntry(
	ctx context.Context, client connect.Client, env connect.Environment, secrets *config.Secrets,
) error {
	server, err := a.server()
	if err != nil {
		return err
	}
	old, _, err := client.Entry(env)
	name, ok := secrets.Verify(old.Token)
	switch {
	case err == nil && ok && name == client.Name:
		server.Token = old.Token
	case known(secrets, client.Name):
		server.Token = "…"
		defer a.notef("%s has a token, which cannot be shown again. tabrelay clients rotate %s makes a new one.\n",
			client.Title, client.Name)
	default:
		if server.Token, err = a.firstToken(ctx, secrets, client.Name); err != nil {
			return err
		}
	}
	a.notef("For %s:\n", client.File(env))
	a.printf("%s", client.Print(server))
	return nil
}

func (a *app) disconnect() *cobra.Command {
	return &cobra.Command{
		Use:       "disconnect CLIENT",
		Short:     "Take tabrelay out of an MCP client's configuration, and revoke its token",
		ValidArgs: connect.Names(),
		Args:      cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			client, env, err := findClient(args[0])
			if err != nil {
				return err
			}
			secrets, err := a.secrets()
			if err != nil {
				return err
			}
			return a.removeEntry(cmd.Context(), client, env, secrets)
		},
	}
}

func (a *app) removeEntry(
	ctx context.Context, client connect.Client, env connect.Environment, secrets *config.Secrets,
) error {
	change, err := client.Disconnect(env)
	if err != nil {
		return err
	}
	if known(secrets, client.Name) {
		if err := a.shutOut(ctx, secrets, client.Name); err != nil {
			return err
		}
	}
	if !change.Changed {
		a.notef("%s was not connected.\n", client.Title)
		return nil
	}
	a.notef("%s is disconnected: %s\n", client.Title, change.File)
	return nil
}
