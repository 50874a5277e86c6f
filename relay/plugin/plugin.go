// Package plugin turns a folder of TypeScript into something the relay can offer and the extension can inject:
// it builds with esbuild, reads the tools and their schemas by running the bundle once in an embedded
// JavaScript engine, and finds, installs and watches plugin folders. It needs no Node.
package plugin

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"

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

// Setting is one setting of a plugin: an entry of its configSchema.
type Setting struct {
	Type        string          `json:"type"` // url, string, number, boolean or select
	Label       string          `json:"label"`
	Description string          `json:"description"`
	Placeholder string          `json:"placeholder"`
	Required    bool            `json:"required"`
	Options     []string        `json:"options"` // of a select
	Default     json.RawMessage `json:"default"` // nil when there is none
	Secret      *bool           `json:"secret"`  // withheld from pages that could read it; nil: a string is
}

// IsSecret reports whether a value of the setting is withheld from pages that ran scripts before the plugin was
// injected.
func (s Setting) IsSecret() bool {
	if s.Secret == nil {
		return s.Type == "string"
	}
	return *s.Secret
}

// Settings reads a configSchema.
func Settings(configSchema json.RawMessage) (map[string]Setting, error) {
	var declared map[string]Setting
	if len(configSchema) == 0 {
		return nil, nil
	}
	err := json.Unmarshal(configSchema, &declared)
	return declared, err
}

// URLSetting is the name of the first setting with the address of the web app; empty when there is none.
func URLSetting(configSchema json.RawMessage) string {
	declared, _ := Settings(configSchema)
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if declared[name].Type == "url" {
			return name
		}
	}
	return ""
}

// checkSettings returns everything wrong with a configSchema.
func checkSettings(configSchema json.RawMessage) (problems []string) {
	declared, err := Settings(configSchema)
	if err != nil {
		return []string{`"configSchema" has to be an object of settings, each like {"type": "string", "label": "…"}`}
	}
	for _, name := range slices.Sorted(maps.Keys(declared)) {
		if slices.Contains([]string{"__proto__", "constructor", "prototype"}, name) {
			problems = append(problems,
				fmt.Sprintf("setting %q has a name that programs take for something other than a value; choose another",
					name))
		}
		switch s := declared[name]; s.Type {
		case "url", "string", "number", "boolean":
		case "select":
			if len(s.Options) == 0 {
				problems = append(problems, fmt.Sprintf(`setting %q has the type select and no "options"`, name))
			}
		default:
			problems = append(problems,
				fmt.Sprintf("setting %q has the type %q; write url, string, number, boolean or select", name, s.Type))
		}
	}
	return problems
}

var (
	pluginNameForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	toolNameForm   = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
)

// reservedNames are names of the relay itself, or could be mistaken for such.
var reservedNames = []string{"agents", "all", "any", "ask", "auto", "bridge", "browser", "cli", "config", "default",
	"extension", "gateway", "mcp", "none", "off", "panel", "plugin", "relay", "sessions", "stdio", "system", "tabrelay",
	"tasks", "tool", "web", "webmcp"}

// The plugins of the browser's own tools: the only ones that may work on every site and change something there. They
// are part of the extension's sources, and of the binary.
const (
	Browser = "browser"
	// BrowserDev is what developers need of a page. It is off until a person switches it on, and asks for each tool.
	BrowserDev = "browser-dev"
)

// Browses reports whether a plugin of that name, which has to be a shipped one, is of the browser's own tools.
func Browses(name string) bool { return name == Browser || name == BrowserDev }

// devTools are the tools of BrowserDev.
var devTools = []string{"console", "cookies", "downloads", "emulate", "evaluate", "network", "pdf", "performance",
	"storage"}

// Owner is the plugin, or the group, in the full name of a tool: the reverse of FullName.
func Owner(fullName string) string {
	owner, tool, _ := strings.Cut(fullName, "__")
	if owner == Browser && slices.Contains(devTools, tool) {
		return BrowserDev
	}
	return owner
}

// FullName is the name by which agents call a tool of a plugin.
func FullName(plugin, tool string) string {
	if plugin == BrowserDev {
		plugin = Browser
	}
	return plugin + "__" + tool
}

// reserved reports whether a plugin may not have a name.
func reserved(name string, shipped bool) bool {
	if shipped && Browses(name) {
		return false
	}
	return slices.Contains(reservedNames, name) || strings.HasPrefix(name, Browser+"-")
}

// reservedParameters are added by the relay to every page tool.
var reservedParameters = []string{"tabId", "profile", "instance"}

// maxFullName is the longest tool name that MCP clients accept.
const maxFullName = 64

// pluginName makes the plugin's name from its package's: without the customary prefix, and with the scope in front, so
// that packages of two publishers have different names. Our own scope and that of OpenTabs are left out.
func pluginName(packageName string, shipped bool) (string, error) {
	scope, name := "", packageName
	if rest, ok := strings.CutPrefix(packageName, "@"); ok {
		scope, name, _ = strings.Cut(rest, "/")
	}
	for _, prefix := range []string{"tabrelay-plugin-", "opentabs-plugin-"} {
		name = strings.TrimPrefix(name, prefix)
	}
	if scope != "" && scope != "tabrelay" && scope != "opentabs-dev" {
		name = scope + "-" + name
	}
	if !pluginNameForm.MatchString(name) {
		return name, fmt.Errorf("the package %q gives the plugin the name %q; "+
			"use lower-case letters, digits and single dashes, such as tabrelay-plugin-my-site", packageName, name)
	}
	if reserved(name, shipped) {
		return name, fmt.Errorf("the plugin name %q is reserved; choose another package name", name)
	}
	return name, nil
}

// checkFullName returns what is wrong with the name of a tool or prompt, or nothing.
func checkFullName(kind, plugin, name string) string {
	if !toolNameForm.MatchString(name) {
		return fmt.Sprintf("the %s name %q is not allowed; "+
			"use lower-case letters, digits and underscores, beginning with a letter", kind, name)
	}
	if full := FullName(plugin, name); len(full) > maxFullName {
		return fmt.Sprintf("the %s's full name %s has %d characters, and MCP clients take %d",
			kind, full, len(full), maxFullName)
	}
	return ""
}

// displayName makes "Get title" of "get_title".
func displayName(tool string) string {
	words := strings.ReplaceAll(tool, "_", " ")
	if words == "" {
		return ""
	}
	return strings.ToUpper(words[:1]) + words[1:]
}
