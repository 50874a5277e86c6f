package plugin

import (
	"errors"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// folderNamespace is that of the plugin's files in the bundler, which knows no other files.
const folderNamespace = "tabrelay-folder"

// nowhere is the folder that the bundler takes a plugin's files to be in, where it looks for something by itself: a
// pattern of names, as in import(`./${name}.js`).
const nowhere = "/tabrelay-nowhere/-/-/-/-/-/-/-/-/-/-/-/-/-/-/-/-"

// noSourceMap is a comment that the bundler takes in place of one in the file: it would read the map that is named there,
// and the sources that the map names.
const noSourceMap = "\n//# sourceMappingURL=none:\n"

// confine answers every import that no other plugin of the bundler answered, and hands out every file. It comes last.
func (f *folder) confine() api.Plugin {
	return api.Plugin{Name: "tabrelay-folder", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: ".*"}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
			return f.answer(args), nil
		})
		build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: folderNamespace}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
			return f.load(args), nil
		})
		// Whatever the bundler finds by itself.
		build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: "file"}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
			return api.OnLoadResult{Errors: refused(errLeadsOut.Error())}, nil
		})
	}}
}

func refused(text string) []api.Message { return []api.Message{{Text: text}} }

func (f *folder) answer(args api.OnResolveArgs) api.OnResolveResult {
	importer, specifier := "", args.Path
	switch {
	case args.Kind == api.ResolveEntryPoint:
		specifier = "./" + specifier
	case strings.HasPrefix(specifier, "data:"):
		return api.OnResolveResult{} // the bundler reads it where it stands
	case args.Namespace == folderNamespace:
		importer = args.Importer
	}
	require := args.Kind == api.ResolveJSRequireCall || args.Kind == api.ResolveJSRequireResolve
	at, err := f.resolve(importer, specifier, require)
	switch {
	case errors.Is(err, errLeadsOut):
		return api.OnResolveResult{Errors: refused(fmt.Sprintf("%q %v", args.Path, err))}
	case err != nil:
		return api.OnResolveResult{Errors: refused(fmt.Sprintf("%q cannot be read: %v", args.Path, rootCause(err)))}
	case at.empty:
		return api.OnResolveResult{Path: specifier, Namespace: emptyNamespace, SideEffects: api.SideEffectsFalse}
	case at.name == "":
		return api.OnResolveResult{} // the bundler says so, unless the file expects it
	}
	result := api.OnResolveResult{Path: at.name, Namespace: folderNamespace}
	if at.pure {
		result.SideEffects = api.SideEffectsFalse
	}
	return result
}

// emptyNamespace is that of modules that a package leaves out for browsers.
const emptyNamespace = "tabrelay-empty"

func serveEmpty() api.Plugin {
	return api.Plugin{Name: "tabrelay-empty", Setup: func(build api.PluginBuild) {
		build.OnLoad(api.OnLoadOptions{Filter: ".*", Namespace: emptyNamespace}, func(api.OnLoadArgs) (api.OnLoadResult, error) {
			return api.OnLoadResult{Contents: new("module.exports = {}"), Loader: api.LoaderJS}, nil
		})
	}}
}

// loaders are the kinds of file that become part of a bundle.
var loaders = map[string]api.Loader{
	".js": api.LoaderJS, ".mjs": api.LoaderJS, ".cjs": api.LoaderJS, ".jsx": api.LoaderJSX, ".ts": api.LoaderTS, ".mts": api.LoaderTS,
	".cts": api.LoaderTS, ".tsx": api.LoaderTSX, ".json": api.LoaderJSON, ".txt": api.LoaderText,
}

// attributeLoaders are those that an import asks for: import text from './page.html' with { type: 'text' }.
var attributeLoaders = map[string]api.Loader{"json": api.LoaderJSON, "text": api.LoaderText, "bytes": api.LoaderBinary}

func (f *folder) load(args api.OnLoadArgs) api.OnLoadResult {
	loader, ok := loaders[path.Ext(args.Path)]
	if kind, asked := args.With["type"]; asked {
		loader, ok = attributeLoaders[kind]
	}
	if !ok {
		return api.OnLoadResult{Errors: refused(fmt.Sprintf("%s is not of a kind that a plugin is made of; import it as text: with { type: 'text' }", args.Path))}
	}
	raw, err := f.read(args.Path)
	if err != nil {
		return api.OnLoadResult{Errors: refused(fmt.Sprintf("%s cannot be read: %v", args.Path, err))}
	}
	contents := string(raw)
	if slices.Contains([]api.Loader{api.LoaderJS, api.LoaderJSX, api.LoaderTS, api.LoaderTSX}, loader) {
		contents += noSourceMap
	}
	return api.OnLoadResult{Contents: &contents, Loader: loader, ResolveDir: nowhere}
}

// own takes the bundler's names of files for those of the plugin.
func own(text string) string { return strings.ReplaceAll(text, folderNamespace+":", "") }
