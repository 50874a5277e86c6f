package client

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// enter runs a command that ends at once.
func enter(t *testing.T, s *Shells, name string) call.Session {
	t.Helper()
	session, leave, refused := s.Enter(name)
	if refused != nil {
		t.Fatal(refused)
	}
	leave()
	return session
}

// A session is the same for each command that names it, and ends an hour after the last of them.
func TestShellSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended []string
		s := NewShells(func(id string) { ended = append(ended, id) })
		want := call.Session{ID: "cli/session:work", Client: "cli", Via: call.ViaSocket}
		if got := enter(t, s, "work"); got != want {
			t.Errorf("the session is %+v", got)
		}
		time.Sleep(shellIdle - time.Minute)
		_, leave, _ := s.Enter("work")
		time.Sleep(2 * shellIdle)
		if list := s.List(); len(list) != 1 || list[0].Commands != 1 || list[0].Ends != nil {
			t.Errorf("while a command runs there are %+v", list)
		}
		leave()
		time.Sleep(shellIdle - time.Minute)
		if len(ended) > 0 || s.List()[0].Ends == nil {
			t.Errorf("it ended early: %v", ended)
		}
		time.Sleep(2 * time.Minute)
		synctest.Wait()
		if !slices.Equal(ended, []string{"cli/session:work"}) || len(s.List()) > 0 {
			t.Errorf("ended: %v, there are %+v", ended, s.List())
		}
	})
}

// A session that was closed while a command runs is over for the next one; the end of the first changes nothing.
func TestShellClosedMeanwhile(t *testing.T) {
	ended := 0
	s := NewShells(func(string) { ended++ })
	_, leave, _ := s.Enter("work")
	if !s.Close("work") || s.Close("work") {
		t.Error("it is closed once")
	}
	_, again, _ := s.Enter("work")
	leave()
	if list := s.List(); ended != 1 || len(list) != 1 || list[0].Commands != 1 {
		t.Errorf("ended %d times, there are %+v", ended, list)
	}
	again()
}

// Terminals have sessions as the windows of one client do; their names say which process leads them.
func TestShellOfTerminal(t *testing.T) {
	s := NewShells(func(string) {})
	if got := enter(t, s, "terminal:4711.815"); got.ID != "cli/terminal:4711.815" {
		t.Errorf("the session is %+v", got)
	}
	if list := s.List(); list[0].Process != 4711 {
		t.Errorf("there are %+v", list)
	}
	for _, name := range []string{"", "two words", "terminal:", "terminal:x", "a/session:b", strings.Repeat("a", 65)} {
		if _, _, refused := s.Enter(name); refused == nil || refused.Code != fault.InvalidRequest {
			t.Errorf("%q: %v", name, refused)
		}
	}
}

// Of too many sessions, the one that nobody has used for longest ends; where a command runs in each, there is no other.
func TestTooManyShells(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var ended []string
		s := NewShells(func(id string) { ended = append(ended, id) })
		for i := range maxShells {
			enter(t, s, fmt.Sprintf("s%d", i))
			time.Sleep(time.Second)
		}
		enter(t, s, "s0")
		enter(t, s, "one-more")
		if !slices.Equal(ended, []string{"cli/session:s1"}) {
			t.Errorf("ended: %v", ended)
		}
		for _, one := range s.List() {
			_, leave, _ := s.Enter(one.Name)
			defer leave()
		}
		if _, _, refused := s.Enter("none"); refused == nil || refused.Code != fault.Overloaded || !refused.Retryable {
			t.Errorf("another one: %v", refused)
		}
	})
}
