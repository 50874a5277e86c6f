package config

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/lib/async"
	"tabrelay/relay/lib/diskfile"
	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/road/fault"
)

// Home is the folder everything of one person lives in.
type Home string

// ResolveHome is $TABRELAY_HOME, else the default. The folder need not exist yet.
func ResolveHome() (Home, error) {
	if dir := os.Getenv("TABRELAY_HOME"); dir != "" {
		abs, err := filepath.Abs(dir)
		return Home(abs), err
	}
	return DefaultHome()
}

// DefaultHome is .tabrelay in the person's home folder.
func DefaultHome() (Home, error) {
	dir, err := os.UserHomeDir()
	if err != nil {
		return "", fmt.Errorf("cannot determine the home folder: %w; set TABRELAY_HOME", err)
	}
	abs, err := filepath.Abs(filepath.Join(dir, ".tabrelay")) // HOME may be relative
	return Home(abs), err
}

func (h Home) path(name string) string { return filepath.Join(string(h), name) }

// Config is config.json.
func (h Home) Config() string { return h.path("config.json") }

// Schema is config.schema.json, which config.json refers to.
func (h Home) Schema() string { return h.path("config.schema.json") }

// Secrets is secrets.json.
func (h Home) Secrets() string { return h.path("secrets.json") }

// Extension is the unpacked extension, unless extensionDir says otherwise.
func (h Home) Extension() string { return h.path("extension") }

// ExtensionFolder is where the unpacked extension is, in a home folder with this configuration.
func (c Config) ExtensionFolder(h Home) string { return cmp.Or(c.ExtensionDir, h.Extension()) }

// ExtensionShown is that folder in a sentence for agents, who learn no folders of this machine, after “the folder”:
// below the person's own folder as the dialogs of this system take it; else which setting of the person's names it.
func (c Config) ExtensionShown(h Home) string {
	folder := c.ExtensionFolder(h)
	if person, err := os.UserHomeDir(); err == nil {
		if rel, err := filepath.Rel(person, folder); err == nil && filepath.IsLocal(rel) && rel != "." {
			own := "~"
			if runtime.GOOS == "windows" {
				own = "%USERPROFILE%"
			}
			return own + string(filepath.Separator) + rel
		}
	}
	if c.ExtensionDir != "" {
		return "that extensionDir names in config.json"
	}
	return "named extension in TABRELAY_HOME"
}

// Plugins is the folder of installed plugins.
func (h Home) Plugins() string { return h.path("plugins") }

// Workers has a folder for each program that is an agent, to work in.
func (h Home) Workers() string { return h.path("workers") }

// Fleet has what `tabrelay fleet up` needs on this machine: keys, and the data of its server.
func (h Home) Fleet() string { return h.path("fleet") }

// Database is the SQLite file.
func (h Home) Database() string { return h.path("tabrelay.db") }

// AuditPosition says how far the audit log was written.
func (h Home) AuditPosition() string { return h.path("audit.position") }

// Browser is where a managed browser keeps its profile: the one of a name, or the one without a name.
func (h Home) Browser(name string) string {
	if name == "" {
		return h.path("browser")
	}
	return filepath.Join(h.path("browser"), "named", name)
}

// Browsers are the names of the managed browsers that may have been started: first "", of the one without a name.
func (h Home) Browsers() []string {
	names := []string{""}
	entries, _ := os.ReadDir(filepath.Dir(h.Browser("-")))
	for _, entry := range entries {
		if entry.IsDir() && browserNameForm.MatchString(entry.Name()) {
			names = append(names, entry.Name())
		}
	}
	return names
}

// browserNameForm is the form of a managed browser's name: that of a folder on each system, in the browser's command
// line, and of what agents pass as profile.
var browserNameForm = lazyregexp.New(`^[a-z0-9][a-z0-9-]{0,31}$`)

// IsBrowserName reports whether a managed browser can have a name.
func IsBrowserName(name string) bool {
	return browserNameForm.MatchString(name) && filepath.IsLocal(name) // Windows has names that are devices
}

// NativeHost is what browsers start to find the relay.
func (h Home) NativeHost() string { return h.path("native-host") }

