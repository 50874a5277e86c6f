package auditexport

import (
	"bufio"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/leodido/go-syslog/v4/rfc5424"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"github.com/rs/zerolog"
	logs "go.opentelemetry.io/proto/otlp/logs/v1"
	"google.golang.org/protobuf/proto"

	"tabrelay/relay/capability"
	"tabrelay/relay/road/call"
	"tabrelay/relay/state/audit"
	"tabrelay/relay/state/config"
	"tabrelay/relay/state/store"
)

func TestMain(m *testing.M) {
	config.Attach(section) // as the program does
	m.Run()
}

// world is a relay's log with an export of it.
type world struct {
	t     *testing.T
	store *store.Store
	core  capability.Core
	wrote func()
}

func newWorld(t *testing.T) *world {
	t.Helper()
	home := config.Home(t.TempDir())
	if err := home.Create(); err != nil {
		t.Fatal(err)
	}
	s, err := store.Open(t.Context(), home.Database(), store.LimitsOf(config.Default()), zerolog.Nop(), tables)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	w := &world{t: t, store: s, wrote: func() {}}
	w.core = capability.Core{Home: home, Version: "1.0.0", Store: s,
		Log: func(string) zerolog.Logger { return zerolog.Nop() },
		OnRecorded: func(listener func()) (stop func()) {
			w.wrote = listener
			return func() {}
		}}
	return w
}

// record writes entries into the log.
func (w *world) record(tools ...string) {
	w.t.Helper()
	for _, tool := range tools {
		entry := call.Entry{At: time.Unix(1, 0), Kind: call.EntryCall, Tool: tool,
			Arguments: []byte(`{"title":"plan"}`), Session: call.Session{Client: "ann"}}
		if err := w.store.AppendAudit(w.t.Context(), []audit.Row{audit.RowOf(&entry, "", false)}); err != nil {
			w.t.Fatal(err)
		}
	}
	w.wrote()
}

// begin starts an export; end stops it.
func (w *world) begin(s settings) (attached capability.Attachment, end func()) {
	w.t.Helper()
	attached = attach(w.core)
	cfg := config.Default()
	section.Change(&cfg, func(to *settings) { *to = s })
	attached.Configured(cfg)
	var once bool
	end = func() {
		if !once {
			once = true
			attached.Close()
		}
	}
	w.t.Cleanup(end)
	return attached, end
}

