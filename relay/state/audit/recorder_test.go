package audit

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/road/call"
)

// memory is a store that keeps rows in memory.
type memory struct {
	mu      sync.Mutex
	rows    []Row
	batches int
	wait    chan struct{} // nil: none
	fail    error
}

func (d *memory) AuditHead(context.Context) (Head, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	return Head{N: int64(len(d.rows))}, nil
}

func (d *memory) AppendAudit(ctx context.Context, rows []Row) error {
	if d.wait != nil {
		select {
		case <-d.wait:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.fail != nil {
		return d.fail
	}
	d.batches++
	for i := range rows {
		rows[i].N = int64(len(d.rows) + 1)
		d.rows = append(d.rows, rows[i])
	}
	return nil
}

func (d *memory) set(err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fail = err
}

func (d *memory) count() int {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.rows)
}

func entry(n int) call.Entry {
	return call.Entry{Kind: call.EntryCall, CallID: call.ID(fmt.Sprint(n)), Arguments: json.RawMessage(`{"n":1}`)}
}

func TestRecorderKeepsOrderAndEverything(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where nobody is so late that an entry is given up
		d := &memory{}
		var told int
		r := newRecorder(d, nil, zerolog.Nop(), func() { told++ })
		const writers, each = 8, 2000
		var all sync.WaitGroup
		for w := range writers {
			all.Go(func() {
				for n := range each {
					e := entry(n)
					e.Session.Client = fmt.Sprint(w)
					r.Record(e)
				}
			})
		}
		all.Wait()
		r.Close(t.Context())
		r.Close(t.Context())
		if len(d.rows) != writers*each || told != d.batches {
			t.Fatalf("%d rows in %d batches, %d were told", len(d.rows), d.batches, told)
		}
		next := map[string]int{}
		for _, row := range d.rows {
			if row.CallID != fmt.Sprint(next[row.Client]) {
				t.Fatalf("writer %s: %s after %d", row.Client, row.CallID, next[row.Client])
			}
			next[row.Client]++
		}
	})
}

// The arguments belong to a buffer of the caller, who uses it again.
func TestRecorderCopiesArguments(t *testing.T) {
	d := &memory{}
	r := newRecorder(d, nil, zerolog.Nop(), nil)
	e := entry(1)
	r.Record(e)
	copy(e.Arguments, `{"n":2}`)
	large := call.Entry{Arguments: json.RawMessage(`{"a":"` + strings.Repeat("x", mostRead) + `"}`)}
	r.Record(large)
	r.Close(t.Context())
	if d.rows[0].Arguments != `{"n":1}` || len(d.rows[0].ArgumentsHash) != 64 || d.rows[1].Arguments != `{"a":…` {
		t.Errorf("%+v", d.rows)
	}
}

func TestRecorderWritesTogetherAndFlushes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &memory{}
		r := newRecorder(d, nil, zerolog.Nop(), nil)
		defer r.Close(t.Context())
		if err := r.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		for n := range 100 {
			r.Record(entry(n))
		}
		synctest.Wait()
		if len(d.rows) != 0 {
			t.Errorf("%d rows were written without waiting for more", len(d.rows))
		}
		if err := r.Flush(t.Context()); err != nil || len(d.rows) != 100 || d.batches != 1 || time.Since(began) != 0 {
			t.Errorf("%d rows in %d batches after %s, %v", len(d.rows), d.batches, time.Since(began), err)
		}
		r.Record(entry(1))
		time.Sleep(2 * batchDelay)
		synctest.Wait()
		if len(d.rows) != 101 {
			t.Error("the row was not written by itself")
		}
	})
}

func TestRecorderUnderOverload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &memory{wait: make(chan struct{})}
		r := newRecorder(d, nil, zerolog.Nop(), nil)
		for n := range together { // the batch that hangs
			r.Record(entry(n))
		}
		synctest.Wait()
		for n := range mostWaiting {
			r.Record(entry(n))
		}
		began := time.Now()
		r.Record(entry(-1))
		if took := time.Since(began); took != roomWait {
			t.Errorf("the first waited %s", took)
		}
		r.Record(entry(-1))
		if took := time.Since(began); took != roomWait {
			t.Errorf("the second waited %s in all", took)
		}
		r.Note(entry(0)) // never waits, and is never lost
		close(d.wait)
		r.Close(t.Context())
		var gaps []string
		for _, row := range d.rows {
			if row.Kind == KindGap {
				gaps = append(gaps, row.Detail)
			}
		}
		if len(d.rows) != together+mostWaiting+2 || len(gaps) != 1 ||
			!strings.HasPrefix(gaps[0], "2 entries were lost") {
			t.Errorf("%d rows, gaps %q", len(d.rows), gaps)
		}
	})
}

// A caller that waits goes on as soon as there is room.
func TestRecorderBackPressure(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &memory{wait: make(chan struct{})}
		r := newRecorder(d, nil, zerolog.Nop(), nil)
		for n := range together + mostWaiting {
			if n == together {
				synctest.Wait()
			}
			r.Record(entry(n))
		}
		time.AfterFunc(time.Second, func() { close(d.wait) })
		began := time.Now()
		r.Record(entry(1))
		if took := time.Since(began); took != time.Second {
			t.Errorf("waited %s", took)
		}
		r.Close(t.Context())
		if len(d.rows) != together+mostWaiting+1 {
			t.Errorf("%d rows", len(d.rows))
		}
	})
}

func TestRecorderTriesAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &memory{fail: errors.New("the disk is full")}
		var log strings.Builder // read only once the recorder has ended, which is its one writer
		r := newRecorder(d, nil, zerolog.New(&log), nil)
		r.Record(entry(1))
		time.Sleep(time.Minute)
		d.set(nil)
		if err := r.Flush(t.Context()); err != nil || d.count() != 1 {
			t.Errorf("%d rows, %v", d.count(), err)
		}
		d.set(errors.New("the disk is gone"))
		r.Record(entry(2))
		r.Record(entry(3))
		ctx, cancel := context.WithTimeout(t.Context(), 3*time.Second)
		defer cancel()
		r.Close(ctx)
		if !strings.HasSuffix(log.String(), `"entries":2,"message":"the relay ends, and entries of the audit log `+
			`were not written"}`+"\n") {
			t.Errorf("the log says %s", log.String())
		}
	})
}

// TestFlushOfAFullDisk: whoever wants to read the log is told at once that its end is missing.
func TestFlushOfAFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		d := &memory{fail: errors.New("the disk is full")}
		r := newRecorder(d, nil, zerolog.Nop(), nil)
		defer r.Close(t.Context())
		for range 3 {
			r.Record(entry(1))
			time.Sleep(time.Minute)
			began := time.Now()
			var waiting *UnwrittenError
			if err := r.Flush(t.Context()); !errors.As(err, &waiting) || !errors.Is(err, d.fail) {
				t.Fatalf("a flush said %v", err)
			}
			if took := time.Since(began); took != 0 || !r.Failing() {
				t.Errorf("a flush took %s, failing: %v", took, r.Failing())
			}
		}
		d.set(nil)
		if err := r.Flush(t.Context()); err != nil || d.count() != 3 || r.Failing() {
			t.Errorf("%d rows, %v", d.count(), err)
		}
	})
}
