package relay

import (
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// module is the prefix of our own import paths.
const module = "tabrelay/"

// may lists which of our packages a package may import. A package that is not here may not exist. Tests may import
// more: they are not what others depend on.
var may = map[string][]string{
	"cmd/tabrelay": {"relay", "relay/agent", "relay/audit", "relay/config", "relay/plugin", "relay/registry",
		"relay/join",
		"relay/connect", "relay/browser", "relay/bench", "relay/call", "relay/draft", "relay/fault", "relay/policy",
		"relay/doctor",
		"relay/install", "relay/review", "relay/trial", "relay/autostart", "relay/builtin", "relay/catalog",
		"relay/client", "relay/httpapi", "relay/logfile", "relay/store", "extension", "adapters"},

	"relay": {"*"}, // the only place where everything meets
	"relay/agent": {"relay/agent/provider", "relay/agent/worker", "relay/breaker", "relay/builtin", "relay/call",
		"relay/capability", "relay/config", "relay/doctor", "relay/event", "relay/httpapi",
		"relay/fault", "relay/match", "relay/plugin", "relay/registry", "relay/schema",
		"relay/suggest", "relay/untrusted"},
	"relay/agent/provider":              {"relay/fault"},
	"relay/agent/provider/providertest": {"relay/agent/provider"},
	"relay/agent/worker":                {"relay/call", "relay/fault"},

	"relay/capability": {"relay/builtin", "relay/call", "relay/config", "relay/doctor", "relay/event", "relay/fault",
		"relay/front", "relay/httpapi", "relay/registry", "relay/store"},

	"relay/bench": {"relay", "relay/call", "relay/config", "relay/plugin", "relay/hub/hubtest", "relay/wire",
		"relay/fault", "relay/join", "extension"},

	"relay/builtin": {"relay/audit", "relay/call", "relay/catalog", "relay/dispatch", "relay/doctor", "relay/event",
		"relay/fault", "relay/hub", "relay/match", "relay/metrics", "relay/plugin", "relay/policy", "relay/random",
		"relay/registry", "relay/result", "relay/schedule", "relay/store"},
	"relay/client": {"relay/audit", "relay/builtin", "relay/catalog", "relay/call", "relay/config",
		"relay/dispatch",
		"relay/event", "relay/fault", "relay/front", "relay/hub", "relay/join", "relay/lock", "relay/metrics",
		"relay/pause", "relay/policy", "relay/registry", "relay/serial", "relay/store"},
	"relay/catalog": {"relay/call", "relay/config", "relay/event", "relay/fault", "relay/hub", "relay/lock",
		"relay/install", "relay/match", "relay/plugin", "relay/policy", "relay/registry", "relay/review",
		"relay/serial", "relay/store", "relay/suggest", "relay/wire", "adapters"},
	"relay/webmcp": {"relay/clip", "relay/fault", "relay/lock", "relay/plugin", "relay/rawjson", "relay/registry",
		"relay/schema"},
	"relay/httpapi": {"relay/access", "relay/audit", "relay/builtin", "relay/call",
		"relay/catalog", "relay/client",
		"relay/clip", "relay/config", "relay/dispatch", "relay/doctor", "relay/event", "relay/fault", "relay/front",
		"relay/hub", "relay/lock", "relay/logfile", "relay/metrics", "relay/plugin", "relay/policy", "relay/random",
		"relay/registry", "relay/review", "relay/schedule", "relay/store", "relay/wire", "adapters/demo", "extension"},
	"relay/logfile": {},
	"relay/front":   {"relay/access", "relay/call", "relay/fault", "relay/registry"},
	"relay/deed":    {"relay/call", "relay/untrusted"},
	"relay/dispatch": {"relay/breaker", "relay/call", "relay/deed", "relay/event", "relay/fault", "relay/registry",
		"relay/result",
		"relay/schedule", "relay/schema", "relay/untrusted"},
	"relay/hub":      {"relay/call", "relay/fault", "relay/wire", "relay/match", "relay/access"},
	"relay/registry": {"relay/call", "relay/fault", "relay/plugin", "relay/schema", "relay/match"},
	"relay/plugin":   {"relay/sandbox", "relay/schema", "relay/fault", "relay/match", "plugin-sdk"},
	"relay/install":  {"relay/clip", "relay/fault", "relay/plugin"},
	"relay/draft":    {"relay/fault", "relay/plugin"},
	"relay/review":   {"relay/plugin", "relay/match"},
	"relay/trial":    {"relay/plugin", "relay/schema"},
	"relay/resource": {"relay/call", "relay/config", "relay/event", "relay/fault", "relay/hub", "relay/match",
		"relay/policy", "relay/untrusted"},
	"relay/policy": {"relay/call", "relay/config", "relay/fault", "relay/lock", "relay/match", "relay/plugin",
		"relay/registry", "relay/untrusted"},
	"relay/prompt": {"relay/call", "relay/fault", "relay/front", "relay/hub", "relay/match", "relay/plugin",
		"relay/registry"},
	"relay/store":     {"relay/audit", "relay/call", "relay/config", "relay/fault"},
	"relay/audit":     {"relay/call", "relay/fault"},
	"relay/metrics":   {"relay/fault"},
	"relay/schema":    {},
	"relay/wire":      {"relay/call", "relay/fault"},
	"relay/fault":     {},
	"relay/call":      {},
	"relay/lock":      {},
	"relay/serial":    {"relay/lock"},
	"relay/untrusted": {"relay/fault"},
	"relay/event":     {"relay/call", "relay/lock"},
	"relay/doctor": {"relay/browser", "relay/config", "relay/connect", "relay/fault", "relay/store", "adapters",
		"extension"},
	"relay/sandbox":   {},
	"relay/breaker":   {},
	"relay/schedule":  {"relay/call"},
	"relay/rawjson":   {},
	"relay/clip":      {},
	"relay/hint":      {},
	"relay/random":    {},
	"relay/pause":     {},
	"relay/suggest":   {},
	"relay/access":    {},
	"relay/result":    {"relay/sandbox", "relay/call", "relay/fault"},
	"relay/match":     {},
	"relay/config":    {"relay/call", "relay/match"},
	"relay/join":      {"relay/config", "relay/fault"},
	"relay/connect":   {},
	"relay/autostart": {},
	"relay/browser":   {},

	"relay/httpapi/apitest":   {},
	"relay/hub/hubtest":       {"relay/call", "relay/fault", "relay/hub", "relay/wire"},
	"relay/front/conformance": {"relay/call", "relay/fault", "relay/front", "relay/registry", "relay/plugin"},
	"relay/fault/generate":    {"relay/fault", "relay/fault/situation"},
	"relay/fault/faulttest":   {"relay/fault", "relay/fault/situation"},
	"relay/fault/situation":   {"relay/fault"},
	"adapters":                {},
	"adapters/demo":           {},
	"adapters/generate":       {"relay/plugin"},
	"extension":               {},
	"extension/bundle":        {},
	"plugin-sdk":              {},
}

// anywhere are packages that every other may import: they know nothing of ours.
var anywhere = []string{"relay/clip", "relay/hint", "relay/lock", "relay/pause", "relay/random", "relay/rawjson",
	"relay/suggest"}

// why says what an import that is not in the table would break.
var why = map[string]string{
	"relay/wire":     "frames know nothing of connections, tools, MCP or who is asking",
	"relay/fault":    "a failure does not know how it travels",
	"relay/call":     "nouns that cross package borders have no behaviour",
	"relay/schema":   "a schema knows neither tools nor frames",
	"relay/registry": "tools know neither sessions nor browsers",
	"relay/hub":      "browsers know nothing of MCP, JSON Schema, permissions or what a tool means",
	"relay/dispatch": "a call's life knows nothing of MCP, WebSockets, frames or files",
	"relay/front":    "MCP knows nothing of WebSockets, frames, tabs, or how a call is carried out",
	"cmd/tabrelay":   "a command line holds nothing that a test could not drive through arguments and streams",
}

// only lists who may import a dependency, so that replacing it stays a small change. A name with .go is one file.
var only = map[string][]string{
	"nhooyr.io/websocket":         {"relay/hub/socket.go", "relay/hub/hubtest", "relay/bench/bare.go"},
	"github.com/mark3labs/mcp-go": {"relay/front"},
	"encoding/json/jsontext":      {}, // a plain go build has no GOEXPERIMENT: the module does the same
	"encoding/json/v2":            {},
	"github.com/go-json-experiment/json": {"relay/rawjson", "relay/policy", "relay/audit",
		"relay/plugin/dist.go"},
	"golang.org/x/net/idna":                      {"relay/policy/targets.go"},
	"golang.org/x/text":                          {"relay/config/lookalike.go"},
	"github.com/agext/levenshtein":               {"relay/suggest"},
	"modernc.org/sqlite":                         {"relay/store"},
	"github.com/sasha-s/go-deadlock":             {"relay/lock"},
	"github.com/petermattis/goid":                {"relay/lock"},
	"github.com/evanw/esbuild":                   {"relay/plugin", "extension/bundle"},
	"github.com/grafana/sobek":                   {"relay/plugin", "relay/trial"},
	"github.com/santhosh-tekuri/jsonschema":      {"relay/schema", "relay/fault"},
	"github.com/prometheus/client_golang":        {"relay/metrics", "relay/capability", "relay/agent/meters.go"},
	"github.com/spf13/cobra":                     {"cmd/tabrelay"},
	"go.yaml.in/yaml":                            {"relay/plugin/promptfile.go"},
	"github.com/itchyny/gojq":                    {"relay/result"},
	"github.com/gofrs/flock":                     {"relay/join", "relay/config", "relay/plugin", "relay/install"},
	"github.com/tailscale/hujson":                {"relay/config", "relay/connect", "relay/plugin"},
	"github.com/pelletier/go-toml":               {"relay/connect"},
	"github.com/rogpeppe/go-internal/testscript": {"cmd/tabrelay"},
	"github.com/sony/gobreaker":                  {"relay/breaker"},
	"github.com/zalando/go-keyring":              {"relay/config/key.go"},
	"github.com/rogpeppe/go-internal/diff":       {"relay/review"},
	"github.com/coder/acp-go-sdk":                {"relay/agent/worker"},
}

// source is one Go file.
type source struct {
	pkg, name, doc string
	imports        []string
	test           bool
}

// sources reads every Go file of the project. It reads the files themselves, so that the result of an earlier run
// cannot stand for them.
func sources(t *testing.T) (list []source) {
	t.Helper()
	root := os.DirFS("..")
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if base := entry.Name(); name != "." && (strings.HasPrefix(base, ".") || base == "node_modules" ||
				base == "testdata" || base == "dist") {
				return fs.SkipDir
			}
			if _, err := fs.Stat(root, path.Join(name, "go.mod")); err == nil && name != "." {
				return fs.SkipDir // a module of its own
			}
			return nil
		}
		if !strings.HasSuffix(name, ".go") || !strings.Contains(name, "/") {
			return nil // no package of ours is at the top
		}
		text, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		file, err := parser.ParseFile(token.NewFileSet(), name, text, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			return err
		}
		s := source{pkg: path.Dir(name), name: name, doc: file.Doc.Text(), test: strings.HasSuffix(name, "_test.go")}
		for _, i := range file.Imports {
			s.imports = append(s.imports, strings.Trim(i.Path.Value, `"`))
		}
		list = append(list, s)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return list
}

