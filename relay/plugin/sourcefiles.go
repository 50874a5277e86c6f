package plugin

import (
	"bytes"
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// What SourceFiles returns at the most.
const (
	maxSourceFiles = 1000
	maxSourceBytes = 4 << 20 // of all files together
)

// SourceFiles are the files that a person wrote to make the plugin in dir, by their slash-separated name in it:
// package.json, src and prompts. They say nothing about what runs, which is what was built. Links are not followed,
// files that are no text are left out; whole reports whether nothing was left out for being too much.
func SourceFiles(dir string) (files map[string][]byte, whole bool) {
	files, whole = map[string][]byte{}, true
	if dir == "" {
		return files, whole
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return files, whole // a folder that is gone has no sources
	}
	defer root.Close() // only read from
	room := maxSourceBytes
	take := func(name string, entry fs.DirEntry) error {
		if !entry.Type().IsRegular() || !isText(name) {
			return nil
		}
		info, err := entry.Info()
		if err != nil {
			return nil // it went while we looked
		}
		if len(files) >= maxSourceFiles || info.Size() > int64(room) {
			whole = false
			return nil
		}
		if content, err := root.ReadFile(filepath.FromSlash(name)); err == nil && len(content) <= room && bytes.IndexByte(content, 0) < 0 {
			files[name] = content
			room -= len(content)
		}
		return nil
	}
	for _, top := range []string{packageFile, "src", promptsFolder} {
		_ = fs.WalkDir(root.FS(), top, func(name string, entry fs.DirEntry, err error) error {
			switch {
			case errors.Is(err, fs.ErrNotExist), err != nil && entry == nil:
				return fs.SkipAll
			case err != nil: // a folder that cannot be read
				return fs.SkipDir
			case entry.IsDir():
				return nil
			}
			return take(name, entry)
		})
	}
	return files, whole
}

// isText reports whether a file is one of those that plugins are written in.
func isText(name string) bool {
	return slices.Contains([]string{".ts", ".tsx", ".js", ".jsx", ".mts", ".mjs", ".cts", ".cjs", ".json", ".md", ".css", ".html", ".txt"}, strings.ToLower(path.Ext(name)))
}
