package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"

	"tabrelay/relay/plugin/build"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/state/config"
)

// page is where the tab of the measured browser is.
const page = "https://bench.example/"

// writePlugins adds built plugins to a home folder: count of them, with so many tools each, and total tools in all.
func writePlugins(ctx context.Context, home string, count, each, total int) error {
	folder := config.Home(home)
	for i := range count {
		n := min(each, total-i*each)
		dir := filepath.Join(home, "built", fmt.Sprintf("bench-%d", i))
		if err := writePlugin(dir, fmt.Sprintf("bench-%d", i), n); err != nil {
			return err
		}
		if _, _, err := build.Add(ctx, folder.Plugins(), dir); err != nil {
			return err
		}
	}
	return nil
}

func writePlugin(dir, name string, tools int) error {
	readOnly := true
	m := plugin.Manifest{Name: name, Version: "1.0.0", DisplayName: name, URLPatterns: []string{page + "*"},
		World: plugin.Isolated}
	for i := range tools {
		m.Tools = append(m.Tools, plugin.Tool{
			Name: fmt.Sprintf("tool_%d", i), DisplayName: fmt.Sprintf("Tool %d", i),
			Description: "Gives its arguments back, as one of many tools that a large installation has; the length " +
				"of this description is usual.",
			InputSchema: inputSchema(i), Annotations: plugin.Annotations{ReadOnlyHint: &readOnly},
		})
	}
	text, err := json.Marshal(m)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Join(dir, "dist"), 0o700); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(dir, "dist", "manifest.json"), text, 0o600); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(dir, "dist", "adapter.js"),
		[]byte("var tabrelayPlugin = { default: { tools: [] } };\n"), 0o600)
}

// inputSchema differs from tool to tool, as those of real plugins do.
func inputSchema(i int) json.RawMessage {
	return json.RawMessage(fmt.Sprintf(`{"type":"object","properties":{"n":{"type":"integer"},`+
		`"text":{"type":"string","description":"What to give back."},`+
		`"kind_%d":{"type":"string","enum":["short","long"]},"tags":{"type":"array","items":{"type":"string"},`+
		`"maxItems":%d}},"additionalProperties":false}`, i, 10+i))
}
