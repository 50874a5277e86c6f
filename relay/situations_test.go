package relay

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"tabrelay/relay/road/fault/situation"
)

// TestEverySituationIsProvoked walks the table of situations. A test provokes a situation when it hands what came out
// to faulttest.Provoked or faulttest.Answered, which check it, and names the situation in the same function.
func TestEverySituationIsProvoked(t *testing.T) {
	provoked := map[string]bool{}
	walkTests(t, func(file string, text []byte) {
		for _, id := range provokedIn(t, file, text) {
			provoked[id] = true
		}
	})
	for _, s := range situation.All() {
		if !provoked[s.ID] {
			t.Errorf("no test provokes %s (%s: %s); write one that ends in faulttest.Provoked or faulttest.Answered",
				s.ID, s.Code, s.When)
		}
	}
}

// walkTests reads the sources of all tests. It reads the files themselves, so that the result of an earlier run cannot
// stand for them.
func walkTests(t *testing.T, read func(file string, text []byte)) {
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
			return nil
		}
		if !strings.HasSuffix(name, "_test.go") && !(strings.HasPrefix(name, "e2e/specs/") &&
			strings.HasSuffix(name, ".spec.ts")) {
			return nil
		}
		text, err := fs.ReadFile(root, name)
		if err == nil {
			read(name, text)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}

// inSpec is what the end-to-end tests write: provoked('tab-missing', 'TAB_NOT_FOUND', …), which checks the code.
var inSpec = regexp.MustCompile(`\bprovoked\(\s*'([a-z-]+)',\s*'([A-Z_]+)'`)

// provokedIn returns the situations that the tests of one file provoke.
func provokedIn(t *testing.T, file string, text []byte) (ids []string) {
	if strings.HasSuffix(file, ".ts") {
		for _, m := range inSpec.FindAllStringSubmatch(string(text), -1) {
			s, ok := situation.Find(m[1])
			if !ok || string(s.Code) != m[2] {
				t.Errorf("%s: there is no situation %s with the code %s", file, m[1], m[2])
				continue
			}
			ids = append(ids, m[1])
		}
		return ids
	}
	parsed, err := parser.ParseFile(token.NewFileSet(), file, text, parser.SkipObjectResolution)
	if err != nil {
		return nil // the compiler says more about it
	}
	for _, d := range parsed.Decls {
		f, ok := d.(*ast.FuncDecl)
		if !ok || !strings.HasPrefix(f.Name.Name, "Test") || !checks(f) {
			continue
		}
		ast.Inspect(f, func(n ast.Node) bool {
			literal, ok := n.(*ast.BasicLit)
			if !ok || literal.Kind != token.STRING {
				return true
			}
			if id, err := strconv.Unquote(literal.Value); err == nil && isSituation(id) {
				ids = append(ids, id)
			}
			return true
		})
	}
	return ids
}

func isSituation(id string) bool {
	_, ok := situation.Find(id)
	return ok
}

// checks reports whether a test hands something to faulttest, and is not skipped.
func checks(f *ast.FuncDecl) bool {
	calls := func(pkg string, names ...string) bool {
		found := false
		ast.Inspect(f, func(n ast.Node) bool {
			if s, ok := n.(*ast.SelectorExpr); ok && slices.Contains(names, s.Sel.Name) {
				x, isName := s.X.(*ast.Ident)
				found = found || isName && x.Name == pkg
			}
			return !found
		})
		return found
	}
	return calls("faulttest", "Provoked", "Answered") && !calls("t", "Skip", "Skipf", "SkipNow")
}

// TestTheWalkSeesWhatIsMissing holds the walk itself to its word.
func TestTheWalkSeesWhatIsMissing(t *testing.T) {
	const head = "package x\nimport \"testing\"\n"
	for text, want := range map[string]int{
		head + `func TestA(t *testing.T) { faulttest.Provoked(t, "tab-missing", ` +
			`f) }`: 1,
		head + `func TestA(t *testing.T) { for _, id := range []string{"tab-missing"} { faulttest.Answered(t, id) ` +
			`} }`: 1,
		head + `func TestA(t *testing.T) { t.Log("tab-missing") }`:                              0,
		head + `func TestA(t *testing.T) { t.Skip(); faulttest.Provoked(t, "tab-missing", f) }`: 0,
		head + `func never(t *testing.T) { faulttest.Provoked(t, "tab-missing", f) }`:           0,
		head + `func TestA(t *testing.T) { faulttest.Provoked(t, "no-such-thing", f) }`:         0,
		head + `// faulttest.Provoked(t, "tab-missing", f)`:                                     0,
	} {
		if got := provokedIn(t, "x_test.go", []byte(text)); len(got) != want {
			t.Errorf("%s: found %v, want %d", text, got, want)
		}
	}
	if got := provokedIn(t, "e2e/specs/x.spec.ts",
		[]byte("provoked('tab-missing', 'TAB_NOT_FOUND', answer);")); len(got) != 1 {
		t.Errorf("in a spec: %v", got)
	}
}
