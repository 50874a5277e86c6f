package hub_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/fault"
)

// The forged-upgrade matrix: what is refused before the upgrade.

func TestRequestsRefusedBeforeTheUpgrade(t *testing.T) {
	const right = "chrome-extension://" + extension
	other := "chrome-extension://" + strings.Repeat("p", 32)
	tests := []struct {
		name        string
		host        string
		origins     []string
		subprotocol string
		want        int
	}{
		// past the guard: no upgrade was asked for
		{"right", address, []string{right}, wire.Subprotocol, http.StatusUpgradeRequired},
		{"right, localhost", "localhost:7717", []string{right}, wire.Subprotocol, http.StatusUpgradeRequired},
		{"right, IPv6", "[::1]:7717", []string{right}, wire.Subprotocol, http.StatusUpgradeRequired},
		{"right, several subprotocols", address, []string{right}, "tabrelay.v9, tabrelay.v1",
			http.StatusUpgradeRequired},
		{"foreign host", "evil.example:7717", []string{right}, wire.Subprotocol, http.StatusForbidden},
		{"host that resolves to loopback", "127.0.0.1.nip.io:7717", []string{right}, wire.Subprotocol,
			http.StatusForbidden},
		{"host of the local network", "192.168.1.2:7717", []string{right}, wire.Subprotocol, http.StatusForbidden},
		{"any address", "0.0.0.0:7717", []string{right}, wire.Subprotocol, http.StatusForbidden},
		{"host with another port", "127.0.0.1:7718", []string{right}, wire.Subprotocol, http.StatusForbidden},
		{"host without port", "127.0.0.1", []string{right}, wire.Subprotocol, http.StatusForbidden},
		{"empty host", "", []string{right}, wire.Subprotocol, http.StatusForbidden},
		{"no origin", address, nil, wire.Subprotocol, http.StatusForbidden},
		{"empty origin", address, []string{""}, wire.Subprotocol, http.StatusForbidden},
		{"null origin", address, []string{"null"}, wire.Subprotocol, http.StatusForbidden},
		{"page", address, []string{"http://127.0.0.1:7717"}, wire.Subprotocol, http.StatusForbidden},
		{"other extension", address, []string{other}, wire.Subprotocol, http.StatusForbidden},
		{"page named like the extension", address, []string{"https://" + extension}, wire.Subprotocol,
			http.StatusForbidden},
		{"other scheme", address, []string{"moz-extension://" + extension}, wire.Subprotocol, http.StatusForbidden},
		{"upper case", address, []string{strings.ToUpper(right)}, wire.Subprotocol, http.StatusForbidden},
		{"slash at the end", address, []string{right + "/"}, wire.Subprotocol, http.StatusForbidden},
		{"port", address, []string{right + ":80"}, wire.Subprotocol, http.StatusForbidden},
		{"longer", address, []string{right + "a"}, wire.Subprotocol, http.StatusForbidden},
		{"two origins", address, []string{right, other}, wire.Subprotocol, http.StatusForbidden},
		{"twice the right one", address, []string{right, right}, wire.Subprotocol, http.StatusForbidden},
		{"no subprotocol", address, []string{right}, "", http.StatusForbidden},
		{"other subprotocol", address, []string{right}, "tabrelay.v2", http.StatusForbidden},
	}
	h := hub.New(hub.Config{Secret: func() string { return secret }, ExtensionIDs: []string{extension},
		Log: zerolog.Nop()})
	defer h.Close(t.Context())
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			r := httptest.NewRequest("GET", "/extension", nil)
			r.Host = tt.host
			r.Header["Origin"] = tt.origins
			r.Header.Set("Sec-WebSocket-Protocol", tt.subprotocol)
			r = r.WithContext(context.WithValue(r.Context(), http.LocalAddrContextKey, net.Addr(localAddr)))
			w := httptest.NewRecorder()
			h.Handler().ServeHTTP(w, r)
			if w.Code != tt.want {
				t.Errorf("got %d: %s", w.Code, w.Body)
			}
		})
	}
}

func refusedWith(t *testing.T, err error, code int) *hubtest.Refused {
	t.Helper()
	var r *hubtest.Refused
	if !errors.As(err, &r) || r.CloseCode != code {
		t.Fatalf("got %v instead of a refusal with %d", err, code)
	}
	return r
}

func TestWrongSecretIsRefused(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		wrong := hubtest.New(l.options(func(o *hubtest.Options) { o.Secret = strings.Repeat("0", 64) }))
		r := refusedWith(t, wrong.Dial(t.Context()), 4401)
		if r.Frame.Code != string(fault.PairingFailed) || !strings.Contains(r.Frame.Message, "tabrelay up") {
			t.Errorf("got %+v", r.Frame)
		}
		l.invoke(request()).want(t, fault.PairingFailed, fault.NotExecuted)
		l.connect()
		l.invoke(request()).wantOutput(t, `{"x":1}`)
	})
}

