package httpapi_test

import (
	"flag"
	"path/filepath"
	"testing"

	"tabrelay/relay/agent/client"
	"tabrelay/relay/plugin/catalog"
	"tabrelay/relay/plugin/review"
	"tabrelay/relay/program/builtin"
	"tabrelay/relay/program/connect"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/program/httpapi/apitest"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/state/audit"
	"tabrelay/relay/state/config"
)

var update = flag.Bool("update", false, "write the panel's types anew")

func TestPanelKnowsTheAnswers(t *testing.T) {
	modes := []string{string(call.Off), string(call.Ask), string(call.Auto)}
	apitest.Published(t, *update, filepath.Join("..", "..", "..", "extension", "src", "panel", "answers.generated.ts"),
		apitest.Answers{
			By: "go generate ./relay/program/httpapi", Guards: "../shared/guards.ts",
			Whole: map[string]any{
				"Adding": httpapi.AdditionView{}, "Approvals": httpapi.Approvals{}, "Audit": httpapi.AuditPage{},
				"CallAnswer": httpapi.Answer{},
				"Clients":    httpapi.ClientsView{}, "Diagnosis": builtin.Diagnosis{}, "Offers": httpapi.OffersView{},
				"Installed":     httpapi.InstalledView{},
				"OpenedTab":     builtin.OpenedTab{},
				"Part":          call.Part{},
				"PairingString": httpapi.Pairing{}, "Paused": httpapi.Paused{}, "Permissions": policy.Permissions{},
				"Plugins": httpapi.PluginsView{}, "Profiles": httpapi.ProfilesView{}, "Review": review.Sheet{},
				"Reviews": httpapi.Reviews{}, "Running": httpapi.RunningCalls{}, "Settings": catalog.SettingsView{},
				"Tabs": httpapi.Tabs{}, "Unconfirmed": httpapi.Unconfirmed{}, "Unusable": httpapi.UnusableSettings{},
				"Verified": audit.Report{},
			},
			Parts: map[string]any{
				"AskedSetting": review.Setting{}, "Change": policy.PendingChange{}, "Client": client.View{},
				"InstalledClient": connect.State{},
				"Failure":         fault.Error{}, "FileDifference": review.Difference{}, "LogEntry": audit.Row{},
				"Offer":  catalog.Offer{},
				"Plugin": catalog.View{}, "Policy": config.Managed{},
				"Profile": httpapi.ProfileView{}, "ProposedChange": policy.Change{},
				"Question": call.Approval{}, "ReviewedTool": review.Tool{}, "RunningCall": httpapi.RunningView{},
				"Setting":    catalog.SettingView{},
				"SourceFile": review.File{}, "Tab": httpapi.TabStatus{}, "Tool": catalog.ToolView{},
			},
			Choices: map[string][]string{
				"call.Mode":          modes,
				"call.PieceKind":     {string(call.PieceName), string(call.PieceValue), string(call.PieceNote)},
				"call.Approval.risk": {"reads", "changes", "destroys"},
				"policy.PendingChange.kind": {policy.ChangeAsked, policy.ChangeConfig, policy.ChangeStart,
					policy.ChangeLost, policy.ChangeCarried, policy.ChangeUpdated},
				"dispatch.Stage": {string(dispatch.StageAsking), string(dispatch.StageQueued),
					string(dispatch.StageRunning)},
				"policy.source": {"policy", "person", "config", "built-in"},
				"catalog.State": {string(catalog.Ready), string(catalog.NotOpen), string(catalog.SignedOut),
					string(catalog.Broken), string(catalog.Unreviewed), string(catalog.Off)},
			},
		})
}
