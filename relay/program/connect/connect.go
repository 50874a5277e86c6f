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
	"slices"
	"strings"

	"tabrelay/relay/lib/diskfile"
	"tabrelay/relay/lib/lazyregexp"
)

// entryName is the name under which a client knows the relay.
const entryName = "tabrelay"

// Server is what a client runs to reach the relay.
type Server struct {
	Command string // absolute path of the binary
	Token   string // for TABRELAY_TOKEN
	Home    string // for TABRELAY_HOME; empty: the default
	Toolset string // for --toolset; empty: not given

	client string // for --client: the name of the client it is written for
}

// args are the arguments of the command.
func (s Server) args() []string {
	args := []string{"mcp", "--client", s.client}
	if s.Toolset != "" {
		args = append(args, "--toolset", s.Toolset)
	}
	return args
}

// toolsetIn is the toolset that the arguments of an entry ask for.
func toolsetIn(args []string) string {
	for i, arg := range args {
		if value, ok := strings.CutPrefix(arg, "--toolset="); ok {
			return value
		}
		if arg == "--toolset" && i+1 < len(args) {
			return args[i+1]
		}
	}
	return ""
}

// env is the environment of the command. The token is here and not among the arguments, which every user of a
// machine can read. Without one the relay knows the client by its name.
func (s Server) env() map[string]string {
	env := map[string]string{}
	if s.Token != "" {
		env["TABRELAY_TOKEN"] = s.Token
	}
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
	Backup  string // the copy that was made of the file as it was before; empty when none was
	Changed bool
	Removed bool // there was nothing else in the file, so it is gone
}

// Entry returns what a client's file says of the relay now. found is false when it says nothing, or there is no
// file.
func (c Client) Entry(env Environment) (s Server, found bool, err error) {
	t, err := c.open(env)
	if err != nil {
		return s, false, err
	}
	text, found := t.doc.entry(c.entryPath())
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
		err = doc.put(c.entryPath(), c.entry(s))
	}
	if err != nil {
		panic("connect: an empty file takes no entry: " + err.Error()) // there is nothing in it to be in the way
	}
	return string(doc.pack())
}

// Connect writes the entry. A file without one is copied first: the copy is the file as it was before tabrelay.
func (c Client) Connect(env Environment, s Server) (Change, error) {
	s.client = c.Name
	t, err := c.open(env)
	if err != nil {
		return t.unchanged(), err
	}
	_, had := t.doc.entry(c.entryPath())
	before := bytes.Clone(t.doc.pack())
	if err := t.doc.put(c.entryPath(), c.entry(s)); err != nil {
		return t.unchanged(), &BrokenError{File: t.file, Err: err}
	}
	if bytes.Equal(t.doc.pack(), before) {
		return t.unchanged(), nil
	}
	done := Change{File: t.file, Changed: true}
	if t.fresh {
		if err := os.MkdirAll(filepath.Dir(t.file), 0o700); err != nil {
			return t.unchanged(), fmt.Errorf("cannot make the folder of %s: %w", t.file, err)
		}
	} else if !had {
		done.Backup = backupOf(t.file)
		if err := writeFile(done.Backup, t.text, t.mode); err != nil {
			return t.unchanged(), fmt.Errorf("%s is not changed, because it cannot be copied first: %w", t.file, err)
		}
	}
	return done, writeFile(t.file, t.doc.pack(), t.mode&^0o077) // it holds a token from now on
}

// Disconnect removes the entry. A file that was not changed otherwise since it was connected gets its former content,
// byte for byte; one that was made for the entry is deleted. The backup stays.
func (c Client) Disconnect(env Environment) (Change, error) {
	t, err := c.open(env)
	if err != nil {
		return t.unchanged(), err
	}
	entry, found := t.doc.entry(c.entryPath())
	if !found {
		return t.unchanged(), nil
	}
	before := c.before(t.file, c.parse(entry))
	if err := c.withdraw(t.doc, before); err != nil {
		return t.unchanged(), &BrokenError{File: t.file, Err: err}
	}
	done, text, mode := Change{File: t.file, Changed: true}, t.doc.pack(), t.mode
	switch {
	case before != nil:
		mode = before.mode
		if bytes.Equal(text, before.withdrawn) {
			text = before.text
		}
	case t.doc.empty():
		done.Removed = true
		if err := os.Remove(t.file); err != nil {
			return t.unchanged(), fmt.Errorf("cannot remove %s: %w", t.file, err)
		}
		return done, nil
	}
	return done, writeFile(t.file, text, mode)
}

