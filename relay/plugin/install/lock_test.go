package install

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabrelay/relay/road/fault"
)

// nobody is the registry of packages that are installed without one.
func nobody(context.Context) (*Config, error) { return nil, errors.New("no registry may be asked") }

// shelf is a registry with packages of many names, each in one version.
func shelf(t *testing.T, packages map[string][]byte) func(context.Context) (*Config, error) {
	t.Helper()
	var server *httptest.Server
	server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, req *http.Request) {
		if name, ok := strings.CutPrefix(req.URL.Path, "/files/"); ok {
			_, _ = w.Write(packages[name])
			return
		}
		name := strings.TrimPrefix(req.URL.Path, "/")
		tarball, ok := packages[name]
		if !ok {
			http.NotFound(w, req)
			return
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"versions": map[string]any{"1.0.0": map[string]any{
			"dist": map[string]any{"tarball": server.URL + "/files/" + name, "integrity": integrityOf(tarball)}}}})
	}))
	t.Cleanup(server.Close)
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".npmrc"), []byte("registry="+server.URL+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return func(context.Context) (*Config, error) {
		return ReadConfig(func(string) string { return "" }, t.TempDir(), home)
	}
}

// library is a package that exports a number.
func library(t *testing.T, source string) []byte {
	return pack(t, file{name: "package/package.json", content: `{"name":"x","version":"1.0.0","main":"index.js",` +
		`"type":"module","scripts":{"install":"touch /tmp/tabrelay-ran"}}`},
		file{name: "package/index.js", content: source})
}

// blend is a plugin that imports leaf and the scoped kettle, which has a leaf of its own.
func blend(t *testing.T, needs, lock string, more ...file) *Package {
	t.Helper()
	return &Package{Spec: Spec{Name: "blend"}, Tarball: pack(t, append([]file{
		{name: "package/package.json", content: `{"name":"tabrelay-plugin-blend","version":"1.0.0","type":"module",` +
			`"tabrelay":{"displayName":"Blend","urlPatterns":["https://tea.example/*"]},` + needs + `}`},
		{name: "package/package-lock.json", content: lock},
		{name: "package/src/index.ts", content: "import { leaf } from 'leaf';\n" +
			"import { kettle } from '@tea/kettle';\n" +
			strings.NewReplacer("TOOL", "brew", "() => 1", "() => leaf + kettle").Replace(teaSource)},
	}, more...)...)}
}

const blendNeeds = `"dependencies":{"@tabrelay/plugin-sdk":"^9.0.0","@tea/kettle":"^1.0.0"},"peerDependencies":` +
	`{"leaf":"^1.0.0","never":"1"},"devDependencies":{"typescript":"*"}`

func TestSourcesAreBuiltWithTheirLockedPackages(t *testing.T) {
	leaf, inner := library(t, "export const leaf = 'outer leaf';"), library(t, "export const leaf = 'inner leaf';")
	kettle := library(t, "import { leaf } from 'inner';\nexport const kettle = 'kettle with ' + leaf;")
	registry := shelf(t, map[string][]byte{"leaf": leaf, "@tea/kettle": kettle, "inner-leaf": inner})
	lock := func(leafSum []byte) string {
		return fmt.Sprintf(`{"lockfileVersion":3,"packages":{"":{},
			"node_modules/leaf":{"version":"1.0.0","integrity":%q,"dev":true},
			"node_modules/@tea/kettle":{"version":"1.0.0","integrity":%q,"dependencies":{"inner":"*"}},
			"node_modules/@tea/kettle/node_modules/inner":{"name":"inner-leaf","version":"1.0.0","integrity":%q},
			"node_modules/typescript":{"version":"1.0.0","integrity":"sha512-none","dev":true}}}`,
			integrityOf(leafSum), integrityOf(kettle), integrityOf(inner))
	}
	c, err := Prepare(t.Context(), t.TempDir(), blend(t, blendNeeds, lock(leaf)), registry)
	if err != nil {
		t.Fatal(err)
	}
	code, err := os.ReadFile(filepath.Join(c.dir, "dist", "adapter.js"))
	if err != nil || !strings.Contains(string(code), "outer leaf") || !strings.Contains(string(code), "inner leaf") {
		t.Errorf("the adapter lacks what it imports (%v)", err)
	}
	if _, err := os.Stat(filepath.Join(c.dir, "node_modules", "typescript")); err == nil {
		t.Error("a package that nothing imports was fetched")
	}
	if err := c.Discard(); err != nil {
		t.Fatal(err)
	}
	vendored := []file{{name: "package/node_modules/leaf/index.js", content: "export const leaf = 'brought along';"},
		{name: "package/node_modules/leaf/package.json", content: `{"name":"leaf","main":"index.js","type":"module"}`}}
	own, err := Prepare(t.Context(), t.TempDir(), blend(t, blendNeeds, lock(leaf), vendored...), registry)
	if err != nil {
		t.Fatal(err)
	}
	code, err = os.ReadFile(filepath.Join(own.dir, "dist", "adapter.js"))
	if err != nil || !strings.Contains(string(code), "brought along") {
		t.Errorf("a package that the plugin brings along does not count (%v)", err)
	}
	if err := own.Discard(); err != nil {
		t.Fatal(err)
	}
}

