package plugin

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

var (
	pluginNameForm = regexp.MustCompile(`^[a-z0-9]+(-[a-z0-9]+)*$`)
	toolNameForm   = regexp.MustCompile(`^[a-z][a-z0-9_]*$`)
)

// Names that belong to the relay itself, or would look as if they did.
var reservedNames = []string{"agents", "bridge", "browser", "config", "extension", "mcp", "plugin", "relay", "sessions", "system", "tabrelay", "tasks", "tool"}

// Parameters that the relay adds to every page tool.
var reservedParameters = []string{"tabId", "profile", "instance"}

// maxFullName is what MCP clients accept as a tool's name.
const maxFullName = 64

// pluginName makes the plugin's name from its package's: without the customary prefix, and with its scope in front,
// so that packages of two publishers never share a name. Our own scope, and that of the SDK ours is compatible with,
// are left out.
func pluginName(packageName string) (string, error) {
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
		return name, fmt.Errorf("the package %q gives the plugin the name %q; use lower-case letters, digits and single dashes, such as tabrelay-plugin-my-site", packageName, name)
	}
	if slices.Contains(reservedNames, name) {
		return name, fmt.Errorf("the plugin name %q is reserved; choose another package name", name)
	}
	return name, nil
}

// checkToolName returns what is wrong with a tool's name, or nothing.
func checkToolName(plugin, name string) string {
	if !toolNameForm.MatchString(name) {
		return fmt.Sprintf("the tool name %q is not allowed; use lower-case letters, digits and underscores, beginning with a letter", name)
	}
	if full := plugin + "__" + name; len(full) > maxFullName {
		return fmt.Sprintf("the tool's full name %s has %d characters, and MCP clients take %d", full, len(full), maxFullName)
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
