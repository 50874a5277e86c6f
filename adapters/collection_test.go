package adapters

import (
	"bytes"
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"tabrelay/relay/plugin"
	"tabrelay/relay/schema"
)

// maxToolLines keeps one tool readable at a glance.
const maxToolLines = 80

// maxAdapterBytes keeps what is put into every page small.
const maxAdapterBytes = 60 << 10

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
		if manifest.Description == "" || manifest.Homepage == "" {
			t.Errorf("%s: it needs a description and a homepage: they are what a person and an agent see first", name)
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

func TestEveryToolSaysWhatItDoes(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range sources(t) {
		for _, tool := range readManifest(t, files, name).Tools {
			full := name + "__" + tool.Name
			if len(full) > 64 {
				t.Errorf("%s: the name is longer than 64 characters", full)
			}
			if len(tool.Description) < 20 || !strings.HasSuffix(tool.Description, ".") {
				t.Errorf("%s: the description has to be a sentence a model can choose the tool by: %q", full, tool.Description)
			}
			for kind, raw := range map[string]json.RawMessage{"input": tool.InputSchema, "output": tool.OutputSchema} {
				if len(raw) == 0 {
					continue
				}
				if _, err := schema.Compile(raw); err != nil {
					t.Errorf("%s: %s schema: %v", full, kind, err)
				}
			}
			if !closed(tool.InputSchema) {
				t.Errorf("%s: the input schema needs additionalProperties: false, so that a misspelt argument is not ignored", full)
			}
		}
	}
}

func closed(input json.RawMessage) bool {
	var s struct {
		AdditionalProperties *bool `json:"additionalProperties"`
	}
	return json.Unmarshal(input, &s) == nil && s.AdditionalProperties != nil && !*s.AdditionalProperties
}

// TestMediaWikiToolsAreDocumented holds for every adapter a person would use: its page lists its tools.
func TestMediaWikiToolsAreDocumented(t *testing.T) {
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile("../docs/mediawiki.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, tool := range readManifest(t, files, "mediawiki").Tools {
		if !bytes.Contains(page, []byte("`mediawiki__"+tool.Name+"`")) {
			t.Errorf("docs/mediawiki.md does not list mediawiki__%s", tool.Name)
		}
	}
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
	return m
}
