package install

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// registry is a package registry of the test's own.
type registry struct {
	*httptest.Server
	tarballs map[string][]byte // by version of the package tea
	spoil    func(version string, dist map[string]any)
	asked    []string // Authorization of each request
}

func newRegistry(t *testing.T) *registry {
	t.Helper()
	r := &registry{tarballs: map[string][]byte{}, spoil: func(string, map[string]any) {}}
	r.Server = httptest.NewServer(http.HandlerFunc(r.answer))
	t.Cleanup(r.Close)
	return r
}

func (r *registry) answer(w http.ResponseWriter, req *http.Request) {
	r.asked = append(r.asked, req.Header.Get("Authorization"))
	switch path := req.URL.EscapedPath(); {
	case path == "/npm/tea" || path == "/npm/@shop%2Ftea":
		versions, latest := map[string]any{}, ""
		for version, tarball := range r.tarballs {
			dist := map[string]any{"tarball": r.URL + "/files/tea-" + version + ".tgz",
				"integrity": integrityOf(tarball)}
			r.spoil(version, dist)
			versions[version], latest = map[string]any{"dist": dist, "dependencies": dist["dependencies"]},
				max(latest, version)
		}
		_ = json.NewEncoder(w).Encode(map[string]any{"dist-tags": map[string]string{"latest": latest},
			"versions": versions})
	case strings.HasPrefix(path, "/files/tea-"):
		_, _ = w.Write(r.tarballs[strings.TrimSuffix(strings.TrimPrefix(path, "/files/tea-"), ".tgz")])
	case path == "/npm/secret":
		w.WriteHeader(http.StatusForbidden)
	case path == "/npm/astray":
		http.Redirect(w, req, "http://192.0.2.1/tea", http.StatusFound)
	default:
		http.NotFound(w, req)
	}
}

