package hub_test

import (
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
)

const code = "00112233445566778899aabbccddeeff"

// codes is a one-time string.
type codes struct {
	mu   sync.Mutex
	code string
}

func (c *codes) Code() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.code
}

func (c *codes) Use(code string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	good := c.code != "" && c.code == code
	if good {
		c.code = ""
	}
	return good
}

func inPairingLab(t *testing.T, good string, test func(t *testing.T, l *lab)) {
	t.Helper()
	inLabWith(t, func(c *hub.Config) { c.Pairings = &codes{code: good} }, test)
}

// pairing has a one-time string in place of the secret.
func pairing(with string) func(*hubtest.Options) {
	return func(o *hubtest.Options) { o.Secret = with }
}

func TestAOneTimeStringIsExchangedForTheSecret(t *testing.T) {
	inPairingLab(t, code, func(t *testing.T, l *lab) {
		events := make(chan hub.EventKind, 8)
		l.hub.Events(func(e hub.Event) { events <- e.Kind })
		got, err := hubtest.Pair(t.Context(), l.options(pairing(code)))
		if err != nil || got != secret {
			t.Fatalf("got %q, %v", got, err)
		}
		if len(l.hub.Browsers()) != 0 {
			t.Error("pairing counts as a connection")
		}
		b := l.connect(pairing(got))
		// Each is told by a connection of its own, so that either may come first.
		if told := map[hub.EventKind]bool{<-events: true, <-events: true}; !told[hub.Paired] || !told[hub.Connected] {
			t.Errorf("events %v", told)
		}
		b.Close()
		_, err = hubtest.Pair(t.Context(), l.options(pairing(code)))
		refusedWith(t, err, 4401)
	})
}

func TestAOneTimeStringThatIsNotGood(t *testing.T) {
	for name, tt := range map[string]struct{ good, tried, says string }{
		"wrong":         {code, strings.Repeat("f", 32), "not the one"},
		"almost":        {code, code[:31] + "0", "not the one"},
		"none was made": {"", code, "No pairing string is valid now"},
	} {
		t.Run(name, func(t *testing.T) {
			inPairingLab(t, tt.good, func(t *testing.T, l *lab) {
				_, err := hubtest.Pair(t.Context(), l.options(pairing(tt.tried)))
				if r := refusedWith(t, err, 4401); !strings.Contains(r.Frame.Message, tt.says) {
					t.Errorf("got %q", r.Frame.Message)
				}
				if tt.good == "" {
					return
				}
				if got, err := hubtest.Pair(t.Context(), l.options(pairing(tt.good))); err != nil || got != secret {
					t.Errorf("after a wrong one, the right one gets %q, %v", got, err)
				}
			})
		})
	}
	inLab(t, func(t *testing.T, l *lab) { // a hub that pairs nobody
		_, err := hubtest.Pair(t.Context(), l.options(pairing(code)))
		refusedWith(t, err, 4401)
	})
}

// A one-time string does not let anybody in, and the secret does not count as one.
func TestAOneTimeStringIsNotTheSecret(t *testing.T) {
	inPairingLab(t, code, func(t *testing.T, l *lab) {
		if err := hubtest.New(l.options(pairing(code))).Dial(t.Context()); err == nil {
			t.Error("a string opened a connection")
		}
		if _, err := hubtest.Pair(t.Context(), l.options()); err == nil {
			t.Error("the secret was exchanged for itself")
		}
	})
}

func TestOfTwoAtOnceOneIsPaired(t *testing.T) {
	inPairingLab(t, code, func(t *testing.T, l *lab) {
		var paired, refused atomic.Int32
		var both sync.WaitGroup
		for range 2 {
			both.Go(func() {
				if got, err := hubtest.Pair(t.Context(), l.options(pairing(code))); err == nil && got == secret {
					paired.Add(1)
				} else {
					refused.Add(1)
				}
			})
		}
		both.Wait()
		if paired.Load() != 1 || refused.Load() != 1 {
			t.Errorf("%d were paired, %d refused", paired.Load(), refused.Load())
		}
	})
}

// A program that passes the handshake on to the relay from another port is refused by the guard, as the address that
// was dialled is in the proofs and in Host.
func TestAPairingPassedOnFromAnotherPort(t *testing.T) {
	inPairingLab(t, code, func(t *testing.T, l *lab) {
		elsewhere := l.options(pairing(code), func(o *hubtest.Options) { o.Address = "127.0.0.1:7718" })
		if _, err := hubtest.Pair(t.Context(), elsewhere); err == nil {
			t.Error("it was paired")
		}
		if got, err := hubtest.Pair(t.Context(), l.options(pairing(code))); err != nil || got != secret {
			t.Errorf("the string was used up: %v", err)
		}
	})
}

func TestTheSecretIsSealed(t *testing.T) {
	inPairingLab(t, code, func(t *testing.T, l *lab) {
		hello := helloOf(wire.NewID())
		hello.Pair = true
		s := l.stranger()
		defer s.socket.Drop()
		transcript := wire.Transcript{
			Protocol: wire.Speaks.Max, Address: address, ExtensionID: extension, ProfileID: hello.Profile.ID,
			ExtensionNonce: hello.Nonce, Hello: s.say(hello),
		}
		relay, raw, err := s.hear()
		if err != nil {
			t.Fatal(err)
		}
		transcript.Relay = raw
		if r, ok := relay.(*wire.Relay); ok {
			transcript.RelayNonce = r.Nonce
		}
		if _, _, err := s.hear(); err != nil { // its proof
			t.Fatal(err)
		}
		proof, err := transcript.Proof(code, wire.PairingExtensionRole)
		if err != nil {
			t.Fatal(err)
		}
		s.say(&wire.Proof{Proof: proof})
		frame, text, err := s.hear()
		if _, ok := frame.(*wire.Paired); err != nil || !ok {
			t.Fatalf("got %v, %v", frame, err)
		}
		if strings.Contains(string(text), secret) || strings.Contains(string(text), code) {
			t.Error("the secret crossed the wire in the clear")
		}
	})
}
