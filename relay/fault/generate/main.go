// Command generate writes what follows from the table of failures: the reference page, and the constants of the
// extension and of the plugin SDK. It runs in relay/fault, by go generate.
package main

import (
	"fmt"
	"os"
	"path/filepath"
)

// outputs are the generated files, relative to the root of the repository.
var outputs = map[string]func() string{
	"docs/errors.md": page,
	"extension/src/protocol/faults.generated.ts": extensionConstants,
	"plugin-sdk/src/faults.generated.ts":         sdkConstants,
}

func main() {
	for name, text := range outputs {
		path := filepath.Join("..", "..", filepath.FromSlash(name))
		if err := os.WriteFile(path, []byte(text()), 0o644); err != nil {
			fmt.Fprintln(os.Stderr, "error: cannot write", name+":", err)
			os.Exit(1)
		}
	}
}
