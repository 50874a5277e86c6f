package build

import (
	"bytes"
	_ "embed"
	"encoding/json"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/evanw/esbuild/pkg/api"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/road/plugin"
)

// pageBundle bundles what is injected: the handlers and what they use, without what only the relay needs.
type pageBundle struct {
	folder *folder
	code   string           // the stripped module of the current build
	zod    bool             // it is bundled with Zod
	lean   api.BuildContext // leaves schema libraries out
	full   api.BuildContext // bundles them; nil until a plugin needs it
}

// pageGlobal is the variable that the bundle defines. Its `default` is the plugin's export; through its `enter` the
// page's runtime passes its functions to the bundle.
const pageGlobal = "tabrelayPlugin"

const (
	pageEntry   = "tabrelay:entry"
	pluginPath  = "tabrelay:plugin"
	jitlessPath = "tabrelay:jitless"

	entryNamespace = "tabrelay-entry"
	pageEntryFile  = entryNamespace + ":" + pageEntry // as the bundler names it in messages
)

// jitlessSource keeps Zod from compiling schemas with new Function, which a page's policy may forbid and report. A
// bundle with Zod runs it first.
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
		Define:            production,
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

// serveEntry gives the stripped module to the bundler as a file of the plugin's folder.
func (p *pageBundle) serveEntry() api.Plugin {
	return api.Plugin{Name: "tabrelay-entry", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: "^tabrelay:"}, func(args api.OnResolveArgs) (api.OnResolveResult,
			error) {
			return api.OnResolveResult{Path: args.Path, Namespace: entryNamespace}, nil
		})
		build.OnLoad(api.OnLoadOptions{Filter: `.*`, Namespace: entryNamespace},
			func(args api.OnLoadArgs) (api.OnLoadResult, error) {
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
				return api.OnLoadResult{Contents: contents, ResolveDir: noFolder, Loader: api.LoaderJS}, nil
			})
	}}
}

// leaveOutSchemas keeps schema libraries as imports, which are dropped when unused.
func leaveOutSchemas() api.Plugin {
	return api.Plugin{Name: "tabrelay-schemas", Setup: func(build api.PluginBuild) {
		build.OnResolve(api.OnResolveOptions{Filter: `^[^.]`}, func(args api.OnResolveArgs) (api.OnResolveResult,
			error) {
			if !isSchemaPackage(args.Path) {
				return api.OnResolveResult{}, nil
			}
			return api.OnResolveResult{Path: args.Path, External: true, SideEffects: api.SideEffectsFalse}, nil
		})
	}}
}

// script is a script and its source map.
type script struct{ code, sources []byte }

// build returns the script that defines pageGlobal; an empty one when there are errors.
func (p *pageBundle) build(m *module) (script, []Diagnostic) {
	p.code, p.zod = string(stripSchemas(m.code)), false
	result := p.lean.Rebuild()
	if len(result.Errors) == 0 {
		meta, err := readMetafile(result.Metafile)
		if err == nil && len(meta.externals()) == 0 {
			return scriptOf(result), pageWarnings(result.Warnings)
		}
	}
	// A handler uses a schema at run time: the page needs the library.
	if p.full == nil {
		context, err := p.context(englishOnly(p.folder))
		if err != nil {
			return script{}, faultf("", "%v", err)
		}
		p.full = context
	}
	p.zod = slices.ContainsFunc(m.packages, func(name string) bool { return name == "zod" || name == "zod/v4" })
	result = p.full.Rebuild()
	if len(result.Errors) > 0 {
		return script{}, locateImports(p.folder, m.files, diagnose(result.Errors, false))
	}
	return scriptOf(result), pageWarnings(result.Warnings)
}

// pageWarnings leaves out what is about the plugin's own sources: bundling those has reported it, at its place there.
func pageWarnings(messages []api.Message) []Diagnostic {
	return slices.DeleteFunc(diagnose(messages, true), func(d Diagnostic) bool {
		return strings.HasPrefix(d.File, entryNamespace)
	})
}

func scriptOf(result api.BuildResult) script {
	var b script
	for _, file := range result.OutputFiles {
		if strings.HasSuffix(file.Path, ".map") {
			b.sources = bytes.ReplaceAll(file.Contents, []byte(folderNamespace+":"), nil)
		} else {
			b.code = ownExports(append(bytes.TrimSpace(file.Contents), '\n'))
		}
	}
	return b
}

// exportLoop is the bundler's loop over the members of a namespace. It includes inherited ones, and so fails in a page
// that extends Object.prototype. The groups are the loop's variable twice, and the object twice.
var exportLoop = lazyregexp.New(
	`for ?\(var ([\w$]+) in ([\w$]+)\)(\s*[\w$]+\([\w$]+, ?([\w$]+), ?\{ ?get: ?([\w$]+)\[)`)

