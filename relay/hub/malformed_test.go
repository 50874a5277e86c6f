package hub_test

import (
	"context"
	"encoding/binary"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"

	"tabrelay/relay/hub"
	"tabrelay/relay/wire"
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
	client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, network, address string) (net.Conn, error) {
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
func (s *rawStranger) sends(opcode byte, message string) {
	frame := binary.BigEndian.AppendUint64([]byte{0x80 | opcode, 0x80 | 127}, uint64(len(message)))
	frame = append(append(frame, 0, 0, 0, 0), message...)
	go func() { _, _ = s.conn.Write(frame) }()
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
		{"longer than a hello may be", textMessage, strings.Replace(string(hello), `"S"`, `"`+strings.Repeat("S", wire.MaxHeaderBytes)+`"`, 1)},
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
				if hub.CloseCode(err) != 4400 || !strings.Contains(err.Error(), "too many frames that cannot be understood") {
					t.Errorf("closed with %v", err)
				}
			})
		})
	}
}
