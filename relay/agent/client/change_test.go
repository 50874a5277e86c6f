package client

import (
	"fmt"
	"testing"

	"tabrelay/relay/road/call"
	"tabrelay/relay/state/config"
)

// What is different about clients is said without anybody's token.
func TestDifferencesOfClients(t *testing.T) {
	before := []config.Client{{Name: "ann", TokenHash: "1"}, {Name: "bob", TokenHash: "2"},
		{Name: "eve", TokenHash: "3"}}
	after := []config.Client{
		{Name: "ann", TokenHash: "9"}, {Name: "bob", TokenHash: "2", Scope: call.Scope{ReadOnly: true}},
		{Name: "dan", TokenHash: "4"},
	}
	if got := Compare(before, before); len(got) != 0 {
		t.Errorf("the same clients differ: %v", got)
	}
	const want = "[{ann has a new token true} {bob has another scope: read-only false} " +
		"{dan was added, with the scope: everything false} {eve was revoked true}]"
	if got := fmt.Sprint(Compare(before, after)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}
