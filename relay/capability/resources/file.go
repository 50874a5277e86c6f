package resources

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"

	"github.com/fsnotify/fsnotify"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// files serves file:// below configured folders. Whatever is a symbolic link is refused, wherever it points.
type files struct {
	roots    []string
	bytes    int64
	watchers chan struct{} // one slot for each file that is watched
}

// maxWatchers is how many files are watched at once. Linux gives a person 128 watchers for all programs together.
const maxWatchers = 32

// listedEntries is how many entries of a folder are told.
const listedEntries = 1000

func cleanRoots(roots []string) []string {
	var clean []string
	for _, r := range roots {
		if r = filepath.Clean(r); filepath.IsAbs(r) && !slices.Contains(clean, r) {
			clean = append(clean, r)
		}
	}
	return clean
}

func fileURI(path string) string {
	path = filepath.ToSlash(path)
	if !strings.HasPrefix(path, "/") {
		path = "/" + path // C:/…
	}
	return (&url.URL{Scheme: "file", Path: path}).String()
}

func (f *files) templates() []call.ResourceTemplate {
	if len(f.roots) == 0 {
		return nil
	}
	return []call.ResourceTemplate{{URITemplate: "file:///{+path}", Name: "file", Title: "File or folder",
		Description: "A file below one of the folders that the list shows; of a folder, the names in it. Symbolic " +
			"links are refused."}}
}

func (f *files) list(context.Context, call.Session) ([]call.Resource, *fault.Error) {
	var list []call.Resource
	for _, root := range f.roots {
		list = append(list, call.Resource{URI: fileURI(root) + "/", Name: "folder " +
			fault.Sanitize(filepath.Base(root)), MIMEType: folderType,
			Title: fault.Sanitize(filepath.Base(root)), Description: "A folder whose files can be read."})
	}
	return list, nil
}

const folderType = "inode/directory"

// outsideRoots is the answer for everything that is not below a root, whether it exists or not.
func outsideRoots() *fault.Error {
	return unreadable(fault.TypePermissionDenied, "The file is not below a folder that may be read",
		"Use one of the folders that resources/list shows, or ask the person to add the folder to "+
			"resources.file.roots.")
}

// locate splits a path into the root it is below and the names from there on. It looks at the words only.
func (f *files) locate(u *url.URL) (root string, names []string, failure *fault.Error) {
	if u.Host != "" && u.Host != "localhost" {
		return "", nil, invalid("A file URI names no other machine", "Write file:///path.")
	}
	if failure := only(u); failure != nil {
		return "", nil, failure
	}
	if u.Fragment != "" || !strings.HasPrefix(u.Path, "/") {
		return "", nil, invalid("A file URI is file:///path, without a fragment", "Write # in a file name as %23.")
	}
	path := u.Path
	if runtime.GOOS == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	if slices.Contains(strings.Split(path, "/"), "..") {
		return "", nil, outsideRoots()
	}
	path = filepath.Clean(filepath.FromSlash(path))
	if len(f.roots) == 0 {
		return "", nil, unreadable(fault.TypePermissionDenied, "No files may be read",
			"Ask the person to add a folder to resources.file.roots in config.json.")
	}
	best := ""
	for _, r := range f.roots {
		rel, err := filepath.Rel(r, path)
		if err == nil && filepath.IsLocal(rel) && len(r) > len(best) {
			best = r
		}
	}
	if best == "" {
		return "", nil, outsideRoots()
	}
	rel, _ := filepath.Rel(best, path)
	if rel == "." {
		return best, nil, nil
	}
	return best, strings.Split(rel, string(filepath.Separator)), nil
}

// open walks from the root name by name, and refuses what is or becomes a link on the way: what is opened has to be
// what was looked at.
func (f *files) open(u *url.URL) (*os.File, fs.FileInfo, *fault.Error) {
	base, names, failure := f.locate(u)
	if failure != nil {
		return nil, nil, failure
	}
	root, err := os.OpenRoot(base)
	if err != nil {
		return nil, nil, fileFailed(err)
	}
	defer func() { _ = root.Close() }()
	for i, name := range names {
		seen, err := root.Lstat(name)
		if err != nil {
			return nil, nil, fileFailed(err)
		}
		if seen.IsDir() && i < len(names)-1 {
			next, err := root.OpenRoot(name)
			if err != nil {
				return nil, nil, fileFailed(err)
			}
			_ = root.Close()
			root = next
			if now, err := root.Stat("."); err != nil || !os.SameFile(seen, now) {
				return nil, nil, special()
			}
			continue
		}
		return openLast(root, name, seen, i == len(names)-1)
	}
	return openLast(root, ".", nil, true)
}

