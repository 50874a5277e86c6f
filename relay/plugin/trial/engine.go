// Package trial runs a plugin's tools against fixtures: a call, the requests that it may make with what the site
// answered, and what has to come of it. Without a browser the handler runs in an engine that has requests, addresses
// and timers but no page; with one, in a page made of the fixture's HTML.
package trial

import (
	"cmp"
	"context"
	_ "embed"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"time"

	"github.com/grafana/sobek"
	"github.com/grafana/sobek/parser"

	"tabrelay/relay/plugin/build"
	"tabrelay/relay/road/plugin"
)

//go:embed world/world.js
var worldScript string

//go:embed world/address.js
var addressScript string

//go:embed world/drive.js
var driveScript string

// handlerTime is how long one handler may keep the engine busy. Waiting takes no time here.
const handlerTime = 10 * time.Second

// onlyPages are names that a handler finds in pages alone. Who asks for one gets undefined, as in a place without it.
var onlyPages = []string{
	"document", "localStorage", "sessionStorage", "DOMParser", "XMLHttpRequest", "FormData", "Blob", "File",
	"FileReader",
	"navigator", "history",
	"crypto", "getComputedStyle", "MutationObserver", "customElements", "indexedDB", "CSS", "TextDecoder",
	"Element", "HTMLElement", "Node",
	"Event", "CustomEvent", "Image", "WebSocket", "atob", "btoa", "requestAnimationFrame", "DOMException",
}

// Run runs a fixture without a browser. A handler that needs a page is not judged; the result says what it asked for.
func Run(ctx context.Context, p *plugin.Plugin, f *Fixture) Result {
	result := Result{Name: f.Name}
	if f.Page.HTML != "" {
		result.NeedsPage = "its page has HTML"
		return result
	}
	w := &world{vm: sobek.New()}
	w.vm.SetParserOptions(parser.WithDisableSourceMaps) // a script could name any file as its own
	answer, err := w.run(ctx, p, f)
	var problems []string
	if err != nil {
		problems = []string{strings.TrimSpace(err.Error())}
	} else {
		problems = f.judge(*answer, p)
	}
	if len(problems) > 0 && w.asked != "" {
		result.NeedsPage = "it uses " + w.asked
		return result
	}
	result.Problems = problems
	return result
}

// world is an engine that a handler runs in.
type world struct {
	vm    *sobek.Runtime
	asked string // the first thing of a page that was asked for
}

func (w *world) run(ctx context.Context, p *plugin.Plugin, f *Fixture) (*outcome, error) {
	w.vm.SetMaxCallStackSize(2000)
	limit := time.AfterFunc(handlerTime,
		func() { w.vm.Interrupt(fmt.Sprintf("it keeps the engine busy for more than %v", handlerTime)) })
	defer limit.Stop()
	defer context.AfterFunc(ctx, func() { w.vm.Interrupt("interrupted") })()

	touched := func(name string) {
		w.asked = cmp.Or(w.asked, name)
	}
	if _, err := w.call(addressScript, w.parse); err != nil {
		return nil, err
	}
	tick, err := w.call(worldScript, touched, f.Page.URL, onlyPages)
	if err != nil {
		return nil, err
	}
	adapter, err := build.ForEngine(p.Adapter)
	if err != nil {
		return nil, err
	}
	if _, err := w.vm.RunScript("adapter.js", string(adapter)); err != nil {
		return nil, fmt.Errorf("the plugin does not load: %w", err)
	}
	fixture, err := w.fixture(f)
	if err != nil {
		return nil, err
	}
	var said string
	done := func(text string) { said = text }
	if _, err := w.call(driveScript, fixture, w.vm.Get("tabrelayPlugin"), "", done); err != nil {
		return nil, err
	}
	next, _ := sobek.AssertFunction(tick)
	for said == "" {
		more, err := next(sobek.Undefined())
		if err != nil {
			return nil, err
		}
		if said == "" && !more.ToBoolean() {
			return nil, errors.New("the handler waits for something that never comes")
		}
	}
	var o outcome
	if err := json.Unmarshal([]byte(said), &o); err != nil {
		return nil, fmt.Errorf("the answer cannot be read: %w", err)
	}
	return &o, nil
}

// call runs a script that is a function, and calls it.
func (w *world) call(script string, arguments ...any) (sobek.Value, error) {
	value, err := w.vm.RunString("(" + expression(script) + ")")
	if err != nil {
		return nil, err
	}
	function, _ := sobek.AssertFunction(value)
	values := make([]sobek.Value, len(arguments))
	for i, a := range arguments {
		values[i] = w.vm.ToValue(a)
	}
	return function(sobek.Undefined(), values...)
}

// fixture is the fixture as an object of the engine.
func (w *world) fixture(f *Fixture) (sobek.Value, error) {
	raw, err := json.Marshal(f)
	if err != nil {
		return nil, err
	}
	parse, _ := sobek.AssertFunction(w.vm.Get("JSON").ToObject(w.vm).Get("parse"))
	return parse(sobek.Undefined(), w.vm.ToValue(string(raw)))
}

// parse is the engine's URL, as far as net/url agrees with https://url.spec.whatwg.org/.
func (w *world) parse(text, base string) any {
	u, err := url.Parse(strings.TrimSpace(text))
	if err == nil && base != "" {
		var from *url.URL
		if from, err = url.Parse(base); err == nil {
			u = from.ResolveReference(u)
		}
	}
	if err != nil || u.Scheme == "" || u.Host == "" {
		return sobek.Undefined()
	}
	host, port := strings.ToLower(u.Hostname()), u.Port()
	if u.Scheme == "https" && port == "443" || u.Scheme == "http" && port == "80" {
		port = ""
	}
	full := host
	if port != "" {
		full += ":" + port
	}
	mark := func(mark, text string) string {
		if text == "" {
			return ""
		}
		return mark + strings.ReplaceAll(text, " ", "%20")
	}
	path := cmp.Or(u.EscapedPath(), "/")
	return map[string]any{
		"protocol": u.Scheme + ":", "host": full, "hostname": host, "port": port, "pathname": path,
		"search": mark("?", u.RawQuery), "hash": mark("#", u.EscapedFragment()),
	}
}

// expression is a script that is a function, without the semicolon that a formatter puts behind it.
func expression(script string) string { return strings.TrimRight(script, ";\n") }
