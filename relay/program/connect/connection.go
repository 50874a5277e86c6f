package connect

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/lib/diskfile"
	"tabrelay/relay/state/config"
)

// Tokens are what lets clients into a relay.
type Tokens interface {
	// Verify names the client that a token belongs to.
	Verify(token string) (client string, ok bool)
	// Has reports whether a client has a token.
	Has(client string) bool
	// Fresh makes a token for a client. One that it had is not good any more.
	Fresh(ctx context.Context, client string) (token string, err error)
	// Revoke shuts a client out.
	Revoke(ctx context.Context, client string) error
}

// Connection is a client of this machine and the relay that it is to reach, or does. The command line and the side
// panel both connect and disconnect clients with it.
type Connection struct {
	Client
	Env    Environment
	Home   config.Home // of the relay
	Tokens Tokens
}

// Server is the command that the client is to run to reach this relay, without its token.
func (c Connection) Server() (Server, error) {
	path, err := join.Executable()
	s := Server{Command: path}
	if home, unknown := config.DefaultHome(); unknown != nil || !diskfile.Same(string(home), string(c.Home)) {
		s.Home = string(c.Home)
	}
	return s, err
}

// HomeOf is the home folder that a client's entry is for.
func HomeOf(entry Server) string {
	if entry.Home != "" {
		return entry.Home
	}
	home, err := config.DefaultHome()
	if err != nil {
		return "" // then no entry is for it
	}
	return string(home)
}

// Own reports whether an entry is for the relay of this home folder.
func Own(entry Server, home config.Home) bool { return diskfile.Same(HomeOf(entry), string(home)) }

// HoldsToken reports whether the token of an entry is the client's own, and valid.
func (c Connection) HoldsToken(entry Server) bool {
	name, ok := c.Tokens.Verify(entry.Token)
	return ok && name == c.Name
}

// Written is what connecting a client has done.
type Written struct {
	Change
	Instead string // the home folder of the relay that it was connected to before; empty: none, or this one
}

// Write connects the client. A token that is valid is kept, so that connecting twice changes nothing, and so is the
// toolset that its entry asks for, unless another one is given.
func (c Connection) Write(ctx context.Context, toolset *string) (done Written, err error) {
	old, found, err := c.Entry(c.Env) // also finds a broken file before a token is made
	if err != nil {
		return done, err
	}
	server, err := c.Server()
	if err != nil {
		return done, err
	}
	if server.Toolset = old.Toolset; toolset != nil {
		server.Toolset = *toolset
	}
	if found && !Own(old, c.Home) {
		done.Instead = HomeOf(old)
	}
	server.Token = old.Token
	if !c.HoldsToken(old) {
		if server.Token, err = c.Tokens.Fresh(ctx, c.Name); err != nil {
			return done, err
		}
	}
	done.Change, err = c.Connect(c.Env, server)
	return done, err
}

// ForeignError says that a client is connected to a relay of another home folder, which is not this one's to undo.
type ForeignError struct {
	Client Client
	Home   string
}

// Error says so.
func (e *ForeignError) Error() string {
	return fmt.Sprintf("%s is connected to the relay of another home folder, %s; nothing was changed", e.Client.Title,
		e.Home)
}

// Hint is the next step.
func (e *ForeignError) Hint() string {
	return fmt.Sprintf("TABRELAY_HOME=%q tabrelay disconnect %s", e.Home, e.Client.Name)
}

// Remove disconnects the client and revokes its token. The entry of another home folder stays, as a [ForeignError],
// unless that folder is gone.
func (c Connection) Remove(ctx context.Context) (Change, error) {
	entry, found, err := c.Entry(c.Env)
	if err != nil {
		return Change{}, err
	}
	if found && !Own(entry, c.Home) {
		if other := HomeOf(entry); present(other) {
			return Change{}, &ForeignError{c.Client, other}
		}
	}
	change, err := c.Disconnect(c.Env)
	if err == nil && c.Tokens.Has(c.Name) {
		err = c.Tokens.Revoke(ctx, c.Name)
	}
	return change, err
}

func present(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// State is how a client of this machine is connected, and what connecting it would change.
type State struct {
	Name      string `json:"name"`  // as in tabrelay connect NAME
	Title     string `json:"title"` // as its makers write it
	Found     bool   `json:"found"` // it has been started on this machine, as what it keeps there shows
	File      string `json:"file"`  // that connecting writes; where that is a link, what it leads to
	Connected bool   `json:"connected"`
	// What the person does so that it reads its file again.
	Restart string `json:"restart"`
	// The copy of the file as it was: one that there is or, of a client that is not connected, will be.
	Copy string `json:"copy,omitempty"`
	// It has an entry that connecting replaces: one that does not reach this relay.
	Replaces bool `json:"replaces,omitempty"`
	// The home folder of another relay, which that entry is for.
	Elsewhere string `json:"elsewhere,omitempty"`
	// It has a token that is not in its file, and that connecting replaces: whatever uses it loses access.
	Renews bool `json:"renews,omitempty"`
	// Why the file cannot be used, and what to do about it. It is never overwritten.
	Problem string `json:"problem,omitempty"`
	Hint    string `json:"hint,omitempty"`
}

// State looks at the client's file, and changes nothing.
func (c Connection) State() State {
	s := State{Name: c.Name, Title: c.Title, Restart: c.Restart, File: c.realFile(c.Env), Found: c.found()}
	t, err := c.open(c.Env)
	if err == nil {
		err = c.changeable(t)
	}
	if err != nil {
		s.Problem, s.Hint = err.Error(), "make the file readable for you"
		if broken, ok := errors.AsType[*BrokenError](err); ok {
			s.Hint = broken.Hint()
		}
		return s
	}
	text, had := t.doc.entry(c.entryPath())
	entry := Server{}
	if had {
		entry = c.parse(text)
	}
	holds := had && c.HoldsToken(entry)
	s.Connected = had && Own(entry, c.Home) && c.starts(entry) &&
		(holds || entry.Token == "" && !c.Tokens.Has(c.Name))
	if entry.Command != "" && !Own(entry, c.Home) {
		s.Elsewhere = HomeOf(entry)
	}
	s.Replaces, s.Renews = had && !s.Connected, !s.Connected && !holds && c.Tokens.Has(c.Name)
	if kept := backupOf(t.file); !t.fresh && !had || had && present(kept) {
		s.Copy = kept
	}
	return s
}

// changeable says why an entry cannot be put into a file, if so.
func (c Client) changeable(t opened) error {
	trial, err := c.form(t.content())
	if err == nil {
		err = trial.put(c.entryPath(), c.entry(Server{client: c.Name}))
	}
	if err != nil {
		return &BrokenError{File: t.file, Err: err}
	}
	return nil
}

// starts reports whether the program of an entry is there, as far as its place is known: of a name alone, the client
// finds out itself.
func (c Client) starts(entry Server) bool {
	return entry.Command != "" && (!filepath.IsAbs(entry.Command) || present(entry.Command))
}

// found reports whether the client keeps something on this machine: its file or, unless that is in the person's own
// folder, the folder of it. Whether its program is in the PATH is not asked: a relay that a browser has started has
// another one than the person's terminal.
func (c Connection) found() bool {
	file := c.File(c.Env)
	folder := filepath.Dir(file)
	return c.Env.Present(file) || folder != filepath.Clean(c.Env.Home) && c.Env.Present(folder)
}
