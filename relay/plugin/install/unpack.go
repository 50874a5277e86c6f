package install

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"strings"
	"unicode/utf8"
)

// What a package may unpack to. The largest plugin known, with its source maps, has a hundredth of it.
const (
	maxTarball  = 32 << 20
	maxUnpacked = 128 << 20
	maxFile     = 32 << 20
	maxFiles    = 10_000
	maxPath     = 240 // characters
)

// Unpack writes the files of a gzipped tarball, as `npm pack` makes it, into an empty folder. The first folder of each
// path is left out, whatever its name. Only files and folders are taken: a link, a device or a path that leads out of
// the folder refuses the whole tarball, because no packer makes one by accident. Nothing keeps its mode.
func Unpack(from io.Reader, into string) error { return unpack(from, into, false) }

// unpack is Unpack. With withoutLinks, symbolic links are left out as npm pack leaves them out, and nothing is written
// in their place.
func unpack(from io.Reader, into string, withoutLinks bool) error {
	zipped, err := gzip.NewReader(from)
	if err != nil {
		return fmt.Errorf("it is not a gzipped tarball: %w", err)
	}
	root, err := os.OpenRoot(into)
	if err != nil {
		return err
	}
	defer root.Close() // nothing is buffered in it
	content := &limited{zipped, maxUnpacked}
	u := &unpacking{root: root, reader: tar.NewReader(content), taken: map[string]bool{}, withoutLinks: withoutLinks}
	for {
		header, err := u.reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("the tarball cannot be read: %w", err)
		}
		if err := u.take(header); err != nil {
			return err
		}
	}
	if _, err := io.Copy(io.Discard, content); err != nil { // behind the archive's end is the checksum
		return fmt.Errorf("the tarball cannot be read: %w", err)
	}
	if len(u.taken) == 0 {
		return errors.New("the tarball has no files")
	}
	return nil
}

// unpacking is one tarball on its way into a folder, which it cannot leave: root sees to that once more.
type unpacking struct {
	root   *os.Root
	reader *tar.Reader
	taken  map[string]bool // in lower case: some file systems know no other

	withoutLinks bool
}

func (u *unpacking) take(h *tar.Header) error {
	switch h.Typeflag {
	case tar.TypeXGlobalHeader, tar.TypeDir:
		return nil // folders come with their files
	case tar.TypeReg:
	case tar.TypeSymlink:
		if u.withoutLinks {
			return nil
		}
		fallthrough
	default:
		return fmt.Errorf("%q in the tarball is a link or a device, and only files are taken", h.Name)
	}
	name, err := entryPath(h.Name)
	if err != nil {
		return err
	}
	if h.Size > maxFile {
		return fmt.Errorf("%q in the tarball has %d bytes, more than %d", h.Name, h.Size, maxFile)
	}
	if len(u.taken) == maxFiles {
		return fmt.Errorf("the tarball has more than %d files", maxFiles)
	}
	if u.taken[strings.ToLower(name)] {
		return fmt.Errorf("%q is in the tarball twice", h.Name)
	}
	u.taken[strings.ToLower(name)] = true
	if err := u.folders(path.Dir(name)); err != nil {
		return fmt.Errorf("%q in the tarball cannot be written: %w", h.Name, err)
	}
	file, err := u.root.OpenFile(filepath.FromSlash(name), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o644)
	if err != nil {
		return fmt.Errorf("%q in the tarball cannot be written: %w", h.Name, err)
	}
	_, err = io.Copy(file, u.reader)
	if err = errors.Join(err, file.Close()); err != nil {
		return fmt.Errorf("%q in the tarball cannot be written: %w", h.Name, err)
	}
	return nil
}

func (u *unpacking) folders(dir string) error {
	if dir == "." {
		return nil
	}
	if err := u.folders(path.Dir(dir)); err != nil {
		return err
	}
	if err := u.root.Mkdir(filepath.FromSlash(dir), 0o755); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}

// entryPath is where a file of the tarball goes, relative to the folder, with forward slashes.
func entryPath(name string) (string, error) {
	refuse := func(why string) (string, error) {
		return "", fmt.Errorf("the path %q in the tarball %s", name, why)
	}
	switch {
	case len(name) > maxPath:
		return refuse(fmt.Sprintf("has more than %d characters", maxPath))
	case !utf8.ValidString(name) || strings.ContainsFunc(name, func(r rune) bool { return r < ' ' || r == 0x7f }):
		return refuse("has characters that are not allowed in file names")
	case strings.ContainsAny(name, `\:`):
		return refuse("has a backslash or a colon, which some systems take for a folder or a drive")
	}
	_, rest, inFolder := strings.Cut(strings.TrimPrefix(name, "./"), "/")
	switch {
	case strings.HasPrefix(name, "/") || !inFolder || rest == "":
		return refuse("is not in a folder, as the files of a package are")
	case path.Clean(rest) != rest || !filepath.IsLocal(filepath.FromSlash(rest)) || strings.HasPrefix(name, "../"):
		return refuse("leads elsewhere")
	}
	for part := range strings.SplitSeq(rest, "/") {
		if strings.TrimRight(part, ". ") != part {
			return refuse("ends a name with a dot or a space, which some systems leave out")
		}
	}
	return rest, nil
}

// limited fails where more comes than may. A gzip of a megabyte can hold a thousand.
type limited struct {
	from io.Reader
	left int64
}

func (l *limited) Read(p []byte) (int, error) {
	if l.left <= 0 {
		return 0, fmt.Errorf("it unpacks to more than %d bytes", maxUnpacked)
	}
	n, err := l.from.Read(p[:min(int64(len(p)), l.left)])
	l.left -= int64(n)
	return n, err
}
