package audit

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/rs/zerolog"
)

func TestPositionTellsWhatIsMissing(t *testing.T) {
	for name, tt := range map[string]struct {
		left string // content of the file; "none": there is no file
		head int64
		want string
	}{
		"the first relay":                        {"none", 0, ""},
		"a log from before there were positions": {"none", 900, ""},
		"emptied by a power failure":             {"", 7, ""},
		"stopped":                                {`{"row":7,"waiting":0}`, 7, ""},
		"killed after it had written":            {`{"row":4,"waiting":3}`, 7, ""},
		"rules changed while no relay ran":       {`{"row":7,"waiting":0}`, 9, ""},
		"killed before it had written":           {`{"row":4,"waiting":5}`, 7, "killed before 2 entries or more"},
		"another database":                       {`{"row":4711,"waiting":0}`, 0, "the log ends at row 0"},
		"damaged":                                {`{"row":4`, 7, "audit.position was damaged"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.position")
			if tt.left != "none" {
				if err := os.WriteFile(path, []byte(tt.left+strings.Repeat(" ", 20)[:min(len(tt.left), 20)]),
					0o600); err != nil {
					t.Fatal(err)
				}
			}
			p, missing, gone, err := openPosition(path, tt.head)
			if err != nil {
				t.Fatal(err)
			}
			if gone != strings.Contains(missing, "the database is not the one") {
				t.Errorf("rows are gone: %t", gone)
			}
			if !strings.Contains(missing, tt.want) || (missing == "") != (tt.want == "") {
				t.Errorf("missing: %q", missing)
			}
			for _, more := range []int{1_000_000, 0} { // the shorter text leaves nothing of the longer one
				if err := p.note(tt.head, more); err != nil {
					t.Error(err)
				}
			}
			if err := p.close(); err != nil {
				t.Error(err)
			}
			if _, missing, _, err := openPosition(path, tt.head); missing != "" || err != nil {
				t.Errorf("the next relay finds missing %q, %v", missing, err)
			}
		})
	}
}

// A relay that ends while the disk is full, however it ends, is followed by one that writes a gap row.
func TestGapAfterEndOnFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path := filepath.Join(t.TempDir(), "audit.position")
		d := &memory{}
		open := func() *Recorder {
			r, err := NewRecorder(t.Context(), d, path, zerolog.Nop(), nil)
			if err != nil {
				t.Fatal(err)
			}
			return r
		}
		r := open()
		r.Record(entry(1))
		if err := r.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		d.set(errors.New("the disk is full"))
		r.Record(entry(2))
		time.Sleep(time.Minute)
		r.Record(entry(3)) // comes while the batch before it is tried again
		synctest.Wait()
		ended, end := context.WithCancel(t.Context())
		end()
		r.Close(ended)

		d.set(nil)
		r = open()
		r.Record(entry(4))
		r.Close(t.Context())
		if len(d.rows) != 3 || d.rows[1].Kind != KindGap ||
			!strings.Contains(d.rows[1].Detail, "before 2 entries or more") {
			t.Errorf("rows: %+v", d.rows)
		}
		r = open()
		r.Close(t.Context())
		if len(d.rows) != 3 {
			t.Errorf("a gap that was written is told again: %+v", d.rows[3:])
		}
	})
}
