package hub_test

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
)

func TestSameProfileSameBrowserReplacesAtOnce(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		me := func(o *hubtest.Options) { o.ProfileID, o.Epoch = strings.Repeat("1", 32), strings.Repeat("2", 32) }
		old := l.connect(me)
		start := time.Now()
		l.connect(me)
		<-old.Gone()
		if old.CloseCode() != 4409 || time.Since(start) != 0 {
			t.Errorf("closed with %d after %s", old.CloseCode(), time.Since(start))
		}
		l.invoke(request()).wantOutput(t, `{"x":1}`)
		if n := len(l.hub.Browsers()); n != 1 {
			t.Errorf("%d browsers are listed", n)
		}
	})
}

func TestCopiedProfileTakesAFreshID(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		me := func(o *hubtest.Options) { o.ProfileID = strings.Repeat("1", 32) }
		l.connect(me)
		refusedWith(t, hubtest.New(l.options(me)).Dial(t.Context()), 4410)
		l.invoke(request()).wantOutput(t, `{"x":1}`)
	})
}

func TestNewcomerReplacesADeadConnection(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		id := strings.Repeat("1", 32)
		deaf := l.stranger()
		welcomeStranger(t, deaf, id)
		start := time.Now()
		l.connect(func(o *hubtest.Options) { o.ProfileID = id })
		if took := time.Since(start); took != time.Second {
			t.Errorf("it took %s", took)
		}
		l.invoke(request()).wantOutput(t, `{"x":1}`)
		deaf.socket.Drop()
	})
}

func welcomeStranger(t *testing.T, s *stranger, profile string) {
	t.Helper()
	hello := helloOf(profile)
	transcript := wire.Transcript{
		Protocol: wire.Speaks.Max, Address: address, ExtensionID: extension, ProfileID: profile,
		ExtensionNonce: hello.Nonce, Hello: s.say(hello),
	}
	f, raw, _ := s.hear()
	transcript.Relay, transcript.RelayNonce = raw, f.(*wire.Relay).Nonce
	s.hear()
	proof, err := transcript.Proof(secret, wire.ExtensionRole)
	if err != nil {
		t.Fatal(err)
	}
	s.say(&wire.Proof{Proof: proof})
	for _, want := range []wire.Kind{"welcome", "plugins"} {
		if f, _, err := s.hear(); err != nil || f.Kind() != want {
			t.Fatalf("got %v, %v instead of %s", f, err, want)
		}
	}
}

func TestSilentPeerIsPingedAndDropped(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		s := l.stranger()
		welcomeStranger(t, s, wire.NewID())
		start := time.Now()
		if f, _, err := s.hear(); err != nil || f.Kind() != "ping" {
			t.Fatalf("got %v, %v", f, err)
		}
		for {
			if _, _, err := s.hear(); err != nil {
				break
			}
		}
		if took := time.Since(start); took < 50*time.Second || took > 61*time.Second {
			t.Errorf("it was dropped after %s", took)
		}
		s.socket.Drop()
	})
}

func TestAnsweringPeerIsKept(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		b := l.connect() // answers pings
		time.Sleep(10 * time.Minute)
		synctest.Wait()
		select {
		case <-b.Gone():
			t.Fatal("it was dropped")
		default:
		}
		l.invoke(request()).wantOutput(t, `{"x":1}`)
	})
}

func TestRelayAnswersPing(t *testing.T) {
	inLab(t, func(t *testing.T, l *lab) {
		s := l.stranger()
		welcomeStranger(t, s, wire.NewID())
		s.say(&wire.Ping{})
		if f, _, err := s.hear(); err != nil || f.Kind() != "pong" {
			t.Errorf("got %v, %v", f, err)
		}
		s.socket.Drop()
	})
}
