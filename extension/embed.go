// Package extension carries the built Chrome extension inside the binary.
//
// The files are made by go generate (see bundle/), are not committed, and are embedded when they exist.
package extension

import (
	"embed"
	"encoding/json"
	"errors"
	"io/fs"
)

//go:generate go run ./bundle

// ID is the extension id that the key in manifest.json pins, the same on every machine.
const ID = "gkbccjjodhfekcibknacakaofljochfn"

//go:embed all:dist
var dist embed.FS

// Files returns the unpacked extension as Chrome loads it, without pairing.json and adapters, which the relay adds.
func Files() (fs.FS, error) { return built(dist) }

// BundleHash identifies the extension's files: 64 hexadecimal digits, the same value that the worker sends when it
// connects. It is empty in a binary that was built without the extension.
func BundleHash() string { return hashIn(dist) }

func built(embedded fs.FS) (fs.FS, error) {
	files, err := fs.Sub(embedded, "dist")
	if err != nil {
		return nil, err
	}
	if _, err := fs.Stat(files, "manifest.json"); errors.Is(err, fs.ErrNotExist) {
		return nil, errors.New("this binary was built without the browser extension; run `go generate ./extension` " +
			"and build again")
	}
	return files, nil
}

func hashIn(embedded fs.FS) string {
	data, err := fs.ReadFile(embedded, "dist/bundle.json")
	if err != nil {
		return ""
	}
	var bundle struct {
		Hash string `json:"hash"`
	}
	if err := json.Unmarshal(data, &bundle); err != nil {
		return ""
	}
	return bundle.Hash
}
