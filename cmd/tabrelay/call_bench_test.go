//go:build unix

package main

import (
	"os"
	"os/exec"
	"testing"

	"tabrelay/relay"
)

// BenchmarkCommand is what a shell waits for: a process that calls a tool of a relay that runs, in a session.
func BenchmarkCommand(b *testing.B) {
	buildDir = b.TempDir()
	program, err := buildRelease(relay.Version)
	if err != nil {
		b.Fatal(err)
	}
	env := append(os.Environ(), "TABRELAY_HOME="+b.TempDir(), "TABRELAY_LISTEN=127.0.0.1:0",
		"TABRELAY_DEMO_LISTEN=127.0.0.1:0", "TABRELAY_SESSION=bench")
	command := func(args ...string) *exec.Cmd {
		cmd := exec.Command(program, args...)
		cmd.Env = env
		return cmd
	}
	if out, err := command("up", "--browser", "none").CombinedOutput(); err != nil {
		b.Fatalf("%v: %s", err, out)
	}
	b.Cleanup(func() { _ = command("down").Run() }) // it may have ended
	var used float64
	for b.Loop() {
		cmd := command("call", "bridge_health", "--plain")
		if out, err := cmd.CombinedOutput(); err != nil {
			b.Fatalf("%v: %s", err, out)
		}
		used += float64((cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime()).Microseconds())
	}
	b.ReportMetric(used/1000/float64(b.N), "cpu-ms/op")
}
