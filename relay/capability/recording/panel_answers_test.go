package recording

import (
	"flag"
	"path/filepath"
	"testing"

	"tabrelay/relay/program/httpapi/apitest"
)

var update = flag.Bool("update", false, "write the panel's types anew")

func TestPanelKnowsTheAnswers(t *testing.T) {
	apitest.Published(t, *update, filepath.Join("..", "..", "..", "extension", "src", "capabilities", "recording",
		"answers.generated.ts"), apitest.Answers{
		By: "go generate ./relay/capability/recording", Guards: "../../shared/guards.ts",
		Whole: map[string]any{"Recordings": Open{}}, Parts: map[string]any{"Recording": View{}},
	})
}
