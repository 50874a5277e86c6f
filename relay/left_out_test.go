package relay

import (
	"bytes"
	"encoding/json"
	"flag"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var everything = flag.Bool("everything", false, "run all tests of the core without each capability, which takes long")

// wiring is the file that names capabilities.
const wiring = "relay/capabilities.go"

// spellings are how a capability is called besides its name, or what is its own where that means other things, too:
// rules of Prometheus and tapes of test pages are recordings, resources are a word of MCP, pages have scripts, and much
// is handed over.
// They are in small letters, and so is what they are looked for in: an expression that begins with letters that it
// need not fold is found twenty times as fast.
var spellings = map[string][]string{
	"delegation": {"delegat"}, "devtools": {"devtools", "browser-dev"}, "handover": {"ask_person", "handovers"},
	"recording": {"recordings", "plugin.?record", `record\.(start|read|stop)`},
	"resources": {`resources\.(tabs|file|https|git|providers)`, "capabilit(y|ies)/resources",
		"relay__read_(tab|console)"},
	"script": {"relay__run", "capability/script"},
}

// TestTheCoreNamesNoCapability: outside a capability's own folders, tests, documents, generated files and the wiring,
// at most three files name it.
func TestTheCoreNamesNoCapability(t *testing.T) {
	const most = 3
	found := filesNaming(t)
	for _, one := range capabilities {
		names := found[one.Name]
		if len(names) > most {
			t.Errorf("%d files name %s, and at most %d may:\n\t%s", len(names), one.Name, most,
				strings.Join(names, "\n\t"))
		}
		t.Logf("%s: %s", one.Name, strings.Join(names, ", "))
	}
}

// aside are files whose words do not count: documents, tests and what they need, and what is generated.
var aside = regexp.MustCompile(`(^|/)(docs|test(data|-results)?|e2e|dist|generated|node_modules|\.[^/]+)/|\.md$|` +
	`_test\.go$|\.generated\.[jt]s$|(config|policy)\.schema\.json$|^(bin|package-lock\.json)`)

// filesNaming are, by capability, the files outside its own folders that name it.
func filesNaming(t *testing.T) map[string][]string {
	root, named, found := os.DirFS(".."), wordsOfCapabilities(), map[string][]string{}
	err := fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && name != "." && aside.MatchString(name+"/"):
			return fs.SkipDir
		case entry.IsDir() || aside.MatchString(name) || name == wiring:
			return nil
		}
		text, err := fs.ReadFile(root, name)
		text = bytes.ToLower(text)
		for capability, words := range named {
			names := func(word *regexp.Regexp) bool { return word.Match(text) }
			if !ofCapability(capability, name) && slices.ContainsFunc(words, names) {
				found[capability] = append(found[capability], name)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}

func wordsOfCapabilities() map[string][]*regexp.Regexp {
	words := map[string][]*regexp.Regexp{}
	for _, one := range capabilities {
		spelt, other := spellings[one.Name]
		if !other {
			spelt = []string{one.Name}
		}
		for _, word := range spelt {
			words[one.Name] = append(words[one.Name], regexp.MustCompile(word))
		}
	}
	return words
}

// ofCapability reports whether a file lies in the folders of a capability, or of all of them in the extension.
func ofCapability(capability, file string) bool {
	own := []string{"relay/capability/" + capability + "/", "extension/src/capabilities/", "extension/src/browser/dev/"}
	return slices.ContainsFunc(own, func(folder string) bool { return strings.HasPrefix(file, folder) })
}

// TestLeftOut: without the folder of a capability and its line in the wiring, the program builds, starts and answers,
// and the tests of the core compile. With -everything they run.
func TestLeftOut(t *testing.T) {
	for _, one := range capabilities {
		t.Run(one.Name, func(t *testing.T) {
			t.Parallel()
			overlay := leaveOut(t, one.Name)
			binary := filepath.Join(t.TempDir(), "tabrelay")
			inRepository(t, "go", "build", "-overlay", overlay, "-o", binary, "./cmd/tabrelay")
			r, _ := newWorld(t).relay()
			tool := append(toolNames(r.attachmentOf(one.Name)), "of_nobody")[0]
			answersWithout(t, binary, one.Settings.Key(), tool)
			core := []string{"./relay/road/...", "./relay/browser/...", "./relay/agent/...", "./relay/state/...",
				"./relay/program/...", "./relay"}
			if *everything {
				inRepository(t, "go", append([]string{"test", "-overlay", overlay, "-timeout", "30m",
					"-skip", ofTheWhole}, core...)...)
			} else { // they compile
				inRepository(t, "go", append([]string{"vet", "-overlay", overlay}, core...)...)
			}
		})
	}
}

// ofTheWhole are tests of what is published of the whole program: its documents, schema and list of routes.
const ofTheWhole = "^(TestPublishedSettings|TestRoutesAreListed)$"

// leaveOut writes an overlay for the go command in which a capability is not there, nor tests that need it.
func leaveOut(t *testing.T, capability string) (file string) {
	t.Helper()
	replace := map[string]string{}
	at := func(name string) string {
		absolute, err := filepath.Abs(filepath.Join("..", name))
		if err != nil {
			t.Fatal(err)
		}
		return absolute
	}
	folder := "relay/capability/" + capability
	lost := map[string][]string{} // by package
	for _, s := range sources(t) {
		switch {
		case s.pkg == folder || strings.HasPrefix(s.pkg, folder+"/"):
			replace[at(s.name)] = ""
		case s.test && slices.ContainsFunc(s.imports, func(i string) bool {
			return strings.HasPrefix(i+"/", module+folder+"/")
		}):
			lost[s.pkg] = append(lost[s.pkg], s.name)
		}
	}
	for pkg, files := range lost {
		for _, name := range withUsers(t, pkg, files) {
			replace[at(name)] = ""
		}
	}
	text, err := os.ReadFile(filepath.Join("..", wiring))
	if err != nil {
		t.Fatal(err)
	}
	line := regexp.MustCompile(`(?m)^\t(` + capability + `\.Capability,|"` + module + folder + `")\n`)
	if n := len(line.FindAll(text, -1)); n != 2 {
		t.Fatalf("%s has %d lines about %s, not its import and its line in the list", wiring, n, capability)
	}
	left := filepath.Join(t.TempDir(), "capabilities.go")
	replace[at(wiring)] = left
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file = filepath.Join(t.TempDir(), "overlay.json")
	for name, text := range map[string][]byte{left: line.ReplaceAll(text, nil), file: overlay} {
		if err := os.WriteFile(name, text, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return file
}

// withUsers adds to test files of a package those that use what they declare.
func withUsers(t *testing.T, pkg string, lost []string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("..", pkg, "*_test.go"))
	if err != nil {
		t.Fatal(err)
	}
	parsed := map[string]*ast.File{}
	for _, file := range files {
		tree, err := parser.ParseFile(token.NewFileSet(), file, nil, 0)
		if err != nil {
			t.Fatal(err)
		}
		parsed[path.Join(pkg, filepath.Base(file))] = tree
	}
	for more := true; more; {
		declared := map[string]bool{}
		for _, name := range lost {
			for name := range declares(parsed[name]) {
				declared[name] = true
			}
		}
		more = false
		for name, tree := range parsed {
			if !slices.Contains(lost, name) && uses(tree, declared) {
				lost, more = append(lost, name), true
			}
		}
	}
	return lost
}

// declares are the names that a file gives to its package. Methods have a dot in front.
func declares(tree *ast.File) map[string]bool {
	names := map[string]bool{}
	for _, d := range tree.Decls {
		switch d := d.(type) {
		case *ast.FuncDecl:
			if d.Recv != nil {
				names["."+d.Name.Name] = true
			} else {
				names[d.Name.Name] = true
			}
		case *ast.GenDecl:
			for _, spec := range d.Specs {
				switch spec := spec.(type) {
				case *ast.TypeSpec:
					names[spec.Name.Name] = true
				case *ast.ValueSpec:
					for _, name := range spec.Names {
						names[name.Name] = true
					}
				}
			}
		}
	}
	return names
}

func uses(tree *ast.File, declared map[string]bool) (found bool) {
	for _, name := range tree.Unresolved {
		found = found || declared[name.Name]
	}
	own := declares(tree)
	ast.Inspect(tree, func(n ast.Node) bool {
		if s, ok := n.(*ast.SelectorExpr); ok && !own["."+s.Sel.Name] && !ast.IsExported(s.Sel.Name) {
			found = found || declared["."+s.Sel.Name]
		}
		return !found
	})
	return found
}

// inRepository runs a program at the top of the repository.
func inRepository(t *testing.T, name string, args ...string) {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), name, args...)
	cmd.Dir, cmd.Env = "..", append(os.Environ(), "CGO_ENABLED=0") // what make build compiled is not compiled again
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
}

// answersWithout starts a program that a capability was left out of, and asks it for its tools and its settings.
func answersWithout(t *testing.T, binary, key, tool string) {
	t.Helper()
	home := t.TempDir()
	run := func(in string, args ...string) (string, error) {
		cmd := exec.CommandContext(t.Context(), binary, args...)
		cmd.Env = append(os.Environ(), "TABRELAY_HOME="+home)
		cmd.Stdin = strings.NewReader(in)
		out, err := cmd.CombinedOutput()
		return string(out), err
	}
	config := `{"listen":"127.0.0.1:0","demo":{"listen":""}}`
	if err := os.WriteFile(filepath.Join(home, "config.json"), []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	said, err := run(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18",`+
		`"capabilities":{},"clientInfo":{"name":"ann","version":"1"}}}`+"\n"+
		`{"jsonrpc":"2.0","method":"notifications/initialized"}`+"\n"+
		`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"bridge_health","arguments":{}}}`+"\n"+
		`{"jsonrpc":"2.0","id":3,"method":"tools/call","params":{"name":"`+tool+`","arguments":{}}}`+"\n",
		"mcp", "--toolset", "all")
	if err != nil || !strings.Contains(said, `"state":"degraded"`) || !strings.Contains(said, "no tool named") {
		t.Errorf("%v: it says\n%s", err, said)
	}
	if said, err := run("", "config", "set", key, "true"); err == nil {
		t.Errorf("its switch is a setting: %s", said)
	}
	if said, err := run("", "down"); err != nil {
		t.Errorf("%v: %s", err, said)
	}
}
