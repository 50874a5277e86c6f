package config

import (
	"fmt"
	"strings"
	"unicode"

	"github.com/tailscale/hujson"

	"tabrelay/relay/lib/clip"
)

// Error is everything that is wrong with a configuration. The command line exits with 2 for it.
type Error struct{ Faults []Fault }

// FileError is a file of the home folder with which no relay can start. The command line exits with 2 for it.
type FileError struct {
	Err  error
	Next string // the next step
}

func (e *FileError) Error() string { return e.Err.Error() }
func (e *FileError) Unwrap() error { return e.Err }

// Hint is the next step.
func (e *FileError) Hint() string { return e.Next }

// Fault is one thing that is wrong, and where.
type Fault struct {
	File    string // or the environment variable
	Line    int    // 0 when the fault has no single place
	Key     string // empty when the file as a whole is wrong
	Message string
}

// Error lists the faults, one on each line.
func (e *Error) Error() string {
	lines := make([]string, len(e.Faults))
	for i, f := range e.Faults {
		lines[i] = f.String()
	}
	return strings.Join(lines, "\n")
}

// Hint is the next step.
func (e *Error) Hint() string {
	return "correct what is named above, then try again; tabrelay doctor checks it, and docs/configuration.md lists " +
		"every setting"
}

// String is file:line: key: message.
func (f Fault) String() string {
	place := f.File
	if f.Line > 0 {
		place = fmt.Sprintf("%s:%d", f.File, f.Line)
	}
	if f.Key == "" {
		return place + ": " + f.Message
	}
	return place + ": " + f.Key + ": " + f.Message
}

// Twin is the environment variable that sets a key: TABRELAY_MAX_TIMEOUT_MS for maxTimeoutMs.
func Twin(key string) string {
	var b strings.Builder
	b.WriteString("TABRELAY_")
	for _, r := range key {
		switch {
		case r == '.':
			b.WriteByte('_')
		case unicode.IsUpper(r):
			b.WriteByte('_')
			b.WriteRune(r)
		default:
			b.WriteRune(unicode.ToUpper(r))
		}
	}
	return b.String()
}

// siblings are the keys that could stand where key stands: those of the same group, cut to its depth.
func siblings[T any](table []Setting[T], key string) []string {
	group := key[:strings.LastIndexByte(key, '.')+1]
	var names []string
	for _, s := range table {
		if rest, ok := strings.CutPrefix(s.key, group); ok {
			first, _, _ := strings.Cut(rest, ".")
			names = append(names, group+first)
		}
	}
	return names
}

// excerpt shows a value as a person wrote it, not too long.
func excerpt(v hujson.Value) string {
	v = v.Clone()
	v.Minimize()
	return cut(string(v.Pack()))
}

func cut(s string) string { return clip.Runes(s, 60) }
