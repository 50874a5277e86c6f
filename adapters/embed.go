// Package adapters carries the plugins that are shipped inside the binary: one folder each, named after its site.
//
// What a shipped adapter has is held to by collection_test.go, schemas_test.go and docs_test.go; mediawiki is the
// model. To add one, or a tool to one:
//
//   - adapters/<name>/src, one tool a file in src/tools; testdata with recordings or pages; test/*.test.ts that play
//     them, with the failures NOT_FOUND and VALIDATION_ERROR among them.
//   - Each tool: a description a model can choose by, readOnlyHint said (and destructiveHint when it writes), an output
//     schema, arguments that are described, a limit with default and maximum for lists and maxChars for long texts.
//   - docs/<name>.md in prose, with two lines between which the table of tools is made of the manifest:
//     `go generate ./adapters && go test ./adapters -run TestToolTables -update`.
//   - e2e/specs/<name>.spec.ts calls every tool in the real application, in a browser in which a person signed in.
//   - Two or three recipes in prompts/, listed in docs/prompts.md.
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
		return nil, errors.New("this binary was built without the shipped plugins; run `go generate ./adapters` and " +
			"build again")
	}
	return files, nil
}
