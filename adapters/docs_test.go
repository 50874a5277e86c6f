package adapters

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/road/plugin"
)

// Each adapter has a page docs/<name>.md. What its tools are is not written there by hand:
//
//	<!-- tools: go test ./adapters -run TestToolTables -update -->
//	<!-- end of tools -->
//
// Between the two lines stands the table that -update makes of the built manifest (`go generate ./adapters` first).
// Whoever adds a tool runs that; without it the test fails. What only prose can say (how to sign in, settings,
// failures by code) stands around it.
var update = flag.Bool("update", false, "write the tables of tools into docs/")

const (
	tableBegin = "<!-- tools: go test ./adapters -run TestToolTables -update -->"
	tableEnd   = "<!-- end of tools -->"
)

func TestToolTables(t *testing.T) {
	check := func(t *testing.T, m plugin.Manifest) {
		file := "../docs/" + m.Name + ".md"
		raw, err := os.ReadFile(file)
		if err != nil {
			t.Fatalf("every adapter has a page: %v", err)
		}
		before, rest, begins := strings.Cut(string(raw), tableBegin)
		_, after, ends := strings.Cut(rest, tableEnd)
		if !begins || !ends {
			t.Fatalf("%s has no place for its tools; write these two lines:\n%s\n%s", file, tableBegin, tableEnd)
		}
		want := before + tableBegin + "\n" + table(m) + tableEnd + after
		if *update {
			if err := os.WriteFile(file, []byte(want), 0o644); err != nil {
				t.Fatal(err)
			}
			return
		}
		if diff := cmp.Diff(want, string(raw)); diff != "" {
			t.Errorf("%s is not what the manifest says (-want +got); run: go test ./adapters -run TestToolTables "+
				"-update\n%s", file, diff)
		}
	}
	eachAdapter(t, check)
	files, err := Files()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{plugin.Browser, plugin.OptIn} { // which are built from the extension's sources
		t.Run(name, func(t *testing.T) { check(t, readManifest(t, files, name)) })
	}
}

// table lists the tools of a plugin, the reading ones first.
func table(m plugin.Manifest) string {
	var b strings.Builder
	b.WriteString("\n| tool | does | arguments | changes |\n| --- | --- | --- | --- |\n")
	tools := slices.Clone(m.Tools)
	slices.SortStableFunc(tools, func(x, y plugin.Tool) int { return strings.Compare(changes(x), changes(y)) })
	for _, tool := range tools {
		fmt.Fprintf(&b, "| `%s` | %s | %s | %s |\n", plugin.FullName(m.Name, tool.Name),
			cell(firstSentence(tool.Description)), arguments(tool), changes(tool))
	}
	return b.String() + "\n"
}

// changes is what a tool does to the application; nothing for one that reads.
func changes(tool plugin.Tool) string {
	switch a := tool.Annotations; {
	case a.ReadOnlyHint != nil && *a.ReadOnlyHint:
		return ""
	case a.DestructiveHint != nil && *a.DestructiveHint:
		return "yes, may overwrite or delete"
	}
	return "yes"
}

// arguments lists them in the schema's own order, the ones that can be left out with a question mark.
func arguments(tool plugin.Tool) string {
	var input struct {
		Properties json.RawMessage `json:"properties"`
		Required   []string        `json:"required"`
	}
	if json.Unmarshal(tool.InputSchema, &input) != nil {
		return "?"
	}
	var list []string
	for _, name := range namesInOrder(input.Properties) {
		if !slices.Contains(input.Required, name) {
			name += "?"
		}
		list = append(list, "`"+name+"`")
	}
	return strings.Join(list, ", ")
}

// namesInOrder are the names of an object's members as they stand there.
func namesInOrder(object json.RawMessage) (names []string) {
	d := json.NewDecoder(strings.NewReader(string(object)))
	if _, err := d.Token(); err != nil {
		return nil
	}
	for d.More() {
		name, err := d.Token()
		if err != nil {
			return names
		}
		var skipped json.RawMessage
		if d.Decode(&skipped) != nil {
			return names
		}
		names = append(names, fmt.Sprint(name))
	}
	return names
}

var sentenceEnd = regexp.MustCompile(`\. `)

func firstSentence(text string) string {
	if at := sentenceEnd.FindStringIndex(text); at != nil {
		text = text[:at[0]]
	}
	return strings.TrimSuffix(text, ".")
}

var cellEscapes = strings.NewReplacer("|", `\|`, "<", `\<`, "\n", " ")

func cell(text string) string { return cellEscapes.Replace(text) }