// withdraw removes the entry, and the objects around it that are empty then and are not in the backup.
func (c Client) withdraw(doc document, before *copied) error {
	if err := doc.remove(c.entryPath()); err != nil {
		return err
	}
	for n := len(c.path); n > 0; n-- {
		if before == nil || !before.doc.has(c.path[:n]) {
			doc.prune(c.path[:n])
		}
	}
	return nil
}

// copied is the backup of a client's file, from before the entry was written.
type copied struct {
	opened
	withdrawn []byte // text with the entry put in and removed again, to see whether there were other changes
}

// before reads the backup of a file; nil when there is none, it cannot be parsed, or it has the entry already.
func (c Client) before(file string, s Server) *copied {
	t, err := c.openFile(backupOf(file))
	if err != nil || t.fresh {
		return nil
	}
	if _, had := t.doc.entry(c.entryPath()); had {
		return nil
	}
	b := &copied{opened: t}
	again, err := c.form(t.text)
	if err != nil {
		return nil
	}
	s.client = c.Name
	if again.put(c.entryPath(), c.entry(s)) == nil && c.withdraw(again, b) == nil {
		b.withdrawn = again.pack()
	}
	return b
}

// Backup is the copy of a client's file.
type Backup struct {
	File  string
	Token bool // it holds a token of some relay
	Home  string
	Entry bool // it has an entry, of the relay whose home folder is Home
}

// Backup returns the copy of a client's file, if there is one.
func (c Client) Backup(env Environment) (b Backup, found bool) {
	b.File = backupOf(c.realFile(env))
	text, err := os.ReadFile(b.File)
	if err != nil {
		return b, false
	}
	b.Token = token.Match(text)
	if doc, err := c.form(text); err == nil {
		if entry, had := doc.entry(c.entryPath()); had {
			b.Home, b.Entry = c.parse(entry).Home, true
		}
	}
	return b, true
}

// token is how tokens of relays begin.
var token = lazyregexp.New(`tabrelay_[0-9a-f]{16,}`)

func backupOf(file string) string { return file + ".before-tabrelay" }

func (c Client) entryPath() []string { return append(slices.Clone(c.path), entryName) }

// writeFile replaces a file in one step.
func writeFile(file string, text []byte, mode fs.FileMode) error {
	if err := diskfile.Write(file, text, mode); err != nil {
		return fmt.Errorf("cannot write %s: %w", file, err)
	}
	if err := os.Chmod(file, mode); err != nil { // whatever the umask is
		return fmt.Errorf("cannot set the permissions of %s: %w", file, err)
	}
	return nil
}

// document is the text of a client's file, of which one entry can be changed.
type document interface {
	entry(path []string) (asJSON []byte, found bool)
	put(path []string, value any) error
	remove(path []string) error
	has(path []string) bool
	prune(path []string) // removes the object at path when it is empty
	empty() bool         // it says nothing
	pack() []byte
}

// form reads the text of a file; an empty one is made.
func (c Client) form(text []byte) (document, error) {
	if c.toml {
		return parseTOML(text)
	}
	return parseJSON(text)
}

// opened is a file that was read.
type opened struct {
	file  string
	text  []byte
	doc   document
	fresh bool // there is none, or nothing in it
	mode  fs.FileMode
}

func (t opened) unchanged() Change { return Change{File: t.file} }

// content is the text, nil when there is nothing in it.
func (t opened) content() []byte {
	if t.fresh {
		return nil
	}
	return t.text
}

// realFile is the client's file; where that is a link, what it leads to.
func (c Client) realFile(env Environment) string {
	file := c.File(env)
	if real, err := filepath.EvalSymlinks(file); err == nil {
		return real // the link stays a link
	}
	return file
}

// open reads a client's file.
func (c Client) open(env Environment) (opened, error) { return c.openFile(c.realFile(env)) }

func (c Client) openFile(file string) (t opened, err error) {
	t = opened{file: file, mode: 0o600}
	t.text, err = os.ReadFile(file)
	switch info, statErr := os.Stat(file); {
	case errors.Is(err, fs.ErrNotExist):
	case err != nil:
		return t, fmt.Errorf("cannot read %s: %w", file, err)
	case statErr != nil:
		return t, fmt.Errorf("cannot look at %s: %w", file, statErr)
	default:
		t.mode = info.Mode().Perm()
	}
	t.fresh = len(bytes.TrimSpace(t.text)) == 0
	if t.doc, err = c.form(t.content()); err != nil {
		return t, &BrokenError{File: file, Err: err}
	}
	return t, nil
}
