package extension

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"io/fs"
)

// Flavour is one of two builds of the extension, with the same code and the same id.
type Flavour struct {
	Files fs.FS // to be read with fs.ReadFile
	Hash  string
}

// debuggerPermission is what the manifest of the trusted flavour has besides. Chrome 156 does not take it as an
// optional one, and shows a warning for it.
const debuggerPermission = "debugger"

// FlavourOf is the extension as Chrome loads it; trusted says that it may use Chrome's debugger. Its files are nil in a
// binary that was built without the extension.
func FlavourOf(trusted bool) Flavour {
	files, err := Files()
	if err != nil {
		return Flavour{}
	}
	plain := Flavour{files, BundleHash()}
	if !trusted {
		return plain
	}
	other, err := withDebugger(plain)
	if err != nil {
		return plain // its generator makes nothing that cannot be read
	}
	return other
}

// withDebugger replaces the files that differ. The hash is another one, so that a browser that runs the other flavour
// takes this one.
func withDebugger(plain Flavour) (Flavour, error) {
	hash := otherHash(plain.Hash, debuggerPermission)
	replaced := map[string][]byte{}
	for _, name := range []string{"worker.js", "bundle.json"} {
		data, err := fs.ReadFile(plain.Files, name)
		if err != nil {
			return plain, err
		}
		replaced[name] = bytes.ReplaceAll(data, []byte(plain.Hash), []byte(hash))
	}
	text, err := fs.ReadFile(plain.Files, "manifest.json")
	if err != nil {
		return plain, err
	}
	var manifest map[string]any
	if err := json.Unmarshal(text, &manifest); err != nil {
		return plain, err
	}
	permissions, _ := manifest["permissions"].([]any)
	manifest["permissions"] = append(permissions, debuggerPermission)
	if replaced["manifest.json"], err = json.MarshalIndent(manifest, "", "  "); err != nil {
		return plain, err
	}
	return Flavour{overlay{plain.Files, replaced}, hash}, nil
}

// overlay is a file system of which some files have another content.
type overlay struct {
	fs.FS
	replaced map[string][]byte
}

func (o overlay) ReadFile(name string) ([]byte, error) {
	if data, ok := o.replaced[name]; ok {
		return data, nil
	}
	return fs.ReadFile(o.FS, name)
}

// StoreHash is the hash of the store edition that is built of the same sources as a plain bundle.
func StoreHash(plain string) string { return otherHash(plain, "store") }

func otherHash(plain, what string) string {
	sum := sha256.Sum256([]byte(plain + " " + what))
	return hex.EncodeToString(sum[:])
}