// Log is the relay's log when it runs in the background.
func (h Home) Log() string { return h.path("relay.log") }

// Lock elects the relay.
func (h Home) Lock() string { return h.path("relay.lock") }

// Socket is where tabrelay mcp attaches.
func (h Home) Socket() string { return h.path("relay.sock") }

// State says where the running relay listens.
func (h Home) State() string { return h.path("relay.json") }

// PluginList is plugins.json: which plugins a person added.
func (h Home) PluginList() string { return filepath.Join(h.Plugins(), "plugins.json") }

// OldState are the files in which earlier versions kept what is in the database now: which browser profiles were
// connected, when clients were here last, and where sessions worked. A start takes them over and removes them.
func (h Home) OldState() []string {
	return []string{h.path("profiles.json"), h.path("clients.json"), h.path("lanes.json")}
}

// starter is the first config.json: nothing set, and where to read on.
const starter = `{
  // Settings of tabrelay. All of them: docs/configuration.md, or let your editor complete them.
  "$schema": "./config.schema.json",
}
`

// Create makes the folder, closed to other users, and writes the schema. The first time it writes a config.json too;
// later none: one that is gone is missed by the relay that runs with it, see [Reload].
func (h Home) Create() error {
	if err := diskfile.MakeFolder(string(h)); err != nil {
		return unwritable(fmt.Errorf("cannot make the home folder: %w", err))
	}
	if err := guarded(string(h)); err != nil {
		return err
	}
	schema, missing := os.ReadFile(h.Schema())
	if now := Schema(); missing != nil || !bytes.Equal(schema, now) {
		if err := diskfile.Write(h.Schema(), now, 0o600); err != nil {
			return unwritable(fmt.Errorf("cannot write %s: %w", h.Schema(), err))
		}
	}
	if !errors.Is(missing, fs.ErrNotExist) {
		return nil
	}
	f, err := os.OpenFile(h.Config(), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return nil
	}
	if err == nil {
		_, err = f.WriteString(starter)
		err = errors.Join(err, f.Close())
	}
	if err != nil {
		return unwritable(fmt.Errorf("cannot write %s: %w", h.Config(), err))
	}
	return nil
}

// ownFolders and ownFiles are what tabrelay makes in a home folder; locks, copies and logs have the names of files with
// more at the end.
var (
	ownFolders = []string{"extension", "plugins", "workers", "browser", "native-host",
		"fleet"}
	ownFiles = []string{"config.json", "config.schema.json", "secrets.json", "tabrelay.db", "audit.position",
		"rules.position", "relay.log", "relay.lock", "relay.sock", "relay.json", "profiles.json", "clients.json",
		"lanes.json"}
)

// isOwn reports whether tabrelay has made an entry of a home folder.
func isOwn(entry fs.DirEntry) bool {
	if entry.IsDir() {
		return slices.Contains(ownFolders, entry.Name())
	}
	name := strings.TrimPrefix(entry.Name(), ".") // a file that is being written
	return slices.ContainsFunc(ownFiles, func(own string) bool { return strings.HasPrefix(name, own) })
}

// Foreign are the entries of the home folder that tabrelay has not made.
func (h Home) Foreign() (names []string, err error) {
	entries, err := os.ReadDir(string(h))
	for _, entry := range entries {
		if !isOwn(entry) {
			names = append(names, entry.Name())
		}
	}
	return names, err
}

// removeTime is how long a program that is ending may go on writing into a folder that is removed.
const removeTime = 3 * time.Second

// Exists reports whether there is anything in the home folder that tabrelay has made.
func (h Home) Exists() bool {
	entries, _ := os.ReadDir(string(h))
	return slices.ContainsFunc(entries, isOwn)
}

// Remove removes what tabrelay has made in the home folder, and the folder itself if nothing else is in it. A folder
// that goes as a whole is first moved aside: no program finds half of it, and takes that for one to be completed.
func (h Home) Remove(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, removeTime)
	defer cancel()
	aside, moved := h.moveAside()
	for {
		err := os.RemoveAll(aside) // nothing where it is empty
		if !moved {
			err = h.remove()
		}
		if errors.Is(err, fs.ErrExist) && async.Sleep(ctx, 100*time.Millisecond) {
			continue
		}
		if err != nil && moved {
			_ = os.Rename(filepath.Join(aside, movedName), string(h)) // for the next attempt
		}
		return stillWritten(err)
	}
}

