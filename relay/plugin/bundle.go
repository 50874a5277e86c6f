package plugin

import (
	"encoding/base64"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/evanw/esbuild/pkg/api"
)

const entryFile = "src/index.ts"

// chrome is the oldest browser the extension runs in.
var chrome = []api.Engine{{Name: api.EngineChrome, Version: "116"}}

// sourceBundle bundles the plugin's own sources, and nothing else, into one module: packages stay imports. Both the
// page's bundle and the reading of the schemas start from it, and it is where faults still have a file and a line.
type sourceBundle struct {
	folder   *folder
	context  api.BuildContext // nil before the first build
	tsconfig string           // that the context compiles by
}

// prepare makes the context for the plugin's tsconfig.json as it is now.
func (b *sourceBundle) prepare() error {
	tsconfig := b.folder.configOf(".").raw()
	if b.context != nil && b.tsconfig == tsconfig {
		return nil
	}
	b.close()
	context, failed := api.Context(api.BuildOptions{
		AbsWorkingDir: b.folder.dir,
		EntryPoints:   []string{entryFile},
		Outfile:       filepath.Join(b.folder.dir, "source.js"), // never written; file names in messages are relative to it
		TsconfigRaw:   tsconfig,
		Bundle:        true,
		Format:        api.FormatESModule,
		Platform:      api.PlatformBrowser,
		Target:        api.ESNext,
		Sourcemap:     api.SourceMapExternal,
		Metafile:      true,
		LogLevel:      api.LogLevelSilent,
		Plugins:       []api.Plugin{checkImports(b.folder), serveEmpty(), b.folder.confine()},
		Supported:     map[string]bool{"top-level-await": false}, // both that read the module make a script of it
		LogOverride:   map[string]api.LogLevel{"unsupported-jsx-comment": api.LogLevelSilent},
	})
	if failed != nil {
		return fmt.Errorf("the bundler does not start: %s", failed.Errors[0].Text)
	}
	b.context, b.tsconfig = context, tsconfig
	return nil
}

func (b *sourceBundle) close() {
	if b.context != nil {
		b.context.Dispose()
		b.context = nil
	}
}

// mapComment begins the line that holds a script's source map.
const mapComment = "//# sourceMappingURL=data:application/json;base64,"

// module is the result: one ES module with the plugin's own code.
type module struct {
	code     []byte
	packages []string // what it still imports, besides the SDK; sorted
	files    []string // what it was made of, relative to the folder
}

func (b *sourceBundle) build() (*module, []Diagnostic) {
	if err := b.prepare(); err != nil {
		return nil, []Diagnostic{{File: tsconfigFile, Text: err.Error()}}
	}
	result := b.context.Rebuild()
	found := append(diagnose(result.Errors, false), diagnose(result.Warnings, true)...)
	if c := b.folder.configOf("."); c != nil && c.warning != "" {
		found = append(found, Diagnostic{File: tsconfigFile, Text: c.warning, Warning: true})
	}
	if len(result.Errors) > 0 {
		return nil, found
	}
	bundled := finish(result)
	m := &module{code: slices.Concat(bundled.code, []byte(mapComment), base64.StdEncoding.AppendEncode(nil, bundled.sources), []byte("\n"))}
	if err := m.readMetafile(result.Metafile); err != nil {
		return nil, append(found, Diagnostic{Text: err.Error()})
	}
	return m, found
}

// ForEngine makes a built adapter one that the engine runs, which has no page and is older than browsers.
func ForEngine(adapter []byte) ([]byte, error) {
	result := api.Transform(string(adapter), api.TransformOptions{Target: engineTarget, Supported: engineSupports, Loader: api.LoaderJS, LogLevel: api.LogLevelSilent})
	if len(result.Errors) > 0 {
		return nil, fmt.Errorf("the adapter cannot be run without a browser: %s", result.Errors[0].Text)
	}
	return result.Code, nil
}
