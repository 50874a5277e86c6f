package build

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/grafana/sobek"

	"tabrelay/relay/lib/lazyregexp"
)

// packageBundle bundles the packages that a plugin imports, as a script for the engine. They are large and change
// rarely, so they are bundled separately, and again only when one of their files changed.
type packageBundle struct {
	folder     *folder
	imports    []string
	bundled    string
	generation int              // number of bundles that were made
	files      map[string]stamp // what the last one was made of
}

// stamp tells a changed file from an unchanged one.
type stamp struct {
	size     int64
	modified time.Time
}

// lazyProgram compiles a script on first use: a relay that only loads manifests needs none.
func lazyProgram(name string, source *string) func() *sobek.Program {
	return sync.OnceValue(func() *sobek.Program { return sobek.MustCompile(name, *source, true) })
}

// script returns the packages as one script, empty for a plugin that imports none.
func (p *packageBundle) script(imports []string) (string, []Diagnostic) {
	if len(imports) == 0 {
		return "", nil
	}
	if p.bundled != "" && slices.Equal(imports, p.imports) && p.unchanged() {
		return p.bundled, nil
	}
	result := buildScript(entryOf(imports), serveSDK(), refuseNode(), englishOnly(p.folder), serveEmpty(),
		p.folder.confine())
	if len(result.Errors) > 0 {
		return "", diagnose(result.Errors, false)
	}
	p.imports, p.bundled = imports, wrapScript(result)
	p.generation++
	p.recordFiles(result.Metafile)
	return wrapScript(result), nil
}

// entryOf writes a module that exports each package under the name it is imported by.
func entryOf(imports []string) string {
	var head, body strings.Builder
	for i, name := range imports {
		fmt.Fprintf(&head, "import * as m%d from %q;\n", i, name)
		// __esModule tells the importing side that `default` is the package's own.
		fmt.Fprintf(&body, "%q: Object.assign({__esModule: true}, m%d),\n", name, i)
	}
	return head.String() + "module.exports = {\n" + body.String() + "};"
}

// The engine runs most of ES2022. Regular expressions that it lacks become calls, which page.js implements.
const engineTarget = api.ES2022

var engineSupports = map[string]bool{
	"async-generator": false, "for-await": false, "regexp-lookbehind-assertions": false, "regexp-match-indices": false,
	"regexp-named-capture-groups": false, "regexp-set-notation": false, "regexp-unicode-property-escapes": false,
}

// buildScript bundles code that is not the plugin's own, for the engine.
func buildScript(entry string, plugins ...api.Plugin) api.BuildResult {
	return api.Build(api.BuildOptions{
		Stdin:             &api.StdinOptions{Contents: entry, ResolveDir: noFolder, Sourcefile: packageFile},
		AbsWorkingDir:     noFolder,
		TsconfigRaw:       "{}",
		Bundle:            true,
		Format:            api.FormatCommonJS,
		Platform:          api.PlatformBrowser,
		Target:            engineTarget,
		Supported:         engineSupports,
		MinifyWhitespace:  true, // less text is less to parse
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		Metafile:          true,
		LogLevel:          api.LogLevelSilent,
		Plugins:           plugins,
	})
}

func wrapScript(result api.BuildResult) string {
	return "(function(module){" + string(result.OutputFiles[0].Contents) + "\n})"
}

func (p *packageBundle) recordFiles(metafile string) {
	p.files = map[string]stamp{}
	meta, err := readMetafile(metafile)
	if err != nil {
		p.bundled = "" // without the list it could become stale
		return
	}
	for name := range meta.Inputs {
		if at, ok := p.folder.stamp(name); ok {
			p.files[name] = at
		}
	}
}

func (p *packageBundle) unchanged() bool {
	for file, was := range p.files {
		if now, ok := p.folder.stamp(file); !ok || now != was {
			return false
		}
	}
	return true
}

var localeExport = lazyregexp.New(`export \{ default as (\w+) \} from`)

// englishOnly replaces every language of Zod's messages with English: the others are half of Zod's code.
func englishOnly(f *folder) api.Plugin {
	return api.Plugin{Name: "tabrelay-locales", Setup: func(build api.PluginBuild) {
		build.OnLoad(api.OnLoadOptions{Filter: `[\\/]zod[\\/]v4[\\/]locales[\\/]index\.js$`},
			func(args api.OnLoadArgs) (api.OnLoadResult, error) {
				raw, err := f.read(args.Path)
				if err != nil {
					return api.OnLoadResult{}, err
				}
				contents := "import en from './en.js';\n"
				for _, found := range localeExport.FindAllStringSubmatch(string(raw), -1) {
					contents += fmt.Sprintf("export { en as %s };\n", found[1])
				}
				return api.OnLoadResult{Contents: &contents, ResolveDir: noFolder}, nil
			})
	}}
}

// sdkScript returns the SDK as a script for the engine: an object of its modules by the names they are imported by.
var sdkScript = sync.OnceValues(func() (string, error) {
	result := buildScript(entryOf(slices.Sorted(maps.Keys(sdkModules))), serveSDK())
	if len(result.Errors) > 0 {
		return "", fmt.Errorf("the SDK in this binary does not build: %s", result.Errors[0].Text)
	}
	return wrapScript(result), nil
})
