package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/program/connect"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/config"
)

// connection is an MCP client whose configuration is read or changed.
type connection struct {
	*app
	connect.Connection
}

func (a *app) connection(name string) (*connection, error) {
	client, ok := connect.Find(name)
	if !ok {
		return nil, usage("there is no client %q", name).hinting("the clients are: " + strings.Join(connect.Names(),
			", "))
	}
	env, err := connect.Here()
	if err != nil {
		return nil, err
	}
	tokens, err := a.tokens()
	return &connection{a, connect.Connection{Client: client, Env: env, Home: a.home, Tokens: tokens}}, err
}

// tokens are those of this home folder.
type tokens struct {
	*app
	secrets *config.Secrets // nil: there are none yet
}

func (a *app) tokens() (*tokens, error) {
	secrets, err := a.knownSecrets()
	return &tokens{a, secrets}, err
}

// Verify implements [connect.Tokens].
func (t *tokens) Verify(token string) (client string, ok bool) {
	if t.secrets == nil {
		return "", false
	}
	return t.secrets.Verify(token)
}

// Has implements [connect.Tokens].
func (t *tokens) Has(client string) bool {
	return t.secrets != nil && slices.ContainsFunc(t.secrets.Clients(), func(one config.Client) bool {
		return one.Name == client
	})
}

// Fresh implements [connect.Tokens]. Replacing a token is confirmed, since its holder can act as the client; a first
// one is not: without one a client may attach over the socket by that name anyway. The relay reads again who has a
// token, and writes what it finds into the audit log.
func (t *tokens) Fresh(ctx context.Context, client string) (token string, err error) {
	t.startsRelay = true
	if err := t.reach(ctx); err != nil {
		return "", fmt.Errorf("nothing was changed, because it could not be written into the audit log: %w", err)
	}
	if t.Has(client) {
		return t.rotateToken(ctx, client, "")
	}
	if t.secrets, err = config.OpenSecrets(t.home); err != nil {
		return "", err
	}
	if token, err = t.secrets.Add(client); err != nil {
		return "", err
	}
	return token, t.reloadPlugins(ctx)
}

// Revoke implements [connect.Tokens].
func (t *tokens) Revoke(ctx context.Context, client string) error {
	t.startsRelay = true
	return t.revokeClient(ctx, client)
}

func (a *app) connect() *cobra.Command {
	var print, link bool
	var toolset string
	cmd := a.withJSON(&cobra.Command{
		Use:   "connect CLIENT",
		Short: "Write tabrelay into an MCP client's configuration",
		Long: "Write tabrelay into the configuration of one of: " + strings.Join(connect.Names(), ", ") + ".\n" +
			"The file as it was is kept beside it, with .before-tabrelay at the end of its name.\n\n" +
			"--link prints an address instead, for people who do not have tabrelay yet. Whoever opens it is asked by " +
			"the\nclient whether to add it, and the client gets tabrelay from npm. It is for one of: " +
			strings.Join(connect.LinkNames(), ", ") + ".",
		ValidArgs: connect.Names(),
		Args:      cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			if link {
				return a.printLink(args[0], toolset)
			}
			c, err := a.connection(args[0])
			if err != nil {
				return err
			}
			var chosen *string
			if cmd.Flags().Changed("toolset") { // an empty one takes the choice back
				key, err := parseToolset(toolset)
				if err != nil {
					return err
				}
				chosen = &key
			}
			if print {
				return c.printEntry(chosen)
			}
			return c.writeEntry(cmd.Context(), chosen)
		},
	})
	cmd.Flags().BoolVar(&print, "print", false, "print the entry instead of writing it")
	cmd.Flags().BoolVar(&link, "link", false, "print an address that adds tabrelay to this client")
	cmd.Flags().StringVar(&toolset, "toolset", "", toolsetUsage)
	return cmd
}

// printLink shows the address by which others add tabrelay to their client.
func (a *app) printLink(name, toolset string) error {
	link, ok := connect.FindLink(name)
	if !ok {
		return usage("there is no link for the client %q", name).
			hinting("there are links for: " + strings.Join(connect.LinkNames(), ", "))
	}
	chosen, err := parseToolset(toolset)
	if err != nil {
		return err
	}
	address := link.Address(chosen)
	if a.json {
		return a.printJSON(map[string]any{"client": name, "link": address})
	}
	a.printf("%s\n", address)
	// Until the first release nobody owns the name, and whoever takes it would be run by the client.
	a.notef("Do not give it away before tabrelay is on npm: until then the name there is nobody's.\n")
	return nil
}

// parseToolset is the key of a toolset that a person has written.
func parseToolset(text string) (string, error) {
	chosen, err := registry.ParseToolset(text)
	if err != nil {
		return "", usage("%w", err).hinting("for example: --toolset gateway, --toolset mediawiki,browser")
	}
	return chosen.Key, nil
}

