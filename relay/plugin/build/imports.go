package build

import (
	"encoding/json"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	pluginsdk "tabrelay/plugin-sdk"
	"tabrelay/relay/lib/lazyregexp"
)

// sdkPath is what a plugin imports.
const sdkPath = "@tabrelay/plugin-sdk"

// scopePath is the part of the SDK through which the page's runtime passes its functions to a bundle.
const scopePath = sdkPath + "/scope"

// sdkParts are the modules that plugins are to import, and their sources: those of what the SDK's package.json exports.
var sdkParts = exportedParts()

// sdkModules are the modules that are always resolved to sources in this binary, not to node_modules.
var sdkModules = withParts(map[string]string{
	scopePath:                             "src/scope.ts",
	publishedPath:                         "src/compat/published.ts",
	"@opentabs-dev/plugin-sdk":            "src/compat/index.ts",
	"@opentabs-dev/plugin-sdk/pre-script": "src/compat/pre-script.ts",
})

func exportedParts() map[string]string {
	var sdk struct {
		Exports map[string]json.RawMessage `json:"exports"`
	}
	raw, err := fs.ReadFile(pluginsdk.Files(), packageFile)
	if err == nil {
		err = json.Unmarshal(raw, &sdk)
	}
	if err != nil {
		panic(fmt.Sprintf("the SDK in this binary: %v", err))
	}
	parts := map[string]string{}
	for name, entry := range sdk.Exports {
		var built struct{ Default string }
		if json.Unmarshal(entry, &built) == nil { // package.json itself is exported as a plain path
			source := strings.TrimSuffix(path.Base(built.Default), ".js") + ".ts"
			parts[path.Join(sdkPath, name)] = path.Join("src", source)
		}
	}
	return parts
}

func withParts(modules map[string]string) map[string]string {
	maps.Copy(modules, sdkParts)
	return modules
}

func isSDK(specifier string) bool { return sdkModules[specifier] != "" }

var sdkImport = lazyregexp.New(sdkFilter)

// sdkFilter finds the imports that sdkModules has to answer; the bundler does not know \b and the like.
const sdkFilter = `^@(tabrelay|opentabs-dev)/plugin-sdk(/|$)`

const sdkNamespace = "tabrelay-sdk"

// Modules of Node, which a page does not have. Those that exist only with the prefix node: need no entry.
var nodeModules = map[string]bool{
	"assert": true, "async_hooks": true, "buffer": true, "child_process": true, "cluster": true, "console": true,
	"constants": true, "crypto": true, "dgram": true, "dns": true, "domain": true, "events": true, "fs": true,
	"http": true, "http2": true, "https": true, "inspector": true, "module": true, "net": true, "os": true,
	"path": true, "perf_hooks": true, "process": true, "punycode": true, "querystring": true, "readline": true,
	"repl": true, "stream": true, "string_decoder": true, "sys": true, "timers": true, "tls": true, "tty": true,
	"url": true, "util": true, "v8": true, "vm": true, "wasi": true, "worker_threads": true, "zlib": true,
}

func isNodeModule(specifier string) bool {
	if strings.HasPrefix(specifier, "node:") {
		return true
	}
	root, _, _ := strings.Cut(specifier, "/")
	return nodeModules[root]
}

// checkImports checks each package that a plugin's own sources import, where file and line are known. The SDK and
// packages from node_modules stay imports; modules of Node are refused.
func checkImports(f *folder) api.Plugin {
	return api.Plugin{Name: "tabrelay-imports", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: `^[^./]`}, func(args api.OnResolveArgs) (api.OnResolveResult,
			error) {
			if args.Kind == api.ResolveEntryPoint || strings.HasPrefix(args.Path, "data:") {
				return api.OnResolveResult{}, nil
			}
			if args.Kind == api.ResolveJSRequireCall {
				return api.OnResolveResult{Errors: []api.Message{{Text: requireError(args.Path)}}}, nil
			}
			if isSDK(args.Path) {
				return api.OnResolveResult{Path: args.Path, External: true}, nil
			}
			answer := f.resolveImport(args)
			switch {
			case len(answer.Errors) > 0, answer.Namespace == emptyNamespace:
				return answer, nil
			case answer.Path == "":
				return api.OnResolveResult{Errors: []api.Message{{Text: importError(args.Path)}}}, nil
			case inModules(answer.Path):
				return api.OnResolveResult{Path: args.Path, External: true}, nil
			}
			return answer, nil // an alias from tsconfig.json
		})
	}}
}

