// Package audit is the log of what was called and decided: what a row of it holds, how rows are chained, how the chain
// is checked, and how rows are selected and exported. Package store keeps them.
package audit

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"strings"
	"time"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// Hash is a SHA-256.
type Hash [sha256.Size]byte

// String is the hash in lower-case hexadecimal digits.
func (h Hash) String() string { return hex.EncodeToString(h[:]) }

// MarshalText is String, for JSON.
func (h Hash) MarshalText() ([]byte, error) { return []byte(h.String()), nil }

// UnmarshalText reads what MarshalText writes, as the command line does from the relay.
func (h *Hash) UnmarshalText(text []byte) error {
	read, err := hex.DecodeString(string(text))
	if err == nil && len(read) != len(h) {
		err = fmt.Errorf("a hash has %d bytes, not %d", len(h), len(read))
	}
	copy(h[:], read)
	return err
}

// The kinds of rows that the log writes about itself, besides those of package call.
const (
	// KindAnchor says up to which row older ones were removed: Arguments is {"through":N}, and ArgumentsHash is the
	// hash of that row, from which the chain goes on.
	KindAnchor = "anchor"
	// KindGap says that entries were lost: Detail says how many.
	KindGap = "gap"
)

// Row is one row of the log. Texts are UTF-8 without control characters.
type Row struct {
	N             int64     `json:"n"` // without gaps, from 1
	At            time.Time `json:"at"`
	Kind          string    `json:"kind"`
	Client        string    `json:"client,omitempty"`
	Via           string    `json:"via,omitempty"`
	Session       string    `json:"session,omitempty"`
	Tool          string    `json:"tool,omitempty"`
	Plugin        string    `json:"plugin,omitempty"`
	ProfileID     string    `json:"profileId,omitempty"`
	Profile       string    `json:"profile,omitempty"`
	TabID         int64     `json:"tabId,omitempty"`
	Origin        string    `json:"origin,omitempty"`
	ArgumentsHash string    `json:"argumentsHash,omitempty"` // SHA-256 of the arguments as they came, hexadecimal
	Arguments     string    `json:"arguments,omitempty"`     // the beginning of them as JSON, without credentials
	Decision      string    `json:"decision,omitempty"`
	DecidedBy     string    `json:"decidedBy,omitempty"`
	Outcome       string    `json:"outcome,omitempty"`
	Code          string    `json:"code,omitempty"`
	DurationMs    int64     `json:"durationMs"`
	CallID        string    `json:"callId,omitempty"`
	Detail        string    `json:"detail,omitempty"`
	Agent         string    `json:"agent,omitempty"` // the agent that acted for the client
	Asker         string    `json:"asker,omitempty"` // the session that asked it to; session is the one of the agent
	Hash          Hash      `json:"hash"`
}

// The most bytes of a text; what is longer ends in an ellipsis.
const (
	mostName   = 128
	mostOrigin = 256
	mostText   = 512
)

// RowOf makes a row of an entry, but for its number and hash. digest is the SHA-256 of the entry's arguments; the
// arguments themselves may be cut.
func RowOf(e *call.Entry, digest string, cut bool) Row {
	r := Row{
		At: time.UnixMicro(e.At.UnixMicro()).UTC(), Kind: text(string(e.Kind), mostName),
		Client: text(e.Session.Client, mostName),
		Via:    text(e.Session.Via, mostName), Session: text(e.Session.ID, mostName), Tool: text(e.Tool, mostName),
		Plugin:    text(e.Plugin, mostName),
		ProfileID: text(e.ProfileID, mostName), Profile: text(e.Profile, mostName), TabID: int64(e.TabID),
		Origin:        text(e.Origin, mostOrigin),
		ArgumentsHash: digest, Arguments: preview(e.Arguments, cut),
		Decision: text(e.Decision, mostText), DecidedBy: text(e.DecidedBy, mostName),
		Outcome: text(e.Outcome, mostName), Code: text(e.Code, mostName),
		DurationMs: max(e.Duration.Milliseconds(), 0), CallID: text(string(e.CallID), mostName),
	}
	if b := e.Session.Bounds; b != nil {
		r.Agent, r.Asker = text(b.Agent, mostName), text(b.Asker, mostName)
	}
	detail := e.Detail
	if e.Session.Remote {
		from := strings.TrimSuffix("from another machine: "+e.Session.Machine, ": ")
		detail = strings.TrimPrefix(detail+"; "+from, "; ")
	}
	if detail != "" {
		r.Detail = text(fault.Redact(looked(detail)), mostText)
	}
	return r
}

// text is one harmless line of at most so many bytes.
func text(s string, most int) string {
	special := func(r rune) bool { return r < ' ' || r > '~' || r == '`' }
	if len(s) <= most && !strings.ContainsFunc(s, special) {
		return s
	}
	return clip.Bytes(fault.Sanitize(looked(s)), most)
}

// looked is as much of a sentence as is looked at.
func looked(s string) string { return s[:min(len(s), 4*mostText)] }

// chained begins what is hashed, so that no other use of SHA-256 gives the hash of a row.
const chained = "tabrelay audit row 1\n"

// Chain is the hash of a row that comes after the row with the hash before: SHA-256 of the words above, those 32 bytes
// and the fields of the row in the order of the struct without Hash; without Agent and Asker where both are empty, as
// rows were before they had these. A number is 8 bytes, the highest first, a time its microseconds since 1970; a text
// is its length in bytes as such a number, and its bytes. So every row has an encoding of its own.
func Chain(before Hash, r *Row) Hash {
	b := make([]byte, 0, 1024)
	b = append(b, chained...)
	b = append(b, before[:]...)
	return sha256.Sum256(appendRow(b, r))
}

func appendRow(b []byte, r *Row) []byte {
	number := func(n int64) { b = binary.BigEndian.AppendUint64(b, uint64(n)) }
	texts := func(list ...string) {
		for _, s := range list {
			number(int64(len(s)))
			b = append(b, s...)
		}
	}
	number(r.N)
	number(r.At.UnixMicro())
	texts(r.Kind, r.Client, r.Via, r.Session, r.Tool, r.Plugin, r.ProfileID, r.Profile)
	number(r.TabID)
	texts(r.Origin, r.ArgumentsHash, r.Arguments, r.Decision, r.DecidedBy, r.Outcome, r.Code)
	number(r.DurationMs)
	texts(r.CallID, r.Detail)
	if r.Agent != "" || r.Asker != "" {
		texts(r.Agent, r.Asker)
	}
	return b
}

// Anchor is the row that says that the rows up to one with that hash were removed.
func Anchor(through int64, hash []byte) Row {
	return Row{
		At: time.UnixMicro(time.Now().UnixMicro()).UTC(), Kind: KindAnchor, DecidedBy: "relay",
		Arguments:     fmt.Sprintf(`{"through":%d}`, through),
		ArgumentsHash: hex.EncodeToString(hash),
		Detail:        fmt.Sprintf("The rows up to %d were removed, as audit.keepDays and audit.maxRows say", through),
	}
}
