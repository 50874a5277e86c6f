// Package pluginsdk carries the TypeScript sources of the plugin SDK inside the binary, so that a plugin builds
// without Node and without node_modules.
package pluginsdk

import (
	"embed"
	"io/fs"
)

//go:embed package.json src/*.ts src/compat/*.ts
var files embed.FS

// Files returns package.json and src/, as the SDK's npm package has them.
func Files() fs.FS { return files }
