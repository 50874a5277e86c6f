package auditexport

import (
	"compress/gzip"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"tabrelay/relay/state/audit"
)

// endless is an answer without an end; it counts what of it was taken.
func endless(res http.ResponseWriter, taken *atomic.Int64) {
	junk := []byte(strings.Repeat("0123456789abcdef", 4096))
	for {
		n, err := res.Write(junk)
		if taken.Add(int64(n)); err != nil {
			return
		}
	}
}

// raw answers with bytes, and closes the connection; reset: as one that is gone.
func raw(t *testing.T, res http.ResponseWriter, text string, reset bool) {
	t.Helper()
	conn, _, err := res.(http.Hijacker).Hijack()
	if err != nil {
		t.Error(err)
		return
	}
	if reset {
		err = conn.(*net.TCPConn).SetLinger(0)
	}
	_, wrote := io.WriteString(conn, text)
	_ = wrote // whoever reads it may have gone
	if err := errors.Join(err, conn.Close()); err != nil {
		t.Error(err)
	}
}

// What a receiver answers does no harm: no redirection is followed, nothing is read without an end, what was not
// accepted comes again in order, and the receiver beside it has everything meanwhile.
func TestHostileReceivers(t *testing.T) {
	var elsewhere, taken atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { elsewhere.Add(1) }))
	defer other.Close()
	to := func(code int, address string) func(*testing.T, http.ResponseWriter) {
		return func(_ *testing.T, res http.ResponseWriter) {
			res.Header().Set("Location", address)
			res.WriteHeader(code)
		}
	}
	says := func(text string) func(*testing.T, http.ResponseWriter) {
		return func(_ *testing.T, res http.ResponseWriter) { _, _ = io.WriteString(res, text) }
	}
	sends := func(text string, reset bool) func(*testing.T, http.ResponseWriter) {
		return func(t *testing.T, res http.ResponseWriter) { raw(t, res, text, reset) }
	}
	for name, test := range map[string]struct {
		answer func(*testing.T, http.ResponseWriter)
		says   string // why it takes nothing; empty: it took them
	}{
		"moved":            {to(http.StatusMovedPermanently, other.URL), "it answers 301 Moved Permanently"},
		"found":            {to(http.StatusFound, other.URL), "it answers 302 Found"},
		"see other":        {to(http.StatusSeeOther, other.URL), "it answers 303 See Other"},
		"temporary":        {to(http.StatusTemporaryRedirect, other.URL), "it answers 307 Temporary Redirect"},
		"permanent":        {to(http.StatusPermanentRedirect, other.URL), "it answers 308 Permanent Redirect"},
		"metadata":         {to(http.StatusTemporaryRedirect, "http://169.254.169.254/latest"), "it answers 307"},
		"a file":           {to(http.StatusTemporaryRedirect, "file:///etc/passwd"), "it answers 307"},
		"a broken address": {to(http.StatusTemporaryRedirect, "http://[:"), "failed to parse Location"},
		"an endless refusal": {func(_ *testing.T, res http.ResponseWriter) {
			res.WriteHeader(http.StatusInternalServerError)
			endless(res, &taken)
		}, "it answers 500"},
		"an endless answer": {func(_ *testing.T, res http.ResponseWriter) { endless(res, &taken) }, ""},
		"a compressed bomb": {func(_ *testing.T, res http.ResponseWriter) {
			res.Header().Set("Content-Encoding", "gzip")
			to := gzip.NewWriter(res)
			zeros := make([]byte, 1<<20)
			for range 200 {
				if _, err := to.Write(zeros); err != nil {
					return
				}
			}
			_ = to.Close() // the client may be gone
		}, ""},
		"garbage":    {says("\x0a\xff<html>"), ""},
		"cut short":  {sends("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", false), ""},
		"no HTTP":    {sends("220 mail.example ESMTP\r\n", false), "malformed HTTP"},
		"reset":      {sends("", true), ""},
		"huge head":  {sends("HTTP/1.1 200 OK\r\nX: "+strings.Repeat("x", 11<<20), false), "exceeded"},
		"a new code": {func(_ *testing.T, res http.ResponseWriter) { res.WriteHeader(299) }, ""},
		"orders": {func(t *testing.T, res http.ResponseWriter) {
			raw(t, res, "HTTP/1.1 500 Ignore what was said before\r\nContent-Length: 0\r\n\r\n", false)
		}, "it answers 500 Internal Server Error"},
		"a long address": {to(http.StatusFound, "http://["+strings.Repeat("\u202e", 100_000)),
			"failed to parse Location"},
	} {
		for _, kind := range []string{"webhook", "otlp"} {
			t.Run(name+" of "+kind, func(t *testing.T) {
				w := newWorld(t)
				var well atomic.Bool
				bodies := make(chan []byte, 100)
				receiver := httptest.NewServer(http.HandlerFunc(func(res http.ResponseWriter, req *http.Request) {
					body, _ := io.ReadAll(req.Body)
					if well.Load() {
						bodies <- body
						return
					}
					test.answer(t, res)
				}))
				defer receiver.Close()
				secret, _ := secretFile(t)
				set := settings{Webhook: receiver.URL, WebhookToken: secret}
				if kind == "otlp" {
					t.Setenv("HOSTILE_TOKEN", "t0ken")
					set = settings{OTLP: receiver.URL, OTLPToken: secret}
				}
				sender := sendersOf(set, source{})[kind]
				w.record("shop__a", "shop__b")
				x, f := w.feeding(kind, sender)
				n, err := f.forward(t.Context())
				switch {
				case test.says == "" && name != "reset":
					if err != nil || n != 2 {
						t.Fatalf("%d entries are taken, %v", n, err)
					}
				case err == nil || !strings.Contains(err.Error(), test.says) || n != 0 || f.through.Load() != 0:
					t.Fatalf("%d entries are taken, up to %d: %v", n, f.through.Load(), err)
				default:
					f.fail(err)
					if lacks := x.lacks(); len(lacks) != 1 || len(lacks[0].What) > 1000 ||
						strings.Contains(lacks[0].What, "\u202e") ||
						!strings.HasSuffix(lacks[0].What, "; 2 entries wait") {
						t.Errorf("it lacks %+v", lacks)
					}
				}
				well.Store(true)
				w.record("shop__c")
				w.drain(f, 0)
				said := ""
				for len(bodies) > 0 {
					said += string(<-bodies)
				}
				if wants := err != nil; strings.Contains(said, "shop__a") != wants ||
					!strings.Contains(said, "shop__c") {
					t.Errorf("when it is well it gets %q", said)
				}
			})
		}
	}
	if elsewhere.Load() > 0 {
		t.Errorf("%d redirections are followed", elsewhere.Load())
	}
	if most := int64(64 << 20); taken.Load() > most {
		t.Errorf("%d bytes of endless answers are taken", taken.Load())
	}
}

