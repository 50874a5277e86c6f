package join

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"

	"tabrelay/relay/lib/random"
	"tabrelay/relay/state/config"
)

// lockAndListen acquires the lock of a fresh home folder and listens on its socket.
func lockAndListen(t *testing.T, home config.Home, attach func(net.Conn, *bufio.Reader)) (*InstanceLock, *Listener) {
	t.Helper()
	lock, err := AcquireLock(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	listener, err := lock.Listen(attach, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(listener.Close(), lock.Release()) }) // a test may have closed them itself
	return lock, listener
}

func ignoreAttach(net.Conn, *bufio.Reader) {}

func TestOnlyOneProcessGetsTheLock(t *testing.T) {
	home := config.Home(t.TempDir())
	var (
		mu      sync.Mutex
		winners int
		wg      sync.WaitGroup
	)
	for range 8 {
		wg.Go(func() {
			lock, err := AcquireLock(t.Context(), home)
			if err == nil {
				mu.Lock()
				winners++
				mu.Unlock()
				listener, err := lock.Listen(ignoreAttach, nil)
				if err == nil {
					err = lock.WriteState(State{Address: "127.0.0.1:1", PID: os.Getpid()})
				}
				if err != nil {
					t.Error(err)
				}
				t.Cleanup(func() { _ = errors.Join(listener.Close(), lock.Release()) }) // the folder goes with the test
				return
			}
			var running *RunningError
			if !errors.As(err, &running) {
				t.Errorf("a loser got %v", err)
			}
		})
	}
	wg.Wait()
	if winners != 1 {
		t.Errorf("%d relays were elected", winners)
	}
}

func TestWaitingProcessGetsReleasedLock(t *testing.T) {
	home := config.Home(t.TempDir())
	first, err := AcquireLock(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	second := make(chan error, 1)
	go func() {
		lock, err := AcquireLock(t.Context(), home)
		if err == nil {
			err = lock.Release()
		}
		second <- err
	}()
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Error(err)
	}
}

func TestReleaseRemovesState(t *testing.T) {
	home := config.Home(t.TempDir())
	lock, listener := lockAndListen(t, home, ignoreAttach)
	want := State{Address: "127.0.0.1:4711", PID: 17, Version: "1"}
	if err := lock.WriteState(want); err != nil {
		t.Fatal(err)
	}
	if got, ok := Running(t.Context(), home); !ok || got != want {
		t.Errorf("running: %+v, %v", got, ok)
	}
	if LockFree(home) {
		t.Error("the lock is held, and looks free")
	}
	if err := errors.Join(listener.Close(), lock.Release()); err != nil {
		t.Fatal(err)
	}
	if _, ok := Running(t.Context(), home); ok || !LockFree(home) {
		t.Error("the relay left, and still looks running")
	}
	if _, err := os.Stat(home.State()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("relay.json is still there: %v", err)
	}
}

func TestSocketIsPrivateAndReplacesStaleFile(t *testing.T) {
	home := config.Home(t.TempDir())
	if err := os.WriteFile(home.Socket(), nil, 0o644); err != nil {
		t.Fatal(err) // as a relay that crashed leaves it
	}
	lockAndListen(t, home, ignoreAttach)
	info, err := os.Stat(home.Socket())
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestLongHomePathUsesSocketInTempFolder(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	home := config.Home(filepath.Join(t.TempDir(), strings.Repeat("long/", 24)))
	if err := os.MkdirAll(string(home), 0o700); err != nil {
		t.Fatal(err)
	}
	lockAndListen(t, home, ignoreAttach)
	conn, err := Dial(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}

func TestListenerRoutesAttachmentsAndHTTP(t *testing.T) {
	home := config.Home(t.TempDir())
	attached := make(chan string, 1)
	_, listener := lockAndListen(t, home, func(_ net.Conn, r *bufio.Reader) {
		a, err := ReadAttach(r)
		attached <- a.Client + errorText(err)
	})
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "hello "+r.Host)
	})}
	go func() { _ = server.Serve(listener.HTTP()) }() // ends with Close
	t.Cleanup(func() { _ = server.Close() })

	answer, err := HTTP(home).Get("http://127.0.0.1/x")
	if err != nil {
		t.Fatal(err)
	}
	body, err := io.ReadAll(answer.Body)
	if string(body) != "hello 127.0.0.1" || err != nil {
		t.Errorf("got %s, %v", body, err)
	}

	conn, err := Dial(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	if err := (AttachRequest{Key: random.Hex(16), Client: "ann"}).write(conn); err != nil {
		t.Fatal(err)
	}
	if got := <-attached; got != "ann" {
		t.Errorf("got %s", got)
	}
}

func TestReadAttachRejectsInvalid(t *testing.T) {
	for _, first := range []string{"", "x\n", "{}\n", `{"attach":{"key":"short"}}` + "\n", `{"attach":{"key":"` +
		strings.Repeat("Z", 32) + `"}}` + "\n"} {
		if a, err := ReadAttach(bufio.NewReader(strings.NewReader(first))); err == nil {
			t.Errorf("%q was read as %+v", first, a)
		}
	}
}

func errorText(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
