package audit

import (
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tabrelay/relay/road/call"
)

// Filter selects rows. A field that is empty or zero selects all.
type Filter struct {
	Client, Tool, Plugin, Origin, Outcome, Kind, CallID, Agent string

	Since, Until  time.Time // the first included, the second not
	Before, After int64     // numbers of rows, neither included
	Limit         int       // at the most
	Oldest        bool      // the oldest first, and of those the first Limit; else the newest
}

// Kinds are all kinds of rows.
func Kinds() []string {
	return []string{
		string(call.EntryCall), string(call.EntryDecision), string(call.EntryRule), string(call.EntryReview),
		string(call.EntryClient),
		string(call.EntrySwitch), string(call.EntryTab), string(call.EntryWidening), KindAnchor, KindGap,
	}
}

// The outcomes of calls.
var outcomes = []string{"returned", string(call.NotExecuted), string(call.Executed), string(call.Unknown)}

// MostRows is how many rows one list has.
const MostRows = 1000

// ParseFilter reads a filter of a query: the names of the fields in lower case. The error is one sentence about one of
// them. Times are RFC 3339, dates (2026-11-21, of this machine's time zone), or how long ago (90s, 15m, 12h, 7d).
func ParseFilter(query url.Values, now time.Time) (f Filter, err error) {
	for name, values := range query {
		if len(values) != 1 {
			return f, fmt.Errorf("%s is given more than once", name)
		}
		if err = f.set(name, values[0], now); err != nil {
			return f, err
		}
	}
	return f, nil
}

func (f *Filter) set(name, value string, now time.Time) (err error) {
	switch name {
	case "client":
		f.Client = value
	case "tool":
		f.Tool = value
	case "plugin":
		f.Plugin = value
	case "origin":
		f.Origin = value
	case "agent":
		f.Agent = value
	case "call":
		f.CallID = value
	case "outcome":
		f.Outcome, err = oneOf(name, value, outcomes)
	case "kind":
		f.Kind, err = oneOf(name, value, Kinds())
	case "since":
		f.Since, err = moment(name, value, now)
	case "until":
		f.Until, err = moment(name, value, now)
	case "before":
		f.Before, err = number(name, value, 1<<62)
	case "after":
		f.After, err = number(name, value, 1<<62)
		f.Oldest = true
	case "limit":
		var n int64
		n, err = number(name, value, MostRows)
		f.Limit = int(n)
		if err != nil || n == 0 {
			err = fmt.Errorf("limit is not a whole number from 1 to %d", MostRows)
		}
	default:
		err = fmt.Errorf("there is no filter %.40q", name)
	}
	return err
}

func oneOf(name, value string, all []string) (string, error) {
	if value != "" && !slices.Contains(all, value) {
		return "", fmt.Errorf("%s is not one of %s", name, strings.Join(all, ", "))
	}
	return value, nil
}

func number(name, value string, most int64) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 || n > most {
		return 0, fmt.Errorf("%s is not a whole number from 0 to %d", name, most)
	}
	return n, nil
}

// moment reads a time.
func moment(name, value string, now time.Time) (time.Time, error) {
	if value == "" {
		return time.Time{}, nil
	}
	if t, err := time.Parse(time.RFC3339, value); err == nil {
		return t, nil
	}
	if t, err := time.ParseInLocation(time.DateOnly, value, now.Location()); err == nil {
		return t, nil
	}
	if days, ok := strings.CutSuffix(value, "d"); ok {
		if n, err := strconv.ParseUint(days, 10, 16); err == nil {
			return now.Add(-time.Duration(n) * 24 * time.Hour), nil
		}
	}
	if d, err := time.ParseDuration(value); err == nil && d >= 0 {
		return now.Add(-d), nil
	}
	return time.Time{}, fmt.Errorf("%s is not a time: write 2026-11-21T15:04:05Z, 2026-11-21, or how long ago, such "+
		"as "+
		"90m or 7d", name)
}
