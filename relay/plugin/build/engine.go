package build

import (
	"bytes"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/evanw/esbuild/pkg/api"
	"github.com/grafana/sobek"
	"github.com/grafana/sobek/file"
	"github.com/grafana/sobek/parser"
	"golang.org/x/sync/errgroup"

	"tabrelay/relay/road/plugin"
)

// Reading tools runs the plugin's code once, without a page and without access to anything, in a process of its own
// (reader.go).

// loadLimit is how long loading may take: a plugin defines things while it loads, and works in its handlers. A
// variable, so that tests pass on a busy machine.
var loadLimit = 10 * time.Second

// maxEngines is how many engines read one plugin. Each of them has to load it.
const maxEngines = 4

// maxMissingGlobals is how many globals that browserGlobals lacks are added on demand.
const maxMissingGlobals = 40

var (
	//go:embed engine/page.js
	pageScript string
	//go:embed engine/tools.js
	toolsScript string

	pageProgram  = lazyProgram("tabrelay:page.js", &pageScript)
	toolsProgram = lazyProgram("tabrelay:tools.js", &toolsScript)
)

// rawTool is a tool as the plugin's code describes it.
type rawTool struct {
	plugin.Tool
	At struct {
		File string `json:"file"`
		Line int    `json:"line"`
	} `json:"at"`
	Problems []string `json:"problems"`
	Keys     []string `json:"keys"`  // of what defineTool was given
	Hints    []string `json:"hints"` // keys of its annotations
	Place    *int     `json:"place"` // its number in the outline; nil when it is not in there
	Known    bool     `json:"known"` // it is unchanged: nothing but its place was read
}

// pluginInfo is what a plugin's code describes: its tools, and what package.json may leave out.
type pluginInfo struct {
	About struct {
		Description     string          `json:"description"`
		Homepage        string          `json:"homepage"`
		ExcludePatterns []string        `json:"excludePatterns"`
		ConfigSchema    json.RawMessage `json:"configSchema"`
		Keys            []string        `json:"keys"` // of what definePlugin was given
	} `json:"about"`
	Tools []*rawTool `json:"tools"` // nil for one that another engine describes
}

// runEngines loads a module in this process, and returns the description by each engine.
func runEngines(of engine, within time.Duration) ([]string, error) {
	of.globals = browserGlobals
	for {
		answers, err := of.run(within)
		if missing := undefinedName(err); missing != "" && len(of.globals) < len(browserGlobals)+maxMissingGlobals {
			of.globals = append(of.globals[:len(of.globals):len(of.globals)], missing)
			continue
		}
		return answers, err
	}
}

// run divides the tools among several engines if there is a schema library, which is slow to make a JSON Schema, since
// an engine has one thread. When only few tools are new, loading the library takes most of the time, and one engine is
// enough.
func (r engine) run(within time.Duration) ([]string, error) {
	parts := 1
	if r.packages != nil && len(r.known) == 0 {
		parts = min(runtime.GOMAXPROCS(0), maxEngines)
	}
	answers := make([]string, parts)
	group, ctx := errgroup.WithContext(context.Background())
	for part := range parts {
		group.Go(func() (err error) {
			answers[part], err = newEngine(r).describe(ctx, within, part, parts)
			return err
		})
	}
	return answers, group.Wait()
}

// mergeTools takes each tool from the engine that described it.
func mergeTools(answers []string) (*pluginInfo, []Diagnostic) {
	var whole *pluginInfo
	for part, answer := range answers {
		one, found := decodeTools(answer)
		if len(found) > 0 {
			return nil, found
		}
		if whole == nil {
			whole = one
			continue
		}
		if len(one.Tools) != len(whole.Tools) {
			return nil, faultf(entryFile, "exports a different number of tools each time it is loaded")
		}
		for i := part; i < len(one.Tools); i += len(answers) {
			whole.Tools[i] = one.Tools[i]
		}
	}
	return whole, nil
}

func decodeTools(raw string) (*pluginInfo, []Diagnostic) {
	var answer struct {
		Problem string `json:"problem"`
		pluginInfo
	}
	if err := json.Unmarshal([]byte(raw), &answer); err != nil {
		return nil, faultf(entryFile, "describes tools that cannot be read: %v", err)
	}
	if answer.Problem != "" {
		return nil, faultf(entryFile, "%s", answer.Problem)
	}
	return &answer.pluginInfo, nil
}

