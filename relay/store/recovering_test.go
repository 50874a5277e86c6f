package store

import (
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"tabrelay/relay/call"
)

// What became of calls that an earlier relay left open is told once, as soon as it is known.
func TestRecoveredCallsAreTold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.db")
	s := opened(t, path)
	dispatch(t, s, record(1), record(2), record(3))
	s.Resolve(record(3).ID, call.Executed, nil, nil)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = opened(t, path)
	var told []string
	s.OnRecovered(func(r call.Record) {
		told = append(told, string(r.ID[31:])+" "+string(r.State)+" "+r.Tool+" "+r.Session.Client+" "+r.ProfileID)
	})
	s.Resolve(record(1).ID, call.Executed, nil, nil)
	s.Resolve(record(2).ID, call.Unknown, nil, nil)
	s.Resolve(record(1).ID, call.Executed, nil, nil)
	dispatch(t, s, record(4))
	s.Resolve(record(4).ID, call.Executed, nil, nil)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"1 executed demo__click claude-code p1", "2 unknown demo__click claude-code p1"}, told); diff != "" {
		t.Error(diff)
	}
}
