package relay

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/state/config"
)

// TestPublishedSettings keeps the committed schema and page equal to the settings of the program and its capabilities.
func TestPublishedSettings(t *testing.T) {
	for file, want := range map[string]string{
		"state/config/config.schema.json": string(config.Schema()),
		"state/config/policy.schema.json": string(config.PolicySchema()),
		"../docs/configuration.md":        settingsPage(t),
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
			t.Errorf("%s is stale; run: go generate ./relay\n%s", file, diff)
		}
	}
}

// settingsPage is docs/configuration.md.
func settingsPage(t *testing.T) string {
	var b strings.Builder
	b.WriteString(pageHead)
	b.WriteString("| key | accepts | default | environment |\n| --- | --- | --- | --- |\n")
	entries, err := config.Entries(config.Home(t.TempDir()), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		row(&b, e, "`"+e.Twin+"`")
	}
	for _, one := range config.Tables() {
		fmt.Fprintf(&b, "\n## One %s\n\nUnder `%s.<name>`, for example `\"%s\": %s`.\n%s\n\n"+
			"| key | accepts | default | |\n| --- | --- | --- | --- |\n", one.One, one.Key, one.Key,
			one.Example.Example, one.More)
		for _, e := range one.Settings {
			row(&b, e, "")
		}
	}
	b.WriteString(fmt.Sprintf(pageFoot, quotedList(config.LiveKeys())) + quotedList(config.WideningKeys()) + "\n")
	return b.String()
}

func quotedList(keys []string) string { return "`" + strings.Join(keys, "`, `") + "`" }

const pageHead = `# Configuration

<!-- Generated from relay/state/config/settings.go and what capabilities add by go generate ./relay. -->

` + "`config.json`" + ` in the home folder (` + "`$TABRELAY_HOME`" + `,
default ` + "`~/.tabrelay`" + `) is JSON with comments and trailing commas,
of at most 1 MiB and nested at most 1000 levels deep.
A setting that is not there has its default. A key that does not exist, a wrong type or a value out of bounds stops
the relay with the file, the line, the key and what is allowed. An environment variable wins over the file; lists are
separated by commas there. ` + "`config.schema.json`" + ` beside the file helps editors complete and check it.

`

const pageFoot = `
## Settings that let agents do more

Some settings say what agents, plugins and programs may do. What a change of them forbids holds as soon as it is read,
for %s, and after a restart for the others.
What it allows beyond what was in effect is never taken over quietly:

- **While the relay runs** it waits, as a question in the side panel and as ` + "`unapplied`" + ` in ` +
	"`tabrelay status`" + `, until a
  person allows it there, or with ` + "`tabrelay config apply`" + ` at a terminal.
- **At a start** it applies, and is shown in the side panel with **Keep** and **Undo** (` +
	"`tabrelay config undo`" + `) until
  somebody has looked. What was denied or undone before still waits.

Both are in the audit log; [permissions](permissions.md#confirming) says more. The settings:

`

func row(b *strings.Builder, e config.Entry, twin string) {
	cell := strings.NewReplacer("|", "\\|", "<", "&lt;").Replace
	fmt.Fprintf(b, "| `%s`<br>%s | %s | `%s` | %s |\n", e.Key, cell(e.About), cell(e.Accepts), e.Default, twin)
}
