package build

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestScaffoldBuildsWithoutFindings(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tea-shop")
	if err := Scaffold(dir, ""); err != nil {
		t.Fatal(err)
	}
	p, found, err := Build(t.Context(), dir, Options{})
	if err != nil || len(found) > 0 {
		t.Fatalf("the scaffold builds with %v, %v", found, err)
	}
	if p.Manifest.Name != "tea-shop" || p.Manifest.DisplayName != "Tea shop" {
		t.Errorf("it is named %q, %q", p.Manifest.Name, p.Manifest.DisplayName)
	}
	if err := Scaffold(dir, "other"); err == nil || !strings.Contains(err.Error(), "not empty") {
		t.Errorf("New in a folder that is in use: %v", err)
	}
	if err := Scaffold(filepath.Join(t.TempDir(), "x"), "Not A Name"); err == nil {
		t.Error("New took a name that no plugin can have")
	}
	// The editor's copy of the SDK is not in version control; a build brings it back.
	if err := os.RemoveAll(filepath.Join(dir, ".tabrelay")); err != nil {
		t.Fatal(err)
	}
	if _, _, err := Build(t.Context(), dir, Options{}); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, ".tabrelay", "plugin-sdk", "src", "index.ts")); err != nil {
		t.Errorf("the types did not come back: %v", err)
	}
}

// An editor finds the types of each part of the SDK in the plugin's folder.
func TestNewWritesSDKTypes(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "tea-shop")
	if err := Scaffold(dir, ""); err != nil {
		t.Fatal(err)
	}
	raw, err := os.ReadFile(filepath.Join(dir, "tsconfig.json"))
	if err != nil {
		t.Fatal(err)
	}
	var config struct {
		CompilerOptions struct {
			Paths map[string][]string `json:"paths"`
		} `json:"compilerOptions"`
	}
	if err := json.Unmarshal(raw, &config); err != nil {
		t.Fatalf("%v in\n%s", err, raw)
	}
	paths := config.CompilerOptions.Paths
	for _, part := range []string{"", "/editing", "/json", "/paging", "/pre-script", "/schema"} {
		if len(paths[sdkPath+part]) != 1 {
			t.Errorf("tsconfig.json says %q of %s", paths[sdkPath+part], sdkPath+part)
		}
	}
	for part, files := range paths {
		if _, err := os.Stat(filepath.Join(dir, filepath.FromSlash(files[0]))); err != nil {
			t.Errorf("%s: %v", part, err)
		}
	}
}