// moduleScript is the plugin's module as a script for the engine, with the map from its lines to those of the files.
type moduleScript struct{ code, sources []byte }

func forEngine(code []byte) (moduleScript, error) {
	result := api.Transform(string(code), api.TransformOptions{
		Format: api.FormatCommonJS, Target: engineTarget, Supported: engineSupports, Loader: api.LoaderJS,
		Sourcemap: api.SourceMapExternal, Sourcefile: "source.js", LogLevel: api.LogLevelSilent,
		// The engine fails at a direct eval in the field of a class; no handler runs in it.
		Define: map[string]string{"eval": "globalThis.eval"},
	})
	if len(result.Errors) > 0 {
		return moduleScript{}, errors.New(result.Errors[0].Text)
	}
	return moduleScript{result.Code, result.Map}, nil
}

// compile makes the script a program of the engine, with positions in the original files.
func (s moduleScript) compile() (*sobek.Program, error) {
	// The wrapper shares the first line, so that lines stay what the source map says.
	text := "(function(require,module,exports){" + string(s.code) + "\n})"
	if bytes.Contains(s.sources, []byte(`"mappings": ""`)) { // an empty module; the parser takes no empty map
		return sobek.Compile("source.js", text, true)
	}
	loadMap := parser.WithSourceMapLoader(func(string) ([]byte, error) { return s.sources, nil })
	program, err := sobek.Parse("source.js", text+"\n//# sourceMappingURL=source.js.map", loadMap)
	if err != nil {
		return nil, err
	}
	return sobek.CompileAST(program, true)
}

// engine is one run of a plugin.
type engine struct {
	name     string // the plugin's
	vm       *sobek.Runtime
	sdk      *sobek.Program
	script   *sobek.Program
	packages *sobek.Program // nil when it imports none
	globals  []string
	known    map[int]bool                    // numbers in the outline of tools that need not be read
	places   map[*sobek.Object]file.Position // where each tool was defined
	outlined map[*sobek.Object]int           // its number in the outline
}

func newEngine(of engine) *engine {
	of.vm, of.places, of.outlined = sobek.New(), map[*sobek.Object]file.Position{}, map[*sobek.Object]int{}
	of.vm.SetParserOptions(parser.WithDisableSourceMaps) // a text that is evaluated could name any file as its own
	return &of
}

// describe runs the plugin and returns its description as JSON.
func (r *engine) describe(ctx context.Context, within time.Duration, part, parts int) (string, error) {
	r.vm.SetMaxCallStackSize(2000)
	limit := time.AfterFunc(within, func() { r.vm.Interrupt(tooSlowText(r.name, within)) })
	defer limit.Stop()
	stop := context.AfterFunc(ctx, func() { r.vm.Interrupt(context.Cause(ctx).Error()) })
	defer stop()

	if _, err := r.call(pageProgram(), r.vm.ToValue(r.globals)); err != nil {
		return "", err
	}
	load, err := r.newLoader()
	if err != nil {
		return "", err
	}
	exported := r.vm.NewObject()
	module := r.vm.NewObject()
	_ = module.Set("exports", exported)
	if _, err := r.call(r.script, r.vm.ToValue(load), module, exported); err != nil {
		return "", err
	}
	answer, err := r.call(toolsProgram(), module.Get("exports"), r.vm.ToValue(r.place), r.zodSchema(load),
		r.vm.ToValue(part), r.vm.ToValue(parts), r.vm.ToValue(r.outlinePlace))
	if err != nil {
		return "", err
	}
	return answer.String(), nil
}

// call runs a program that is a function, and calls it.
func (r *engine) call(program *sobek.Program, arguments ...sobek.Value) (sobek.Value, error) {
	value, err := r.vm.RunProgram(program)
	if err != nil {
		return nil, err
	}
	function, ok := sobek.AssertFunction(value)
	if !ok {
		return nil, errors.New("the bundler made something that is not a function")
	}
	return function(sobek.Undefined(), arguments...)
}

