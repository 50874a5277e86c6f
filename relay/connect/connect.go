// Package connect writes tabrelay into the configuration files of MCP clients, and takes it out again. What else
// stands in such a file stays as it is: order, spacing and comments included. A file that cannot be understood
// is not touched.
package connect

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2/maybe"
)

// entryName is the name under which a client knows the relay.
const entryName = "tabrelay"

// Server is what a client runs to reach the relay.
type Server struct {
	Command string // absolute path of the binary
	Token   string // for TABRELAY_TOKEN
	Home    string // for TABRELAY_HOME; empty: the default

	client string // for --client: the name of the client it is written for
}

// args are the arguments of the command.
func (s Server) args() []string { return []string{"mcp", "--client", s.client} }

// env is the environment of the command. The token is here and not among the arguments, which every user of a
// machine can read.
func (s Server) env() map[string]string {
	env := map[string]string{"TABRELAY_TOKEN": s.Token}
	if s.Home != "" {
		env["TABRELAY_HOME"] = s.Home
	}
	return env
}

// BrokenError says that a client's file cannot be understood. It was left as it is.
type BrokenError struct {
	File string
	Err  error
}

// Error says why.
func (e *BrokenError) Error() string { return fmt.Sprintf("%s is not changed: %v", e.File, e.Err) }

// Hint is the next step.
func (e *BrokenError) Hint() string {
	return "repair the file, or add the entry by hand; tabrelay connect CLIENT --print shows it"
}

// Unwrap returns why.
func (e *BrokenError) Unwrap() error { return e.Err }

// Change is what happened to a file.
type Change struct {
	File    string
	Backup  string // copy of the file as it was before; empty when there was none, or nothing changed
	Changed bool
}

// Entry returns what a client's file says of the relay now. found is false when it says nothing, or there is no
// file.
func (c Client) Entry(env Environment) (s Server, found bool, err error) {
	doc, _, err := c.read(c.File(env))
	if err != nil {
		return s, false, err
	}
	text, found := doc.entry(append(c.path, entryName))
	if !found {
		return s, false, nil
	}
	return c.parse(text), true, nil
}

// Print is the part of the file that names the relay.
func (c Client) Print(s Server) string {
	s.client = c.Name
	doc, err := c.form(nil)
	if err == nil {
		err = doc.put(append(c.path, entryName), c.entry(s))
	}
	if err != nil {
		panic("connect: an empty file takes no entry: " + err.Error()) // there is nothing in it to be in the way
	}
	return string(doc.pack())
}

// Connect writes the entry.
func (c Client) Connect(env Environment, s Server) (Change, error) {
	s.client = c.Name
	return c.edit(env, func(doc document) error { return doc.put(append(c.path, entryName), c.entry(s)) })
}

// Disconnect takes the entry out.
func (c Client) Disconnect(env Environment) (Change, error) {
	return c.edit(env, func(doc document) error { return doc.remove(append(c.path, entryName)) })
}

func (c Client) edit(env Environment, change func(document) error) (Change, error) {
	file := c.File(env)
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real // the link stays a link
	}
	doc, fresh, err := c.read(file)
	if err != nil {
		return Change{File: file}, err
	}
	before := bytes.Clone(doc.pack())
	if err := change(doc); err != nil {
		return Change{File: file}, &BrokenError{File: file, Err: err}
	}
	if bytes.Equal(doc.pack(), before) {
		return Change{File: file}, nil
	}
	return save(file, doc.pack(), fresh)
}

// save replaces the file, for its owner alone, because it holds a token now, and keeps a copy.
func save(file string, text []byte, fresh bool) (Change, error) {
	done := Change{File: file, Changed: true}
	mode := fs.FileMode(0o600)
	if fresh {
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			return done, fmt.Errorf("cannot make the folder of %s: %w", file, err)
		}
	} else {
		info, err := os.Stat(file)
		if err != nil {
			return done, fmt.Errorf("cannot look at %s: %w", file, err)
		}
		old, err := os.ReadFile(file)
		if err == nil {
			done.Backup, mode = file+".before-tabrelay", info.Mode().Perm()&^0o077
			err = errors.Join(maybe.WriteFile(done.Backup, old, mode), os.Chmod(file, mode))
		}
		if err != nil {
			return done, fmt.Errorf("%s is not changed, because it cannot be copied first: %w", file, err)
		}
	}
	if err := maybe.WriteFile(file, text, mode); err != nil {
		return done, fmt.Errorf("cannot write %s: %w", file, err)
	}
	return done, nil
}

// document is the text of a client's file, of which one entry can be changed.
type document interface {
	entry(path []string) (asJSON []byte, found bool)
	put(path []string, value any) error
	remove(path []string) error
	pack() []byte
}

// form reads the text of a file; an empty one is made.
func (c Client) form(text []byte) (document, error) {
	if c.toml {
		return parseTOML(text)
	}
	return parseJSON(text)
}

// read parses a file. It is fresh when there is none, or nothing in it.
func (c Client) read(file string) (doc document, fresh bool, err error) {
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, false, fmt.Errorf("cannot read %s: %w", file, err)
	}
	fresh = len(bytes.TrimSpace(text)) == 0
	if fresh {
		text = nil
	}
	if doc, err = c.form(text); err != nil {
		return nil, false, &BrokenError{File: file, Err: err}
	}
	return doc, fresh, nil
}
