package build

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"syscall"

	"tabrelay/relay/lib/lock"
)

const (
	modulesFolder = "node_modules"
	maxLinks      = 40       // that one name may lead through
	maxSource     = 32 << 20 // bytes of one file a build reads
)

// folder confines a build to the plugin's folder and its node_modules. Names are relative, with forward slashes. A link
// that leads out is an error, even when it is created while the build runs, because files are opened through an
// os.Root.
//
// node_modules itself may be a link to a folder of that name, which plugins can share. It has a root of its own then.
type folder struct {
	dir string // its real path

	mu         lock.Mutex // guards what follows
	own        *os.Root
	modules    *os.Root // of node_modules, when that is a link
	modulesDir string   // where that leads
	listed     map[string]map[string]fs.FileMode
	packages   map[string]*packageJSON
	configs    map[string]*tsconfig
}

// errOutside is the error for a name outside of these folders, whether or not there is such a file.
var errOutside = errors.New("leads out of the plugin's folder; " +
	"a build reads that folder, its node_modules and the SDK, and nothing else")

// open opens the folder for one build, with empty caches.
func (f *folder) open() error {
	f.close()
	own, err := os.OpenRoot(f.dir)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.own = own
	f.listed = map[string]map[string]fs.FileMode{}
	f.packages, f.configs = map[string]*packageJSON{}, map[string]*tsconfig{}
	f.openModules()
	return nil
}

// openModules opens another node_modules that node_modules is a link to. Any other link is refused later.
func (f *folder) openModules() {
	if info, err := f.own.Lstat(modulesFolder); err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return
	}
	target, err := filepath.EvalSymlinks(filepath.Join(f.dir, modulesFolder))
	if err != nil || filepath.Base(target) != modulesFolder {
		return
	}
	if root, err := os.OpenRoot(target); err == nil {
		f.modules, f.modulesDir = root, target
	}
}

func (f *folder) close() {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.own != nil {
		_ = f.own.Close() // nothing was written
	}
	if f.modules != nil {
		_ = f.modules.Close()
	}
	f.own, f.modules, f.modulesDir = nil, nil, ""
}

// root is the root that contains a real name, and the name in it.
func (f *folder) root(name string) (*os.Root, string) {
	if rest, ok := strings.CutPrefix(name, modulesFolder); ok && f.modules != nil && (rest == "" || rest[0] == '/') {
		return f.modules, filepath.FromSlash(path.Join(".", rest))
	}
	return f.own, filepath.FromSlash(name)
}

// list returns the entries of a folder by its real name.
func (f *folder) list(dir string) (map[string]fs.FileMode, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if known, ok := f.listed[dir]; ok {
		return known, nil
	}
	if f.own == nil {
		return nil, syscall.ENOENT
	}
	root, name := f.root(dir)
	opened, err := root.Open(name)
	if err != nil {
		return nil, err
	}
	defer opened.Close() // only read from
	entries, err := opened.ReadDir(-1)
	if err != nil {
		return nil, err
	}
	modes := make(map[string]fs.FileMode, len(entries))
	for _, e := range entries {
		modes[e.Name()] = e.Type()
	}
	f.listed[dir] = modes
	return modes, nil
}

// follow resolves the links in a name, and returns the type of the file.
func (f *folder) follow(name string) (string, fs.FileMode, error) {
	at, mode, links := ".", fs.ModeDir, 0
	for rest := strings.Split(name, "/"); len(rest) > 0; {
		part := rest[0]
		rest = rest[1:]
		switch {
		case part == "" || part == ".":
			continue
		case !mode.IsDir():
			return "", 0, syscall.ENOENT
		case part == ".." && (at == "." || at == modulesFolder && f.modules != nil):
			return "", 0, errOutside
		case part == "..":
			at = path.Dir(at)
			continue
		}
		entries, err := f.list(at)
		if err != nil {
			return "", 0, err
		}
		kind, there := entries[part]
		if !there {
			return "", 0, syscall.ENOENT
		}
		next := path.Join(at, part)
		switch {
		case next == modulesFolder && f.modules != nil:
			at, mode = next, fs.ModeDir
		case kind&fs.ModeSymlink == 0:
			at, mode = next, kind
		default:
			if links++; links > maxLinks {
				return "", 0, fmt.Errorf("leads through more than %d links", maxLinks)
			}
			var target string
			if at, target, err = f.target(at, next); err != nil {
				return "", 0, err
			}
			mode, rest = fs.ModeDir, append(strings.Split(target, "/"), rest...)
		}
	}
	return at, mode, nil
}

// target is the target of a link: a path, and the folder that it is relative to.
func (f *folder) target(dir, link string) (from, target string, err error) {
	root, name := f.root(link)
	if target, err = root.Readlink(name); err != nil {
		return "", "", err
	}
	if !filepath.IsAbs(target) {
		return dir, filepath.ToSlash(target), nil
	}
	target, err = f.nameOf(target)
	return ".", target, err
}

// nameOf is the relative name of an absolute path.
func (f *folder) nameOf(file string) (string, error) {
	if rel, err := filepath.Rel(f.dir, file); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel), nil
	}
	if f.modules != nil {
		if rel, err := filepath.Rel(f.modulesDir, file); err == nil && filepath.IsLocal(rel) {
			return path.Join(modulesFolder, filepath.ToSlash(rel)), nil
		}
	}
	return "", errOutside
}

// file is the real name of a file; empty when there is none.
func (f *folder) file(name string) (string, error) {
	at, mode, err := f.follow(name)
	if errors.Is(err, fs.ErrNotExist) || err == nil && mode.IsDir() {
		return "", nil
	}
	return at, err
}

// read returns the content of a regular file.
func (f *folder) read(name string) ([]byte, error) {
	at, mode, err := f.follow(name)
	switch {
	case err != nil:
		return nil, err
	case !mode.IsRegular():
		return nil, errors.New("is not a file")
	}
	root, rest := f.root(at)
	opened, err := root.OpenFile(rest, os.O_RDONLY|syscall.O_NONBLOCK, 0) // opening a pipe would block
	if err != nil {
		return nil, rootCause(err)
	}
	defer opened.Close() // only read from
	info, err := opened.Stat()
	switch {
	case err != nil:
		return nil, rootCause(err)
	case !info.Mode().IsRegular():
		return nil, errors.New("is not a file")
	case info.Size() > maxSource:
		return nil, fmt.Errorf("has %d bytes, and a build reads files of at most %d", info.Size(), maxSource)
	}
	content, err := io.ReadAll(io.LimitReader(opened, maxSource))
	return content, rootCause(err)
}

// stamp returns the size and time of a file.
func (f *folder) stamp(name string) (stamp, bool) {
	root, rest := f.root(name)
	info, err := root.Stat(rest)
	if err != nil {
		return stamp{}, false
	}
	return stamp{size: info.Size(), modified: info.ModTime()}, true
}
