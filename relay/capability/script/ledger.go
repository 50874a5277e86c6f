package script

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/capability/script/engine"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/fault"
)

// ledger is the calls that a script has made. Its words are the relay's own: no page is asked what a call was.
type ledger struct {
	mu      lock.Mutex
	entries []*entry // in the order of the script
}

// entry is one call.
type entry struct {
	Tool    string        `json:"tool"`
	Line    int           `json:"line,omitempty"`
	Writes  bool          `json:"writes,omitempty"`
	Outcome fault.Outcome `json:"outcome"` // of one that runs: unknown, once it may have been sent
	Code    fault.Code    `json:"code,omitempty"`
	Ms      int64         `json:"ms"`
	began   time.Time
}

// add notes a call that waits.
func (l *ledger) add(tool string, writes bool, at engine.Place) *entry {
	one := &entry{Tool: tool, Line: at.Line, Writes: writes, Outcome: fault.NotExecuted}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = append(l.entries, one)
	return one
}

// begin notes that a call is carried out from now on.
func (l *ledger) begin(one *entry) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one.began, one.Outcome = time.Now(), fault.Unknown
}

// end notes how a call ended; nil: it returned.
func (l *ledger) end(one *entry, f *fault.Error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	one.Outcome = fault.Executed
	if f != nil {
		one.Outcome, one.Code = cmp.Or(f.Outcome, fault.Unknown), f.Code
	}
	if !one.began.IsZero() {
		one.Ms = time.Since(one.began).Milliseconds()
	}
}

// began reports whether a call was carried out, or may have been.
func (l *ledger) began() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return slices.ContainsFunc(l.entries, func(one *entry) bool { return !one.began.IsZero() })
}

// list is the calls as they are now.
func (l *ledger) list() calls {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := make(calls, len(l.entries))
	for i, one := range l.entries {
		list[i] = *one
	}
	return list
}

// calls are those of a script at one moment.
type calls []entry

// outcome is what became of what the script changes: as uncertain as the least certain of its calls that change
// something.
func (c calls) outcome() fault.Outcome {
	all := fault.NotExecuted
	for _, one := range c {
		switch {
		case !one.Writes:
		case one.Outcome == fault.Unknown:
			return fault.Unknown
		case one.Outcome == fault.Executed:
			all = fault.Executed
		}
	}
	return all
}

// row is calls of one tool that ended alike.
type row struct {
	Tool    string        `json:"tool"`
	Count   int           `json:"count,omitempty"`   // nothing: one
	Outcome fault.Outcome `json:"outcome,omitempty"` // nothing: executed
	Code    fault.Code    `json:"code,omitempty"`
	Line    int           `json:"line,omitempty"` // of what failed
	Ms      int64         `json:"ms"`
}

// rows are the calls in few words.
func (c calls) rows() []row {
	list := []row{}
	for _, one := range c {
		next := row{Tool: one.Tool, Outcome: one.Outcome, Code: one.Code, Ms: one.Ms}
		if next.Outcome == fault.Executed {
			next.Outcome = ""
		}
		if one.Code != "" || next.Outcome != "" {
			next.Line = one.Line
		}
		if i := slices.IndexFunc(list, next.alike); i >= 0 {
			list[i].Count, list[i].Ms = max(list[i].Count, 1)+1, list[i].Ms+next.Ms
		} else {
			list = append(list, next)
		}
	}
	return list
}

func (r row) alike(o row) bool {
	return r.Tool == o.Tool && r.Outcome == o.Outcome && r.Code == o.Code && r.Line == o.Line
}

// mostNamed is how many rows a text names of each outcome.
const mostNamed = 20

// text is the calls by what became of them, one line for each outcome.
func (c calls) text() string {
	var lines []string
	for _, outcome := range []fault.Outcome{fault.Executed, fault.NotExecuted, fault.Unknown} {
		of := calls(slices.DeleteFunc(slices.Clone(c), func(one entry) bool { return one.Outcome != outcome }))
		if len(of) > 0 {
			lines = append(lines, fmt.Sprintf("Calls %s: %s",
				strings.ReplaceAll(string(outcome), "_", " "), inWords(of.rows())))
		}
	}
	if len(lines) == 0 {
		return "It made no calls."
	}
	return strings.Join(lines, "\n")
}

// inWords names calls, and what became of them.
func inWords(rows []row) string {
	var parts []string
	for _, r := range rows[:min(len(rows), mostNamed)] {
		part := r.Tool
		if r.Count > 1 {
			part += fmt.Sprintf(" ×%d", r.Count)
		}
		var more []string
		if r.Line > 0 {
			more = append(more, fmt.Sprintf("line %d", r.Line))
		}
		if r.Code != "" {
			more = append(more, string(r.Code))
		}
		if len(more) > 0 {
			part += " (" + strings.Join(more, ", ") + ")"
		}
		parts = append(parts, part)
	}
	if rest := len(rows) - mostNamed; rest > 0 {
		parts = append(parts, fmt.Sprintf("and %d more", rest))
	}
	return strings.Join(parts, ", ")
}