// secretFile is a file with a secret, and the secret.
func secretFile(t *testing.T) (config.KeySource, []byte) {
	t.Helper()
	key := []byte("0123456789abcdef0123456789abcdef")
	file := filepath.Join(t.TempDir(), "secret")
	if err := os.WriteFile(file, []byte("whsec_"+base64.StdEncoding.EncodeToString(key)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return config.KeySource{File: file}, key
}

// A webhook gets every entry in order, signed, without arguments; what it refused comes again, and what was written
// while no relay ran comes later.
func TestWebhookGetsEveryEntry(t *testing.T) {
	w := newWorld(t)
	secret, key := secretFile(t)
	got, ids := make(chan string, 100), make(chan string, 100)
	var refuse atomic.Bool
	receiver := httptest.NewServer(http.HandlerFunc(func(res http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		mac := hmac.New(sha256.New, key)
		fmt.Fprintf(mac, "%s.%s.%s", req.Header.Get("Webhook-Id"), req.Header.Get("Webhook-Timestamp"), body)
		if req.Header.Get("Webhook-Signature") != "v1,"+base64.StdEncoding.EncodeToString(mac.Sum(nil)) {
			t.Error("the signature is another one")
		}
		ids <- req.Header.Get("Webhook-Id")
		if refuse.Load() {
			res.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		var batch struct{ Entries []audit.Row }
		if err := json.Unmarshal(body, &batch); err != nil || strings.Contains(string(body), "plan") {
			t.Errorf("%v in %s", err, body)
		}
		for _, r := range batch.Entries {
			got <- fmt.Sprint(r.N, " ", r.Tool)
		}
	}))
	defer receiver.Close()
	hear := func(want ...string) {
		t.Helper()
		for _, one := range want {
			if heard := <-got; heard != one {
				t.Errorf("it gets %q, not %q", heard, one)
			}
		}
	}
	set := settings{Webhook: receiver.URL, WebhookToken: secret}
	w.record("shop__a", "shop__b")
	_, end := w.begin(set)
	hear("1 shop__a", "2 shop__b")
	w.record("shop__c")
	hear("3 shop__c")
	for len(ids) > 0 {
		<-ids
	}
	refuse.Store(true)
	w.record("shop__d")
	first := <-ids
	end()
	refuse.Store(false)
	w.record("shop__e")
	attached, _ := w.begin(set)
	hear("4 shop__d", "5 shop__e")
	if again := <-ids; first == "" || !strings.HasPrefix(again, "audit-4-") || !strings.HasPrefix(first, "audit-4-") {
		t.Errorf("its ids are %s and %s", first, again)
	}
	if lacks := attached.Lacks(); len(lacks) > 0 {
		t.Errorf("it lacks %+v", lacks)
	}
}

// A receiver that fails is told, with what waits for it, and counted; it keeps none of the others from theirs.
func TestReceiverThatFails(t *testing.T) {
	w := newWorld(t)
	asked := make(chan bool, 100)
	broken := httptest.NewServer(http.HandlerFunc(func(res http.ResponseWriter, _ *http.Request) {
		asked <- true
		res.WriteHeader(http.StatusBadGateway)
	}))
	defer broken.Close()
	taken := make(chan bool, 100)
	fine := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { taken <- true }))
	defer fine.Close()
	secret, _ := secretFile(t)
	w.record("shop__a", "shop__b")
	x := newExport(w.core)
	client := broken.Client()
	for name, to := range map[string]sender{"webhook": &webhook{url: broken.URL, secret: secret, client: client},
		"otlp": &otlp{url: fine.URL, client: client}} {
		x.feeds = append(x.feeds, &feed{name: name, to: to, export: x, wake: make(chan struct{}, 1),
			pause: &backoff.ZeroBackOff{}})
	}
	for _, f := range x.feeds {
		x.ended.Go(func() { f.run(x.ctx) })
	}
	<-taken
	w.record("shop__c")
	for _, f := range x.feeds {
		f.wake <- struct{}{}
	}
	<-taken // the first two were counted by then
	<-asked
	<-asked // it is tried again, after it was noted
	lacks := x.lacks()
	x.close()
	if len(lacks) != 1 || lacks[0].ID != findingFailing ||
		lacks[0].What != "The audit log is not sent to webhook: it answers 502 Bad Gateway; 3 entries wait" {
		t.Errorf("it lacks %+v", lacks)
	}
	if n := testutil.ToFloat64(x.fails.WithLabelValues("webhook")); n < 1 {
		t.Errorf("%v failures are counted", n)
	}
	if n := testutil.ToFloat64(x.sent.WithLabelValues("otlp")); n < 2 {
		t.Errorf("%v entries are counted", n)
	}
}

// An OpenTelemetry receiver gets records whose fields can be searched.
func TestOTLP(t *testing.T) {
	w := newWorld(t)
	bodies := make(chan []byte, 10)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		if req.Header.Get("Content-Type") != "application/x-protobuf" ||
			req.Header.Get("Authorization") != "Bearer t0ken" {
			t.Errorf("its headers are %v", req.Header)
		}
		bodies <- body
	}))
	defer receiver.Close()
	t.Setenv("OTLP_TOKEN", "t0ken")
	w.record("shop__a")
	w.begin(settings{OTLP: receiver.URL, OTLPToken: config.KeySource{Env: "OTLP_TOKEN"}, Arguments: true})
	var data logs.LogsData
	if err := proto.Unmarshal(<-bodies, &data); err != nil {
		t.Fatal(err)
	}
	record := data.ResourceLogs[0].ScopeLogs[0].LogRecords[0]
	fields := map[string]string{}
	for _, one := range record.Attributes {
		fields[one.Key] = one.Value.GetStringValue() + strconv.FormatInt(one.Value.GetIntValue(), 10)
	}
	if record.EventName != "tabrelay.audit.call" || record.TimeUnixNano != 1e9 || fields["tabrelay.n"] != "1" ||
		fields["tabrelay.tool"] != "shop__a0" || !strings.Contains(record.Body.GetStringValue(), "plan") {
		t.Errorf("the record is %v", record)
	}
}

