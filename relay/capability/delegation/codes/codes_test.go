package codes_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"golang.org/x/tools/txtar"

	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/fault/situation"
)

var update = flag.Bool("update", false, "rewrite testdata")

func TestMain(m *testing.M) {
	fault.Attach(codes.Group)
	situation.Attach(codes.Situations)
	os.Exit(m.Run())
}

const aSession = "00112233445566778899aabbccddeeff"

// failures are rendered into testdata/bridge.txtar, each for tasks_delegate and for the others.
func failures() map[string]*fault.Error {
	acted := fault.New(codes.AgentFailed, "Agent a failed", fault.WithSession(aSession, false), fault.WithData(
		json.RawMessage(`{"toolCalls":[{"tool":"demo__add","ok":true}],"type":"not this","retryable":true}`)))
	acted.CorrelationID = "ffeeddccbbaa99887766554433221100"
	return map[string]*fault.Error{
		"unknown agent": fault.New(codes.AgentNotFound, "Agent not found: zzz"),
		"session busy": fault.New(codes.SessionBusy, "Session "+aSession+" is busy",
			fault.WithSession(aSession, true)),
		"with actions": acted,
	}
}

func TestAgenticTextOfAgentFailuresIsAsRecorded(t *testing.T) {
	var got txtar.Archive
	all := failures()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		got.Files = append(got.Files, txtar.File{Name: name, Data: []byte(all[name].AgenticText() + "\n")},
			txtar.File{Name: name + ", task", Data: []byte(all[name].TaskText() + "\n")})
	}
	text := txtar.Format(&got)
	if *update {
		if err := os.WriteFile("testdata/bridge.txtar", text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile("testdata/bridge.txtar")
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), string(text)); diff != "" {
		t.Errorf("(-want +got; -update accepts it)\n%s", diff)
	}
}

// Every code has a row whose words are there, and a situation that leads to it.
func TestCodesAreComplete(t *testing.T) {
	for _, row := range codes.Group.Rows {
		if row.Situation == "" || row.Hint == "" || row.Outcome == "" || row.Category == "" {
			t.Errorf("%s: something is not said: %+v", row.Code, row)
		}
		if !slices.ContainsFunc(codes.Situations, func(s situation.Situation) bool { return s.Code == row.Code }) {
			t.Errorf("%s: no situation leads to it", row.Code)
		}
	}
	for _, s := range codes.Situations {
		if _, ok := fault.Lookup(s.Code); !ok || s.When == "" || s.Cause == "" || s.NextStep() == "" || s.Again == "" ||
			s.Layer == "" {
			t.Errorf("%s: something is not said: %+v", s.ID, s)
		}
	}
}

// reference is the contract: id, code, type, category, source, class, again, where it is said, JSON-RPC numbers.
const reference = `
session-busy | SESSION_BUSY | validation_error | validation | UPSTREAM | tool | yes | tool result | -32002 -32002
agent-unknown | AGENT_NOT_FOUND | not_found | not_found | UPSTREAM | tool | no | tool result | -32002 -32002
session-unknown | SESSION_NOT_FOUND | not_found | not_found | UPSTREAM | tool | no | tool result | -32002 -32002
sessions-full | SESSION_CAPACITY | not_found | not_found | UPSTREAM | tool | no | tool result | -32002 -32002
provider-refuses-key | PROVIDER_AUTH | permission_denied | auth | AUTH | tool | no | tool result | -32003 -32003
provider-rate-limit | RATE_LIMITED | network_error | rate_limit | UPSTREAM | transient | yes | tool result | -32002 -32002
provider-down | PROVIDER_ERROR | network_error | internal | UPSTREAM | transient | yes | tool result | -32002 -32002
provider-unreachable | PROVIDER_UNREACHABLE | network_error | internal | TRANSPORT | transient | yes | tool result | -32000 -32000
provider-slow | TIMEOUT | timeout | timeout | TIMEOUT | transient | yes | tool result | -32001 -32001
provider-refuses-request | PROVIDER_BAD_REQUEST | validation_error | validation | UPSTREAM | tool | no | tool result | -32002 -32002
provider-odd | PROVIDER_UNKNOWN | internal_error | internal | UPSTREAM | tool | no | tool result | -32002 -32002
worker-does-not-start | WORKER_START_FAILED | cli_error | internal | TRANSPORT | tool | no | tool result | -32000 -32000
worker-bad-reply | WORKER_BAD_REPLY | cli_error | internal | UPSTREAM | tool | no | tool result | -32002 -32002
worker-failed | WORKER_FAILED | cli_error | internal | UPSTREAM | tool | no | tool result | -32002 -32002
worker-slow | WORKER_TIMEOUT | timeout | timeout | TRANSPORT | transient | yes | tool result | -32000 -32000
agent-failed | AGENT_FAILED | internal_error | internal | UPSTREAM | tool | no | tool result | -32002 -32002
delegation-off | EXECUTOR_NOT_STARTED | internal_error | internal | INTERNAL | tool | no | tool result | -32603 -32603
`

func TestSituationsAreTheContract(t *testing.T) {
	for line := range strings.Lines(strings.TrimSpace(reference)) {
		id, _, _ := strings.Cut(line, " | ")
		s, ok := situation.Find(id)
		if !ok {
			t.Errorf("there is no situation %s", id)
			continue
		}
		row, _ := fault.Lookup(s.Code)
		got := fmt.Sprintf("%s | %s | %s | %s | %s | %s | %s | %s | %d %d", id, s.Code, row.Type, row.Category,
			s.Source(), row.Class, s.Again, s.Layer, s.Number(false), s.Number(true))
		if want := strings.TrimSpace(line); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
}