func TestALockFileIsNoWayOut(t *testing.T) {
	leaf := library(t, "export const leaf = 1;")
	registry := shelf(t, map[string][]byte{"leaf": leaf})
	sum := integrityOf(leaf)
	for name, c := range map[string]struct{ needs, lock, want string }{
		"another content": {`"dependencies":{"leaf":"1"}`, `{"lockfileVersion":3,"packages":{"node_modules/leaf":` +
			`{"version":"1.0.0","integrity":"` + integrityOf([]byte("other")) + `"}}}`,
			"leaf@1.0.0 is not the one that the lock file names"},
		"no hash": {`"dependencies":{"leaf":"1"}`, `{"lockfileVersion":3,"packages":{"node_modules/leaf":` +
			`{"version":"1.0.0"}}}`, "lock file: there is no SHA-512"},
		"a package that is not locked": {`"dependencies":{"leaf":"1"}`, `{"lockfileVersion":3,"packages":{}}`,
			"does not have leaf, which it needs"},
		"a name that leads out": {`"dependencies":{"../../leaf":"1"}`, `{"lockfileVersion":3,"packages":` +
			`{"../leaf":{"name":"leaf","version":"1.0.0","integrity":"` + sum + `"},"leaf":{"name":"leaf",` +
			`"version":"1.0.0","integrity":"` + sum + `"}}}`, "does not have ../../leaf"},
		"a folder of the author": {`"dependencies":{"leaf":"1"}`, `{"lockfileVersion":3,"packages":` +
			`{"node_modules/leaf":{"resolved":"../leaf","link":true}}}`, "does not come from a package registry"},
		"a repository": {`"dependencies":{"leaf":"1"}`, `{"lockfileVersion":3,"packages":{"node_modules/leaf":` +
			`{"version":"git+ssh://git@git.example/leaf","integrity":"` + sum + `"}}}`,
			"does not come from a package registry"},
		"an old format":  {`"dependencies":{"leaf":"1"}`, `{"lockfileVersion":1}`, "lockfileVersion 1"},
		"no JSON":        {`"dependencies":{"leaf":"1"}`, `<html>`, "package-lock.json is not what npm writes"},
		"too much of it": {manyNeeds(), manyLocked(sum), "more than 100 packages"},
	} {
		t.Run(name, func(t *testing.T) {
			home := t.TempDir()
			_, err := Prepare(t.Context(), home, blend(t, c.needs, c.lock), registry)
			if err == nil || !strings.Contains(err.Error()+fault.HintOf(err), c.want) {
				t.Errorf("got %v, want %s", err, c.want)
			}
			left, err := os.ReadDir(filepath.Join(home, packagesDir))
			if err != nil || len(left) != 0 {
				t.Errorf("%v is left behind, %v", left, err)
			}
		})
	}
}

func manyNeeds() string {
	var names []string
	for i := range maxLocked + 1 {
		names = append(names, fmt.Sprintf(`"leaf%d":"1"`, i))
	}
	return `"dependencies":{` + strings.Join(names, ",") + `}`
}

func manyLocked(sum string) string {
	var entries []string
	for i := range maxLocked + 1 {
		entries = append(entries, fmt.Sprintf(`"node_modules/leaf%d":{"name":"leaf","version":"1.0.0","integrity":%q}`,
			i, sum))
	}
	return `{"lockfileVersion":3,"packages":{` + strings.Join(entries, ",") + `}}`
}
