package relay

import (
	"bufio"
	"errors"
	"io"
	"net"
	"net/http"
	"os"
	"syscall"
	"testing"

	"github.com/rs/zerolog"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/program/httpapi/apitest"
	"tabrelay/relay/road/plugin"
)

// temporary is a relay that was started for a command.
func (w *world) temporary() *Relay {
	w.t.Helper()
	cfg := openConfig()
	cfg.Listen, cfg.Demo.Listen = "127.0.0.1:0", ""
	r, err := New(w.t.Context(), cfg, Options{Home: w.home, Log: zerolog.Nop(), Plugins: []plugin.Plugin{shop()},
		Temporary: "here and now"})
	if err != nil {
		w.t.Fatal(err)
	}
	ended := make(chan error)
	go func() { ended <- r.Run(w.t.Context()) }()
	w.t.Cleanup(func() {
		r.Stop()
		if err := <-ended; err != nil {
			w.t.Error(err)
		}
	})
	return r
}

func TestATemporaryRelayIsNoneForWhoeverStartsNone(t *testing.T) {
	w := newWorld(t)
	w.temporary()
	if state, ok := join.Answering(t.Context(), w.home); !ok || state.Temporary != "here and now" {
		t.Errorf("it answers: %v, and says %+v", ok, state)
	}
	if state, ok := join.Running(t.Context(), w.home); ok {
		t.Errorf("it counts as one that stays: %+v", state)
	}
	join.EndTemporary(t.Context(), w.home)
	if !join.LockFree(w.home) {
		t.Error("it has not ended")
	}
}

// A client needs a relay that stays, and one that was started for a command becomes that.
func TestATemporaryRelayStaysForAClient(t *testing.T) {
	for name, use := range map[string]func(*testing.T, *Relay){
		"on stdio": func(_ *testing.T, r *Relay) {
			relaySide, conn := net.Pipe()
			_ = conn.Close() // nothing was written
			r.attachClient(relaySide, bufio.NewReader(relaySide))
		},
		"over HTTP": func(t *testing.T, r *Relay) {
			token, err := r.secrets.Add("ann")
			if err != nil {
				t.Fatal(err)
			}
			apitest.Ask(t, r.Address(), "GET", "/mcp", "Authorization: Bearer "+token)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			use(t, w.temporary())
			if state, ok := join.Running(t.Context(), w.home); !ok {
				t.Errorf("it does not stay: %+v", state)
			}
			join.EndTemporary(t.Context(), w.home)
			res, err := join.HTTP(w.home).Get("http://127.0.0.1/healthz")
			if err != nil {
				t.Fatal("it was ended:", err)
			}
			if _, err := io.Copy(io.Discard, res.Body); err != nil || res.StatusCode != http.StatusOK {
				t.Errorf("status %d, %v", res.StatusCode, err)
			}
		})
	}
}

// A home folder that is removed under a relay stays removed, and the relay ends.
func TestRelayEndsWithItsHomeFolder(t *testing.T) {
	w := newWorld(t)
	r := w.temporary()
	client := join.HTTP(w.home)
	res, err := client.Get("http://127.0.0.1/healthz") // it would not end by itself now
	if err != nil {
		t.Fatal(err)
	}
	defer res.Body.Close() // only read from
	// The relay may write a file while its folder is emptied.
	err = os.RemoveAll(string(w.home))
	for errors.Is(err, syscall.ENOTEMPTY) {
		err = os.RemoveAll(string(w.home))
	}
	if err != nil {
		t.Fatal(err)
	}
	<-r.stop
	if err := r.Close(); err != nil {
		t.Error(err)
	}
	if w.home.Exists() {
		t.Error("it was made anew")
	}
}
