package delegation

import (
	"os"
	"testing"

	"tabrelay/relay/capability/delegation/codes"
	"tabrelay/relay/program/doctor"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/fault/situation"
)

// TestMain attaches what a program has of delegation.
func TestMain(m *testing.M) {
	fault.Attach(codes.Group)
	situation.Attach(codes.Situations)
	doctor.Attach(findings)
	os.Exit(m.Run())
}
