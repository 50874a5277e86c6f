package hub_test

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/wire"
)

// What nobody can understand, before, during and after the handshake, and the goodbye that PROTOCOL.md gives each.

// The opcodes of WebSocket messages.
const (
	textMessage   = 1
	binaryMessage = 2
)

// rawStranger is a stranger who may also send what no Socket sends.
type rawStranger struct {
	*stranger
	conn net.Conn
}

func (l *lab) rawStranger() *rawStranger {
	l.t.Helper()
	s := &rawStranger{}
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network,
		address string) (net.Conn, error) {
		conn, err := l.net.dial(ctx, network, address)
		s.conn = conn
		return conn, err
	}}}
	socket, err := hub.Dial(l.t.Context(), client, address, http.Header{"Origin": {"chrome-extension://" + extension}})
	if err != nil {
		l.t.Fatal(err)
	}
	s.stranger = &stranger{l.t, socket}
	return s
}

// sends writes one message in one masked frame; a mask of zeros changes no byte. It does not wait until the relay has
// read it, because the relay may close before.
func (s *rawStranger) sends(opcode byte, message string) (sent <-chan error) {
	return s.begins(opcode, len(message), message)
}

// begins announces a message of so many bytes, and writes the beginning of it.
func (s *rawStranger) begins(opcode byte, size int, message string) (sent <-chan error) {
	frame := binary.BigEndian.AppendUint64([]byte{0x80 | opcode, 0x80 | 127}, uint64(size))
	frame = append(append(frame, 0, 0, 0, 0), message...)
	done := make(chan error, 1)
	go func() {
		_, err := s.conn.Write(frame)
		done <- err
	}()
	return done
}

// message is one that cannot be understood where a test sends it.
type message struct {
	name   string
	opcode byte
	text   string
}

func TestFirstFrameThatIsNoHello(t *testing.T) {
	hello, err := wire.Encode(helloOf(wire.NewID()), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []message{
		{"binary", binaryMessage, string(hello)},
		{"binary, empty", binaryMessage, ""},
		{"longer than a hello may be", textMessage, strings.Replace(string(hello), `"S"`,
			`"`+strings.Repeat("S", wire.MaxHeaderBytes)+`"`, 1)},
		{"long and binary", binaryMessage, strings.Repeat("\x00", wire.MaxHeaderBytes+1)},
		{"empty", textMessage, ""},
		{"not JSON", textMessage, "hello"},
		{"cut", textMessage, string(hello[:len(hello)-1])},
		{"no object", textMessage, `[{"type":"hello"}]`},
		{"null", textMessage, "null"},
		{"no type", textMessage, "{}"},
		{"unknown type", textMessage, `{"type":"from-the-future"}`},
		{"another frame", textMessage, `{"type":"tabs","tabs":[]}`},
		{"hello without a field", textMessage, `{"type":"hello","protocol":{"min":1,"max":2}}`},
		{"hello without protocol", textMessage, `{"type":"hello"}`},
		{"whole but for the protocol", textMessage, strings.Replace(string(hello), `"protocol"`, `"later"`, 1)},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				s := l.rawStranger()
				s.sends(tt.opcode, tt.text)
				f, _, err := s.hear()
				if hub.CloseCode(err) != 4400 || !strings.Contains(err.Error(), "the first frame is not a hello") {
					t.Errorf("got %v, %v", f, err)
				}
				if len(l.hub.Browsers()) != 0 {
					t.Error("a browser is listed")
				}
			})
		})
	}
}