func TestRelayWithoutSecretRefusesEveryone(t *testing.T) {
	for _, none := range []string{"", "00", strings.Repeat("x", 64)} {
		inLabWith(t, func(c *hub.Config) { c.Secret = func() string { return none } }, func(t *testing.T, l *lab) {
			refusedWith(t, hubtest.New(l.options()).Dial(t.Context()), 4401)
		})
	}
}

func TestAnUnsupportedProtocolVersionIsRefused(t *testing.T) {
	for _, tt := range []struct {
		speaks wire.Range
		advice string
	}{{wire.Range{Min: wire.Speaks.Max + 1, Max: wire.Speaks.Max + 2}, "update the tabrelay program"},
		{wire.Range{Min: 3, Max: 1}, "reinstall the extension"}} {
		inLab(t, func(t *testing.T, l *lab) {
			old := hubtest.New(l.options(func(o *hubtest.Options) { o.Protocol = tt.speaks }))
			r := refusedWith(t, old.Dial(t.Context()), 4406)
			if r.Frame.Code != string(fault.VersionMismatch) || !strings.Contains(r.Frame.Message, tt.advice) {
				t.Errorf("got %+v", r.Frame)
			}
			l.invoke(request()).want(t, fault.VersionMismatch, fault.NotExecuted)
		})
	}
}

func TestOldExtensionIsToldToUpdate(t *testing.T) {
	_, refusal := wire.Negotiate(wire.Range{Min: wire.Speaks.Max + 1, Max: wire.Speaks.Max + 1}, wire.Speaks)
	if !strings.Contains(refusal, "update the extension") {
		t.Errorf("got %q", refusal)
	}
}

// stranger talks to the relay frame by frame.

type stranger struct {
	t      *testing.T
	socket *hub.Socket
}

func (l *lab) stranger() *stranger {
	l.t.Helper()
	s, err := hub.Dial(l.t.Context(), l.net.client, address, http.Header{"Origin": {"chrome-extension://" + extension}})
	if err != nil {
		l.t.Fatal(err)
	}
	return &stranger{l.t, s}
}

func (s *stranger) say(f wire.Frame) []byte {
	s.t.Helper()
	text, err := wire.Encode(f, nil)
	if err != nil {
		s.t.Fatal(err)
	}
	if err := s.socket.Write(text); err != nil {
		s.t.Fatal(err)
	}
	return text
}

func (s *stranger) hear() (wire.Frame, []byte, error) {
	message, err := s.socket.Read(s.t.Context())
	if err != nil {
		return nil, nil, err
	}
	f, _, err := wire.Decode(message)
	return f, append([]byte(nil), message...), err
}

func helloOf(profile string) *wire.Hello {
	return &wire.Hello{
		Protocol: wire.Speaks, Extension: "0", Epoch: wire.NewID(), Profile: wire.Profile{ID: profile, Label: "S"},
		Chrome: "0", Nonce: strings.Repeat("7", 64),
	}
}

// A proof that was overheard is worth nothing on another connection, even with the same hello.

func TestReplayedProofIsRefused(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		hello := helloOf(wire.NewID())
		first := l.stranger()
		transcript := wire.Transcript{
			Protocol: wire.Speaks.Max, Address: address, ExtensionID: extension, ProfileID: hello.Profile.ID,
			ExtensionNonce: hello.Nonce, Hello: first.say(hello),
		}
		f, raw, _ := first.hear()
		transcript.Relay, transcript.RelayNonce = raw, f.(*wire.Relay).Nonce
		first.hear()
		proof, err := transcript.Proof(secret, wire.ExtensionRole)
		if err != nil {
			t.Fatal(err)
		}
		first.say(&wire.Proof{Proof: proof})
		if f, _, _ := first.hear(); f.Kind() != "welcome" {
			t.Fatalf("the right proof got %v", f)
		}
		first.socket.Drop()

		second := l.stranger()
		second.say(hello)
		second.hear()
		second.hear()
		second.say(&wire.Proof{Proof: proof})
		if f, _, _ := second.hear(); f.Kind() != "refuse" {
			t.Fatalf("the replayed proof got %v", f)
		}
		if _, _, err := second.hear(); hub.CloseCode(err) != 4401 {
			t.Errorf("got %v", err)
		}
	})
}

// An extension of another relay hangs up on this one's proof. That, and not an extension that was never there, is why
// nobody is connected; a browser that was closed meanwhile says nothing.
func TestExtensionThatDoesNotAcceptTheRelay(t *testing.T) {
	for code, want := range map[int]fault.Code{4000: fault.PairingFailed, 1001: fault.ExtensionNotInstalled} {
		inLab(t, func(t *testing.T, l *lab) {
			s := l.stranger()
			s.say(helloOf(wire.NewID()))
			s.hear()
			s.hear()
			s.socket.Close(code, "")
			synctest.Wait()
			l.invoke(request()).want(t, want, fault.NotExecuted)
		})
	}
}