func importError(specifier string) string {
	if sdkImport.MatchString(specifier) {
		parts := strings.Join(slices.Sorted(maps.Keys(sdkParts)), `", "`)
		return fmt.Sprintf("the SDK has no part %q; import from one of \"%s\"", specifier, parts)
	}
	if isNodeModule(specifier) {
		return fmt.Sprintf("%q is a module of Node, and a plugin runs in a page, which has none; use what browsers "+
			"have",
			specifier)
	}
	if strings.Contains(specifier, "://") {
		return fmt.Sprintf("%q is an address, and nothing is fetched for a build; "+
			"install the package, or put the file into src", specifier)
	}
	return fmt.Sprintf("the package %q is not installed; run npm install in the plugin's folder", specifier)
}

func requireError(specifier string) string {
	return fmt.Sprintf("a plugin imports its packages, for a page has no require; write: import { … } from %q",
		specifier)
}

// serveSDK resolves the SDK to the sources in this binary.
func serveSDK() api.Plugin {
	return api.Plugin{Name: "tabrelay-sdk", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: sdkFilter}, func(args api.OnResolveArgs) (api.OnResolveResult,
			error) {
			file := sdkModules[args.Path]
			if file == "" {
				return api.OnResolveResult{Errors: []api.Message{{Text: importError(args.Path)}}}, nil
			}
			return api.OnResolveResult{Path: file, Namespace: sdkNamespace, SideEffects: api.SideEffectsFalse}, nil
		})
		build.OnResolve(api.OnResolveOptions{Filter: `^\.\.?/`, Namespace: sdkNamespace},
			func(args api.OnResolveArgs) (api.OnResolveResult, error) {
				return api.OnResolveResult{Path: path.Join(path.Dir(args.Importer), args.Path), Namespace: sdkNamespace,
					SideEffects: api.SideEffectsFalse}, nil
			})
		build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: sdkNamespace},
			func(args api.OnLoadArgs) (api.OnLoadResult, error) {
				raw, err := fs.ReadFile(pluginsdk.Files(), args.Path)
				contents := string(raw)
				return api.OnLoadResult{Contents: &contents, Loader: api.LoaderTS}, err
			})
	}}
}

// refuseNode reports an import of a Node module inside a package as one in the plugin.
func refuseNode() api.Plugin {
	return api.Plugin{Name: "tabrelay-node", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: `^node:`}, func(args api.OnResolveArgs) (api.OnResolveResult,
			error) {
			return api.OnResolveResult{Errors: []api.Message{{Text: importError(args.Path)}}}, nil
		})
	}}
}

// rephrase turns messages of the bundler into ones for a plugin author.
func rephrase(text string) string {
	if strings.HasPrefix(text, "Top-level await is") {
		return "a plugin cannot await while it loads, because it is put into pages as a script; await in the handler"
	}
	if strings.HasPrefix(text, "Using direct eval ") {
		return "eval is refused by the policy of most pages, and always in the isolated world; " +
			"write what it is to do as code"
	}
	pattern, ok := strings.CutPrefix(text, "Could not resolve ")
	if ok && (strings.HasPrefix(pattern, "import(") || strings.HasPrefix(pattern, "require(")) {
		return pattern + " names files by a pattern; import each of them by its name"
	}
	return text
}

// diagnose turns esbuild's messages into ours, with file names relative to the plugin.
func diagnose(messages []api.Message, warning bool) []Diagnostic {
	var found []Diagnostic
	for _, m := range messages {
		d := Diagnostic{Text: trimNamespace(rephrase(m.Text)), Warning: warning}
		if m.Location != nil {
			d.File, d.Line, d.Column = trimNamespace(m.Location.File), m.Location.Line, m.Location.Column+1
		}
		found = append(found, d)
	}
	return found
}
