package codes_test

import (
	"encoding/json"
	"flag"
	"maps"
	"os"
	"slices"
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

func TestBridgeText(t *testing.T) {
	var got txtar.Archive
	all := failures()
	for _, name := range slices.Sorted(maps.Keys(all)) {
		got.Files = append(got.Files, txtar.File{Name: name, Data: []byte(all[name].BridgeText() + "\n")},
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