// The relay's own proof, sent back to it, is no proof of the extension.

func TestReflectedProofIsRefused(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		s := l.stranger()
		s.say(helloOf(wire.NewID()))
		s.hear()
		proof, _, _ := s.hear()
		s.say(proof)
		s.hear()
		if _, _, err := s.hear(); hub.CloseCode(err) != 4401 {
			t.Errorf("got %v", err)
		}
	})
}

func TestNonceLivesFiveSeconds(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		for _, after := range []int{0, 1} { // frames before it falls silent
			s := l.stranger()
			start := time.Now()
			if after > 0 {
				s.say(helloOf(wire.NewID()))
				s.hear()
				s.hear()
			}
			if _, _, err := s.hear(); err == nil {
				t.Error("the relay went on")
			}
			if took := time.Since(start); took < 4*time.Second || took > 6*time.Second {
				t.Errorf("it took %s", took)
			}
			s.socket.Drop()
		}
	})
}

// A later protocol may say hello in another way; what to update is said all the same.
func TestHelloOfAnotherProtocol(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		s := l.stranger()
		if err := s.socket.Write([]byte(`{"type":"hello","protocol":{"min":7,"max":8},"who":"me"}`)); err != nil {
			t.Fatal(err)
		}
		f, _, err := s.hear()
		if refuse, ok := f.(*wire.Refuse); !ok || refuse.Code != "VERSION_MISMATCH" ||
			!strings.Contains(refuse.Message, "update the tabrelay program") {
			t.Errorf("got %v, %v", f, err)
		}
		if _, _, err := s.hear(); hub.CloseCode(err) != 4406 {
			t.Errorf("closed with %v", err)
		}
	})
}

// A program that tries secrets is slowed down and told of once; the extension with the right one is let in meanwhile.
func TestWrongProofsAreSlowedDown(t *testing.T) {
	var log strings.Builder
	inLabWith(t, func(c *hub.Config) { c.Log = zerolog.New(zerolog.SyncWriter(&log)) }, func(t *testing.T, l *lab) {
		wrong := hubtest.New(l.options(func(o *hubtest.Options) { o.Secret = strings.Repeat("0", 64) }))
		begin := time.Now()
		for range 20 {
			refusedWith(t, wrong.Dial(t.Context()), 4401)
		}
		if took := time.Since(begin); took >= time.Second {
			t.Errorf("a few wrong proofs took %s", took)
		}
		slowed := make(chan error)
		begin = time.Now()
		for range 10 {
			go func() {
				slowed <- hubtest.New(l.options(func(o *hubtest.Options) { o.Secret = strings.Repeat("0", 64) })).Dial(
					t.Context())
			}()
		}
		l.connect()
		if took := time.Since(begin); took >= time.Second {
			t.Errorf("who proved the secret waited %s", took)
		}
		for range 10 {
			refusedWith(t, <-slowed, 4401)
		}
		if took := time.Since(begin); took < time.Second {
			t.Errorf("more of them took only %s", took)
		}
		l.invoke(request()).wantOutput(t, `{"x":1}`)
	})
	if told := strings.Count(log.String(), "PAIRING_FAILED"); told != 20 {
		t.Errorf("%d lines about single ones", told)
	}
	if told := strings.Count(log.String(), "many wrong proofs"); told != 1 {
		t.Errorf("%d lines about all of them", told)
	}
}

// A program that begins handshakes and says nothing keeps nobody out.
func TestSilentHandshakesKeepNobodyOut(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		var silent []*stranger
		for range 200 {
			silent = append(silent, l.stranger())
		}
		begin := time.Now()
		l.connect()
		if took := time.Since(begin); took >= time.Second {
			t.Errorf("it took %s", took)
		}
		if _, _, err := silent[0].hear(); err == nil || time.Since(begin) >= time.Second {
			t.Errorf("the oldest is still there: %v", err)
		}
		for _, s := range silent {
			s.socket.Drop()
		}
	})
}

// A page that tries from a foreign origin fills no log.
func TestPagesAtTheDoorFillNoLog(t *testing.T) {
	var log strings.Builder
	inLabWith(t, func(c *hub.Config) { c.Log = zerolog.New(zerolog.SyncWriter(&log)) }, func(t *testing.T, l *lab) {
		for range 1000 {
			if _, err := hub.Dial(t.Context(), l.net.client, address,
				http.Header{"Origin": {"https://evil.example"}}); err == nil {
				t.Fatal("a page was let in")
			}
		}
	})
	if told := strings.Count(log.String(), "refused before the upgrade"); told == 0 || told > 25 {
		t.Errorf("%d lines about a page", told)
	}
}