func TestAnswerThatIsNoProof(t *testing.T) {
	hello, err := wire.Encode(helloOf(wire.NewID()), nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []message{
		{"binary", binaryMessage, `{"type":"proof"}`},
		{"too long", textMessage, `{"type":"proof","proof":"` + strings.Repeat("0", wire.MaxHeaderBytes) + `"}`},
		{"not JSON", textMessage, "proof"},
		{"short", textMessage, `{"type":"proof","proof":"00"}`},
		{"another hello", textMessage, string(hello)},
		{"another frame", textMessage, `{"type":"tabs","tabs":[]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				s := l.rawStranger()
				s.sends(textMessage, string(hello))
				s.hear()
				s.hear()
				s.sends(tt.opcode, tt.text)
				if f, _, err := s.hear(); err != nil || f.Kind() != "refuse" {
					t.Errorf("got %v, %v", f, err)
				}
				if _, _, err := s.hear(); hub.CloseCode(err) != 4401 {
					t.Errorf("closed with %v", err)
				}
			})
		})
	}
}

func TestThirdMalformedFrameOfEachKind(t *testing.T) {
	const limit = 8192
	for _, tt := range []message{
		{"binary", binaryMessage, `{"type":"ping"}`},
		{"too large", textMessage, strings.Repeat(" ", limit+1)},
		{"empty", textMessage, ""},
		{"no type", textMessage, "{}"},
		{"another hello", textMessage, `{"type":"hello"}`},
		{"the relay's to send", textMessage, `{"type":"ack","ids":[]}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inLabWith(t, func(c *hub.Config) { c.FrameBytes = limit }, func(t *testing.T, l *lab) {
				s := l.rawStranger()
				welcomeStranger(t, s.stranger, wire.NewID())
				for range 3 {
					synctest.Wait() // the one before was sent whole
					s.sends(tt.opcode, tt.text)
				}
				var err error
				for err == nil {
					_, _, err = s.hear()
				}
				if hub.CloseCode(err) != 4400 || !strings.Contains(err.Error(),
					"too many frames that cannot be understood") {
					t.Errorf("closed with %v", err)
				}
			})
		})
	}
}

// A message that is far too large is read to its end as long as that takes no time, so that its sender hears why.
func TestFarTooLarge(t *testing.T) {
	const limit = 8192
	for _, tt := range []struct {
		name  string
		limit int
		begin func(t *testing.T, s *stranger)
	}{
		{"as the first frame", wire.MaxHeaderBytes, func(*testing.T, *stranger) {}},
		{"as the proof", wire.MaxHeaderBytes, func(_ *testing.T, s *stranger) {
			s.say(helloOf(wire.NewID()))
			s.hear()
			s.hear()
		}},
		{"later", limit, func(t *testing.T, s *stranger) { welcomeStranger(t, s, wire.NewID()) }},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inLabWith(t, func(c *hub.Config) { c.FrameBytes = limit }, func(t *testing.T, l *lab) {
				s := l.rawStranger()
				tt.begin(t, s.stranger)
				sent := s.sends(textMessage, strings.Repeat(" ", 8*tt.limit))
				if _, _, err := s.hear(); hub.CloseCode(err) != 1009 {
					t.Errorf("closed with %v", err)
				}
				if err := <-sent; err != nil {
					t.Errorf("the connection broke while the message was sent: %v", err)
				}
			})
		})
	}
}

// Who does not answer the goodbye is not waited for, also in the middle of a message.
func TestGoodbyeThatIsNotAnswered(t *testing.T) {
	for _, tt := range []struct {
		name  string
		after func(s *rawStranger)
	}{
		{"silent", func(s *rawStranger) { s.sends(textMessage, "hello") }},
		{"stalls in another message", func(s *rawStranger) {
			<-s.sends(textMessage, "hello")
			s.begins(textMessage, 1000, "{")
		}},
		{"stalls in a flood", func(s *rawStranger) {
			s.begins(textMessage, 1<<40, strings.Repeat(" ", 4*wire.MaxHeaderBytes+1))
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			inLab(t, func(t *testing.T, l *lab) {
				s := l.rawStranger()
				begin := time.Now()
				tt.after(s)
				if _, err := io.Copy(io.Discard, s.conn); err != nil {
					t.Error(err)
				}
				if took := time.Since(begin); took != time.Second {
					t.Errorf("it took %s", took)
				}
				s.socket.Drop()
			})
		})
	}
}