// ownExports makes that loop skip inherited members.
func ownExports(code []byte) []byte {
	return exportLoop.ReplaceAllFunc(code, func(found []byte) []byte {
		part := exportLoop.FindSubmatch(found)
		if !bytes.Equal(part[1], part[4]) || !bytes.Equal(part[2], part[5]) {
			return found
		}
		return fmt.Appendf(nil, "for(var %s of Object.keys(%s))%s", part[1], part[2], part[3])
	})
}

// missingExport is the bundler's message about a name that a package does not export.
var missingExport = lazyregexp.New(`^No matching export in "([^"]+)" for import "([^"]+)"$`)

// locateImports finds the places in the plugin's sources where names are imported that packages do not export. The
// bundler sees the sources as one module, and names a line of that.
func locateImports(f *folder, files []string, found []Diagnostic) []Diagnostic {
	found = slices.DeleteFunc(found, func(d Diagnostic) bool {
		parts := missingExport.FindStringSubmatch(d.Text)
		return parts != nil && parts[2] == "default" && strings.HasPrefix(parts[1], entryNamespace) // reading says it
	})
	for i, d := range found {
		parts := missingExport.FindStringSubmatch(d.Text)
		if parts == nil || !strings.HasPrefix(d.File, entryNamespace) {
			continue
		}
		owner := "the SDK"
		if _, file, ok := strings.Cut(parts[1], "node_modules/"); ok {
			owner = file
		}
		found[i] = locateImport(parts[2], f, files)
		found[i].Text = fmt.Sprintf("%s has no %q", owner, parts[2])
	}
	return found
}

// locateImport is the place where a file imports a name from a package.
func locateImport(name string, f *folder, files []string) Diagnostic {
	form := regexp.MustCompile(`\b(?:import|export)\b[^'"]*?\b(` + regexp.QuoteMeta(name) +
		`)\b[^'"]*?\bfrom\s*['"][^.'"]`)
	for _, file := range files {
		text, err := f.read(file)
		if err != nil {
			continue // it was removed meanwhile; the next file, or the entry, is named
		}
		if at := form.FindSubmatchIndex(text); at != nil {
			before := text[:at[2]]
			line, column := 1+bytes.Count(before, []byte("\n")), at[2]-bytes.LastIndexByte(before, '\n')
			return Diagnostic{File: file, Line: line, Column: column}
		}
	}
	return Diagnostic{File: entryFile}
}

// A handler may rely on the defaults of its schema. Schemas are not injected into the page, only their defaults are.

//go:embed engine/defaults.js
var defaultsSource string

var fillDefaults = sync.OnceValue(func() string {
	result := api.Transform(defaultsSource, api.TransformOptions{
		// Minifying syntax as well would drop the function, which is not called here.
		Loader: api.LoaderJS, MinifyWhitespace: true, MinifyIdentifiers: true, LogLevel: api.LogLevelSilent,
	})
	return string(result.Code)
})

// defaultsScript returns the script that fills in the defaults of schemas for handlers; nil when there are none.
func defaultsScript(tools []plugin.Tool) []byte {
	trees := map[string]*defaults{}
	for _, t := range tools {
		if tree := readDefaults(t.InputSchema); tree != nil {
			trees[t.Name] = tree
		}
	}
	if len(trees) == 0 {
		return nil
	}
	encoded, err := json.Marshal(trees) // a map is encoded in the order of its keys
	if err != nil {
		return nil
	}
	code := strings.TrimRight(fillDefaults(), ";\n")
	return fmt.Appendf(nil, "(%s)(%s.default.tools,%s);\n", code, pageGlobal, encoded)
}

// defaults are those of a schema: of the value itself, and of the fields of an object.
type defaults struct {
	Value  json.RawMessage      `json:"v,omitempty"`
	Fields map[string]*defaults `json:"f,omitempty"`
}

func readDefaults(schema json.RawMessage) *defaults {
	var s struct {
		Default    json.RawMessage            `json:"default"`
		Properties map[string]json.RawMessage `json:"properties"`
	}
	if json.Unmarshal(schema, &s) != nil {
		return nil
	}
	d := &defaults{Value: s.Default}
	for name, property := range s.Properties {
		if field := readDefaults(property); field != nil && name != "__proto__" {
			if d.Fields == nil {
				d.Fields = map[string]*defaults{}
			}
			d.Fields[name] = field
		}
	}
	if d.Value == nil && d.Fields == nil {
		return nil
	}
	return d
}
