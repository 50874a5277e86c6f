package extension

import (
	"encoding/json"
	"io/fs"
	"slices"
	"strings"
	"testing"
)

// The two flavours differ in one permission, and in the hash by which a browser knows that it runs the other one.
func TestTrustedFlavourHasTheDebuggerAndNothingElse(t *testing.T) {
	plain, trusted := FlavourOf(false), FlavourOf(true)
	if plain.Files == nil {
		t.Skip("built without the extension")
	}
	if plain.Hash == trusted.Hash || len(trusted.Hash) != 64 {
		t.Errorf("hashes are %s and %s", plain.Hash, trusted.Hash)
	}
	err := fs.WalkDir(plain.Files, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		one, err := fs.ReadFile(plain.Files, name)
		if err != nil {
			return err
		}
		other, err := fs.ReadFile(trusted.Files, name)
		if err != nil {
			return err
		}
		if name == "manifest.json" {
			var a, b manifest
			if json.Unmarshal(one, &a) != nil || json.Unmarshal(other, &b) != nil {
				t.Fatal("a manifest is no JSON")
			}
			if !slices.Equal(append(a.Permissions, "debugger"), b.Permissions) || a.Key != b.Key {
				t.Errorf("the trusted flavour has the permissions %v", b.Permissions)
			}
			return nil
		}
		if strings.ReplaceAll(string(other), trusted.Hash, plain.Hash) != string(one) {
			t.Errorf("%s differs", name)
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}
