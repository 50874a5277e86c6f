package audit

import (
	"encoding/csv"
	"io"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"tabrelay/relay/lib/rawjson"
)

// JSONL writes a row as a line of JSON.
func JSONL(w io.Writer, r *Row) error {
	line, err := rawjson.Encode(r)
	if err != nil {
		return err
	}
	_, err = w.Write(append(line, '\n'))
	return err
}

// heading names the columns of CSV.
var heading = []string{
	"n", "at", "kind", "client", "via", "session", "tool", "plugin", "profileId", "profile", "tabId", "origin",
	"argumentsHash", "arguments",
	"decision", "decidedBy", "outcome", "code", "durationMs", "callId", "detail", "hash", "agent", "asker",
}

// CSV writes rows with a heading, as RFC 4180 has it. A cell that a spreadsheet would take for a formula begins with an
// apostrophe (https://owasp.org/www-community/attacks/CSV_Injection).
type CSV struct {
	w     *csv.Writer
	begun bool
}

// NewCSV makes one that writes to w.
func NewCSV(w io.Writer) *CSV { return &CSV{w: csv.NewWriter(w)} }

// Write adds a row.
func (c *CSV) Write(r *Row) error {
	if err := c.begin(); err != nil {
		return err
	}
	cells := []string{
		strconv.FormatInt(r.N, 10), r.At.Format(time.RFC3339Nano), r.Kind, r.Client, r.Via, r.Session, r.Tool, r.Plugin,
		r.ProfileID, r.Profile,
		strconv.FormatInt(r.TabID, 10), r.Origin, r.ArgumentsHash, r.Arguments, r.Decision, r.DecidedBy, r.Outcome,
		r.Code,
		strconv.FormatInt(r.DurationMs, 10), r.CallID, r.Detail, r.Hash.String(), r.Agent,
		r.Asker,
	}
	for i, cell := range cells {
		cells[i] = harmless(cell)
	}
	return c.w.Write(cells)
}

// Close writes what is left, and the heading where there was no row.
func (c *CSV) Close() error {
	if err := c.begin(); err != nil {
		return err
	}
	c.w.Flush()
	return c.w.Error()
}

func (c *CSV) begin() error {
	if c.begun {
		return nil
	}
	c.begun = true
	return c.w.Write(heading)
}

// harmless keeps a cell from being a formula. Spreadsheets skip white space, and East Asian ones take the full-width
// signs too. Whoever edited the file may have put other characters there than the log writes.
func harmless(cell string) string {
	cell = strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(cell, "\uFFFD"))
	first, _ := utf8.DecodeRuneInString(strings.TrimLeftFunc(cell, func(r rune) bool {
		return unicode.IsSpace(r) ||
			unicode.Is(unicode.Cf, r)
	}))
	if strings.ContainsRune("=+-@|%＝＋－＠", first) && first != utf8.RuneError {
		return "'" + cell
	}
	return cell
}
