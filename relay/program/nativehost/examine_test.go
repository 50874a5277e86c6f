//go:build unix

package nativehost

import (
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"tabrelay/relay/state/config"
)

// registered is a host that one browser knows, and the place.
func registered(t *testing.T) (Host, Place) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "tab'relay' exec 'x")
	if err := os.WriteFile(program, nil, 0o700); err != nil {
		t.Fatal(err)
	}
	host := Host{Home: config.Home(filepath.Join(t.TempDir(), "it's home")), Executable: program,
		Extensions: []string{id}}
	place := In(t.TempDir())
	if _, err := host.Register([]Place{place}, false); err != nil {
		t.Fatal(err)
	}
	return host, place
}

func TestExamineSaysWhatKeepsABrowserFromStartingIt(t *testing.T) {
	write := func(file, text string, mode os.FileMode) {
		t.Helper()
		if err := os.WriteFile(file, []byte(text), mode); err != nil {
			t.Fatal(err)
		}
	}
	gone := func(file string) {
		t.Helper()
		if err := os.RemoveAll(file); err != nil {
			t.Fatal(err)
		}
	}
	other := func(program string) string {
		return `{"name":"` + Name + `","type":"stdio","path":"` + program + `","allowed_origins":[]}`
	}
	for name, c := range map[string]struct {
		spoil      func(h *Host, p Place)
		fault, why string
	}{
		"sound":       {func(*Host, Place) {}, "", ""},
		"no manifest": {func(_ *Host, p Place) { gone(p.File) }, Missing, "is not registered in"},
		"no JSON": {func(_ *Host, p Place) {
			write(p.File, "{", 0o600)
		}, Missing, "is not a manifest"},
		"null": {func(_ *Host, p Place) {
			write(p.File, "null", 0o600)
		}, Missing, "is not a manifest"},
		"a list": {func(_ *Host, p Place) {
			write(p.File, "[]", 0o600)
		}, Missing, "is not a manifest"},
		"another program": {func(_ *Host, p Place) {
			write(p.File, other("/bin/sh"), 0o600)
		}, Foreign, "/bin/sh"},
		"another that is gone": {func(_ *Host, p Place) {
			write(p.File, other("/gone/x"), 0o600)
		}, Missing, "/gone/x"},
		"another extension": {func(h *Host, _ Place) {
			h.Extensions = []string{strings.Repeat("b", 32)}
		}, Broken, "bbbb"},
		"for no extension": {func(h *Host, p Place) { write(p.File, other(h.program()), 0o600) }, Broken, id},
		"no program":       {func(h *Host, _ Place) { gone(h.program()) }, Broken, "cannot be read"},
		"a program that is not": {func(h *Host, _ Place) {
			write(h.program(), "#!/bin/sh\n", 0o700)
		}, Broken, "was changed"},
		"no tabrelay": {func(h *Host, _ Place) { gone(h.Executable) }, Broken, "which is not there"},
		"not to be executed": {func(h *Host, _ Place) {
			if err := os.Chmod(h.program(), 0o600); err != nil {
				t.Fatal(err)
			}
		}, Broken, "may not be executed"},
		"a pipe": {func(_ *Host, p Place) {
			gone(p.File)
			if err := syscall.Mkfifo(p.File, 0o600); err != nil {
				t.Fatal(err)
			}
		}, Missing, "is not a file of ours"},
		"without end": {func(_ *Host, p Place) { write(p.File, strings.Repeat(" ", mostFile+1), 0o600) }, Missing,
			"is not a file of ours"},
	} {
		t.Run(name, func(t *testing.T) {
			host, place := registered(t)
			c.spoil(&host, place)
			list := host.Examine([]Place{place}, true)
			if (len(list) == 0) != (c.fault == "") {
				t.Fatalf("found %+v", list)
			}
			if c.fault != "" && (list[0].Fault != c.fault || !strings.Contains(list[0].Why, c.why)) {
				t.Errorf("found %+v", list[0])
			}
			if others := host.Examine([]Place{place}, false); (len(others) == 1) != (c.fault == Broken) {
				t.Errorf("where it need not be: %+v", others)
			}
		})
	}
}

// What the examination finds missing or broken, registering mends.
func TestRegisteringMendsWhatIsBroken(t *testing.T) {
	host, place := registered(t)
	if err := os.WriteFile(host.program(), []byte("#!/bin/sh\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	if list := host.Examine([]Place{place}, true); len(list) != 1 {
		t.Fatalf("found %+v", list)
	}
	if _, err := host.Register([]Place{place}, false); err != nil {
		t.Fatal(err)
	}
	if list := host.Examine([]Place{place}, true); len(list) != 0 {
		t.Errorf("found %+v", list)
	}
}
