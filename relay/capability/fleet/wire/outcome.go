package wire

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
)

// Outcome is how a call ended: with a result, or with a failure.
type Outcome struct {
	Result    *Result      `json:"result,omitempty"`
	Failure   *fault.Error `json:"failure,omitempty"`
	Untrusted bool         `json:"untrusted,omitempty"` // of a failure: words of a page are in it
}

// Result is a [call.Result].
type Result struct {
	Output     json.RawMessage   `json:"output,omitempty"`
	Structured bool              `json:"structured,omitempty"`
	Note       json.RawMessage   `json:"note,omitempty"`
	Content    []json.RawMessage `json:"content,omitempty"`
	Warnings   []string          `json:"warnings,omitempty"`
	Meta       Meta              `json:"meta"`
}

// Meta is a [call.Meta].
type Meta struct {
	CorrelationID call.ID `json:"correlationId,omitempty"`
	TabID         int     `json:"tabId,omitempty"`
	Profile       string  `json:"profile,omitempty"`
	ProfileID     string  `json:"profileId,omitempty"`
	Origin        string  `json:"origin,omitempty"`
	Frame         string  `json:"frame,omitempty"`
	Trust         string  `json:"trust,omitempty"`
	Attempts      int     `json:"attempts,omitempty"`
	DurationMs    int64   `json:"durationMs,omitempty"`
	ResultID      string  `json:"resultId,omitempty"`
	Untrusted     bool    `json:"untrusted,omitempty"`
}

// EncodeOutcome writes how a call ended.
func EncodeOutcome(r *call.Result, f *fault.Error) []byte {
	if f != nil {
		return rawjson.MustEncode(Outcome{Failure: f, Untrusted: f.Untrusted})
	}
	m := r.Meta
	return rawjson.MustEncode(Outcome{Result: &Result{
		Output: r.Output, Structured: r.Structured, Note: r.Note, Content: r.Content, Warnings: r.Warnings,
		Meta: Meta{m.CorrelationID, m.TabID, m.Profile, m.ProfileID, m.Origin, m.Frame, m.Trust, m.Attempts,
			m.Duration.Milliseconds(), m.ResultID, m.Untrusted},
	}})
}

// DecodeOutcome reads how a call ended. Codes that the contract does not have become INTERNAL_ERROR, and words lose
// what nobody sees: a node says what it likes.
func DecodeOutcome(data []byte) (*call.Result, *fault.Error, error) {
	var o Outcome
	if err := json.Unmarshal(data, &o); err != nil || (o.Result == nil) == (o.Failure == nil) {
		return nil, nil, errors.New("it says neither what was returned nor what failed")
	}
	if o.Failure != nil {
		return nil, told(o.Failure, o.Untrusted), nil
	}
	r := o.Result
	if r.Structured && !rawjson.IsObject(r.Output) || r.Note != nil && !rawjson.IsObject(r.Note) {
		return nil, nil, errors.New("what it returned is not what it says")
	}
	m := r.Meta
	return &call.Result{
		Output: r.Output, Structured: r.Structured, Note: r.Note, Content: r.Content, Warnings: plain(r.Warnings),
		Meta: call.Meta{CorrelationID: m.CorrelationID, TabID: m.TabID, Profile: fault.Excerpt(m.Profile),
			ProfileID: fault.Excerpt(m.ProfileID), Origin: fault.Sanitize(m.Origin), Frame: fault.Sanitize(m.Frame),
			Trust:    fault.Excerpt(m.Trust),
			Attempts: m.Attempts, Duration: time.Duration(m.DurationMs) * time.Millisecond,
			ResultID: fault.Excerpt(m.ResultID), Untrusted: m.Untrusted},
	}, nil, nil
}

