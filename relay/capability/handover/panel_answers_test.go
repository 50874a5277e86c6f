package handover

import (
	"flag"
	"path/filepath"
	"testing"

	"tabrelay/relay/program/httpapi/apitest"
)

var update = flag.Bool("update", false, "write the panel's types anew")

func TestPanelKnowsTheAnswers(t *testing.T) {
	apitest.Published(t, *update, filepath.Join("..", "..", "..", "extension", "src", "capabilities", "handover",
		"answers.generated.ts"), apitest.Answers{
		By: "go generate ./relay/capability/handover", Guards: "../../shared/guards.ts",
		Whole: map[string]any{"Handovers": Open{}}, Parts: map[string]any{"Handover": View{}},
	})
}
