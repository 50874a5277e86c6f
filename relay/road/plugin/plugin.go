// Package plugin has what a built plugin is: its manifest with tools, prompts and settings, the names of these, and the
// files that it is stored in. How one is made of sources is in relay/plugin/build.
package plugin

import (
	"encoding/json"
	"slices"

	"tabrelay/relay/lib/match"
)

// Manifest is dist/manifest.json: the description of a plugin, which is read without running it.
type Manifest struct {
	Name            string          `json:"name"`
	Version         string          `json:"version"`
	DisplayName     string          `json:"displayName"`
	Description     string          `json:"description,omitempty"`
	URLPatterns     []string        `json:"urlPatterns"`
	ExcludePatterns []string        `json:"excludePatterns,omitempty"`
	Homepage        string          `json:"homepage,omitempty"`
	World           World           `json:"world"`
	ConfigSchema    json.RawMessage `json:"configSchema,omitempty"`
	PreScript       string          `json:"preScript,omitempty"` // file name in dist/, empty when there is none
	Tools           []Tool          `json:"tools"`
	Prompts         []Prompt        `json:"prompts,omitempty"`
}

// EveryPage reports whether the plugin works on the pages of every site. Only a shipped one can.
func (m *Manifest) EveryPage() bool {
	return slices.ContainsFunc(m.URLPatterns, func(text string) bool {
		p, err := match.Parse(text)
		return err == nil && p.EverySite()
	})
}

// World is the JavaScript world of the page in which a plugin's code runs.
type World string

// The two worlds of a page: the page cannot see Isolated; Main has the page's own globals.
const (
	Isolated World = "isolated"
	Main     World = "main"
)

// Tool is one tool of a plugin.
type Tool struct {
	Name         string          `json:"name"`
	DisplayName  string          `json:"displayName"`
	Description  string          `json:"description"`
	InputSchema  json.RawMessage `json:"inputSchema"`
	OutputSchema json.RawMessage `json:"outputSchema,omitempty"`
	Annotations  Annotations     `json:"annotations"`
	TimeoutMs    int             `json:"timeoutMs,omitempty"`    // 0: the relay's default
	MaxTimeoutMs int             `json:"maxTimeoutMs,omitempty"` // 0: the relay's default
	TimeoutHint  string          `json:"timeoutHint,omitempty"`
	// ProgressPattern is a regular expression: lines of the page's console that match it count as progress.
	ProgressPattern string `json:"progressPattern,omitempty"`

	Frames string `json:"frames,omitempty"` // "top" (default) or "all"
	// the list to shorten when a result is too large, such as .data.items
	ArrayPath  string `json:"arrayPath,omitempty"`
	NarrowHint string `json:"narrowHint,omitempty"` // what to ask for when a result is too large even to keep
}

// Annotations are the behaviour hints of MCP 2025-11-25, schema ToolAnnotations.
// A tool without them counts as one that writes.
type Annotations struct {
	Title           string `json:"title,omitempty"`
	ReadOnlyHint    *bool  `json:"readOnlyHint,omitempty"`
	DestructiveHint *bool  `json:"destructiveHint,omitempty"`
	IdempotentHint  *bool  `json:"idempotentHint,omitempty"`
	OpenWorldHint   *bool  `json:"openWorldHint,omitempty"`
}

// Plugin is a built plugin ready to be registered and injected.
type Plugin struct {
	Manifest  Manifest
	Dir       string // where it was loaded from; empty for one shipped in the binary
	Adapter   []byte // dist/adapter.js: `var tabrelayPlugin = (() => { … })();`
	PreScript []byte // nil when there is none
	SourceMap []byte // of Adapter (https://tc39.es/ecma426/); nil for one that was loaded
	Hash      string // 64 hexadecimal digits of SHA-256 over manifest, adapter and pre-script
	Shipped   bool   // part of the binary
}
