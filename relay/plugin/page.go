package plugin

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/evanw/esbuild/pkg/api"
)

// pageBundle makes what is injected: the handlers and what they use, and nothing that only the relay needs.
type pageBundle struct {
	folder *folder
	code   string           // the stripped module of the current build
	zod    bool             // it is bundled with Zod
	lean   api.BuildContext // leaves schema libraries out
	full   api.BuildContext // bundles them; nil until a plugin needs it
}

// pageGlobal is the variable the bundle defines; its `default` is what the plugin exports, and its `enter` how the page's
// runtime lends the bundle what it has for it.
const pageGlobal = "tabrelayPlugin"

const (
	pageEntry   = "tabrelay:entry"
	pluginPath  = "tabrelay:plugin"
	jitlessPath = "tabrelay:jitless"

	entryNamespace = "tabrelay-entry"
	pageEntryFile  = entryNamespace + ":" + pageEntry // as the bundler names it in messages
)

// jitlessSource keeps Zod from compiling schemas with new Function, which a page's policy may forbid and report. It is
// the first that a bundle with Zod runs.
var jitlessSource = "import { config } from 'zod/v4/core';\nconfig({ jitless: true });\n"

var entrySource = fmt.Sprintf("export { default } from %q;\nexport { enter } from %q;\n", pluginPath, scopePath)

func newPageBundle(f *folder) (*pageBundle, error) {
	p := &pageBundle{folder: f}
	var err error
	p.lean, err = p.context(leaveOutSchemas())
	return p, err
}

func (p *pageBundle) context(plugins ...api.Plugin) (api.BuildContext, error) {
	context, failed := api.Context(api.BuildOptions{
		AbsWorkingDir:     p.folder.dir,
		EntryPoints:       []string{pageEntry},
		TsconfigRaw:       "{}",
		Outfile:           "adapter.js",
		Bundle:            true,
		Format:            api.FormatIIFE,
		GlobalName:        pageGlobal,
		Platform:          api.PlatformBrowser,
		Engines:           chrome,
		TreeShaking:       api.TreeShakingTrue,
		MinifyWhitespace:  true,
		MinifyIdentifiers: true,
		MinifySyntax:      true,
		LegalComments:     api.LegalCommentsNone,
		Sourcemap:         api.SourceMapExternal,
		Metafile:          true,
		LogLevel:          api.LogLevelSilent,
		Define:            map[string]string{"process.env.NODE_ENV": `"production"`},
		Plugins:           append(plugins, p.serveEntry(), serveSDK(), refuseNode(), serveEmpty(), p.folder.confine()),
	})
	if failed != nil {
		return nil, fmt.Errorf("the bundler does not start: %v", failed.Errors)
	}
	return context, nil
}

func (p *pageBundle) close() {
	p.lean.Dispose()
	if p.full != nil {
		p.full.Dispose()
	}
}

// serveEntry hands the stripped module to the bundler as if it stood in the plugin's folder.
func (p *pageBundle) serveEntry() api.Plugin {
	return api.Plugin{Name: "tabrelay-entry", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: "^tabrelay:"}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
			return api.OnResolveResult{Path: args.Path, Namespace: entryNamespace}, nil
		})
		build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: entryNamespace}, func(args api.OnLoadArgs) (api.OnLoadResult, error) {
			contents := &p.code
			switch {
			case args.Path == jitlessPath:
				contents = &jitlessSource
			case args.Path == pageEntry && p.zod:
				withZod := fmt.Sprintf("import %q;\n", jitlessPath) + entrySource
				contents = &withZod
			case args.Path == pageEntry:
				contents = &entrySource
			}
			return api.OnLoadResult{Contents: contents, ResolveDir: nowhere, Loader: api.LoaderJS}, nil
		})
	}}
}

// leaveOutSchemas keeps schema libraries as imports, which go when nothing of them is used.
func leaveOutSchemas() api.Plugin {
	return api.Plugin{Name: "tabrelay-schemas", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: `^[^.]`}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
			if !isSchemaPackage(args.Path) {
				return api.OnResolveResult{}, nil
			}
			return api.OnResolveResult{Path: args.Path, External: true, SideEffects: api.SideEffectsFalse}, nil
		})
	}}
}

// bundled is a script for the page, and the map from its lines to those of the sources.
type bundled struct{ code, sources []byte }

// build returns the script that defines pageGlobal; nothing when it cannot be made.
func (p *pageBundle) build(m *module) (bundled, []Diagnostic) {
	p.code, p.zod = string(stripSchemas(m.code)), false
	result := p.lean.Rebuild()
	if len(result.Errors) == 0 {
		meta, err := readMetafile(result.Metafile)
		if err == nil && len(meta.externals()) == 0 {
			return finish(result), diagnose(result.Warnings, true)
		}
	}
	// A handler uses a schema at run time: then the page needs the library.
	if p.full == nil {
		context, err := p.context(oneLocale(p.folder))
		if err != nil {
			return bundled{}, []Diagnostic{{Text: err.Error()}}
		}
		p.full = context
	}
	p.zod = slices.ContainsFunc(m.packages, func(name string) bool { return name == "zod" || name == "zod/v4" })
	result = p.full.Rebuild()
	if len(result.Errors) > 0 {
		return bundled{}, placeImports(p.folder, m.files, diagnose(result.Errors, false))
	}
	return finish(result), diagnose(result.Warnings, true)
}

func finish(result api.BuildResult) bundled {
	var b bundled
	for _, file := range result.OutputFiles {
		if strings.HasSuffix(file.Path, ".map") {
			b.sources = bytes.ReplaceAll(file.Contents, []byte(folderNamespace+":"), nil)
		} else {
			b.code = mendExports(append(bytes.TrimSpace(file.Contents), '\n'))
		}
	}
	return b
}

// exportLoop is how the bundler gives a namespace its members: it takes in what it inherits, and so fails in a page that
// hung something on Object.prototype. The groups are the loop's variable twice, and the object twice.
var exportLoop = regexp.MustCompile(`for ?\(var ([\w$]+) in ([\w$]+)\)(\s*[\w$]+\([\w$]+, ?([\w$]+), ?\{ ?get: ?([\w$]+)\[)`)

// mendExports makes that loop one over the object's own members.
func mendExports(code []byte) []byte {
	return exportLoop.ReplaceAllFunc(code, func(found []byte) []byte {
		part := exportLoop.FindSubmatch(found)
		if !bytes.Equal(part[1], part[4]) || !bytes.Equal(part[2], part[5]) {
			return found
		}
		return fmt.Appendf(nil, "for(var %s of Object.keys(%s))%s", part[1], part[2], part[3])
	})
}
