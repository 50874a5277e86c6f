package client

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/policy"
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
	const want = "[{ann has a new token true false} {bob has another scope: read-only false false} " +
		"{dan was added, with the scope: everything false false} {eve was revoked true false}]"
	if got := fmt.Sprint(Compare(before, after)); got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
}

// A token that expires shuts its client out, once, and nobody has done it.
func TestExpiredClients(t *testing.T) {
	at := time.Date(2026, 11, 26, 12, 0, 0, 0, time.UTC)
	all := []config.Client{{Name: "ann"}, {Name: "bob", Expires: at}, {Name: "dan", Expires: at.Add(time.Hour)}}
	for _, c := range []struct {
		after, by time.Duration
		want      string
	}{
		{-time.Minute, -time.Nanosecond, "[]"},
		{-time.Minute, 0, "[{bob has a token that expired true true}]"},
		{0, time.Minute, "[]"},
		{-time.Minute, time.Hour, "[{bob has a token that expired true true} " +
			"{dan has a token that expired true true}]"},
	} {
		if got := fmt.Sprint(Expired(all, at.Add(c.after), at.Add(c.by))); got != c.want {
			t.Errorf("from %s to %s: %s", c.after, c.by, got)
		}
	}
	e := Expired(all, at.Add(-1), at)[0].Entry(call.Session{Client: "cli", Via: call.ViaSocket, ID: "s"})
	if e.DecidedBy != policy.ByRelay || e.Session.Via != "" || e.Detail != "The client bob has a token that expired" {
		t.Errorf("%+v", e)
	}
	lasts := append(slices.Clone(all[:2]), config.Client{Name: "dan"})
	if got := fmt.Sprint(Compare(all, lasts)); got != "[{dan has a token that lasts until it is revoked false false}]" {
		t.Errorf("another end: %s", got)
	}
}
