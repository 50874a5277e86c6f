package audit

import (
	"encoding/hex"
	"encoding/json"
	"fmt"
)

// Report is what checking the chain found.
type Report struct {
	Whole    bool      `json:"whole"`           // no problem was found
	Rows     int64     `json:"rows"`            // that there are
	First    int64     `json:"first,omitempty"` // number of the first of them
	Last     int64     `json:"last,omitempty"`
	Head     string    `json:"head,omitempty"` // hash of the last row, hexadecimal
	Removed  int64     `json:"removed"`        // rows up to this number were removed because of their age or number
	Problems []Problem `json:"problems"`       // the first of them
	More     int       `json:"more,omitempty"` // problems that are not listed
}

// Problem is one thing that is wrong, with a row or with several.
type Problem struct {
	Kind    string `json:"kind"` // edited, inserted, missing or unreadable
	N       int64  `json:"n"`    // the row, or the first of several
	Through int64  `json:"through,omitempty"`
	Message string `json:"message"` // one sentence
}

// The kinds of problems.
const (
	Edited     = "edited"
	Inserted   = "inserted"
	Missing    = "missing"
	Unreadable = "unreadable"
)

// listed is how many problems a report has: an edit that moved rows makes one of every row after it.
const listed = 20

// Head is the last row as the writer remembers it.
type Head struct {
	N    int64
	Hash Hash
}

// Checker checks rows in the order of their numbers.
type Checker struct {
	report Report
	start  Head // what comes before the first row
	head   *Head

	last    Head  // the row before, by its own word
	prior   *Head // the one before that, when both follow from theirs
	moved   int64
	doubt   *doubt
	unknown bool // the hash before is not known: rows are missing, or one could not be read
	began   bool
}

// doubt is a row that does not follow from the one before it. The next row says why.
type doubt struct {
	row      Row
	before   Head
	computed Hash // what its hash would have to be
}

// NewChecker begins a check. anchor is the last row that says up to where rows were removed, nil when there is none;
// head is the last row as the writer remembers it, nil when it wrote none.
func NewChecker(anchor *Row, head *Head) *Checker {
	c := &Checker{head: head}
	if anchor != nil {
		var kept struct{ Through int64 }
		hash, err := hex.DecodeString(anchor.ArgumentsHash)
		if json.Unmarshal([]byte(anchor.Arguments), &kept) == nil && err == nil && len(hash) == len(Hash{}) {
			c.start = Head{kept.Through, Hash(hash)}
		}
	}
	c.last, c.report.Removed = c.start, c.start.N
	return c
}

// Unreadable tells that a row has values that no row has.
func (c *Checker) Unreadable(n int64) {
	c.settle(nil)
	c.follow(n)
	c.found(Unreadable, n, 0, fmt.Sprintf("Row %d was changed: it has a value that the log never writes", n))
	c.last, c.unknown = Head{N: n}, true
}

// Row looks at the next row.
func (c *Checker) Row(r *Row) {
	if r.N <= c.start.N {
		c.count(r.N)
		c.found(Inserted, r.N, 0, fmt.Sprintf("Row %d was inserted: the rows up to %d had been removed", r.N,
			c.start.N))
		return
	}
	c.settle(r)
	before, computed := c.last, Hash{}
	if c.follow(r.N); !c.unknown {
		computed = c.hash(before.Hash, r, c.moved)
	}
	switch {
	case c.unknown: // only its own word counts from here on
		c.unknown, c.prior = false, nil
	case computed == r.Hash:
		c.prior = &before
	case c.moved != 0 && c.hash(before.Hash, r, 0) == r.Hash: // the writer went on with numbers that it knew nothing of
		c.moved, c.prior = 0, &before
	case c.intruded(r):
		c.prior = nil
	default:
		c.doubt, c.prior = &doubt{*r, before, computed}, nil
	}
	c.last = Head{r.N, r.Hash}
}