// openLast opens what was seen under a name; nil stands for the root itself.
func openLast(root *os.Root, name string, seen fs.FileInfo, last bool) (*os.File, fs.FileInfo, *fault.Error) {
	if seen != nil && !seen.Mode().IsRegular() && !(seen.IsDir() && last) {
		return nil, nil, special()
	}
	if !last {
		return nil, nil, missingFile() // a file where the path goes on
	}
	file, err := root.OpenFile(name, os.O_RDONLY|openNonblocking, 0)
	if err != nil {
		return nil, nil, fileFailed(err)
	}
	now, err := file.Stat()
	if err != nil || seen != nil && !os.SameFile(seen, now) || !now.Mode().IsRegular() && !now.IsDir() {
		_ = file.Close()
		return nil, nil, special()
	}
	return file, now, nil
}

func special() *fault.Error {
	return unreadable(fault.TypePermissionDenied, "Symbolic links and special files are not read",
		"Use the path of the file itself, below an allowed folder.")
}

func missingFile() *fault.Error {
	return notFound("There is no such file", "Read the folder to see what is in it.")
}

func fileFailed(err error) *fault.Error {
	switch {
	case errors.Is(err, fs.ErrNotExist), errors.Is(err, errNotFolder):
		return missingFile()
	case errors.Is(err, fs.ErrPermission):
		return unreadable(fault.TypePermissionDenied, "The operating system does not let the relay read the file",
			"Ask the person to allow it, or use another file.", fault.WithCause(err))
	}
	return unreadable(fault.TypeFile, "The file could not be read",
		"Repeat the request; if it fails again, use another file.", fault.WithCause(err))
}

func (f *files) read(_ context.Context, _ reading, u *url.URL) ([]call.ResourceContents, *fault.Error) {
	file, info, failure := f.open(u)
	if failure != nil {
		return nil, failure
	}
	defer func() { _ = file.Close() }()
	if info.IsDir() {
		return readFolder(file)
	}
	if info.Size() > f.bytes {
		return nil, tooLarge(f.bytes, "resources.file.maxBytes")
	}
	data, err := io.ReadAll(io.LimitReader(file, f.bytes+1))
	if err != nil {
		return nil, fileFailed(err)
	}
	if int64(len(data)) > f.bytes { // it grew
		return nil, tooLarge(f.bytes, "resources.file.maxBytes")
	}
	return []call.ResourceContents{contentOf(typeOf(info.Name(), data), data, nil)}, nil
}

// readFolder tells the names in a folder, one on each line, folders with a slash. Links are left out.
func readFolder(folder *os.File) ([]call.ResourceContents, *fault.Error) {
	entries, err := folder.ReadDir(listedEntries + 1)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fileFailed(err)
	}
	more := len(entries) > listedEntries
	entries = entries[:min(len(entries), listedEntries)]
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	var b strings.Builder
	for _, e := range entries {
		switch {
		case e.IsDir():
			fmt.Fprintf(&b, "%s/\n", fault.Sanitize(e.Name()))
		case e.Type().IsRegular():
			size := int64(0)
			if info, err := e.Info(); err == nil {
				size = info.Size()
			}
			fmt.Fprintf(&b, "%s (%d bytes)\n", fault.Sanitize(e.Name()), size)
		}
	}
	if more {
		fmt.Fprintf(&b, "[there are more than %d entries]\n", listedEntries)
	}
	return []call.ResourceContents{{MIMEType: folderType, Text: b.String()}}, nil
}

// watch follows the folder that holds the file: editors replace files rather than write into them.
func (f *files) watch(_ call.Session, u *url.URL, changed func()) (func(), *fault.Error) {
	file, info, failure := f.open(u)
	if failure != nil {
		return nil, failure
	}
	_ = file.Close()
	base, names, failure := f.locate(u)
	if failure != nil {
		return nil, failure
	}
	path := filepath.Join(append([]string{base}, names...)...)
	folder := path
	if !info.IsDir() {
		folder = filepath.Dir(path)
	}
	select {
	case f.watchers <- struct{}{}:
	default:
		return nil, fault.New(fault.Overloaded, "Too many files are watched",
			fault.WithHint("Unsubscribe from a file, or read this one again when you need it."))
	}
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		err = watcher.Add(folder)
	}
	if err != nil {
		if watcher != nil {
			_ = watcher.Close()
		}
		<-f.watchers
		return nil, unreadable(fault.TypeFile, "The file cannot be watched", "Read it again when you need it.",
			fault.WithCause(err))
	}
	go follow(watcher, func(e fsnotify.Event) bool {
		return (folder == path || e.Name == path) &&
			!e.Has(fsnotify.Chmod)
	}, changed)
	return sync.OnceFunc(func() {
		_ = watcher.Close()
		<-f.watchers
	}), nil
}

func follow(watcher *fsnotify.Watcher, ours func(fsnotify.Event) bool, changed func()) {
	for {
		select {
		case e, ok := <-watcher.Events:
			if !ok {
				return
			}
			if ours(e) {
				changed()
			}
		case _, ok := <-watcher.Errors:
			if !ok {
				return
			}
			changed() // something was missed
		}
	}
}
