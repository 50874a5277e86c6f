package join

import (
	"bufio"
	"os"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/sys/unix"
)

const (
	aNotification = `{"jsonrpc":"2.0","method":"notifications/progress","params":{}}` + "\n"
	aResponse     = `{"jsonrpc":"2.0","id":1,"result":{}}` + "\n"
)

// A response follows a notification when that was read, over a socket and over a pipe.
func TestPacedWriterWaitsForReader(t *testing.T) {
	for name, open := range map[string]func(*testing.T) (near, far *os.File){"socket": socketPair, "pipe": pipePair} {
		t.Run(name, func(t *testing.T) {
			near, far := open(t)
			// Fake time passes only while the writer waits, so that a slow machine cannot cause the timeout.
			synctest.Test(t, func(t *testing.T) { checkPacedWriter(t, near, far) })
		})
	}
}

func checkPacedWriter(t *testing.T, near, far *os.File) {
	p := NewPacedWriter(far)
	waits := 0
	p.unread = func(f *os.File) (int, bool) {
		left, known := unread(f)
		if !known {
			t.Fatal("this system does not tell what was read")
		}
		if waits++; waits == 2 { // it has waited once; now the client reads
			read := make([]byte, len(aNotification))
			if n, err := near.Read(read); err != nil || string(read[:n]) != aNotification {
				t.Errorf("read %q, %v", read[:n], err)
			}
		}
		return left, known
	}
	for _, message := range []string{aNotification, aResponse, aResponse} {
		if _, err := p.Write([]byte(message)); err != nil {
			t.Fatal(err)
		}
	}
	if waits != 3 {
		t.Errorf("asked %d times, want 3: unread, unread, read", waits)
	}
	if line, err := bufio.NewReader(near).ReadString('\n'); err != nil || line != aResponse {
		t.Errorf("then %q, %v", line, err)
	}
}

func TestPacedWriterTimesOut(t *testing.T) {
	_, far := pipePair(t)
	synctest.Test(t, func(t *testing.T) {
		p := NewPacedWriter(far)
		p.unread = func(*os.File) (int, bool) { return 1, true }
		began := time.Now()
		for _, message := range []string{aNotification, aResponse} {
			if _, err := p.Write([]byte(message)); err != nil {
				t.Fatal(err)
			}
		}
		if waited := time.Since(began); waited < readTimeout || waited > 2*readTimeout {
			t.Errorf("waited %v, want %v", waited, readTimeout)
		}
	})
}

func socketPair(t *testing.T) (near, far *os.File) {
	fds, err := unix.Socketpair(unix.AF_UNIX, unix.SOCK_STREAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		t.Fatal(err)
	}
	near, far = os.NewFile(uintptr(fds[0]), "near"), os.NewFile(uintptr(fds[1]), "far")
	t.Cleanup(func() { _ = near.Close(); _ = far.Close() })
	return near, far
}

func pipePair(t *testing.T) (near, far *os.File) {
	near, far, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = near.Close(); _ = far.Close() })
	return near, far
}