func TestImports(t *testing.T) {
	for _, s := range sources(t) {
		allowed, known := may[s.pkg]
		if !known {
			t.Errorf("%s: the package %s is not in the table of imports; add it there, and say in doc.go what it is "+
				"for", s.name, s.pkg)
			continue
		}
		if s.test {
			continue
		}
		for _, i := range s.imports {
			ours, isOurs := strings.CutPrefix(i, module)
			if isOurs && !slices.Contains(slices.Concat(allowed, anywhere), ours) && !slices.Contains(allowed, "*") {
				t.Errorf("%s imports %s, and %s may import %s of ours only: %s", s.name, ours, s.pkg,
					strings.Join(allowed, ", "), why[s.pkg])
			}
			checkDependency(t, s, i)
		}
	}
}

func checkDependency(t *testing.T, s source, imported string) {
	t.Helper()
	for dependency, users := range only {
		if imported != dependency && !strings.HasPrefix(imported, dependency+"/") {
			continue
		}
		if !slices.Contains(users, s.pkg) && !slices.Contains(users, s.name) {
			t.Errorf("%s imports %s, which stays inside %s", s.name, dependency, strings.Join(users, " and "))
		}
	}
}

// Every package says what it is for, once.
func TestPackageComments(t *testing.T) {
	comments := map[string][]string{}
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		if _, ok := comments[s.pkg]; !ok {
			comments[s.pkg] = nil
		}
		if s.doc != "" {
			comments[s.pkg] = append(comments[s.pkg], s.name)
		}
	}
	for _, pkg := range slices.Sorted(maps.Keys(comments)) {
		if files := comments[pkg]; len(files) != 1 {
			t.Errorf("%s has %d package comments %v, and should have one", pkg, len(files), files)
		}
	}
}