// told is a failure as a node tells it.
func told(f *fault.Error, untrusted bool) *fault.Error {
	row, known := fault.Lookup(f.Code)
	if !known && !f.FromPage {
		return fault.New(fault.InternalError, "The node answers with a code that there is not: "+
			fault.Excerpt(string(f.Code)), fault.WithOutcome(fault.Unknown))
	}
	switch f.Outcome {
	case fault.NotExecuted, fault.Executed, fault.Unknown:
	default:
		f.Outcome = fault.Unknown
	}
	if known && !f.FromPage {
		f.Category, f.Source, f.Class = row.Category, row.Source, row.Class
	}
	f.Message, f.Warnings = words(f.Message), plain(f.Warnings)
	fault.WithHint(clip.Bytes(f.Hint, maxTold))(f)
	fault.WithConsoleTail(clip.Bytes(f.ConsoleTail, maxTold))(f)
	if f.Suggestion != "" {
		fault.WithSuggestion(clip.Bytes(f.Suggestion, maxTold))(f)
	}
	f.Untrusted = untrusted || f.FromPage
	return f
}

const maxTold = 16 << 10

func words(text string) string { return clip.Bytes(fault.Sanitize(text), maxTold) }

func plain(list []string) []string {
	for i := range list {
		list[i] = words(list[i])
	}
	return list
}

// Tool is a tool as a node offers it.
type Tool struct {
	Name       string             `json:"name"`
	Plugin     string             `json:"plugin"` // or group
	Title      string             `json:"title,omitempty"`
	About      string             `json:"about"`
	Input      json.RawMessage    `json:"input"` // with the arguments that the node takes out for itself
	Output     json.RawMessage    `json:"output,omitempty"`
	Hints      plugin.Annotations `json:"hints"`
	OwnProfile bool               `json:"ownProfile,omitempty"` // its argument profile is its own
}

// DecodeTools reads the list of a node's tools. What of a tool is unsound is for the reader's registry to say.
func DecodeTools(data []byte) (list []Tool, err error) {
	if len(data) > MaxToolsBytes {
		return nil, fmt.Errorf("its tools have %d bytes, more than %d", len(data), MaxToolsBytes)
	}
	if err := strictly(data, &list); err != nil {
		return nil, err
	}
	if len(list) > MaxTools {
		return nil, fmt.Errorf("it has %d tools, more than %d", len(list), MaxTools)
	}
	return list, nil
}

// Entry is what a node says of itself in the directory. There are no addresses of open pages in it: what a person has
// open is nobody's business before they are asked.
type Entry struct {
	V        int      `json:"v"`
	Node     string   `json:"node"`
	Life     string   `json:"life"`
	Version  string   `json:"version"` // of its program
	Tools    string   `json:"tools"`   // hash of their list
	Plugins  []Plugin `json:"plugins"`
	Profiles []string `json:"profiles"` // labels of the browser profiles that are connected
	Running  int      `json:"running"`  // calls of the fleet that run there
	Leases   []Lease  `json:"leases,omitempty"`
}

// Plugin is a plugin of a node.
type Plugin struct {
	Name  string   `json:"name"`
	Hash  string   `json:"hash"`  // of its content
	Sites []string `json:"sites"` // match patterns of the pages that it works on
}

// MaxEntry bounds an entry, in bytes.
const MaxEntry = 256 << 10

const maxProfiles = 100

// DecodeEntry reads the entry of a node.
func DecodeEntry(node string, data []byte) (e Entry, err error) {
	if len(data) > MaxEntry {
		return e, fmt.Errorf("it has %d bytes, more than %d", len(data), MaxEntry)
	}
	if err := strictly(data, &e); err != nil {
		return e, err
	}
	switch {
	case e.V != Version:
		err = fmt.Errorf("it is of version %d, and this side speaks version %d", e.V, Version)
	case e.Node != node || !IsName(node):
		err = errors.New("it is not of the node whose key it has")
	case !idForm.MatchString(e.Life), len(e.Tools) > 64, len(e.Profiles) > maxProfiles:
		err = errors.New("it is not what an entry is")
	}
	for i := range e.Profiles {
		e.Profiles[i] = fault.Excerpt(e.Profiles[i])
	}
	if len(e.Leases) > maxProfiles {
		err = errors.New("it has too many leases")
	}
	for i := range e.Leases {
		err = cmp.Or(err, e.Leases[i].check())
	}
	return e, err
}
