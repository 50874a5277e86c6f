package script

import (
	"flag"
	"path/filepath"
	"testing"

	"tabrelay/relay/program/httpapi/apitest"
)

var update = flag.Bool("update", false, "write the panel's types anew")

func TestPanelKnowsTheAnswers(t *testing.T) {
	apitest.Published(t, *update, filepath.Join("..", "..", "..", "extension", "src", "capabilities", "script",
		"answers.generated.ts"), apitest.Answers{
		By: "go generate ./relay/capability/script", Guards: "../../shared/guards.ts",
		Whole: map[string]any{"KeptScripts": KeptScripts{}, "KeptScript": Kept{}},
	})
}
