package nativehost

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"runtime"
	"slices"
	"strings"

	"tabrelay/relay/state/config"
)

// Faults of a registration.
const (
	Missing = "missing" // the browser knows no host
	Broken  = "broken"  // it is ours, and the browser cannot start it, or not for our extensions
	Foreign = "foreign" // it is another program's
)

// Trouble is what is wrong at one place.
type Trouble struct {
	Place Place
	Fault string
	Why   string // without a full stop
}

// Registers reports whether the relay of a home folder registers itself: it is the person's own.
func Registers(home config.Home) bool {
	own, err := config.DefaultHome()
	return err == nil && own == home
}

// Examine looks at what is registered in these places, and changes nothing. A host that need not be there is only
// looked at where it is.
func (h Host) Examine(places []Place, needed bool) (list []Trouble) {
	for _, place := range places {
		if fault, why := h.examine(place); fault == Broken || fault != "" && needed {
			list = append(list, Trouble{place, fault, why})
		}
	}
	return list
}

func (h Host) examine(place Place) (fault, why string) {
	text, err := readSmall(place.File)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Missing, "tabrelay is not registered in " + place.File
	case err != nil:
		return Missing, fmt.Sprintf("what is registered cannot be read: %v", err)
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil || m.Path == "" {
		return Missing, place.File + " is not a manifest"
	}
	if m.Path != h.program() {
		if exists(m.Path) {
			return Foreign, "what is registered starts " + m.Path
		}
		return Missing, "what is registered starts " + m.Path + ", which is not there"
	}
	return h.examineOwn(place, m)
}

// examineOwn looks at what a browser does with a manifest that names the program of this home folder.
func (h Host) examineOwn(place Place, m manifest) (fault, why string) {
	if m.Name != Name || m.Type != "stdio" {
		return Broken, fmt.Sprintf("%s says %q and %q, and browsers want %q and \"stdio\"", place.File, m.Name, m.Type,
			Name)
	}
	for _, id := range h.Extensions {
		if !slices.Contains(m.Origins, Origin(id)) {
			return Broken, place.File + " does not let the extension " + id + " ask"
		}
	}
	if !place.known() {
		return Broken, "the registry does not name " + place.File
	}
	program, err := readSmall(h.program())
	if err != nil {
		return Broken, fmt.Sprintf("what the browser starts cannot be read: %v", err)
	}
	if info, err := os.Stat(h.program()); err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o100 == 0 {
		return Broken, h.program() + " may not be executed"
	}
	switch executable, ok := h.executableIn(string(program)); {
	case !ok:
		return Broken, h.program() + " was changed"
	case !exists(executable):
		return Broken, "what the browser starts runs " + executable + ", which is not there"
	}
	return "", ""
}

// mostFile is more than a manifest or a program of ours has, in bytes.
const mostFile = 64 << 10

// readSmall reads a file that may be anything: a pipe would never end.
func readSmall(file string) ([]byte, error) {
	info, err := os.Stat(file)
	if err == nil && (!info.Mode().IsRegular() || info.Size() > mostFile) {
		err = fmt.Errorf("%s is not a file of ours", file)
	}
	if err != nil {
		return nil, err
	}
	return os.ReadFile(file)
}

// executableIn is the program of tabrelay that a host starts.
func (h Host) executableIn(program string) (executable string, ok bool) {
	start, end := h.aroundExecutable()
	text, starts := strings.CutPrefix(program, start)
	text, ends := strings.CutSuffix(text, end)
	if runtime.GOOS == "windows" {
		executable = strings.ReplaceAll(text, "%%", "%")
	} else {
		executable = strings.ReplaceAll(text, `'\''`, "'")
	}
	return executable, starts && ends && word(executable) == text
}
