package delegation

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"testing"

	"tabrelay/relay/road/registry"
)

var update = flag.Bool("update", false, "rewrite the published definitions under testdata")

// What clients read of the tools of delegation is part of the contract with those of mcp-agentic: it changes on
// purpose only.
func TestDefinitionsOfTheTools(t *testing.T) {
	var got bytes.Buffer
	for _, tool := range registry.New((&Sessions{}).OwnTools()).Snapshot().Tools {
		if err := json.Indent(&got, tool.Listed, "", "  "); err != nil {
			t.Fatal(err)
		}
		got.WriteByte('\n')
	}
	const path = "testdata/tools.json"
	if *update {
		if err := os.WriteFile(path, got.Bytes(), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got.Bytes(), want) {
		t.Errorf("the tools are defined in another way; -update accepts it:\n%s", got.Bytes())
	}
}