// A syslog receiver gets messages of RFC 5424, each with its length before it.
func TestSyslog(t *testing.T) {
	w := newWorld(t)
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	messages := make(chan []byte, 10)
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		in := bufio.NewReader(conn)
		for {
			size, err := in.ReadString(' ')
			n, wrong := strconv.Atoi(strings.TrimSpace(size))
			if err != nil || wrong != nil {
				return
			}
			message := make([]byte, n)
			if _, err := io.ReadFull(in, message); err != nil {
				return
			}
			messages <- message
		}
	}()
	w.record("shop__a", "shop__b")
	w.begin(settings{Syslog: "tcp://" + l.Addr().String()})
	for i, tool := range []string{"shop__a", "shop__b"} {
		parsed, err := rfc5424.NewParser().Parse(<-messages)
		if err != nil {
			t.Fatal(err)
		}
		m := parsed.(*rfc5424.SyslogMessage)
		var row audit.Row
		if err := json.Unmarshal([]byte(*m.Message), &row); err != nil || row.Tool != tool || row.N != int64(i+1) ||
			*m.Priority != priority || *m.Appname != "tabrelay" || *m.MsgID != "call" || row.Arguments != "" {
			t.Errorf("%v: %+v", err, m)
		}
	}
}

// What is sent elsewhere goes there encrypted, or stays on this machine, and is signed.
func TestReceiversThatAreRefused(t *testing.T) {
	for address, fine := range map[string]bool{"https://logs.example/a": true, "http://127.0.0.1:4318/v1/logs": true,
		"http://localhost/": true, "http://logs.example/": false, "http://127.0.0.1.evil.example/": false,
		"https://ann:pw@logs.example/": false, "file:///etc": false, "https:///x": false} {
		if config.Receiver.Valid(address) != fine {
			t.Errorf("%s: %t", address, !fine)
		}
	}
	for address, fine := range map[string]bool{"tls://logs.example:6514": true, "udp://127.0.0.1:514": true,
		"unix:///dev/log": true, "tls://logs.example": false, "http://logs.example:80": false, "unix://x/y": false} {
		if syslogAddress.Valid(address) != fine {
			t.Errorf("%s: %t", address, !fine)
		}
	}
	before, after := config.Default(), config.Default()
	section.Change(&after, func(s *settings) { s.Webhook, s.Arguments = "https://evil.example/", true })
	grown := config.RightsOf(&after).Grown(config.RightsOf(&before))
	keys := []string{}
	for _, d := range grown {
		keys = append(keys, d.What)
	}
	slices.Sort(keys)
	if !slices.Equal(keys, []string{"auditExport.arguments", "auditExport.webhook.url"}) {
		t.Errorf("a person is asked about %q", keys)
	}
}

// A policy that names a receiver holds the export switched on, whatever config.json says of the capability; a person
// who names one may switch it off.
func TestPolicyHoldsTheExport(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("a policy has to belong to root")
	}
	place := config.PolicyFile
	t.Cleanup(func() { config.PolicyFile = place })
	config.PolicyFile = filepath.Join(t.TempDir(), "policy.json")
	home := config.Home(t.TempDir())
	const person = `{"capabilities": {"auditexport": false}, "auditExport": {"syslog": "udp://127.0.0.1:514"}}`
	if err := os.WriteFile(home.Config(), []byte(person), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TABRELAY_CAPABILITIES_AUDITEXPORT", "false")
	const receiver = `"auditExport": {"syslog": "tls://logs.example:6514"}`
	for policy, held := range map[string]bool{`{}`: false, `{"settings": {` + receiver + `}}`: true,
		`{"settings": {"capabilities": {"auditexport": false}, ` + receiver + `}}`: false} {
		if err := os.WriteFile(config.PolicyFile, []byte(policy), 0o644); err != nil {
			t.Fatal(err)
		}
		c, err := config.Load(home)
		if err != nil || c.Has(name) != held {
			t.Errorf("%s: on: %t, %v", policy, c.Has(name), err)
		}
		if err := config.Set(home, []string{"capabilities", name}, []byte("false")); (err != nil) != (policy != `{}`) {
			t.Errorf("%s: the person sets it: %v", policy, err)
		}
	}
}
