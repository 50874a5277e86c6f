package delegation

import (
	"path/filepath"
	"testing"

	"tabrelay/relay/program/httpapi/apitest"
)

func TestPanelKnowsTheAnswers(t *testing.T) {
	apitest.Published(t, *update, filepath.Join("..", "..", "..", "extension", "src", "capabilities", "agents",
		"answers.generated.ts"), apitest.Answers{
		By: "go generate ./relay/capability/delegation", Guards: "../../shared/guards.ts",
		Whole: map[string]any{"Agents": Configured{}, "AgentSessions": OpenSessions{}},
		Parts: map[string]any{"Agent": AgentView{}, "AgentSession": OpenSession{}},
		Choices: map[string][]string{
			"delegation.State":  {string(StateActive), string(StateBusy), string(StateIdle), string(StateFailed)},
			"delegation.Status": {"ready", "busy", "unavailable"},
		},
	})
}