// movedName is the name of a home folder within the one it was moved to.
const movedName = "home"

// moveAside moves the home folder into a new one beside it, unless a part of it stays, it is a link, or it cannot be
// moved.
func (h Home) moveAside() (aside string, moved bool) {
	info, err := os.Lstat(string(h))
	if foreign, _ := h.Foreign(); err != nil || !info.IsDir() || len(foreign) > 0 {
		return "", false
	}
	if aside, err = os.MkdirTemp(filepath.Dir(string(h)), ".tabrelay-removed-*"); err != nil {
		return "", false
	}
	if err := os.Rename(string(h), filepath.Join(aside, movedName)); err != nil {
		_ = os.Remove(aside) // it is empty
		return "", false
	}
	return aside, true
}

// stillWritten names what was written into a folder while it was removed. Other errors stay as they are.
func stillWritten(err error) error {
	where, ok := errors.AsType[*fs.PathError](err)
	if !ok || !errors.Is(err, fs.ErrExist) {
		return err
	}
	names := []string{where.Path}
	if entries, _ := os.ReadDir(where.Path); len(entries) > 0 {
		names = nil
		for _, entry := range entries[:min(3, len(entries))] {
			names = append(names, filepath.Join(where.Path, entry.Name()))
		}
	}
	return fault.Hinted(fmt.Errorf("another program writes there: %s", strings.Join(names, ", ")),
		"end it (a browser that uses this profile, or another tabrelay), then do it again")
}

func (h Home) remove() error {
	entries, err := os.ReadDir(string(h))
	foreign := false
	for _, entry := range entries {
		if isOwn(entry) {
			err = errors.Join(err, os.RemoveAll(h.path(entry.Name())))
		} else {
			foreign = true
		}
	}
	if err != nil || foreign {
		return err
	}
	return os.Remove(string(h))
}

// maxState bounds a file of the state of an earlier version, and the list of plugins.
const maxState = 64 << 20

// ReadState reads one of [Home.OldState], or [Home.PluginList]. One that is missing leaves into as it is; one that is
// empty or damaged is refused with a [*FileError]: what it held is not silently forgotten.
func ReadState(file string, into any) error {
	text, err := readRegular(file, maxState)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err == nil && len(bytes.TrimSpace(text)) == 0 {
		err = errors.New("it is empty")
	}
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return &FileError{
			Err:  fmt.Errorf("%s cannot be used: %w", file, err),
			Next: "restore it from a backup; or remove it: a new one is created, and its contents are lost",
		}
	}
	return nil
}

// unwritable is what nothing can be stored in.
func unwritable(err error) error {
	if errors.Is(err, fs.ErrPermission) {
		return &FileError{Err: err, Next: "run: tabrelay doctor, which says what permissions are missing"}
	}
	return &FileError{Err: err, Next: "free some disk space if it is full, or set TABRELAY_HOME to a folder you can " +
		"write"}
}

// Unwritable gives an error that names a file of the home folder its next step, unless it has one. Others stay as they
// are.
func (h Home) Unwritable(err error) error {
	where, ok := errors.AsType[*fs.PathError](err)
	if h == "" || !ok || errors.Is(err, fs.ErrNotExist) || fault.HintOf(err) != "" {
		return err
	}
	if way, fail := filepath.Rel(string(h), where.Path); fail != nil || !filepath.IsLocal(way) {
		return err
	}
	return unwritable(err)
}

// guarded refuses a folder other users can write to, wherever links lead to it: they could replace what is in it.
func guarded(dir string) error {
	info, err := os.Stat(dir)
	switch {
	case err != nil:
		return err
	case !diskfile.Owned(info):
		return &FileError{Err: fmt.Errorf("%s belongs to another user", dir),
			Next: "set TABRELAY_HOME to a folder of your own"}
	case !diskfile.OthersOf(dir, info).Write:
		return nil
	}
	return &FileError{Err: fmt.Errorf("other users can write to %s", dir), Next: "run: " + diskfile.Closing(dir, true)}
}
