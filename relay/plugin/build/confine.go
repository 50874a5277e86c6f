package build

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// folderNamespace is the bundler's namespace of the plugin's files. It reads no other files.
const folderNamespace = "tabrelay-folder"

// noFolder is the folder in which the bundler searches by itself, for a pattern of names as in import(`./${name}.js`).
// It does not exist.
const noFolder = "/tabrelay-nowhere/-/-/-/-/-/-/-/-/-/-/-/-/-/-/-/-"

// noSourceMap replaces a comment of this kind in a file: the bundler would read the map that it names, and the sources
// that the map names.
const noSourceMap = "\n//# sourceMappingURL=none:\n"

// confine resolves every import that no other plugin of the bundler resolved, and loads every file. It comes last.
func (f *folder) confine() api.Plugin {
	return api.Plugin{Name: "tabrelay-folder", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
			return f.resolveImport(args), nil
		})
		build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: folderNamespace},
			func(args api.OnLoadArgs) (api.OnLoadResult, error) {
				return f.load(args), nil
			})
		// Files that the bundler found by itself.
		build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "file"}, func(api.OnLoadArgs) (api.OnLoadResult,
			error) {
			return api.OnLoadResult{Errors: failure(errOutside.Error())}, nil
		})
	}}
}

func failure(text string) []api.Message { return []api.Message{{Text: text}} }

func (f *folder) resolveImport(args api.OnResolveArgs) api.OnResolveResult {
	importer, specifier := "", args.Path
	switch {
	case args.Kind == api.ResolveEntryPoint:
		specifier = "./" + specifier
	case strings.HasPrefix(specifier, "data:"):
		return api.OnResolveResult{} // the bundler decodes it
	case args.Namespace == folderNamespace:
		importer = args.Importer
	}
	require := args.Kind == api.ResolveJSRequireCall || args.Kind == api.ResolveJSRequireResolve
	at, err := f.resolve(importer, specifier, require)
	switch {
	case errors.Is(err, errOutside):
		return api.OnResolveResult{Errors: failure(fmt.Sprintf("%q %v", args.Path, err))}
	case err != nil:
		return api.OnResolveResult{Errors: failure(fmt.Sprintf("%q cannot be read: %v", args.Path, rootCause(err)))}
	case at.empty:
		return api.OnResolveResult{Path: specifier, Namespace: emptyNamespace, SideEffects: api.SideEffectsFalse}
	case at.file == "":
		return api.OnResolveResult{} // the bundler reports it, unless the file handles it
	}
	result := api.OnResolveResult{Path: at.file, Namespace: folderNamespace}
	if at.pure {
		result.SideEffects = api.SideEffectsFalse
	}
	return result
}

// emptyNamespace is the namespace of modules that a package leaves out for browsers.
const emptyNamespace = "tabrelay-empty"

func serveEmpty() api.Plugin {
	return api.Plugin{Name: "tabrelay-empty", Setup: func(build api.PluginBuild) {
		build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: emptyNamespace}, func(api.OnLoadArgs) (api.OnLoadResult,
			error) {
			return api.OnLoadResult{Contents: new("module.exports = {}"), Loader: api.LoaderJS}, nil
		})
	}}
}

// loaders are the kinds of files that can be part of a bundle, by extension.
var loaders = map[string]api.Loader{
	".js": api.LoaderJS, ".mjs": api.LoaderJS, ".cjs": api.LoaderJS, ".jsx": api.LoaderJSX, ".ts": api.LoaderTS,
	".mts": api.LoaderTS,
	".cts": api.LoaderTS, ".tsx": api.LoaderTSX, ".json": api.LoaderJSON, ".txt": api.LoaderText,
}

// attributeLoaders are those that an import attribute names: import text from './page.html' with { type: 'text' }.
var attributeLoaders = map[string]api.Loader{"json": api.LoaderJSON, "text": api.LoaderText, "bytes": api.LoaderBinary}

func (f *folder) load(args api.OnLoadArgs) api.OnLoadResult {
	loader, ok := loaders[path.Ext(args.Path)]
	if kind, asked := args.With["type"]; asked {
		loader, ok = attributeLoaders[kind]
	}
	if !ok {
		return api.OnLoadResult{Errors: failure(fmt.Sprintf("%s is not of a kind that a plugin is made of; import it "+
			"as text: with { type: 'text' }", args.Path))}
	}
	raw, err := f.read(args.Path)
	if err != nil {
		return api.OnLoadResult{Errors: failure(fmt.Sprintf("%s cannot be read: %v", args.Path, err))}
	}
	contents := string(raw)
	if slices.Contains([]api.Loader{api.LoaderJS, api.LoaderJSX, api.LoaderTS, api.LoaderTSX}, loader) {
		contents += noSourceMap
	}
	return api.OnLoadResult{Contents: &contents, Loader: loader, ResolveDir: noFolder}
}

// trimNamespace turns the bundler's names of files into those of the plugin.
func trimNamespace(text string) string { return strings.ReplaceAll(text, folderNamespace+":", "") }
