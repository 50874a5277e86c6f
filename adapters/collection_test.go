package adapters

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"tabrelay/relay/lib/match"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/schema"
)

// What a shipped adapter is held to. docs/mediawiki.md, e2e/specs/mediawiki.spec.ts and adapters/mediawiki are the
// model; docs_test.go has what the pages must say.
const (
	maxToolLines        = 80       // one tool, readable at a glance
	maxAdapterBytes     = 60 << 10 // what is put into a page is small
	minDescription      = 30
	maxDescription      = 400 // all tools together are read by a model before its first word
	minOwnWords         = 4   // words of a description that the tool's name does not have already
	maxDefaultLimit     = 50
	maxDefaultText      = 10_000 // characters
	minTools            = 60     // of all adapters but the demo
	leastToolsOfAdapter = 5
)

// practice are the adapters a person learns on: they show faults on purpose and are documented elsewhere.
var practice = map[string]bool{"demo": true}

var toolName = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

// sources are the folders of the collection.
func sources(t *testing.T) []string {
	t.Helper()
	found, err := filepath.Glob("*/package.json")
	if err != nil || len(found) == 0 {
		t.Fatalf("no plugin folders: %v", err)
	}
	for i := range found {
		found[i] = filepath.Dir(found[i])
	}
	return found
}

// eachAdapter runs a test for each adapter but the ones for practice.
func eachAdapter(t *testing.T, check func(t *testing.T, m plugin.Manifest)) {
	t.Helper()
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sources(t) {
		if !practice[name] {
			t.Run(name, func(t *testing.T) { check(t, readManifest(t, files, name)) })
		}
	}
}

func TestEveryFolderIsShipped(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sources(t) {
		manifest := readManifest(t, files, name)
		if manifest.Name != name {
			t.Errorf("%s: the built plugin is named %q", name, manifest.Name)
		}
		if manifest.Description == "" {
			t.Errorf("%s: it needs a description: it is what a person and an agent see first", name)
		}
		adapter, err := fs.ReadFile(files, name+"/adapter.js")
		if err != nil {
			t.Fatal(err)
		}
		if len(adapter) > maxAdapterBytes {
			t.Errorf("%s: adapter.js has %d bytes, and %d are allowed", name, len(adapter), maxAdapterBytes)
		}
	}
}

func TestThereAreEnoughTools(t *testing.T) {
	total := 0
	eachAdapter(t, func(t *testing.T, m plugin.Manifest) {
		total += len(m.Tools)
		if len(m.Tools) < leastToolsOfAdapter {
			t.Errorf("%d tools; an application that is worth an adapter has %d", len(m.Tools), leastToolsOfAdapter)
		}
	})
	if total < minTools {
		t.Errorf("the adapters have %d tools together, and it should be %d", total, minTools)
	}
}

func TestEveryToolSaysWhatItDoes(t *testing.T) {
	eachAdapter(t, func(t *testing.T, m plugin.Manifest) {
		seen := map[string]string{}
		for _, tool := range m.Tools {
			full := m.Name + "__" + tool.Name
			if len(full) > 64 || !toolName.MatchString(tool.Name) {
				t.Errorf("%s: a name is words of a-z and 0-9 joined by _, 64 characters with its plugin's", full)
			}
			d := tool.Description
			if len(d) < minDescription || len(d) > maxDescription || !strings.HasSuffix(d, ".") {
				t.Errorf("%s: the description has %d characters; write sentences of %d to %d, by which a model can "+
					"choose: %q",
					full, len(d), minDescription, maxDescription, d)
			}
			if own := ownWords(d, tool.Name); own < minOwnWords {
				t.Errorf("%s: the description says the name once more and little else: %q", full, d)
			}
			if other, taken := seen[d]; taken {
				t.Errorf("%s: has the same description as %s", full, other)
			}
			seen[d] = full
			if tool.DisplayName == "" || tool.DisplayName == tool.Name {
				t.Errorf("%s: needs a displayName, which people read", full)
			}
			checkAnnotations(t, full, tool.Annotations)
		}
	})
}

// ownWords counts the words of a description that its tool's name does not have.
func ownWords(description, name string) (count int) {
	for word := range strings.FieldsSeq(strings.ToLower(description)) {
		word = strings.Trim(word, `.,:;()"`)
		if len(word) > 2 && !strings.Contains("_"+name+"_", strings.TrimSuffix(word, "s")) {
			count++
		}
	}
	return count
}

