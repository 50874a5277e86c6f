package plugin

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"github.com/google/renameio/v2/maybe"
)

const (
	manifestFile = "manifest.json"
	adapterFile  = "adapter.js"
	mapFile      = "adapter.js.map"
)

// encode returns the manifest as it is written: the same bytes for the same content.
func (m Manifest) encode() ([]byte, error) {
	var out bytes.Buffer
	encoder := json.NewEncoder(&out)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(m); err != nil {
		return nil, fmt.Errorf("the manifest of %s cannot be written: %w", m.Name, err)
	}
	return out.Bytes(), nil
}

// seal computes the plugin's hash: its identity in file names, reviews and logs.
func (p *Plugin) seal() error {
	manifest, err := p.Manifest.encode()
	if err != nil {
		return err
	}
	p.Hash = p.hash(manifest)
	return nil
}

// hash is the plugin's hash, given its manifest as encode writes it.
func (p *Plugin) hash(manifest []byte) string {
	h := sha256.New()
	for _, part := range [][]byte{manifest, p.Adapter, p.PreScript} {
		// The length keeps a byte that moves from one part to the next from going unnoticed.
		_ = binary.Write(h, binary.BigEndian, uint64(len(part)))
		h.Write(part)
	}
	return hex.EncodeToString(h.Sum(nil))
}

// write stores the build output, each file whole or not at all, and only when it changed, so that a watcher of the
// folder sees no change where there is none.
func write(dir string, p *Plugin) error {
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return fmt.Errorf("the folder for the build output cannot be made: %w", err)
	}
	manifest, err := p.Manifest.encode()
	if err != nil {
		return err
	}
	files := map[string][]byte{manifestFile: manifest, adapterFile: p.Adapter}
	for name, content := range map[string][]byte{preScriptFile: p.PreScript, mapFile: p.SourceMap} {
		if content != nil {
			files[name] = content
		}
	}
	for name, content := range files {
		file := filepath.Join(dir, name)
		if was, err := os.ReadFile(file); err == nil && bytes.Equal(was, content) {
			continue
		}
		if err := maybe.WriteFile(file, content, 0o644); err != nil {
			return fmt.Errorf("the build output cannot be written: %w", err)
		}
	}
	return nil
}

// Compose returns the one file that is injected for a plugin: it registers the adapter with the bridge of its world.
// mainRuntime is the extension's page-main.js, which a main-world adapter brings along.
func Compose(p Plugin, mainRuntime []byte) []byte {
	about, _ := json.Marshal(struct { // strings cannot fail
		Name    string   `json:"name"`
		Hash    string   `json:"hash"`
		Matches []string `json:"matches,omitempty"`
	}{p.Manifest.Name, p.Hash, p.Manifest.URLPatterns})
	var out bytes.Buffer
	out.WriteString("(()=>{")
	start := "globalThis.tabrelayBridge.register"
	if p.Manifest.World == Main {
		out.Write(mainRuntime)
		out.WriteString("\n;")
		start = "tabrelayRuntime.start"
	}
	out.Write(p.Adapter)
	fmt.Fprintf(&out, "\n;%s(%s,%s.default,%s.enter);})();\n", start, about, pageGlobal, pageGlobal)
	return out.Bytes()
}
