package result

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
	"testing"

	"tabrelay/relay/call"
)

// The examples of docs/results.md are what comes out of a list of 400 issues.
func TestDocumentation(t *testing.T) {
	text, err := os.ReadFile("../../docs/results.md")
	if err != nil {
		t.Fatal(err)
	}
	var blocks []string
	for i, part := range strings.Split(string(text), "```") {
		if code, ok := strings.CutPrefix(part, "json\n"); ok && i%2 == 1 {
			blocks = append(blocks, code)
		}
	}
	if len(blocks) != 2 {
		t.Fatalf("%d examples", len(blocks))
	}
	var issues []string
	for i := 1; i <= 400; i++ {
		issues = append(issues, fmt.Sprintf(`{"id":%d,"title":"Issue %d","open":%v}`, i, i, i%100 == 0))
	}
	doc := json.RawMessage(`{"query":"cup","items":[` + strings.Join(issues, ",") + `]}`)
	const id = "8f0c1d5e7a3b49d2a6c4e1f09b7d3852"
	s, failure := Shape(doc, Wish{MaxBytes: 560, ID: id})
	if failure != nil {
		t.Fatal(failure)
	}
	read, failure := Read(t.Context(), call.StoredResult{ID: id, MIMEType: "application/json", Data: doc},
		Arguments{ID: id, JQ: "[.items[] | select(.open) | .id]"}, 480)
	if failure != nil {
		t.Fatal(failure)
	}
	for i, want := range []json.RawMessage{s.Text, read} {
		var got bytes.Buffer
		if err := json.Compact(&got, []byte(blocks[i])); err != nil || got.String() != string(want) {
			t.Errorf("example %d: %v\n%s, and it is\n%s", i+1, err, got.String(), want)
		}
	}
}
