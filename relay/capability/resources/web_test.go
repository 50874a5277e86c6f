package resources

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/pem"
	"fmt"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"tabrelay/relay/road/fault"
)

func loopback(a netip.Addr) bool { return a.IsLoopback() }

// secure opens a TLS server on this machine, and a set that may read it.
func secure(t *testing.T, handler http.HandlerFunc, change func(*Options)) (*httptest.Server, *Set) {
	t.Helper()
	server := httptest.NewTLSServer(handler)
	t.Cleanup(server.Close)
	o := Options{
		Web:       Outside{Hosts: []string{server.Listener.Addr().String()}, MaxBytes: 1000},
		Addresses: loopback, Authorities: pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE",
			Bytes: server.Certificate().Raw}),
	}
	if change != nil {
		change(&o)
	}
	return server, set(t, o)
}

func site(w http.ResponseWriter, r *http.Request) {
	switch r.URL.Path {
	case "/text":
		w.Header().Set("Content-Type", "text/plain; charset=utf-8")
		_, _ = fmt.Fprint(w, "hello ", r.URL.RawQuery)
	case "/json":
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write([]byte(`{"a":1}`))
	case "/picture":
		w.Header().Set("Content-Type", "image/png")
		_, _ = w.Write([]byte{0x89, 'P', 'N', 'G', 0, 0xff})
	case "/lies.txt":
		w.Header().Set("Content-Type", "text/plain")
		_, _ = w.Write([]byte{'a', 0, 0xff})
	case "/none":
		w.Header()["Content-Type"] = nil
		_, _ = w.Write([]byte("<!doctype html><p>x"))
	case "/away":
		http.Redirect(w, r, "https://user:pass@elsewhere.example/new?x=1", http.StatusFound)
	case "/loop":
		http.Redirect(w, r, "/loop", http.StatusPermanentRedirect)
	case "/inward":
		http.Redirect(w, r, "http://169.254.169.254/latest/meta-data/", http.StatusMovedPermanently)
	case "/nowhere":
		w.WriteHeader(http.StatusFound)
	case "/unchanged":
		w.WriteHeader(http.StatusNotModified)
	case "/announced":
		w.Header().Set("Content-Length", "100000")
		_, _ = w.Write(bytes.Repeat([]byte("a"), 100000))
	case "/endless":
		for range 100 {
			if _, err := w.Write(bytes.Repeat([]byte("a"), 100)); err != nil {
				return
			}
			w.(http.Flusher).Flush()
		}
	case "/short":
		w.Header().Set("Content-Length", "500")
		_, _ = w.Write([]byte("not as much"))
	case "/zipped":
		w.Header().Set("Content-Encoding", "gzip")
		_, _ = w.Write([]byte{0x1f, 0x8b})
	case "/slow":
		_, _ = w.Write([]byte("a"))
		w.(http.Flusher).Flush()
		<-r.Context().Done()
	case "/cookie":
		_, _ = fmt.Fprint(w, r.Header)
	case "/down":
		w.WriteHeader(http.StatusServiceUnavailable)
	default:
		w.WriteHeader(http.StatusNotFound)
	}
}

func TestDocumentsHaveTheTypeOfTheirContent(t *testing.T) {
	t.Setenv("HTTPS_PROXY", "http://127.0.0.1:1") // has no say
	server, s := secure(t, site, nil)
	for path, want := range map[string]struct{ mime, text, blob string }{
		"/text?a=b#c": {mime: "text/plain", text: "hello a=b"},
		"/json":       {mime: "application/json", text: `{"a":1}`},
		"/picture":    {mime: "image/png", blob: "\x89PNG\x00\xff"},
		"/lies.txt":   {mime: "text/plain", blob: "a\x00\xff"},
		"/none":       {mime: "text/html", text: "<!doctype html><p>x"},
	} {
		contents, failure := read(t, s, server.URL+path)
		if failure != nil {
			t.Errorf("%s: %v %v", path, failure, failure.Err)
			continue
		}
		c := contents[0]
		if c.MIMEType != want.mime || c.Text != want.text || string(c.Blob) != want.blob || c.URI != server.URL+path {
			t.Errorf("%s: %+v", path, c)
		}
		if !strings.Contains(string(c.Meta), `"tabrelay/untrusted":true`) {
			t.Errorf("%s: its meta is %s", path, c.Meta)
		}
	}
	if contents, _ := read(t, s, server.URL+"/cookie"); strings.Contains(contents[0].Text, "Cookie") ||
		strings.Contains(contents[0].Text, "Authorization") {
		t.Errorf("the request carried %s", contents[0].Text)
	}
}

func TestDocumentsThatFail(t *testing.T) {
	server, s := secure(t, site, nil)
	for path, want := range map[string]struct {
		kind     fault.Type
		location string
		retry    bool
	}{
		"/away":      {kind: fault.TypeRedirect, location: "https://elsewhere.example/new?x=1"},
		"/loop":      {kind: fault.TypeRedirect, location: server.URL + "/loop"},
		"/inward":    {kind: fault.TypeRedirect, location: "http://169.254.169.254/latest/meta-data/"},
		"/nowhere":   {kind: fault.TypeNetwork},
		"/unchanged": {kind: fault.TypeNetwork},
		"/announced": {kind: fault.TypeOutputTooLarge},
		"/endless":   {kind: fault.TypeOutputTooLarge},
		"/short":     {kind: fault.TypeNetwork, retry: true},
		"/zipped":    {kind: fault.TypeNetwork},
		"/missing":   {kind: fault.TypeNetwork},
		"/down":      {kind: fault.TypeNetwork, retry: true},
	} {
		failure := wantFault(t, s, server.URL+path, fault.ResourceUnreadable, want.kind)
		if failure.Location != want.location || failure.Retryable != want.retry ||
			failure.ProtocolNumber(true) != -32603 {
			t.Errorf("%s: %+v", path, failure)
		}
	}
	if _, failure := s.Watch(session, server.URL+"/text", func() {}); failure == nil ||
		failure.Code != fault.InvalidParams {
		t.Errorf("a document can be watched: %v", failure)
	}
}