// intruded reports whether a row follows from the one before the last: then somebody put that one between them, with
// the hash that it has to have.
func (c *Checker) intruded(r *Row) bool {
	if c.prior == nil {
		return false
	}
	switch r.Hash {
	case c.hash(c.prior.Hash, r, c.moved+1): // later rows were moved up to make room
		c.moved++
	case c.hash(c.prior.Hash, r, c.moved): // the writer went on behind it
	default:
		return false
	}
	c.found(Inserted, c.last.N, 0, fmt.Sprintf("Row %d was inserted", c.last.N))
	return true
}

// hash is the hash that a row would have with the number it was written with.
func (c *Checker) hash(before Hash, r *Row, moved int64) Hash {
	original := *r
	original.N -= moved
	return Chain(before, &original)
}

// follow counts a row, and complains about those between the last one and it.
func (c *Checker) follow(n int64) {
	if gap := n - c.last.N; gap > 1 {
		c.missing(c.last.N+1, n-1)
		c.unknown = true
	}
	c.count(n)
}

func (c *Checker) count(n int64) {
	if !c.began {
		c.began, c.report.First = true, n
	}
	c.report.Rows++
	c.report.Last = n
}

func (c *Checker) missing(from, to int64) {
	if from == to {
		c.found(Missing, from, 0, fmt.Sprintf("Row %d was deleted", from))
		return
	}
	c.found(Missing, from, to, fmt.Sprintf("Rows %d to %d were deleted", from, to))
}

// settle says what was wrong with the row in doubt, now that the next one is known. next is nil at the end.
func (c *Checker) settle(next *Row) {
	d := c.doubt
	if d == nil {
		return
	}
	c.doubt = nil
	switch n := d.row.N; {
	case next == nil || next.N != n+1, next.Hash == c.hash(d.row.Hash, next, c.moved):
		c.found(Edited, n, 0, fmt.Sprintf("Row %d was changed, or the row before it was replaced: its hash does not "+
			"follow from both", n))
	case next.Hash == c.hash(d.computed, next, c.moved):
		c.found(Edited, n, 0, fmt.Sprintf("The hash of row %d was changed", n))
		c.last.Hash = d.computed
	case next.Hash == c.hash(d.before.Hash, next, c.moved+1): // later rows were moved up to make room
		c.found(Inserted, n, 0, fmt.Sprintf("Row %d was inserted", n))
		c.moved++
		c.last.Hash = d.before.Hash
	case next.Hash == c.hash(d.before.Hash, next, c.moved): // the writer went on after it
		c.found(Inserted, n, 0, fmt.Sprintf("Row %d was inserted", n))
		c.last.Hash = d.before.Hash
	case next.Hash == c.hash(d.row.Hash, next, c.moved-1):
		c.found(Missing, n, 0, fmt.Sprintf("A row before row %d was deleted, and the rows behind it were moved down",
			n))
		c.moved--
	default:
		c.found(Edited, n, 0, fmt.Sprintf("Row %d was changed, or the row before it was replaced: its hash does not "+
			"follow from both", n))
	}
}

func (c *Checker) found(kind string, n, through int64, message string) {
	if len(c.report.Problems) == listed {
		c.report.More++
		return
	}
	c.report.Problems = append(c.report.Problems, Problem{kind, n, through, message})
}

// End finishes the check.
func (c *Checker) End() Report {
	c.settle(nil)
	switch {
	case c.head == nil:
		if c.last.N > 0 {
			c.found(Missing, c.last.N, 0, "The record of which row is the last is missing")
		}
	case c.last.N < c.head.N+c.moved:
		c.missing(c.last.N+1, c.head.N+c.moved)
	case c.last.N > c.head.N+c.moved:
		c.found(Inserted, c.head.N+c.moved+1, c.last.N,
			fmt.Sprintf("The relay wrote no row after %d; what follows was inserted", c.head.N+c.moved))
	case c.last.Hash != c.head.Hash && c.report.Rows > 0:
		c.found(Edited, c.last.N, 0, fmt.Sprintf("Row %d, the last one, was replaced: the relay remembers another hash",
			c.last.N))
	}
	c.report.Whole = len(c.report.Problems) == 0
	if c.report.Problems == nil {
		c.report.Problems = []Problem{}
	}
	if c.report.Rows > 0 {
		c.report.Head = c.last.Hash.String()
	}
	return c.report
}
