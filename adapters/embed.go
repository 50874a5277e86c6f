// Package adapters carries the plugins that are shipped inside the binary: one folder each, named after its site.
//
// They are built by go generate (see generate/) with the same builder that people use for their own plugins, are not
// committed, and are embedded when they exist.
package adapters

import (
	"embed"
	"errors"
	"io/fs"
)

//go:generate go run ./generate

//go:embed all:dist
var dist embed.FS

// Files returns the built plugins: <name>/manifest.json and <name>/adapter.js.
func Files() (fs.FS, error) {
	files, err := fs.Sub(dist, "dist")
	if err != nil {
		return nil, err
	}
	built, err := fs.Glob(files, "*/manifest.json")
	if err != nil {
		return nil, err
	}
	if len(built) == 0 {
		return nil, errors.New("this binary was built without the shipped plugins; run `go generate ./adapters` and build again")
	}
	return files, nil
}