// configured is npm's configuration that names the registry.
func (r *registry) configured(t *testing.T, more string) *Config {
	t.Helper()
	home := t.TempDir()
	if err := os.WriteFile(filepath.Join(home, ".npmrc"), []byte("; mine\nregistry = "+r.URL+"/npm\n"+more),
		0o600); err != nil {
		t.Fatal(err)
	}
	c, err := ReadConfig(func(string) string { return "" }, t.TempDir(), home)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func TestFetchTakesTheVersionOfTheSpec(t *testing.T) {
	r := newRegistry(t)
	r.tarballs["1.0.0"], r.tarballs["1.1.0"] = tea(t, "1.0.0", "list"), tea(t, "1.1.0", "list")
	for spec, want := range map[string]string{"tea": "1.1.0", "tea@1.0.0": "1.0.0", "tea@latest": "1.1.0",
		"@shop/tea": "1.1.0", "@shop/tea@1.0.0": "1.0.0"} {
		s, err := ParseSpec(spec)
		if err != nil {
			t.Fatal(err)
		}
		p, err := r.configured(t, "").Fetch(t.Context(), s)
		if err != nil || p.Version != want || p.Integrity != integrityOf(r.tarballs[want]) || p.Spec.String() != spec {
			t.Errorf("%s: %+v, %v", spec, p, err)
		}
	}
}

func TestFetchRefuses(t *testing.T) {
	for name, c := range map[string]struct {
		spec  string
		spoil func(string, map[string]any)
		want  string
	}{
		"another content": {"tea", func(_ string,
			d map[string]any) {
			d["integrity"] = integrityOf([]byte("other"))
		}, "not the one that the registry names"},
		"no hash": {"tea", func(_ string, d map[string]any) { d["integrity"] = "" }, "no SHA-512"},
		"a weaker hash": {"tea", func(_ string,
			d map[string]any) {
			d["integrity"] = "sha1-2jmj7l5rSw0yVb/vlWAYkK/YBwk="
		}, "no SHA-512"},
		"half a hash": {"tea", func(_ string, d map[string]any) { d["integrity"] = "sha512-aGk=" },
			"no SHA-512"},
		"an open address": {"tea", func(_ string, d map[string]any) { d["tarball"] = "http://192.0.2.1/tea.tgz" },
			"come over https"},
		"a file": {"tea", func(_ string, d map[string]any) { d["tarball"] = "file:///etc/passwd" },
			"come over https"},
		"another version":      {"tea@9.9.9", nil, `no version "9.9.9" of it; its tags are: latest`},
		"another package":      {"coffee", nil, "does not know it"},
		"one that is not mine": {"secret", nil, "refuses it with HTTP 403"},
		"a redirection":        {"astray", nil, "come over https"},
	} {
		t.Run(name, func(t *testing.T) {
			r := newRegistry(t)
			r.tarballs["1.0.0"] = tea(t, "1.0.0", "list")
			if c.spoil != nil {
				r.spoil = c.spoil
			}
			spec, err := ParseSpec(c.spec)
			if err != nil {
				t.Fatal(err)
			}
			if p, err := r.configured(t, "").Fetch(t.Context(), spec); err == nil ||
				!strings.Contains(err.Error(), c.want) {
				t.Errorf("Fetch = %v, %v; want %q", p, err, c.want)
			}
		})
	}
}

func TestParseSpecRefuses(t *testing.T) {
	for _, spec := range []string{"", "@", "@shop", "Tea", "tea/../x", "a b", "tea@^1.0.0", "tea@>=1", "tea@1 || 2",
		"../tea", "@a/b/c", "_tea", ".tea"} {
		if s, err := ParseSpec(spec); err == nil {
			t.Errorf("%q is %+v", spec, s)
		}
	}
}

func TestTokenGoesToItsRegistryOnly(t *testing.T) {
	r, other := newRegistry(t), newRegistry(t)
	r.tarballs["1.0.0"] = tea(t, "1.0.0", "list")
	other.tarballs["1.0.0"] = r.tarballs["1.0.0"]
	r.spoil = func(_ string, d map[string]any) { d["tarball"] = other.URL + "/files/tea-1.0.0.tgz" }
	mine := strings.TrimPrefix(r.URL, "http:") + "/npm/:_authToken=\"s3cret\"\n"
	if _, err := r.configured(t, mine).Fetch(t.Context(), Spec{Name: "tea"}); err != nil {
		t.Fatal(err)
	}
	if len(r.asked) != 1 || r.asked[0] != "Bearer s3cret" || len(other.asked) != 1 || other.asked[0] != "" {
		t.Errorf("the registry heard %q, another %q", r.asked, other.asked)
	}
}

func TestConfigReadsNpmrcFilesAndEnvironment(t *testing.T) {
	home, dir := t.TempDir(), t.TempDir()
	write := func(file, text string) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	env := map[string]string{"npm_config_globalconfig": filepath.Join(home, "none"), "HOST": "three.example"}
	address := func(name string) string {
		t.Helper()
		c, err := ReadConfig(func(key string) string { return env[key] }, dir, home)
		if err != nil {
			t.Fatal(err)
		}
		u, err := c.registry(name)
		if err != nil {
			return err.Error()
		}
		return u.String()
	}
	for _, step := range []struct {
		do         func()
		name, want string
	}{
		{func() {}, "tea", "no package registry is configured"},
		{func() {
			write(filepath.Join(home, ".npmrc"), "# a\nregistry=https://one.example/\n"+
				"@shop:registry=https://${HOST}/npm\n")
		}, "tea", "https://one.example/"},
		{func() {}, "@shop/tea", "https://three.example/npm/"},
		{func() { write(filepath.Join(dir, ".npmrc"), "registry=https://two.example\n") }, "tea",
			"https://two.example/"},
		{func() { env["npm_config_registry"] = "https://four.example/" }, "tea", "https://four.example/"},
		{func() { env["npm_config_registry"] = "http://four.example/" }, "tea",
			"four.example is not asked: packages come over https"},
		{func() { env["npm_config_registry"] = "nonsense" }, "tea",
			"the registry's address in npm's configuration is not a URL"},
	} {
		if step.do(); address(step.name) != step.want {
			t.Errorf("%s comes from %s, want %s", step.name, address(step.name), step.want)
		}
	}
}