func TestSlowDocuments(t *testing.T) {
	server, s := secure(t, site, func(o *Options) { o.Web.Timeout = 200 * time.Millisecond })
	if failure := wantFault(t, s, server.URL+"/slow", fault.ResourceUnreadable, fault.TypeTimeout); !failure.Retryable {
		t.Error("a timeout of a read is worth another try")
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	u, _ := parse(server.URL + "/slow")
	_, failure := s.providers["https"].read(ctx, reading{session: session}, u)
	if failure == nil || failure.Code != fault.Cancelled {
		t.Errorf("given up, but got %v", failure)
	}
}

func TestCertificatesAreChecked(t *testing.T) {
	server, s := secure(t, site, func(o *Options) { o.Authorities = nil })
	wantFault(t, s, server.URL+"/text", fault.ResourceUnreadable, fault.TypeNetwork)
	_, s = secure(t, site, nil)
	wantFault(t, s, "http://"+server.Listener.Addr().String(), fault.ResourceNotFound, "")
}

func TestHostsThatLeadInside(t *testing.T) {
	var hits atomic.Int32
	server, s := secure(t, func(http.ResponseWriter, *http.Request) { hits.Add(1) }, func(o *Options) {
		_, port, _ := net.SplitHostPort(o.Web.Hosts[0])
		o.Web.Hosts = append(o.Web.Hosts, "localhost:"+port)
		o.Addresses = nil // what a configured relay has
	})
	_, port, _ := net.SplitHostPort(server.Listener.Addr().String())
	for _, uri := range []string{server.URL + "/", "https://localhost:" + port + "/"} {
		failure := wantFault(t, s, uri, fault.ResourceUnreadable, fault.TypePermissionDenied)
		if strings.Contains(failure.Message, "127.0.0.1") {
			t.Errorf("the failure tells an address: %s", failure.Message)
		}
	}
	wantFault(t, s, "https://not-allowed.example/", fault.ResourceUnreadable, fault.TypePermissionDenied)
	wantFault(t, set(t, Options{}), "https://example.org/", fault.ResourceUnreadable, fault.TypePermissionDenied)
	if n := hits.Load(); n > 0 {
		t.Errorf("%d requests came through", n)
	}
}

// A name whose meaning changes between two look-ups: the first is good, the second leads inside.
func TestRebindingNames(t *testing.T) {
	good, err := net.Listen("tcp", "127.0.0.2:0")
	if err != nil {
		t.Skip("this system has no second loopback address:", err)
	}
	defer func() { _ = good.Close() }()
	_, port, _ := net.SplitHostPort(good.Addr().String())
	bad, err := net.Listen("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Skip(err)
	}
	defer func() { _ = bad.Close() }()
	reached := make(chan struct{}, 1)
	go func() {
		if _, err := bad.Accept(); err == nil {
			reached <- struct{}{}
		}
	}()
	names := newNames(t, "127.0.0.2", "127.0.0.1")
	g := &guard{addresses: func(a netip.Addr) bool { return a.String() == "127.0.0.2" }, resolver: names}
	c, err := g.dial(t.Context(), "tcp4", "rebind.example.:"+port)
	if err != nil {
		t.Fatal("the good address was not dialled:", err)
	}
	_ = c.Close()
	if _, err := g.dial(t.Context(), "tcp4", "rebind.example.:"+port); err == nil ||
		!strings.Contains(err.Error(), errForbidden.Error()) {
		t.Errorf("the second meaning gave %v", err)
	}
	select {
	case <-reached:
		t.Error("the inner address was connected to")
	default:
	}
}

// newNames is a resolver whose answers (RFC 1035) are the addresses, one after the other; the last stays.
func newNames(t *testing.T, addresses ...string) *net.Resolver {
	server, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = server.Close() })
	go func() {
		query := make([]byte, 512)
		for {
			n, from, err := server.ReadFrom(query)
			if err != nil {
				return
			}
			question := query[12:n]
			for end := range question {
				if question[end] == 0 {
					question = question[:end+5]
					break
				}
			}
			a := netip.MustParseAddr(addresses[0]).As4()
			answer := append([]byte{query[0], query[1], 0x84, 0, 0, 1, 0, 1, 0, 0, 0, 0}, question...)
			if binary.BigEndian.Uint16(question[len(question)-4:]) == 1 { // A
				answer = append(answer, 0xc0, 12, 0, 1, 0, 1, 0, 0, 0, 0, 0, 4)
				answer = append(answer, a[:]...)
				addresses = addresses[min(1, len(addresses)-1):]
			} else {
				answer[7] = 0
			}
			if _, err := server.WriteTo(answer, from); err != nil {
				return
			}
		}
	}()
	return &net.Resolver{PreferGo: true, Dial: func(ctx context.Context, _, _ string) (net.Conn, error) {
		return new(net.Dialer).DialContext(ctx, "udp", server.LocalAddr().String())
	}}
}
