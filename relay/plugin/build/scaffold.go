package build

import (
	"bytes"
	"cmp"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"text/template"

	pluginsdk "tabrelay/plugin-sdk"
	"tabrelay/relay/road/plugin"
)

//go:embed scaffold
var scaffold embed.FS

// sdkFolder is where a plugin's folder has a copy of the SDK's sources. Editors read it for types, without a package
// registry; a build does not.
const sdkFolder = ".tabrelay/plugin-sdk"

// scaffoldValues are the values for the templates.
type scaffoldValues struct {
	Name, DisplayName string
	SDK               string            // the folder
	Parts             map[string]string // of the SDK: file by module
}

// Scaffold writes a new plugin: one tool, its test, and what an editor needs. An empty name means the folder's. The
// folder may exist if it is empty.
func Scaffold(dir, name string) error {
	dir, err := filepath.Abs(dir)
	if err != nil {
		return err
	}
	name = cmp.Or(name, filepath.Base(dir))
	name, err = plugin.NameOf(name, false)
	if err != nil {
		return err
	}
	switch entries, err := os.ReadDir(dir); {
	case err == nil && len(entries) > 0:
		return fmt.Errorf("the folder %s is not empty; choose a new one", dir)
	case err != nil && !errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("the folder cannot be used: %w", err)
	}
	title := displayName(strings.ReplaceAll(name, "-", "_"))
	values := scaffoldValues{Name: name, DisplayName: title, SDK: sdkFolder, Parts: sdkParts}
	err = fs.WalkDir(scaffold, "scaffold", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		return writeTemplate(dir, path, values)
	})
	if err != nil {
		return fmt.Errorf("the plugin cannot be written: %w", err)
	}
	return refreshSDK(dir)
}

func writeTemplate(dir, path string, values scaffoldValues) error {
	t, err := template.ParseFS(scaffold, path)
	if err != nil {
		return err
	}
	var out bytes.Buffer
	if err := t.Execute(&out, values); err != nil {
		return err
	}
	target := strings.TrimSuffix(strings.TrimPrefix(path, "scaffold/"), ".tmpl")
	if target == "gitignore" {
		target = ".gitignore"
	}
	file := filepath.Join(dir, filepath.FromSlash(target))
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		return err
	}
	return os.WriteFile(file, out.Bytes(), 0o644)
}

// writeSDK updates the copy of the SDK.
func writeSDK(root *os.Root) error {
	return fs.WalkDir(pluginsdk.Files(), ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		target := filepath.FromSlash(sdkFolder + "/" + path)
		if entry.IsDir() {
			return root.MkdirAll(filepath.Clean(target), 0o755)
		}
		content, err := fs.ReadFile(pluginsdk.Files(), path)
		if err != nil {
			return err
		}
		if was, err := root.ReadFile(target); err == nil && bytes.Equal(was, content) {
			return nil
		}
		return root.WriteFile(target, content, 0o644)
	})
}

// refreshSDK updates the copy of the SDK if tsconfig.json refers to it: the copy is not in version control, and a newer
// binary has a newer SDK.
func refreshSDK(dir string) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close() // each file was closed before
	config, err := root.ReadFile(tsconfigFile)
	if err != nil || !bytes.Contains(config, []byte(sdkFolder)) {
		return nil
	}
	if err := writeSDK(root); err != nil {
		return fmt.Errorf("the SDK's types cannot be written: %w", err)
	}
	return nil
}
