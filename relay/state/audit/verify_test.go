package audit

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
)

// chain makes rows as the writer does.
func chain(n int) (rows []Row, head Head) {
	for i := 1; i <= n; i++ {
		r := Row{N: int64(i), At: time.UnixMicro(int64(i) * 1000).UTC(), Kind: "call", Client: "claude-code",
			Tool: "shop__read", Outcome: "returned", CallID: fmt.Sprint(i)}
		r.Hash = Chain(head.Hash, &r)
		head = Head{r.N, r.Hash}
		rows = append(rows, r)
	}
	return rows, head
}

func check(rows []Row, anchor *Row, head *Head) Report {
	c := NewChecker(anchor, head)
	for i := range rows {
		c.Row(&rows[i])
	}
	return c.End()
}

func TestTamperingIsFoundWhereItBegins(t *testing.T) {
	forged := func(n int64, before Hash) Row {
		r := Row{N: n, Kind: "decision", Decision: "allowed", Client: "claude-code"}
		r.Hash = Chain(before, &r)
		return r
	}
	renumber := func(rows []Row, by int64) []Row {
		for i := range rows {
			rows[i].N += by
		}
		return rows
	}
	for name, tt := range map[string]struct {
		tamper func(rows []Row) []Row
		want   []string
	}{
		"nothing":        {func(r []Row) []Row { return r }, nil},
		"outcome edited": {func(r []Row) []Row { r[4].Outcome = "unknown"; return r }, []string{"edited 5"}},
		"time edited": {func(r []Row) []Row { r[0].At = r[0].At.Add(time.Microsecond); return r },
			[]string{"edited 1"}},
		"last edited": {func(r []Row) []Row { r[9].Tool = "x"; return r }, []string{"edited 10"}},
		"two edited": {func(r []Row) []Row { r[2].Tool, r[3].Tool = "x", "y"; return r },
			[]string{"edited 3", "edited 4"}},
		"hash edited": {func(r []Row) []Row { r[4].Hash[7]++; return r }, []string{"edited 5"}},
		"edited, and its hash made anew": {func(r []Row) []Row {
			r[4].Tool = "x"
			r[4].Hash = Chain(r[3].Hash, &r[4])
			return r
		}, []string{"edited 6"}},
		"last edited, and its hash made anew": {func(r []Row) []Row {
			r[9].Tool = "x"
			r[9].Hash = Chain(r[8].Hash, &r[9])
			return r
		}, []string{"edited 10"}},
		"one deleted":   {func(r []Row) []Row { return slices.Delete(r, 4, 5) }, []string{"missing 5"}},
		"first deleted": {func(r []Row) []Row { return r[2:] }, []string{"missing 1-2"}},
		"last deleted":  {func(r []Row) []Row { return r[:7] }, []string{"missing 8-10"}},
		"all deleted":   {func([]Row) []Row { return nil }, []string{"missing 1-10"}},
		"deleted, rest moved": {func(r []Row) []Row { return append(slices.Clone(r[:4]), renumber(r[5:], -1)...) },
			[]string{"missing 5"}},
		"inserted, rest moved": {func(r []Row) []Row {
			return slices.Insert(renumberFrom(r, 4, renumber), 4,
				Row{N: 5, Kind: "call"})
		}, []string{"inserted 5"}},
		"forged in, rest moved": {func(r []Row) []Row {
			return slices.Insert(renumberFrom(r, 4, renumber), 4,
				forged(5, r[3].Hash))
		}, []string{"inserted 5"}},
		"added": {func(r []Row) []Row { return append(r, forged(11, r[9].Hash)) },
			[]string{"inserted 11-11"}},
		"before the first": {func(r []Row) []Row { return slices.Insert(r, 0, Row{N: 0}) },
			[]string{"inserted 0"}},
		"edited, another deleted": {func(r []Row) []Row { r[1].Code = "x"; return slices.Delete(r, 6, 8) },
			[]string{"edited 2", "missing 7-8"}},
		"swapped": {func(r []Row) []Row {
			r[3], r[4] = r[4], r[3]
			r[3].N, r[4].N = 4, 5
			return r
		}, []string{"inserted 4", "missing 6"}},
	} {
		t.Run(name, func(t *testing.T) {
			rows, head := chain(10)
			report := check(tt.tamper(slices.Clone(rows)), nil, &head)
			var got []string
			for _, p := range report.Problems {
				text := fmt.Sprintf("%s %d", p.Kind, p.N)
				if p.Through != 0 {
					text += fmt.Sprintf("-%d", p.Through)
				}
				got = append(got, text)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" || report.Whole != (tt.want == nil) {
				t.Errorf("whole: %v\n%s", report.Whole, diff)
			}
		})
	}
}

func renumberFrom(rows []Row, from int, renumber func([]Row, int64) []Row) []Row {
	renumber(rows[from:], +1)
	return rows
}

// The relay goes on behind a row that somebody added while it was not running.
func TestGoingOnBehindAStranger(t *testing.T) {
	rows, head := chain(3)
	stranger := Row{N: 4, Kind: "call", Hash: Hash{1}}
	next := Row{N: 5, Kind: "call"}
	next.Hash = Chain(head.Hash, &next)
	for _, proper := range []bool{false, true} {
		if proper {
			stranger.Hash = Chain(head.Hash, &stranger)
		}
		report := check(append(slices.Clone(rows), stranger, next), nil, &Head{5, next.Hash})
		if len(report.Problems) != 1 || report.Problems[0].Kind != Inserted || report.Problems[0].N != 4 {
			t.Errorf("proper hash: %v: %+v", proper, report.Problems)
		}
	}
}

func TestAnchorAccountsForRemovedRows(t *testing.T) {
	rows, head := chain(10)
	anchor := Row{N: 11, Kind: KindAnchor, Arguments: `{"through":4}`, ArgumentsHash: rows[3].Hash.String()}
	anchor.Hash = Chain(head.Hash, &anchor)
	head = Head{11, anchor.Hash}
	rows = append(rows, anchor)
	if r := check(rows[4:], &anchor, &head); !r.Whole || r.Removed != 4 || r.First != 5 || r.Rows != 7 ||
		r.Head != anchor.Hash.String() {
		t.Errorf("%+v", r)
	}
	if r := check(rows[5:], &anchor, &head); r.Whole || r.Problems[0].N != 5 {
		t.Errorf("one more was removed: %+v", r)
	}
	lying := anchor
	lying.Arguments = `{"through":5}`
	if r := check(rows[5:], &lying, &head); r.Whole {
		t.Errorf("the anchor was changed: %+v", r)
	}
	if r := check(rows[4:10], nil, &head); r.Whole {
		t.Errorf("the anchor is gone: %+v", r)
	}
}

func TestManyProblems(t *testing.T) {
	rows, head := chain(100)
	for i := range rows {
		rows[i].Detail = fmt.Sprint(i)
	}
	if r := check(rows, nil, &head); len(r.Problems) != listed || r.More != 80 {
		t.Errorf("%d problems and %d more", len(r.Problems), r.More)
	}
}
