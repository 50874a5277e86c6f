package config

import (
	"errors"
	"fmt"
	"strings"

	"tabrelay/relay/lib/clip"
	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/road/call"
)

// LocalClient is the name under which the local token is known: the command line and this machine's own programs.
const LocalClient = "cli"

// reserved are the names that stand for somebody else than a client: the person at this machine, or the relay.
var reserved = []string{LocalClient, "panel", "terminal", "person", "relay", "rule", "tabrelay"}

// Only these characters: none is invisible, turns text around, or looks like one of another alphabet.
var clientNameForm = lazyregexp.New(`^[a-z0-9][a-z0-9._-]{0,63}$`)

const clientNameRule = "use lower-case letters a to z, digits, dots, underscores and hyphens, at most 64"

// ErrClientName is the error of a name that no client can have.
var ErrClientName = errors.New("client name")

// CheckClientName says why a client cannot have a name. Its error is an [ErrClientName].
func CheckClientName(name string) error {
	switch {
	case !clientNameForm.MatchString(name):
		return fmt.Errorf("%w %q: %s", ErrClientName, clip.Bytes(name, mostShown), clientNameRule)
	case name == call.Unnamed:
		return fmt.Errorf("%w %q: programs without a name are shown as that; use another", ErrClientName, name)
	}
	for _, one := range reserved {
		switch {
		case name == one:
			return fmt.Errorf("%w %q: it stands for the person or the relay itself; use another", ErrClientName, name)
		case LooksLike(name, one):
			return fmt.Errorf("%w %q: it reads like a name of the person or of the relay itself; use another",
				ErrClientName, name)
		}
	}
	return nil
}

// mostShown is how many bytes of a name that is refused are repeated.
const mostShown = 80

// Spelled is a name of a client as names are written: without capitals and spaces.
func Spelled(name string) string { return strings.ToLower(strings.Join(strings.Fields(name), "-")) }

// NameWithoutToken is the name of a client that has no token and calls itself so, as names are written. Without a name
// it is [call.Unnamed]. Its error is an [ErrClientName].
func NameWithoutToken(written string) (string, error) {
	name := Spelled(written)
	if name == "" || name == call.Unnamed {
		return call.Unnamed, nil
	}
	return name, CheckClientName(name)
}

// LooksLike reports whether a person could take one client's name for another's: they are the same but for characters
// that are told apart only by looking twice.
func LooksLike(name, other string) bool { return outline(name) == outline(other) }

var outlines = strings.NewReplacer("0", "o", "1", "l", "rn", "m", "vv", "w", ".", "-", "_", "-")

func outline(name string) string { return outlines.Replace(strings.ToLower(name)) }

// Similar is the client whose name this is, or whose name a person could take for it; not ok: there is none.
func Similar(name string, clients []Client) (other string, ok bool) {
	for _, one := range clients {
		if one.Name == name {
			return name, true
		}
		if LooksLike(one.Name, name) {
			other, ok = one.Name, true
		}
	}
	return other, ok
}

// CheckNew says why a client of this name cannot be added to these.
func CheckNew(name string, clients []Client) error {
	if err := CheckClientName(name); err != nil {
		return err
	}
	other, taken := Similar(name, clients)
	switch {
	case !taken:
		return nil
	case other == name:
		return Exists(name)
	}
	return fmt.Errorf("%w %q: it reads like that of the client %s; use another", ErrClientName, name, other)
}

// Exists is the error of adding a client that has a token already.
func Exists(name string) error {
	return fmt.Errorf("client %s exists already; rotate its token with: tabrelay clients rotate %s", name, name)
}
