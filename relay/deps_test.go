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

// room is a folder whose packages belong together. They stand from the bottom up: each may import those before it, its
// own sub-packages, and what the rooms hold that its own may import. A package that is not here may not exist.
type room struct {
	name     string
	packages []string
	imports  []string // other rooms
	why      string   // what an import of another room would break
}

var rooms = []room{
	{name: "relay/lib", packages: []string{"lock", "lazyregexp", "async", "access", "called", "clip", "match",
		"random", "diskfile", "procgroup", "rawjson", "receiver", "sandbox", "suggest"},
		why: "small helpers know nothing of ours"},
	{name: "relay/road", packages: []string{"call", "fault", "schema", "plugin", "registry", "untrusted", "deed",
		"effect", "event", "breaker", "schedule", "result", "policy", "dispatch"}, imports: []string{"relay/lib"},
		why: "a call's life knows nothing of MCP, WebSockets, frames or files"},
	{name: "relay/browser", packages: []string{"wire", "hub", "launch"}, imports: []string{"relay/lib", "relay/road"},
		why: "browsers know nothing of MCP, permissions or what a tool means"},
	{name: "relay/state", packages: []string{"audit", "config", "logfile", "metrics", "store"},
		imports: []string{"relay/lib", "relay/road"}, why: "what is kept does not depend on who keeps it"},
	{name: "relay/plugin", packages: []string{"build", "install", "review", "trial", "catalog"},
		imports: []string{"relay/lib", "relay/road", "relay/browser", "relay/state", "plugin-sdk", "adapters"},
		why:     "plugins know nothing of agents and of the program around them"},
	{name: "relay/agent", packages: []string{"front", "join", "prompt", "client"},
		imports: []string{"relay/lib", "relay/road", "relay/browser", "relay/state", "relay/plugin"},
		why:     "the agent side knows nothing of the program around it"},
	{name: "relay/program", packages: []string{"autostart", "connect", "nativehost", "doctor", "builtin", "httpapi",
		"bench"},
		imports: []string{"relay/lib", "relay/road", "relay/browser", "relay/state", "relay/plugin", "relay/agent",
			"extension", "adapters"},
		why: "what is attached to the core is named in relay/capabilities.go only"},
	{name: "relay/capability", packages: []string{""}, imports: []string{"relay/lib", "relay/road", "relay/browser",
		"relay/state", "relay/agent", "relay/program"}, why: "a capability may be taken out"},
	{name: "relay/capability/auditexport", packages: []string{""}, imports: ports,
		why: "a capability may be taken out"},
	{name: "relay/capability/delegation",
		packages: []string{"codes", "picture", "provider", "worker", "agentconfig", ""},
		imports:  ports, why: "a capability may be taken out"},
	{name: "relay/capability/devtools", packages: []string{""}, imports: ports, why: "a capability may be taken out"},
	{name: "relay/capability/fleet",
		packages: []string{"wire", "local", "lease", "node", "gateway", "signin", "sim", ""},
		imports:  ports, why: "a capability may be taken out"},
	{name: "relay/capability/handover", packages: []string{""}, imports: ports, why: "a capability may be taken out"},
	{name: "relay/capability/recording", packages: []string{"draft", ""}, imports: ports,
		why: "a capability may be taken out"},
	{name: "relay/capability/resources", packages: []string{""}, imports: ports, why: "a capability may be taken out"},
	{name: "relay/capability/script", packages: []string{"engine", ""}, imports: ports,
		why: "a capability may be taken out"},
	{name: "relay/capability/tracing", packages: []string{""}, imports: ports, why: "a capability may be taken out"},
	{name: "relay/capability/webmcp", packages: []string{""}, imports: ports, why: "a capability may be taken out"},
	{name: "relay", packages: []string{"", "generate"}, imports: []string{"*"}}, // where everything meets
	{name: "cmd", packages: []string{"tabrelay"}, imports: []string{"*"}},
	{name: "adapters", packages: []string{"", "demo", "generate"}, imports: []string{"relay/plugin", "relay/road"}},
	{name: "extension", packages: []string{"", "bundle"}},
	{name: "packaging", packages: []string{"store"}, imports: []string{"relay/road", "relay/plugin", "adapters"},
		why: "what packs the extension is no part of the program"},
	{name: "plugin-sdk", packages: []string{""}},
}

// ports is what a capability may import besides itself: never another capability.
var ports = []string{"relay/lib", "relay/road", "relay/browser", "relay/state", "relay/plugin", "relay/agent",
	"relay/program", "relay/capability"}

// debts are imports that the table does not allow, and that are to go.
var debts = map[string][]string{
	"relay/road/policy": {"relay/state/config"}, // what widens rights is read from the configuration
}

