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

	"tabrelay/relay/config"
)

// seated takes the seat of a fresh home folder and opens its socket.
func seated(t *testing.T, home config.Home, attach func(net.Conn, *bufio.Reader)) (*Seat, *Door) {
	t.Helper()
	seat, err := Take(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	door, err := seat.Open(attach)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = errors.Join(door.Close(), seat.Leave()) }) // a test may have closed them itself
	return seat, door
}

func nobody(net.Conn, *bufio.Reader) {}

func TestOneOfManyIsElected(t *testing.T) {
	home := config.Home(t.TempDir())
	var (
		mu      sync.Mutex
		winners int
		wg      sync.WaitGroup
	)
	for range 8 {
		wg.Go(func() {
			seat, err := Take(t.Context(), home)
			if err == nil {
				mu.Lock()
				winners++
				mu.Unlock()
				door, err := seat.Open(nobody)
				if err == nil {
					err = seat.Announce(State{Address: "127.0.0.1:1", PID: os.Getpid()})
				}
				if err != nil {
					t.Error(err)
				}
				t.Cleanup(func() { _ = errors.Join(door.Close(), seat.Leave()) }) // the folder goes with the test
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

func TestLoserTakesOverWhenTheWinnerLeaves(t *testing.T) {
	home := config.Home(t.TempDir())
	first, err := Take(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	second := make(chan error, 1)
	go func() {
		seat, err := Take(t.Context(), home)
		if err == nil {
			err = seat.Leave()
		}
		second <- err
	}()
	if err := first.Leave(); err != nil {
		t.Fatal(err)
	}
	if err := <-second; err != nil {
		t.Error(err)
	}
}

func TestStateGoesWithTheRelay(t *testing.T) {
	home := config.Home(t.TempDir())
	seat, door := seated(t, home, nobody)
	want := State{Address: "127.0.0.1:4711", PID: 17, Version: "1"}
	if err := seat.Announce(want); err != nil {
		t.Fatal(err)
	}
	if got, ok := Running(t.Context(), home); !ok || got != want {
		t.Errorf("running: %+v, %v", got, ok)
	}
	if Vacant(home) {
		t.Error("the seat is taken, and looks vacant")
	}
	if err := errors.Join(door.Close(), seat.Leave()); err != nil {
		t.Fatal(err)
	}
	if _, ok := Running(t.Context(), home); ok || !Vacant(home) {
		t.Error("the relay left, and still looks running")
	}
	if _, err := os.Stat(home.State()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("relay.json is still there: %v", err)
	}
}

func TestSocketIsClosedToOthersAndSurvivesItsRemains(t *testing.T) {
	home := config.Home(t.TempDir())
	if err := os.WriteFile(home.Socket(), nil, 0o644); err != nil {
		t.Fatal(err) // as a relay that crashed leaves it
	}
	seated(t, home, nobody)
	info, err := os.Stat(home.Socket())
	if err != nil {
		t.Fatal(err)
	}
	if runtime.GOOS != "windows" && info.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", info.Mode())
	}
}

func TestHomeTooLongForASocket(t *testing.T) {
	t.Setenv("TMPDIR", t.TempDir())
	home := config.Home(filepath.Join(t.TempDir(), strings.Repeat("long/", 24)))
	if err := os.MkdirAll(string(home), 0o700); err != nil {
		t.Fatal(err)
	}
	seated(t, home, nobody)
	conn, err := Dial(t.Context(), home)
	if err != nil {
		t.Fatal(err)
	}
	_ = conn.Close()
}

func TestDoorServesAttachmentsAndHTTP(t *testing.T) {
	home := config.Home(t.TempDir())
	attached := make(chan string, 1)
	_, door := seated(t, home, func(_ net.Conn, r *bufio.Reader) {
		a, err := ReadAttach(r)
		attached <- a.Client + errorText(err)
	})
	server := &http.Server{Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.WriteString(w, "hello "+r.Host)
	})}
	go func() { _ = server.Serve(door.HTTP()) }() // ends with Close
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
	if err := (Attach{Key: newKey(), Client: "ann"}).write(conn); err != nil {
		t.Fatal(err)
	}
	if got := <-attached; got != "ann" {
		t.Errorf("got %s", got)
	}
}

func TestReadAttachRefuses(t *testing.T) {
	for _, first := range []string{"", "x\n", "{}\n", `{"attach":{"key":"short"}}` + "\n", `{"attach":{"key":"` + strings.Repeat("Z", 32) + `"}}` + "\n"} {
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
