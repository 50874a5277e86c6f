//go:build unix

package resources

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/rs/zerolog"

	"tabrelay/relay/road/fault"
)

// script is a set whose scheme "own" is served by a shell script, and what it logs.
func script(t *testing.T, text string, change func(*Program)) (*Set, *bytes.Buffer) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "provider")
	if err := os.WriteFile(path, []byte("#!/bin/sh\n"+text), 0o700); err != nil {
		t.Fatal(err)
	}
	p := Program{Command: []string{path, "fixed"}}
	if change != nil {
		change(&p)
	}
	log := new(bytes.Buffer)
	return set(t, Options{Providers: map[string]Program{"own": p}, Log: zerolog.New(log)}), log
}

func TestProgramsGetTheAddressButNoSecrets(t *testing.T) {
	t.Setenv("TABRELAY_TOKEN", "secret")
	s, _ := script(t, `printf '%s|%s|%s' "$1" "$2" "$(env | grep -c -e TOKEN -e SECRET)"`, nil)
	contents, failure := read(t, s, "own://a/b?c=$(touch%20x)#d")
	if failure != nil || contents[0].Text != "fixed|own://a/b?c=$(touch%20x)#d|0" {
		t.Errorf("%+v, %v", contents, failure)
	}
	s, _ = script(t, `printf '\001\000'`, nil)
	if contents, _ := read(t, s, "own://a/picture.png"); len(contents[0].Blob) != 2 ||
		contents[0].MIMEType != "image/png" {
		t.Errorf("%+v", contents)
	}
}

func TestProgramsThatFail(t *testing.T) {
	unreadable := fault.ResourceUnreadable
	for name, test := range map[string]struct {
		text     string
		code     fault.Code
		kind     fault.Type
		location string
	}{
		"1": {"exit 1", unreadable, fault.TypeCLI, ""},
		"2": {"exit 2", unreadable, fault.TypePermissionDenied, ""},
		"3": {"exit 3", fault.ResourceNotFound, fault.TypeNotFound, ""},
		"4": {"exit 4", fault.InvalidParams, fault.TypeValidation, ""},
		"5": {"exit 5", unreadable, fault.TypeNetwork, ""},
		"6": {"exit 6", unreadable, fault.TypeOutputTooLarge, ""},
		"7": {"echo moved >&2; echo redirect:https://new.example/x >&2; exit 7", unreadable,
			fault.TypeRedirect, "https://new.example/x"},
		"7 bare": {"echo https://new.example/y >&2; exit 7", unreadable, fault.TypeRedirect,
			"https://new.example/y"},
		"7 without":       {"echo somewhere else >&2; exit 7", unreadable, fault.TypeRedirect, ""},
		"7 with password": {"echo https://u:p@new.example/ >&2; exit 7", unreadable, fault.TypeRedirect, ""},
		"126":             {"exit 126", unreadable, fault.TypeCLI, ""},
		"killed":          {"kill -9 $$", unreadable, fault.TypeCLI, ""},
		"much":            {"yes", unreadable, fault.TypeOutputTooLarge, ""},
		"output first":    {"echo partial; echo 'password: hunter2' >&2; exit 5", unreadable, fault.TypeNetwork, ""},
	} {
		t.Run(name, func(t *testing.T) {
			s, log := script(t, test.text, nil)
			failure := wantFault(t, s, "own://x", test.code, test.kind)
			if failure.Location != test.location {
				t.Errorf("moved to %q", failure.Location)
			}
			if strings.Contains(failure.Message+failure.Hint, "hunter2") {
				t.Error("the client is told what is for the log")
			}
			if strings.Contains(test.text, "hunter2") && !strings.Contains(log.String(), "hunter2") {
				t.Error("the log does not say what the program said")
			}
		})
	}
}

// A program whose time is over ends with everything it started.
func TestSlowPrograms(t *testing.T) {
	alive := filepath.Join(t.TempDir(), "alive")
	s, _ := script(t, `tail -f /dev/null >"`+alive+`" & wait`,
		func(p *Program) { p.TimeoutMs = new(int64(500)) })
	if err := syscall.Mkfifo(alive, 0o600); err != nil {
		t.Skip(err)
	}
	// does not wait for the child
	pipe, err := syscall.Open(alive, syscall.O_RDONLY|syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if err == nil {
		err = syscall.SetNonblock(pipe, false)
	}
	if err != nil {
		t.Fatal(err)
	}
	reader := os.NewFile(uintptr(pipe), alive)
	defer func() { _ = reader.Close() }()
	wantFault(t, s, "own://x", fault.ResourceUnreadable, fault.TypeTimeout)
	if _, err := io.ReadAll(reader); err != nil { // until no child has the other end, which none gives up by itself
		t.Error(err)
	}
}

func TestProgramsThatAreNotThere(t *testing.T) {
	s := set(t, Options{Providers: map[string]Program{"own": {Command: []string{"/no/such/program"}},
		"file": {Command: []string{"/bin/true"}}}})
	failure := wantFault(t, s, "own://x", fault.ResourceUnreadable, fault.TypeCLI)
	if strings.Contains(failure.Message+failure.Hint, "/no/such") {
		t.Errorf("the failure tells a path: %s", failure.Message)
	}
	if problems := s.Problems(); len(problems) != 1 || !strings.Contains(problems[0], "own") {
		t.Errorf("problems: %q", problems)
	}
	wantFault(t, s, "file:///etc/passwd", fault.ResourceUnreadable, fault.TypePermissionDenied) // not the program's
}