// newLoader returns `require` for the plugin: the SDK with a defineTool that records the place of the call, and the
// packages.
func (r *engine) newLoader() (func(string) (sobek.Value, error), error) {
	sdk, err := r.loadBundle(r.sdk)
	if err != nil {
		return nil, err
	}
	for _, name := range sdk.Keys() {
		module := sdk.Get(name).ToObject(r.vm)
		if module.Get("defineTool") != nil {
			_ = module.Set("defineTool", r.defineTool)
		}
		if module.Get("definePlugin") != nil {
			_ = module.Set("definePlugin", func(given sobek.Value) sobek.Value { return given })
		}
	}
	packages := r.vm.NewObject()
	if r.packages != nil {
		if packages, err = r.loadBundle(r.packages); err != nil {
			return nil, err
		}
	}
	return func(name string) (sobek.Value, error) {
		for _, from := range []*sobek.Object{sdk, packages} {
			if found := from.Get(name); found != nil {
				return found, nil
			}
		}
		return nil, fmt.Errorf("the package %q is not there", name)
	}, nil
}

// loadBundle runs a bundle and returns a copy of what it exports.
func (r *engine) loadBundle(bundle *sobek.Program) (*sobek.Object, error) {
	module := r.vm.NewObject()
	if _, err := r.call(bundle, module); err != nil {
		return nil, err
	}
	exported := module.Get("exports").ToObject(r.vm)
	copied := r.vm.NewObject()
	for _, key := range exported.Keys() {
		_ = copied.Set(key, exported.Get(key))
	}
	return copied, nil
}

func (r *engine) defineTool(call sobek.FunctionCall) sobek.Value {
	tool := call.Argument(0)
	if object, ok := tool.(*sobek.Object); ok {
		if len(call.Arguments) > 1 {
			r.outlined[object] = int(call.Argument(1).ToInteger())
		}
		for _, frame := range r.vm.CaptureCallStack(8, nil) {
			if at := frame.Position(); at.Filename != "" && !strings.HasPrefix(at.Filename, "tabrelay:") &&
				at.Line > 0 {
				r.places[object] = at
				break
			}
		}
	}
	return tool
}

func (r *engine) place(tool *sobek.Object) map[string]any {
	at, found := r.places[tool]
	if !found {
		return map[string]any{"file": entryFile, "line": 0}
	}
	return map[string]any{"file": at.Filename, "line": at.Line}
}

// outlinePlace returns the number of a tool in the outline, and whether it need not be read.
func (r *engine) outlinePlace(tool *sobek.Object) map[string]any {
	place, found := r.outlined[tool]
	if !found {
		return nil
	}
	return map[string]any{"place": place, "known": r.known[place]}
}

// zodSchema returns z.toJSONSchema for versions of Zod 4 that do not offer Standard JSON Schema yet.
func (r *engine) zodSchema(load func(string) (sobek.Value, error)) sobek.Value {
	for _, name := range []string{"zod", "zod/v4"} {
		if zod, err := load(name); err == nil {
			return zod.ToObject(r.vm).Get("toJSONSchema")
		}
	}
	return sobek.Undefined()
}

// browserGlobals are what plugins use while they load, besides what the engine has itself. A name that is missing here
// is added when the plugin fails for it; the list saves that second run, and makes `typeof` right.
var browserGlobals = []string{
	"AbortController", "AbortSignal", "Blob", "BroadcastChannel", "CSS", "CSSStyleSheet", "CustomEvent", "DOMException",
	"DOMParser", "Document", "DocumentFragment", "Element", "Event", "EventSource", "EventTarget", "File", "FileReader",
	"FormData", "HTMLAnchorElement", "HTMLButtonElement", "HTMLDivElement", "HTMLElement", "HTMLFormElement",
	"HTMLIFrameElement", "HTMLImageElement", "HTMLInputElement", "HTMLSelectElement", "HTMLTextAreaElement", "Headers",
	"Image", "IntersectionObserver", "Intl", "KeyboardEvent", "MessageChannel", "MessageEvent", "MouseEvent",
	"MutationObserver", "Node", "NodeFilter", "NodeList", "PerformanceObserver", "PointerEvent", "ReadableStream",
	"Request", "ResizeObserver", "Response", "SharedWorker", "Storage", "TextDecoder", "TextEncoder", "TransformStream",
	"URL", "URLPattern", "URLSearchParams", "WebAssembly", "WebSocket", "Worker", "WritableStream", "XMLHttpRequest",
	"XMLSerializer", "XPathResult", "alert", "atob", "btoa", "caches", "chrome", "confirm", "cookieStore", "crypto",
	"customElements", "document", "fetch", "getComputedStyle", "history", "indexedDB", "localStorage", "matchMedia",
	"navigator", "open", "performance", "postMessage", "prompt", "scheduler", "screen", "sessionStorage",
	"structuredClone", "trustedTypes",
}
