package main

import (
	"context"
	"io"
	"strings"
	"testing"

	"tabrelay/relay/road/plugin"
	"tabrelay/relay/state/config"
)

// Ctrl-C can come while a build is about to be approved: nobody may wait then for an answer that never comes.
func TestApprovalOfAnEndedSession(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	a := &app{terminal: terminal{in: strings.NewReader(""), out: io.Discard, err: io.Discard},
		home: config.Home(t.TempDir())}
	d := &devSession{app: a, endApproval: func() {}}
	d.approveBuild(ctx, &plugin.Plugin{Manifest: plugin.Manifest{Name: "tea-shop"}})
	if d.approved {
		t.Error("it is approved")
	}
}
