package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/program/connect"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/state/config"
)

// connection is an MCP client whose configuration is read or changed.
type connection struct {
	*app
	connect.Client
	env     connect.Environment
	secrets *config.Secrets // nil: there are none yet
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
	secrets, err := a.knownSecrets()
	return &connection{a, client, env, secrets}, err
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
			server, err := a.server()
			if err == nil && cmd.Flags().Changed("toolset") {
				server.Toolset, err = parseToolset(toolset) // an empty one takes the choice back
			} else if old, found, unreadable := c.Entry(c.env); err == nil && unreadable == nil && found {
				server.Toolset = old.Toolset
			}
			switch {
			case err != nil:
				return err
			case print:
				return c.printEntry(server)
			}
			return c.writeEntry(cmd.Context(), server)
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

// server is the command that a client is to run, without its token.
func (a *app) server() (connect.Server, error) {
	path, err := join.Executable()
	s := connect.Server{Command: path}
	if os.Getenv("TABRELAY_HOME") != "" {
		s.Home = string(a.home)
	}
	return s, err
}

// writeEntry connects a client. A valid token is kept, so that connecting twice changes nothing.
func (c *connection) writeEntry(ctx context.Context, server connect.Server) error {
	old, found, err := c.Entry(c.env) // also finds a broken file before a token is made
	if err != nil {
		return err
	}
	if found && !c.ownEntry(old) {
		c.notef("%s was connected to the relay of %s, and is now connected to that of "+
			"%s.\n", c.Title, entryHome(old), c.home)
	}
	server.Token = old.Token
	if !c.holdsToken(old) {
		if server.Token, err = c.freshToken(ctx); err != nil {
			return err
		}
	}
	change, err := c.Connect(c.env, server)
	if err != nil {
		return err
	}
	if c.json {
		return c.printChange(change)
	}
	if !change.Changed {
		c.notef("%s is connected already: %s\n", c.Title, change.File)
		return nil
	}
	c.notef("%s is connected: %s\n", c.Title, change.File)
	if change.Backup != "" {
		c.notef("The file as it was: %s\n", change.Backup)
	}
	c.notef("Next: %s.\n", c.Restart)
	return nil
}

// printChange is what happened to a client's file, for programs.
func (c *connection) printChange(change connect.Change) error {
	return c.printJSON(map[string]any{"client": c.Name, "file": change.File, "copy": change.Backup,
		"changed": change.Changed, "removed": change.Removed})
}

// holdsToken reports whether the token of an entry is the client's own, and valid.
func (c *connection) holdsToken(entry connect.Server) bool {
	if c.secrets == nil {
		return false
	}
	name, ok := c.secrets.Verify(entry.Token)
	return ok && name == c.Name
}

// hasToken reports whether the client has a token.
func (c *connection) hasToken() bool {
	return c.secrets != nil && slices.ContainsFunc(c.secrets.Clients(), func(one config.Client) bool {
		return one.Name == c.Name
	})
}

// freshToken makes a token for a client that has no valid one. Replacing a token is confirmed, since its holder can act
// as the client; a first one is not: without one a client may attach over the socket by that name anyway. The relay
// reads again who has a token, and writes what it finds into the audit log.
func (c *connection) freshToken(ctx context.Context) (token string, err error) {
	c.startsRelay = true
	if err := c.reach(ctx); err != nil {
		return "", fmt.Errorf("nothing was changed, because it could not be written into the audit log: %w", err)
	}
	if c.hasToken() {
		return c.rotateToken(ctx, c.Name)
	}
	if c.secrets, err = config.OpenSecrets(c.home); err != nil {
		return "", err
	}
	if token, err = c.secrets.Add(c.Name); err != nil {
		return "", err
	}
	return token, c.reloadPlugins(ctx)
}

// printEntry shows what connect would write, and changes nothing. A client that has no token yet is shown without one:
// the relay knows it by its name then.
func (c *connection) printEntry(server connect.Server) error {
	old, _, err := c.Entry(c.env)
	note := ""
	switch {
	case err == nil && c.holdsToken(old):
		server.Token = old.Token
	case c.hasToken():
		server.Token = "…"
		note = fmt.Sprintf("%s has a token, which cannot be shown again. tabrelay clients rotate %s makes a new one.\n",
			c.Title, c.Name)
	default:
		note = fmt.Sprintf("Without a token the relay knows the client by its name. To add one: tabrelay clients add "+
			"%s prints it; it goes into env as TABRELAY_TOKEN.\n", c.Name)
	}
	c.notef("For %s:\n", c.File(c.env))
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

// entryHome is the home folder that a client's entry is for.
func entryHome(s connect.Server) string {
	if s.Home != "" {
		return s.Home
	}
	home, err := config.DefaultHome()
	if err != nil {
		return "" // then no entry is for it
	}
	return string(home)
}

// ownEntry reports whether a client's entry is for the relay of this home folder.
func (a *app) ownEntry(s connect.Server) bool { return sameFolder(entryHome(s), string(a.home)) }

// sameFolder reports whether two paths name one folder.
func sameFolder(a, b string) bool {
	if filepath.Clean(a) == filepath.Clean(b) {
		return true
	}
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// removeEntry disconnects a client. The entry of another home folder is not ours to remove, unless that is gone.
func (c *connection) removeEntry(ctx context.Context) error {
	entry, found, err := c.Entry(c.env)
	if err != nil {
		return err
	}
	if found && !c.ownEntry(entry) {
		other := entryHome(entry)
		if _, err := os.Stat(other); err == nil {
			return failed("%s is connected to the relay of another home folder, %s; nothing was changed", c.Title,
				other).hinting(fmt.Sprintf("TABRELAY_HOME=%q tabrelay disconnect %s", other, c.Name))
		}
	}
	change, err := c.Disconnect(c.env)
	if err != nil {
		return err
	}
	if c.hasToken() {
		c.startsRelay = true
		if err := c.revokeClient(ctx, c.Name); err != nil {
			return err
		}
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
