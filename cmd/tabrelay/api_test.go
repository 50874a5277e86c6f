//go:build unix

package main

import (
	"bytes"
	"net"
	"strings"
	"testing"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/state/config"
)

// A relay that is killed between the knock and the request does not run, like one that was killed before.
func TestRelayEnds(t *testing.T) {
	for name, test := range map[string]struct {
		args   []string
		exit   int
		out    string
		errOut string
	}{
		"status": {[]string{"status"}, exitFailed, "The relay is not running.\n", "Next: tabrelay up\n"},
		"another": {[]string{"clients", "list"}, exitFailed, "",
			"error: the relay ended before it answered\nhint: tabrelay logs shows why; tabrelay up starts it again\n"},
	} {
		t.Run(name, func(t *testing.T) {
			home := config.Home(t.TempDir())
			t.Setenv("TABRELAY_HOME", string(home))
			ended := make(chan error, 1)
			endsAtARequest(t, home, ended)
			var out, errOut bytes.Buffer
			exit := run(test.args, strings.NewReader(""), &out, &errOut)
			if exit != test.exit || out.String() != test.out || errOut.String() != test.errOut {
				t.Errorf("exit code %d, %q, %q", exit, &out, &errOut)
			}
			if err := <-ended; err != nil {
				t.Error(err)
			}
		})
	}
}

// endsAtARequest is a relay whose process ends as soon as it has read the beginning of a request.
func endsAtARequest(t *testing.T, home config.Home, ended chan<- error) {
	t.Helper()
	lock, err := join.AcquireLock(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	if err := lock.WriteState(join.State{Address: "127.0.0.1:1", PID: 1}); err != nil {
		t.Fatal(err)
	}
	listener, err := net.Listen("unix", home.Socket())
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				ended <- err
				return
			}
			knock, _ := conn.Read(make([]byte, 1)) // nothing comes from one that only knocks
			_ = conn.Close()                       // as a process that ends does
			if knock > 0 {
				_ = listener.Close()
				ended <- lock.Release()
				return
			}
		}
	}()
}
