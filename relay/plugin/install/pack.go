package install

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/road/plugin"
)

// packed is the part of package.json that says what is in the tarball.
type packed struct {
	Name    string   `json:"name"`
	Version string   `json:"version"`
	Private bool     `json:"private"`
	Files   []string `json:"files"`
}

// Packed is a tarball of a plugin, as `npm pack` makes it.
type Packed struct {
	Name    string // of its file
	Tarball []byte
	Files   []string // in it, sorted
	Plugin  *plugin.Plugin
	// Left says what `npm publish` in the folder would do otherwise: nothing when it is empty.
	Left []string
}

// Pack makes a tarball of a plugin that was built, and checks it by installing it into an empty folder: what comes out
// has to be the plugin that went in.
func Pack(ctx context.Context, p *plugin.Plugin) (*Packed, error) {
	root, err := os.OpenRoot(p.Dir)
	if err != nil {
		return nil, err
	}
	defer root.Close() // only read from
	raw, err := root.ReadFile("package.json")
	if err != nil {
		return nil, err
	}
	var about packed
	if err := json.Unmarshal(raw, &about); err != nil {
		return nil, fmt.Errorf("package.json cannot be read: %w", err)
	}
	if about.Version == "" {
		return nil, errors.New(
			`package.json has no "version"; every published version needs one of its own, such as 0.1.0`)
	}
	names, err := filesToPack(root.FS(), about.Files)
	if err != nil {
		return nil, err
	}
	tarball, err := tarballOf(root, names)
	if err != nil {
		return nil, err
	}
	out := &Packed{Name: tarballName(about.Name, about.Version), Tarball: tarball, Files: names, Plugin: p,
		Left: about.left()}
	return out, out.verify(ctx)
}

// left says why npm would not publish the same.
func (p packed) left() (problems []string) {
	if p.Private {
		problems = append(problems, `package.json says "private": true, so npm refuses to publish it`)
	}
	dist := func(name string) bool { return strings.Trim(path.Clean("/"+name), "/") == "dist" }
	if !slices.ContainsFunc(p.Files, dist) {
		problems = append(problems, `package.json has no "files": ["dist"], so npm leaves out what .gitignore names`)
	}
	return problems
}

// tarballName is the name that npm gives a tarball.
func tarballName(name, version string) string {
	return strings.ReplaceAll(strings.TrimPrefix(name, "@"), "/", "-") + "-" + version + ".tgz"
}

// filesToPack are package.json, the build output, what "files" names, and the files about the package.
func filesToPack(dir fs.FS, files []string) ([]string, error) {
	entries, err := fs.ReadDir(dir, ".")
	if err != nil {
		return nil, err
	}
	wanted := []string{"package.json", "dist"}
	for _, entry := range entries {
		base, _, _ := strings.Cut(strings.ToLower(entry.Name()), ".")
		if entry.Type().IsRegular() && slices.Contains([]string{"readme", "license", "licence", "notice"}, base) {
			wanted = append(wanted, entry.Name())
		}
	}
	for _, pattern := range files {
		clean := strings.Trim(path.Clean("/"+pattern), "/")
		clean = strings.TrimSuffix(strings.TrimSuffix(clean, "/*"), "/**")
		found, err := fs.Glob(dir, clean)
		if err != nil || strings.HasPrefix(pattern, "!") {
			return nil, fmt.Errorf(`"files" in package.json names %q; name files and folders`, pattern)
		}
		wanted = append(wanted, found...)
	}
	var names []string
	for _, top := range wanted {
		err := fs.WalkDir(dir, top, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case err != nil:
				return err
			case entry.IsDir() && (entry.Name() == "node_modules" || entry.Name() == ".git"):
				return fs.SkipDir
			case entry.IsDir():
				return nil
			case !entry.Type().IsRegular():
				return fmt.Errorf("%s is a link or a device, and a package has only files", name)
			}
			names = append(names, name)
			return nil
		})
		if err != nil {
			return nil, fmt.Errorf("the plugin cannot be packed: %w", err)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), nil
}

// packTime is the time that npm gives every file of a tarball, so that the same files give the same bytes.
var packTime = time.Date(1985, time.October, 26, 8, 15, 0, 0, time.UTC)

func tarballOf(root *os.Root, names []string) ([]byte, error) {
	var out bytes.Buffer
	zipped, _ := gzip.NewWriterLevel(&out, gzip.BestCompression) // the level is one of those there are
	w := tar.NewWriter(zipped)
	for _, name := range names {
		content, err := root.ReadFile(filepath.FromSlash(name))
		if err == nil {
			err = w.WriteHeader(&tar.Header{Name: "package/" + name, Mode: 0o644, Size: int64(len(content)),
				ModTime: packTime, Typeflag: tar.TypeReg})
		}
		if err == nil {
			_, err = w.Write(content)
		}
		if err != nil {
			return nil, fmt.Errorf("the plugin cannot be packed: %w", err)
		}
	}
	err := errors.Join(w.Close(), zipped.Close())
	return out.Bytes(), err
}

// verify installs the tarball into an empty folder.
func (p *Packed) verify(ctx context.Context) error {
	home, err := os.MkdirTemp("", "tabrelay-pack-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(home) // a folder of temporary files
	c, err := Prepare(ctx, home, &Package{Spec: Spec{Name: p.Name}, Integrity: integrityOf(p.Tarball),
		Tarball: p.Tarball}, Source{}.Npm)
	if err != nil {
		return fmt.Errorf("the tarball cannot be installed: %w", err)
	}
	if c.Plugin.Hash != p.Plugin.Hash {
		return fmt.Errorf("the tarball has another plugin in it than the folder: content %.12s, not %.12s",
			c.Plugin.Hash, p.Plugin.Hash)
	}
	return c.Install(false)
}
