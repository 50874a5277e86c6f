package plugin

import (
	"fmt"
	"slices"
	"strings"

	"tabrelay/relay/lib/lazyregexp"
)

var (
	pluginNameForm = lazyregexp.New(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	toolNameForm   = lazyregexp.New(`^[a-z][a-z0-9_]*$`)
)

// reservedNames are names of the relay itself, or could be mistaken for such.
var reservedNames = []string{"agents", "all", "any", "ask", "auto", "bridge", "browser", "cli", "config", "default",
	"extension", "gateway", "mcp", "none", "off", "panel", "plugin", "relay", "sessions", "stdio", "system", "tabrelay",
	"tasks", "tool", "web", "webmcp"}

// The plugins of the browser's own tools: the only ones that may work on every site and change something there. They
// are part of the extension's sources, and of the binary.
const (
	Browser = "browser"
	// OptIn is off until a person switches it on, and asks for each tool.
	OptIn = "browser-dev"
)

// Browses reports whether a plugin of that name, which has to be a shipped one, is of the browser's own tools.
func Browses(name string) bool { return name == Browser || name == OptIn }

// optInTools are the tools of OptIn.
var optInTools = []string{"console", "cookies", "downloads", "emulate", "evaluate", "network", "pdf", "performance",
	"storage"}

// Owner is the plugin, or the group, in the full name of a tool: the reverse of FullName.
func Owner(fullName string) string {
	owner, tool, _ := strings.Cut(fullName, "__")
	if owner == Browser && slices.Contains(optInTools, tool) {
		return OptIn
	}
	return owner
}

// SignInCheck is what every plugin's adapter answers to besides its tools, whose names have no capital: it waits until
// the plugin's signIn says that a person is signed in, as long as the call lasts.
const SignInCheck = "signIn"

// FullName is the name by which agents call a tool of a plugin.
func FullName(plugin, tool string) string {
	if plugin == OptIn {
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

// maxFullName is the longest tool name that MCP clients accept.
const maxFullName = 64

// NameOf makes the plugin's name from its package's: without the customary prefix, and with the scope in front, so
// that packages of two publishers have different names. Our own scope and that of OpenTabs are left out.
func NameOf(packageName string, shipped bool) (string, error) {
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

// CheckFullName returns what is wrong with the name of a tool or prompt, or nothing.
func CheckFullName(kind, plugin, name string) string {
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

// CheckName says why a plugin cannot have a name.
func CheckName(name string) error {
	_, err := NameOf(name, false)
	return err
}
