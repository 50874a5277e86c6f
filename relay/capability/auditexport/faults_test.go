package auditexport

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cenkalti/backoff/v5"
	"github.com/prometheus/client_golang/prometheus/testutil"
	"google.golang.org/protobuf/encoding/protowire"

	"tabrelay/relay/state/audit"
	"tabrelay/relay/state/store"
)

// feeding is one receiver. Its log is sent by drain.
func (w *world) feeding(name string, to sender) (x *export, f *feed) {
	x = newExport(w.core)
	f = &feed{name: name, to: to, export: x, wake: make(chan struct{}, 1), pause: &backoff.ZeroBackOff{}}
	x.feeds = append(x.feeds, f)
	w.t.Cleanup(f.closeLog)
	return x, f
}

// drain sends what waits; so many attempts may fail.
func (w *world) drain(f *feed, failing int) {
	w.t.Helper()
	for failed := 0; ; {
		n, err := f.forward(w.t.Context())
		switch {
		case err == nil && n == 0:
			if failed != failing {
				w.t.Errorf("%d attempts fail, not %d", failed, failing)
			}
			return
		case err != nil:
			if failed++; failed > failing {
				w.t.Fatal(err)
			}
			f.fail(err)
		}
	}
}

// answering is a webhook's receiver: answer says what happens to a request, which is accepted when it returns true.
func (w *world) answering(
	answer func(res http.ResponseWriter, req *http.Request, body string, nth int) bool,
) (*webhook, chan string) {
	w.t.Helper()
	accepted := make(chan string, 1000)
	var asked atomic.Int64
	receiver := httptest.NewServer(http.HandlerFunc(func(res http.ResponseWriter, req *http.Request) {
		body, _ := io.ReadAll(req.Body)
		if !answer(res, req, string(body), int(asked.Add(1))) {
			return
		}
		var batch struct{ Entries []audit.Row }
		if err := json.Unmarshal(body, &batch); err != nil {
			w.t.Error(err)
		}
		for _, r := range batch.Entries {
			accepted <- fmt.Sprint(r.N, " ", r.Tool)
		}
	}))
	w.t.Cleanup(receiver.Close)
	secret, _ := secretFile(w.t)
	return &webhook{url: receiver.URL, secret: secret, client: receiver.Client()}, accepted
}

// hear is what a receiver accepted since it was last asked.
func hear(t *testing.T, accepted <-chan string, want ...string) {
	t.Helper()
	var got []string
	for len(accepted) > 0 {
		got = append(got, <-accepted)
	}
	if !slices.Equal(got, want) {
		t.Errorf("it accepts %q, not %q", got, want)
	}
}

// An entry that a receiver refuses for good while it takes others is given up, told and counted, also after a restart.
func TestRefusedEntryIsGivenUp(t *testing.T) {
	w := newWorld(t)
	to, accepted := w.answering(func(res http.ResponseWriter, _ *http.Request, body string, _ int) bool {
		if strings.Contains(body, "shop__large") {
			res.WriteHeader(http.StatusRequestEntityTooLarge)
			return false
		}
		return true
	})
	w.record("shop__a", "shop__b", "shop__large", "shop__c", "shop__d")
	x, f := w.feeding("webhook", to)
	w.drain(f, 0)
	hear(t, accepted, "1 shop__a", "2 shop__b", "4 shop__c", "5 shop__d")
	w.record("shop__e")
	w.drain(f, 0)
	hear(t, accepted, "6 shop__e")
	told := func(x *export) {
		t.Helper()
		lacks := x.lacks()
		if len(lacks) != 1 || lacks[0].ID != findingLost || lacks[0].What != "webhook does not have 1 entry of the "+
			"audit log: entry 3: it answers 413 Request Entity Too Large" {
			t.Errorf("it lacks %+v", lacks)
		}
	}
	told(x)
	if n := testutil.ToFloat64(x.gone.WithLabelValues("webhook")); n != 1 {
		t.Errorf("%v lost entries are counted", n)
	}
	x, f = w.feeding("webhook", to)
	w.record("shop__f")
	w.drain(f, 0)
	hear(t, accepted, "7 shop__f")
	told(x)
}

// Entries that are removed while a receiver is away are lost to it: counted once, however often the rest is tried.
func TestRemovedEntriesAreCountedOnce(t *testing.T) {
	w := newWorld(t)
	to, accepted := w.answering(func(res http.ResponseWriter, _ *http.Request, _ string, nth int) bool {
		if nth > 1 && nth < 5 {
			res.WriteHeader(http.StatusBadGateway)
			return false
		}
		return true
	})
	x, f := w.feeding("webhook", to)
	w.record("shop__a")
	w.drain(f, 0)
	w.record("shop__b", "shop__c", "shop__d")
	w.store.Later("not removed", func(tx store.Tx) error { return tx.Exec("DELETE FROM audit WHERE n IN (2, 3)") })
	w.record("shop__e") // which is written after that
	w.drain(f, 3)
	hear(t, accepted, "1 shop__a", "4 shop__d", "5 shop__e")
	lacks := x.lacks()
	if len(lacks) != 1 || lacks[0].ID != findingLost || lacks[0].What != "webhook does not have 2 entries of the "+
		"audit log: 2 to 3 were removed before it took them" {
		t.Errorf("it lacks %+v", lacks)
	}
	if n := testutil.ToFloat64(x.gone.WithLabelValues("webhook")); n != 2 {
		t.Errorf("%v lost entries are counted", n)
	}
}