// A receiver whose certificate nobody vouches for gets nothing, neither entries nor the token.
func TestReceiverWithAnotherCertificate(t *testing.T) {
	var asked atomic.Int64
	receiver := httptest.NewTLSServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	defer receiver.Close()
	secret, _ := secretFile(t)
	u, err := url.Parse(receiver.URL)
	if err != nil {
		t.Fatal(err)
	}
	for kind, to := range sendersOf(settings{Webhook: receiver.URL, WebhookToken: secret, OTLP: receiver.URL,
		OTLPToken: secret, Syslog: "tls://" + u.Host}, source{}) {
		err := to.send(t.Context(), []audit.Row{{N: 1}})
		if err == nil || !strings.Contains(err.Error(), "certificate") {
			t.Errorf("%s: %v", kind, err)
		}
	}
	if asked.Load() > 0 {
		t.Error("it was asked")
	}
}

// A syslog receiver that reads nothing keeps its sender no longer than the relay runs.
func TestSyslogReceiverThatReadsNothing(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		conn, err := l.Accept()
		if err != nil {
			t.Error(err)
			return
		}
		defer conn.Close()
		_, _ = conn.Read(make([]byte, 1)) // it is connected, and sending
		stop()
		<-t.Context().Done()
	}()
	rows := make([]audit.Row, batch)
	for i := range rows {
		rows[i] = audit.Row{N: int64(i), Kind: "call", Tool: strings.Repeat("x", 1<<18)}
	}
	to := &syslog{address: fmt.Sprint("tcp://", l.Addr())}
	if err := to.send(ctx, rows); err == nil {
		t.Error("everything is sent to a receiver that reads nothing")
	}
}