// checkAnnotations wants said what an agent and the relay's retries act on: nothing is left to a default.
func checkAnnotations(t *testing.T, tool string, a plugin.Annotations) {
	t.Helper()
	if a.ReadOnlyHint == nil {
		t.Errorf("%s: set annotations.readOnlyHint, true or false", tool)
		return
	}
	if !*a.ReadOnlyHint && a.DestructiveHint == nil {
		t.Errorf("%s: it writes: set annotations.destructiveHint, true when it deletes or overwrites", tool)
	}
	if *a.ReadOnlyHint && a.DestructiveHint != nil && *a.DestructiveHint {
		t.Errorf("%s: it cannot both change nothing and destroy", tool)
	}
}

func TestPatternsNameTheirSites(t *testing.T) {
	eachAdapter(t, func(t *testing.T, m plugin.Manifest) {
		for _, text := range m.URLPatterns {
			p, err := match.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			if err := p.Narrow(); err != nil {
				t.Errorf("%s: narrow: %v", text, err)
			}
		}
		if len(m.URLPatterns) == 0 && !bytes.Contains(m.ConfigSchema, []byte(`"url"`)) {
			t.Error("no patterns, and no setting of type url by which a person says where the application is")
		}
		if m.World != plugin.Isolated {
			t.Errorf("it runs in the world %q, where the page can reach it", m.World)
		}
	})
}

// TestFixturesAndFailures looks for what the adapter is tested with: recordings or pages, and failures by their code.
func TestFixturesAndFailures(t *testing.T) {
	eachAdapter(t, func(t *testing.T, m plugin.Manifest) {
		if found, _ := filepath.Glob(m.Name + "/testdata/*"); len(found) == 0 {
			t.Errorf("adapters/%s/testdata is empty: fixtures let its tests run without the application", m.Name)
		}
		tests := readAll(t, m.Name+"/test/*.test.ts")
		if len(tests) == 0 {
			t.Errorf("adapters/%s/test has no *.test.ts", m.Name)
		}
		both := string(tests) + string(readAll(t, "../e2e/specs/"+m.Name+"*.spec.ts"))
		for _, code := range []string{"NOT_FOUND", "VALIDATION_ERROR"} {
			if !strings.Contains(both, code) {
				t.Errorf("no test of %s provokes %s", m.Name, code)
			}
		}
	})
}

// TestEveryToolRunsForReal reads the specs: each tool is called in a browser, by its name.
func TestEveryToolRunsForReal(t *testing.T) {
	all := readAll(t, "../e2e/specs/*.spec.ts")
	eachAdapter(t, func(t *testing.T, m plugin.Manifest) {
		own := readAll(t, "../e2e/specs/"+m.Name+"*.spec.ts")
		if len(own) == 0 {
			t.Errorf("there is no e2e/specs/%s.spec.ts", m.Name)
		}
		for _, tool := range m.Tools {
			full := regexp.MustCompile(`\b` + m.Name + `__` + tool.Name + `\b`)
			short := regexp.MustCompile(`['"` + "`" + `]` + tool.Name + `['"` + "`" + `]|\b` + tool.Name + `:`)
			if !full.Match(all) && !short.Match(own) {
				t.Errorf("no spec calls %s__%s", m.Name, tool.Name)
			}
		}
	})
}

func TestToolFilesAreShort(t *testing.T) {
	found, err := filepath.Glob("*/src/tools/*.ts")
	if err != nil || len(found) == 0 {
		t.Fatalf("no tool files: %v", err)
	}
	for _, file := range found {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if lines := bytes.Count(text, []byte("\n")); lines > maxToolLines {
			t.Errorf("%s has %d lines, and %d are allowed: one file is one tool", file, lines, maxToolLines)
		}
	}
}

func readManifest(t *testing.T, files fs.FS, name string) plugin.Manifest {
	t.Helper()
	raw, err := fs.ReadFile(files, name+"/manifest.json")
	if err != nil {
		t.Fatalf("%s: %v; run `make generate`", name, err)
	}
	var m plugin.Manifest
	if err := json.Unmarshal(raw, &m); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	for _, tool := range m.Tools {
		for kind, raw := range map[string]json.RawMessage{"input": tool.InputSchema, "output": tool.OutputSchema} {
			if len(raw) == 0 {
				continue
			}
			if _, err := schema.Compile(raw); err != nil {
				t.Errorf("%s__%s: %s schema: %v", name, tool.Name, kind, err)
			}
		}
	}
	return m
}

// readAll is the text of all files that match.
func readAll(t *testing.T, pattern string) (all []byte) {
	t.Helper()
	found, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	for _, file := range found {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, text...)
	}
	return all
}
