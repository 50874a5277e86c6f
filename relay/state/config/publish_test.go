package config

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/lib/rawjson"
)

// TestPublished keeps the committed schema and page equal to the table.
func TestPublished(t *testing.T) {
	for file, want := range map[string]string{
		"config.schema.json":             string(Schema()),
		"../../../docs/configuration.md": page(),
	} {
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		got, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, string(got)); diff != "" {
			t.Errorf("%s is stale; run: go generate ./relay/state/config\n%s", file, diff)
		}
	}
}

// page is docs/configuration.md.
func page() string {
	var b strings.Builder
	b.WriteString(pageHead)
	b.WriteString("| key | accepts | default | environment |\n| --- | --- | --- | --- |\n")
	for _, s := range settings {
		row(&b, s.key, s.kind, s.fallback, "`"+Twin(s.key)+"`", s.about)
	}
	b.WriteString("\n## One plugin\n\nUnder `plugins.<name>`, for example `\"plugins\": {\"mediawiki\": " +
		"{\"urlPatterns\": [\"https://wiki.example.org/*\"]}}`.\n")
	b.WriteString("`tabrelay plugin configure NAME KEY=VALUE` writes `plugins.<name>.settings` and keeps your " +
		"comments.\n\n")
	b.WriteString("| key | accepts | default | |\n| --- | --- | --- | --- |\n")
	for _, s := range pluginSettings {
		row(&b, s.key, s.kind, s.fallback, "", s.about)
	}
	nested(&b, "provider of models", "providers", `{"openai": {}, "local": {"baseUrl": "http://127.0.0.1:11434/v1", `+
		`"models": ["qwen3"]}}`, providerSettings)
	nested(&b, "agent on a model", "agents", `{"reader": {"providers": ["local"], "readOnly": true}}`, agentSettings)
	nested(&b, "worker", "workers", `{"claude": {"command": "claude-code-acp"}}`, workerSettings)
	keys := []string{"permissions", "plugins.<name>.enabled", "plugins.<name>.urlPatterns", "resources.providers",
		"providers.<name>.kind", "providers.<name>.baseUrl", "providers.<name>.apiKey", "workers"}
	for _, one := range rights {
		keys = append(keys, one.key)
	}
	b.WriteString(pageFoot + "`" + strings.Join(keys, "`, `") + "`\n")
	return b.String()
}

// nested writes the table of the things of one kind, which have names.
func nested[T any](b *strings.Builder, one, key, example string, table []setting[T]) {
	fmt.Fprintf(b, "\n## One %s\n\nUnder `%s.<name>`, for example `\"%s\": %s`. See\n[delegation](delegation.md).\n\n"+
		"| key | accepts | default | |\n| --- | --- | --- | --- |\n", one, key, key, example)
	for _, s := range table {
		row(b, s.key, s.kind, s.fallback, "", s.about)
	}
}

const pageHead = `# Configuration

<!-- Generated from relay/state/config/settings.go by go generate ./relay/state/config. -->

` + "`config.json`" + ` in the home folder (` + "`$TABRELAY_HOME`" + `, default ` + "`~/.tabrelay`" + `) is JSON with comments and trailing commas.
A setting that is not there has its default. A key that does not exist, a wrong type or a value out of bounds stops
the relay with the file, the line, the key and what is allowed. An environment variable wins over the file; lists are
separated by commas there. ` + "`config.schema.json`" + ` beside the file helps editors complete and check it.

`

const pageFoot = `
## Settings that let agents do more

Some settings say what agents, plugins and programs may do. What a change of them forbids holds as soon as it is read,
for ` + "`permissions`, `plugins`, `providers`, `workers`, `agents` and `delegation`" + `, and after a restart for the others.
What it allows beyond what was in effect is never taken over quietly:

- **While the relay runs** it waits, as a question in the side panel and as ` + "`unapplied`" + ` in ` + "`tabrelay status`" + `, until a
  person allows it there, or with ` + "`tabrelay config apply`" + ` at a terminal.
- **At a start** it applies, and is shown in the side panel with **Keep** and **Undo** (` + "`tabrelay config undo`" + `) until
  somebody has looked. What was denied or undone before still waits.

Both are in the audit log; [permissions](permissions.md#confirming) says more. The settings:

`

func row(b *strings.Builder, key string, k kind, fallback any, twin, about string) {
	cell := strings.NewReplacer("|", "\\|", "<", "&lt;").Replace
	fmt.Fprintf(b, "| `%s`<br>%s | %s | `%s` | %s |\n", key, cell(about), cell(k.accepts),
		rawjson.MustEncode(fallback), twin)
}
