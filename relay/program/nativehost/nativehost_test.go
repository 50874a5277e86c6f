package nativehost

import (
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"tabrelay/relay/state/config"
)

const id = "abcdefghijklmnopabcdefghijklmnop"

// A browser gets a manifest that starts this program for these extensions and no others, with its home.
func TestRegisterWritesAManifestThatStartsTheProgram(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("browsers find it in the registry")
	}
	home := config.Home(filepath.Join(t.TempDir(), "it's home"))
	program := filepath.Join(t.TempDir(), "a 'program'")
	if err := os.WriteFile(program, []byte("#!/bin/sh\necho \"$TABRELAY_HOME|$*\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	place := In(t.TempDir())
	host := Host{Home: home, Executable: program, Extensions: []string{id}}
	changed, err := host.Register([]Place{place}, false)
	if err != nil || len(changed) != 1 {
		t.Fatal(changed, err)
	}
	text, err := os.ReadFile(place.File)
	if err != nil {
		t.Fatal(err)
	}
	var m manifest
	if err := json.Unmarshal(text, &m); err != nil {
		t.Fatal(err)
	}
	if m.Name != Name || m.Type != "stdio" || !slices.Equal(m.Origins, []string{"chrome-extension://" + id + "/"}) {
		t.Errorf("the manifest says %+v", m)
	}
	out, err := exec.Command(m.Path, "chrome-extension://"+id+"/", "--parent-window=0").CombinedOutput()
	if want := string(home) + "|chrome-extension://" + id + "/ --parent-window=0\n"; err != nil || string(out) != want {
		t.Errorf("the browser starts it as %q, want %q: %v", out, want, err)
	}
	if again, err := host.Register([]Place{place}, false); err != nil || len(again) != 0 {
		t.Errorf("registering it again changes %v, %v", again, err)
	}

	// The program moved: the manifest stays, and starts it where it is now.
	host.Executable += " moved"
	if changed, err := host.Register([]Place{place}, false); err != nil || len(changed) != 0 {
		t.Error(changed, err)
	}
	if script, _ := os.ReadFile(m.Path); !bytes.Contains(script, []byte(" moved")) {
		t.Errorf("it still starts %s", script)
	}

	// Another home folder's is left alone, unless that is asked for or its program is gone.
	other := Host{Home: config.Home(filepath.Join(t.TempDir(), "home")), Executable: program, Extensions: []string{id}}
	if changed, err := other.Register([]Place{place}, false); err != nil || len(changed) != 0 {
		t.Errorf("another's is replaced: %v, %v", changed, err)
	}
	if changed, err := other.Register([]Place{place}, true); err != nil || len(changed) != 1 {
		t.Errorf("another's is not replaced when asked: %v, %v", changed, err)
	}
	if gone, err := host.Unregister([]Place{place}); err != nil || len(gone) != 0 {
		t.Errorf("another's is taken out: %v, %v", gone, err)
	}
	if err := os.RemoveAll(string(other.Home)); err != nil {
		t.Fatal(err)
	}
	if changed, err := host.Register([]Place{place}, false); err != nil || len(changed) != 1 {
		t.Errorf("one whose program is gone is not replaced: %v, %v", changed, err)
	}
	if gone, err := host.Unregister([]Place{place}); err != nil || len(gone) != 1 {
		t.Errorf("taken out of %v, %v", gone, err)
	}
	if _, err := os.Stat(place.File); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the manifest: %v", err)
	}
	if _, err := os.Stat(home.NativeHost()); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("the program: %v", err)
	}
}

// What another program or a person left in the manifest's place is no reason to give up.
func TestRegisterOverWhatIsNoManifest(t *testing.T) {
	for _, text := range []string{"", "{", "null", `{"name": "x"}`} {
		place := In(t.TempDir())
		if err := os.MkdirAll(filepath.Dir(place.File), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(place.File, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		host := Host{Home: config.Home(t.TempDir()), Executable: "/bin/tabrelay", Extensions: []string{id}}
		if changed, err := host.Register([]Place{place}, false); err != nil || len(changed) != 1 {
			t.Errorf("%q: %v, %v", text, changed, err)
		}
	}
}

// A browser whose folder cannot be written keeps neither the others nor the program from being there.
func TestRegisterGoesOnAfterAFailure(t *testing.T) {
	blocked, good := In(t.TempDir()), In(t.TempDir())
	if err := os.WriteFile(filepath.Dir(blocked.File), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	host := Host{Home: config.Home(t.TempDir()), Executable: "/bin/tabrelay", Extensions: []string{id}}
	changed, err := host.Register([]Place{blocked, good}, false)
	if err == nil || !strings.Contains(err.Error(), blocked.Browser+": ") {
		t.Errorf("the failure is %v", err)
	}
	if len(changed) != 1 || changed[0] != good || !exists(host.program()) {
		t.Errorf("registered is %v, the program is there: %v", changed, exists(host.program()))
	}
}

func TestAllowedNamesOneExtension(t *testing.T) {
	for origin, want := range map[string]bool{
		"chrome-extension://" + id + "/":      true,
		"chrome-extension://" + id:            false,
		"chrome-extension://" + id + "/x":     false,
		"chrome-extension://" + id[1:] + "a/": false,
		"chrome-extension:///":                false,
		"https://" + id + "/":                 false,
	} {
		if err := Allowed(origin, []string{id}); (err == nil) != want {
			t.Errorf("%s: %v", origin, err)
		}
	}
	for _, args := range [][]string{nil, {""}, {"up"}, {"call", "chrome-extension://" + id + "/"}} {
		if _, ok := Asked(args); ok {
			t.Errorf("%q is taken for a browser", args)
		}
	}
}

func message(text string) string {
	return string(binary.NativeEndian.AppendUint32(nil, uint32(len(text)))) + text
}

func TestServeAnswersEachMessageAndRefusesBrokenOnes(t *testing.T) {
	answer := func(asked Request) Answer { return Answer{Address: asked.Type} }
	for _, c := range []struct{ name, in, out, err string }{
		{"nothing", "", "", ""},
		{"two", message(`{"type":"a"}`) + message(`{"type":"b"}`),
			message(`{"address":"a","running":false}`) + message(`{"address":"b","running":false}`), ""},
		{"no JSON", message(`{`), message(`{"running":false,"problem":{"message":"the message is not JSON: ` +
			`unexpected end of JSON input"}}`), ""},
		{"a cut length", "\x01\x00", "", "unexpected EOF"},
		{"a cut message", message("abc")[:5], "", "ends early"},
		{"too long", "\xff\xff\xff\x7f", "", "is longer than"},
	} {
		var out strings.Builder
		err := Serve(strings.NewReader(c.in), &out, answer)
		if out.String() != c.out || (c.err == "") != (err == nil) ||
			err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s: %q, %v", c.name, out.String(), err)
		}
	}
}

func FuzzServe(f *testing.F) {
	f.Add([]byte(message(`{"type":"find"}`)))
	f.Add([]byte("\xff\xff\xff\xff"))
	f.Fuzz(func(t *testing.T, in []byte) {
		var out bytes.Buffer
		answer := func(Request) Answer { return Answer{Running: true} }
		_ = Serve(bytes.NewReader(in), &out, answer) // an error is an end
		for out.Len() > 0 {
			text, err := read(&out)
			if err != nil || !json.Valid(text) {
				t.Fatalf("%q, %v", text, err)
			}
		}
		if _, err := io.ReadAll(&out); err != nil {
			t.Fatal(err)
		}
	})
}