// only lists who may import a dependency, so that replacing it stays a small change. A name with .go is one file.
var only = map[string][]string{
	"nhooyr.io/websocket": {
		"relay/browser/hub/socket.go", "relay/browser/hub/hubtest", "relay/program/bench/bare.go",
	},
	"github.com/mark3labs/mcp-go": {"relay/agent/front"},
	"encoding/json/jsontext":      {}, // a plain go build has no GOEXPERIMENT: the module does the same
	"encoding/json/v2":            {},
	"github.com/go-json-experiment/json": {"relay/lib/rawjson", "relay/road/policy", "relay/state/audit",
		"relay/road/plugin", "relay/program/httpapi", "relay/capability/fleet/wire"},
	"golang.org/x/net/idna":          {"relay/road/policy/targets.go", "relay/lib/match/origin.go"},
	"golang.org/x/text":              {"relay/state/config/lookalike.go"},
	"github.com/agext/levenshtein":   {"relay/lib/suggest"},
	"modernc.org/sqlite":             {"relay/state/store"},
	"github.com/sasha-s/go-deadlock": {"relay/lib/lock"},
	"github.com/petermattis/goid":    {"relay/lib/lock"},
	"github.com/evanw/esbuild": {"relay/plugin/build", "extension/bundle",
		"relay/capability/script/engine"},
	"github.com/grafana/sobek": {"relay/plugin/build", "relay/plugin/trial",
		"relay/capability/script/engine"},
	"github.com/santhosh-tekuri/jsonschema": {"relay/road/schema", "relay/road/fault"},
	"github.com/prometheus/client_golang": {
		"relay/state/metrics", "relay/capability", "relay/capability/delegation/meters.go",
		"relay/capability/auditexport", "relay/capability/tracing", "relay/capability/fleet/meters.go",
	},
	"github.com/nats-io/nats.go": {
		"relay/capability/fleet/wire", "relay/capability/fleet/node", "relay/capability/fleet/gateway",
	},
	"github.com/coreos/go-oidc":      {"relay/capability/fleet/signin"},
	"github.com/nats-io/nats-server": {"relay/capability/fleet/local"},
	"github.com/nats-io/nkeys":       {"relay/capability/fleet/wire", "relay/capability/fleet/local"},
	"github.com/leodido/go-syslog":   {"relay/capability/auditexport"},
	"go.opentelemetry.io/proto/otlp": {
		"relay/capability/auditexport", "relay/capability/tracing", "relay/lib/receiver"},
	"google.golang.org/protobuf":  {"relay/capability/auditexport", "relay/capability/tracing"},
	"github.com/cenkalti/backoff": {"relay/capability/auditexport", "relay/capability/tracing"},
	"github.com/spf13/cobra": {
		"cmd/tabrelay", "relay/capability", "relay/capability/delegation", "relay/capability/fleet",
		"relay/capability/recording", "relay/capability/script",
	},
	"go.yaml.in/yaml":         {"relay/plugin/build/promptfile.go"},
	"github.com/itchyny/gojq": {"relay/road/result"},
	"github.com/gofrs/flock": {
		"relay/agent/join", "relay/state/config", "relay/plugin/build", "relay/plugin/install",
	},
	"github.com/tailscale/hujson": {"relay/lib/rawjson", "relay/state/config", "relay/program/connect",
		"relay/plugin/build"},
	"github.com/pelletier/go-toml":               {"relay/program/connect"},
	"github.com/rogpeppe/go-internal/testscript": {"cmd/tabrelay"},
	"github.com/sony/gobreaker":                  {"relay/road/breaker"},
	"github.com/zalando/go-keyring":              {"relay/state/config/key.go"},
	"github.com/rogpeppe/go-internal/diff":       {"relay/plugin/review"},
	"golang.org/x/image":                         {"relay/capability/delegation/picture"},
	"github.com/coder/acp-go-sdk":                {"relay/capability/delegation/worker"},
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
		own, rank := place(s.pkg)
		if own == nil {
			t.Errorf("%s: the package %s is in no room; add it to one, and say in doc.go what it is for", s.name, s.pkg)
			continue
		}
		if s.test {
			continue
		}
		for _, i := range s.imports {
			if ours, isOurs := strings.CutPrefix(i, module); isOurs && !own.mayImport(rank, s.pkg, ours) {
				t.Errorf("%s imports %s, which is above it, or in a room that %s may not import (%s): %s",
					s.name, ours, own.name, strings.Join(own.imports, ", "), own.why)
			}
			checkDependency(t, s, i)
		}
	}
}

// place returns the room of a package, and how high in it the package stands. A folder below a package is on its level.
func place(pkg string) (own *room, rank int) {
	for i := range rooms {
		rest, ok := strings.CutPrefix(pkg+"/", rooms[i].name+"/")
		if !ok {
			continue
		}
		first, _, _ := strings.Cut(rest, "/")
		if at := slices.Index(rooms[i].packages, first); at >= 0 {
			own, rank = &rooms[i], at
		}
	}
	return own, rank
}

func (r *room) mayImport(rank int, pkg, imported string) bool {
	if slices.Contains(r.imports, "*") || slices.Contains(debts[pkg], imported) {
		return true
	}
	if other, below := place(imported); other == r {
		return below <= rank
	}
	return slices.ContainsFunc(r.imports, func(name string) bool {
		return imported == name || strings.HasPrefix(imported, name+"/")
	})
}

// What is not imported any more is no debt.
func TestDebtsAreOwed(t *testing.T) {
	owed := map[string]bool{}
	for _, s := range sources(t) {
		for _, i := range s.imports {
			owed[s.pkg+" "+strings.TrimPrefix(i, module)] = owed[s.pkg+" "+strings.TrimPrefix(i, module)] || !s.test
		}
	}
	for pkg, list := range debts {
		for _, imported := range list {
			if !owed[pkg+" "+imported] {
				t.Errorf("%s does not import %s any more: take it out of debts", pkg, imported)
			}
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
