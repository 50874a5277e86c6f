package plugin

import (
	"fmt"
	"path/filepath"

	"github.com/evanw/esbuild/pkg/api"
)

const entryFile = "src/index.ts"

// chrome is the oldest browser the extension runs in.
var chrome = []api.Engine{{Name: api.EngineChrome, Version: "116"}}

// sourceBundle bundles the plugin's own sources, and nothing else, into one module: packages stay imports. Both the
// page's bundle and the reading of the schemas start from it, and it is where faults still have a file and a line.
type sourceBundle struct {
	dir     string
	context api.BuildContext
}

func newSourceBundle(dir string) (*sourceBundle, error) {
	context, failed := api.Context(api.BuildOptions{
		AbsWorkingDir: dir,
		EntryPoints:   []string{entryFile},
		Outfile:       filepath.Join(dir, "source.js"), // never written; file names in messages are relative to it
		Bundle:        true,
		Format:        api.FormatESModule,
		Platform:      api.PlatformBrowser,
		Target:        api.ESNext,
		Sourcemap:     api.SourceMapInline,
		Metafile:      true,
		LogLevel:      api.LogLevelSilent,
		Plugins:       []api.Plugin{checkImports(dir)},
		Supported:     map[string]bool{"top-level-await": false}, // both that read the module make a script of it
		LogOverride:   map[string]api.LogLevel{"unsupported-jsx-comment": api.LogLevelSilent},
	})
	if failed != nil {
		return nil, fmt.Errorf("the bundler does not start: %v", failed.Errors)
	}
	return &sourceBundle{dir: dir, context: context}, nil
}

func (b *sourceBundle) close() { b.context.Dispose() }

// module is the result: one ES module with the plugin's own code.
type module struct {
	code     []byte
	packages []string // what it still imports, besides the SDK; sorted
	files    []string // what it was made of, relative to the folder
}

func (b *sourceBundle) build() (*module, []Diagnostic) {
	result := b.context.Rebuild()
	found := append(diagnose(result.Errors, false), diagnose(result.Warnings, true)...)
	if len(result.Errors) > 0 {
		return nil, found
	}
	m := &module{code: result.OutputFiles[0].Contents}
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
