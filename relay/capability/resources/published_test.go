package resources

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"tabrelay/relay/road/event"
)

var update = flag.Bool("update", false, "rewrite the list of templates in the documentation")

// The page lists what a relay offers that has everything.
func TestPublishedTemplatesAreDocumented(t *testing.T) {
	const page, begin, end = "../../../docs/resources.md", "<!-- templates -->\n", "<!-- /templates -->"
	s := New(Options{
		Browser: twoProfiles(), Keep: &shelves{}, Events: new(event.Bus), Roots: []string{"/srv/shared"},
		Web: Outside{Hosts: []string{"HOST"}}, Git: Outside{Hosts: []string{"HOST"}},
		Providers: map[string]Program{"SCHEME": {}},
	})
	var table strings.Builder
	table.WriteString("| URI | what | details |\n| --- | --- | --- |\n")
	for _, x := range s.Templates() {
		fmt.Fprintf(&table, "| `%s` | %s | %s |\n", x.URITemplate, x.Title, strings.ReplaceAll(x.Description, "|",
			"\\|"))
	}
	list, _ := (&events{}).list(t.Context(), session)
	fmt.Fprintf(&table, "| `%s` | %s | %s |\n", list[0].URI, list[0].Title, list[0].Description)
	text, err := os.ReadFile(page)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, found := strings.Cut(string(text), begin)
	old, foot, foundEnd := strings.Cut(rest, end)
	if !found || !foundEnd {
		t.Fatalf("%s has no place for the list of templates", page)
	}
	if old == table.String() {
		return
	}
	if !*update {
		t.Fatalf("the list of templates in %s is old; run: go generate ./relay/capability/resources", page)
	}
	if err := os.WriteFile(page, []byte(head+begin+table.String()+end+foot), 0o644); err != nil {
		t.Fatal(err)
	}
}
