package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"

	"github.com/evanw/esbuild/pkg/api"

	"tabrelay/extension"
)

// storeModules has a module give way to the one beside it that is for the store edition: x.store.ts for x.ts.
var storeModules = api.Plugin{Name: "store edition", Setup: func(build api.PluginBuild) {
	build.OnResolve(api.OnResolveOptions{Filter: `^\.`}, func(args api.OnResolveArgs) (api.OnResolveResult, error) {
		name, typescript := strings.CutSuffix(filepath.Join(args.ResolveDir, filepath.FromSlash(args.Path)), ".ts")
		other := name + ".store.ts"
		if _, err := os.Stat(other); !typescript || err != nil {
			return api.OnResolveResult{}, nil // as everywhere
		}
		return api.OnResolveResult{Path: other}, nil
	})
}}

// What the manifest of the store edition has besides: the relay's program is asked where the relay is, as there is no
// pairing.json; and Chrome runs code that is not in the package only for who has switched user scripts on.
const (
	nativeMessaging = "nativeMessaging"
	userScripts     = "userScripts"
)

// runStore builds the store edition of the sources in dir into a folder.
func runStore(dir, folder string) error {
	plain, err := sources(dir, false)
	if err != nil {
		return err
	}
	files, err := sources(dir, true)
	if err != nil {
		return err
	}
	if files["manifest.json"], err = storeManifest(files["manifest.json"]); err != nil {
		return err
	}
	return write(folder, sealed(files, extension.StoreHash(hashOf(plain))))
}

// storeManifest leaves the key out: a store has its own, and takes no other.
func storeManifest(text []byte) ([]byte, error) {
	var manifest map[string]any
	if err := json.Unmarshal(text, &manifest); err != nil {
		return nil, err
	}
	delete(manifest, "key")
	permissions, _ := manifest["permissions"].([]any)
	manifest["permissions"] = append(permissions, nativeMessaging)
	optional, _ := manifest["optional_permissions"].([]any)
	manifest["optional_permissions"] = append(optional, userScripts)
	data, err := json.MarshalIndent(manifest, "", "  ")
	return append(data, '\n'), err
}