// writeEntry connects a client, and says so.
func (c *connection) writeEntry(ctx context.Context, toolset *string) error {
	done, err := c.Write(ctx, toolset)
	if err != nil {
		return err
	}
	if done.Instead != "" {
		c.notef("%s was connected to the relay of %s, and is now connected to that of "+
			"%s.\n", c.Title, done.Instead, c.home)
	}
	if c.json {
		return c.printChange(done.Change)
	}
	if !done.Changed {
		c.notef("%s is connected already: %s\n", c.Title, done.File)
		return nil
	}
	c.notef("%s is connected: %s\n", c.Title, done.File)
	if done.Backup != "" {
		c.notef("The file as it was: %s\n", done.Backup)
	}
	c.notef("Next: %s.\n", c.Restart)
	return nil
}

// printChange is what happened to a client's file, for programs.
func (c *connection) printChange(change connect.Change) error {
	return c.printJSON(map[string]any{"client": c.Name, "file": change.File, "copy": change.Backup,
		"changed": change.Changed, "removed": change.Removed})
}

// printEntry shows what connect would write, and changes nothing. A client that has no token yet is shown without one:
// the relay knows it by its name then.
func (c *connection) printEntry(toolset *string) error {
	server, err := c.Server()
	if err != nil {
		return err
	}
	old, _, unreadable := c.Entry(c.Env)
	if server.Toolset = old.Toolset; toolset != nil {
		server.Toolset = *toolset
	}
	note := ""
	switch {
	case unreadable == nil && c.HoldsToken(old):
		server.Token = old.Token
	case c.Tokens.Has(c.Name):
		server.Token = "…"
		note = fmt.Sprintf("%s has a token, which cannot be shown again. tabrelay clients rotate %s makes a new one.\n",
			c.Title, c.Name)
	default:
		note = fmt.Sprintf("Without a token the relay knows the client by its name. To add one: tabrelay clients add "+
			"%s prints it; it goes into env as TABRELAY_TOKEN.\n", c.Name)
	}
	c.notef("For %s:\n", c.File(c.Env))
	c.printf("%s", c.Print(server))
	c.notef("%s", note)
	return nil
}

func (a *app) disconnect() *cobra.Command {
	return a.withJSON(&cobra.Command{
		Use:       "disconnect CLIENT",
		Short:     "Remove tabrelay from an MCP client's configuration, and revoke its token",
		ValidArgs: connect.Names(),
		Args:      cobra.ExactArgs(1),
		RunE: func(cmd *cobra.Command, args []string) error {
			c, err := a.connection(args[0])
			if err != nil {
				return err
			}
			return c.removeEntry(cmd.Context())
		},
	})
}

// removeEntry disconnects a client, and says so.
func (c *connection) removeEntry(ctx context.Context) error {
	change, err := c.Remove(ctx)
	if foreign, ok := errors.AsType[*connect.ForeignError](err); ok {
		return failed("%w", err).hinting(foreign.Hint())
	}
	if err != nil {
		return err
	}
	if c.json {
		return c.printChange(change)
	}
	c.noteDisconnected(change)
	return nil
}

func (c *connection) noteDisconnected(change connect.Change) {
	switch {
	case change.Removed:
		c.notef("%s is disconnected: %s had nothing else in it, and is removed\n", c.Title, change.File)
	case change.Changed:
		c.notef("%s is disconnected: %s\n", c.Title, change.File)
	default:
		c.notef("%s was not connected.\n", c.Title)
	}
}

func (a *app) pair() *cobra.Command {
	var rotate bool
	cmd := &cobra.Command{
		Use: "pair", Short: "Print a one-time string that pairs an extension from a store",
		Long: "Print a string that pairs an extension which was not loaded from tabrelay's own folder, for example " +
			"from a store.\n" +
			"Paste it into the extension's side panel. It is valid for five minutes and one use; a new one replaces " +
			"it.\n" +
			"An extension that `tabrelay up` has prepared needs none.\n\n" +
			"--rotate replaces the secret that relay and extensions share: connections made with the old one end, " +
			"the extension in\n" +
			"tabrelay's own folder connects again by itself, and every other one needs a new string.",
		RunE: func(cmd *cobra.Command, _ []string) error {
			if rotate {
				return a.rotatePairing(cmd.Context())
			}
			var p httpapi.Pairing
			if err := a.post(cmd.Context(), "/api/v1/pairing", struct{}{}, &p); err != nil {
				return err
			}
			if a.json {
				return a.printJSON(p)
			}
			a.printf("%s\n", p.Text)
			a.notef("Paste it into the side panel of the extension by %s. It works once.\n",
				p.Until.Local().Format(time.TimeOnly))
			return nil
		},
	}
	cmd.Flags().BoolVar(&rotate, "rotate", false, "replace the pairing secret")
	return a.withJSON(cmd)
}

func (a *app) rotatePairing(ctx context.Context) error {
	a.startsRelay = true
	var done httpapi.Rotated
	if err := a.post(ctx, "/api/v1/pairing/rotate", struct{}{}, &done); err != nil {
		return err
	}
	if a.json {
		return a.printJSON(done)
	}
	a.notef("The pairing secret was replaced. The extension in %s has the new one; other extensions need a new "+
		"string: "+
		"tabrelay pair\n",
		done.Folder)
	return nil
}