// A receiver that refuses everything is one that is set up wrongly: nothing is given up, and it gets everything later.
func TestReceiverThatRefusesEverything(t *testing.T) {
	w := newWorld(t)
	refusing := true
	to, accepted := w.answering(func(res http.ResponseWriter, _ *http.Request, _ string, _ int) bool {
		if refusing {
			res.WriteHeader(http.StatusBadRequest)
		}
		return !refusing
	})
	w.record("shop__a", "shop__b", "shop__c")
	x, f := w.feeding("webhook", to)
	for range 2 {
		n, err := f.forward(t.Context())
		if n != 0 || err == nil {
			t.Fatalf("%d entries are settled, %v", n, err)
		}
		f.fail(err)
	}
	lacks := x.lacks()
	if len(lacks) != 1 || lacks[0].ID != findingFailing ||
		!strings.HasSuffix(lacks[0].What, "it answers 400 Bad Request; 3 entries wait") {
		t.Errorf("it lacks %+v", lacks)
	}
	refusing = false
	w.drain(f, 0)
	hear(t, accepted, "1 shop__a", "2 shop__b", "3 shop__c")
	if n := testutil.ToFloat64(x.gone.WithLabelValues("webhook")); n != 0 || len(x.lacks()) > 0 {
		t.Errorf("%v entries are lost; it lacks %+v", n, x.lacks())
	}
}

// A receiver that closes the connection, fails, or does not answer gets the same again, and takes it once.
func TestReceiverIsTriedAgain(t *testing.T) {
	w := newWorld(t)
	to, accepted := w.answering(func(res http.ResponseWriter, req *http.Request, _ string, nth int) bool {
		switch nth {
		case 1:
			conn, _, err := res.(http.Hijacker).Hijack()
			if err != nil {
				t.Error(err)
				return false
			}
			if err := conn.Close(); err != nil {
				t.Error(err)
			}
			return false
		case 2:
			res.WriteHeader(http.StatusInternalServerError)
			return false
		case 3:
			<-req.Context().Done() // longer than the client waits
			return false
		}
		return true
	})
	to.client.Timeout = 200 * time.Millisecond
	w.record("shop__a", "shop__b")
	x, f := w.feeding("webhook", to)
	w.drain(f, 3)
	hear(t, accepted, "1 shop__a", "2 shop__b")
	if f.through.Load() != 2 || len(x.lacks()) > 0 {
		t.Errorf("it has the log up to %d; it lacks %v", f.through.Load(), x.lacks())
	}
	if n := testutil.ToFloat64(x.fails.WithLabelValues("webhook")); n != 3 {
		t.Errorf("%v failures are counted", n)
	}
}

// One that asks to be left alone is, for an hour at the most.
func TestReceiverThatAsksToWait(t *testing.T) {
	w := newWorld(t)
	header := ""
	to, _ := w.answering(func(res http.ResponseWriter, _ *http.Request, _ string, _ int) bool {
		res.Header().Set("Retry-After", header)
		res.WriteHeader(http.StatusTooManyRequests)
		return false
	})
	f := &feed{pause: backoff.NewConstantBackOff(2 * time.Second)}
	for said, want := range map[string]time.Duration{"": 2 * time.Second, "1": 2 * time.Second, "90": 90 * time.Second,
		"soon": 2 * time.Second, "-5": 2 * time.Second, "86400": time.Hour, "Fri, 01 Jan 2100 00:00:00 GMT": time.Hour,
		"Fri, 01 Jan 2010 00:00:00 GMT": 2 * time.Second} {
		header = said
		err := to.send(t.Context(), []audit.Row{{N: 1}})
		if got := f.wait(err); err == nil || got != want {
			t.Errorf("%q: it waits %v after %v", said, got, err)
		}
	}
}

// What OTLP calls a partial success is told, and not sent again.
func TestOTLPRejectsRecords(t *testing.T) {
	partial := protowire.AppendVarint(protowire.AppendTag(nil, 1, protowire.VarintType), 1)
	partial = protowire.AppendString(protowire.AppendTag(partial, 2, protowire.BytesType), "too old")
	answer := protowire.AppendBytes(protowire.AppendTag(nil, 1, protowire.BytesType), partial)
	w := newWorld(t)
	receiver := httptest.NewServer(http.HandlerFunc(func(res http.ResponseWriter, _ *http.Request) {
		if _, err := res.Write(answer); err != nil {
			t.Error(err)
		}
	}))
	defer receiver.Close()
	w.record("shop__a", "shop__b", "shop__c")
	x, f := w.feeding("otlp", &otlp{url: receiver.URL, client: receiver.Client()})
	w.drain(f, 0)
	w.record("shop__d")
	w.drain(f, 0)
	lacks := x.lacks()
	if f.through.Load() != 4 || len(lacks) != 1 || lacks[0].What !=
		"otlp does not have 2 entries of the audit log: some up to entry 4: it rejected 1 of 1 log records" {
		t.Errorf("it has the log up to %d, and lacks %+v", f.through.Load(), lacks)
	}
	for _, broken := range []string{"", "\x0a", "\x0a\xff", "{}", "<html>", "\x08\x01", "\x0a\x02\x08\xff"} {
		if n := rejected([]byte(broken)); n != 0 {
			t.Errorf("%q rejects %d", broken, n)
		}
	}
}
