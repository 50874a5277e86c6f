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

// Who sends commands.
var (
	person = call.Session{ID: "cli", Client: "cli", Via: call.ViaSocket}
	web    = call.Session{ID: "http:web", Client: "web", Via: call.ViaHTTP, Scope: call.Scope{ReadOnly: true}}
)

// enter runs a command of the person that ends at once.
func enter(t *testing.T, s *Shells, name string) call.Session { return enterAs(t, s, person, name) }

func enterAs(t *testing.T, s *Shells, by call.Session, name string) call.Session {
	t.Helper()
	session, leave, refused := s.Enter(by, name)
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
		_, leave, _ := s.Enter(person, "work")
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
	_, leave, _ := s.Enter(person, "work")
	_, first := s.Close("work")
	if _, second := s.Close("work"); !first || second {
		t.Error("it is closed once")
	}
	_, again, _ := s.Enter(person, "work")
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
		if _, _, refused := s.Enter(person, name); refused == nil || refused.Code != fault.InvalidRequest {
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
		enterAs(t, s, web, "one-more") // no client takes the place of another
		if len(ended) != 1 || len(s.List()) != maxShells+1 {
			t.Errorf("ended: %v, there are %d", ended, len(s.List()))
		}
		if id, ok := s.Close("web/one-more"); !ok || id != "http:web/session:one-more" {
			t.Errorf("closed %q, %t", id, ok)
		}
		for _, one := range s.List() {
			_, leave, _ := s.Enter(person, one.Name)
			defer leave()
		}
		_, _, refused := s.Enter(person, "none")
		if refused == nil || refused.Code != fault.Overloaded || !refused.Retryable {
			t.Errorf("another one: %v", refused)
		}
	})
}

// The sessions of a client with a token are its own, whatever they are called, and it is bounded in them as ever.
func TestShellsOfAClient(t *testing.T) {
	s := NewShells(func(string) {})
	enter(t, s, "work")
	want := web
	want.ID = "http:web/session:work"
	if got := enterAs(t, s, web, "work"); got != want {
		t.Errorf("the session is %+v", got)
	}
	if got := enterAs(t, s, web, "terminal:4711").ID; got != "http:web/terminal:4711" {
		t.Errorf("in a terminal it is %s", got)
	}
	if _, _, refused := s.Enter(web, "cli/work"); refused == nil {
		t.Error("the name of another client's is taken")
	}
	var names []string
	for _, one := range s.List() {
		names = append(names, one.Client+" "+one.Name)
	}
	if !slices.Equal(names, []string{"web web/terminal:4711", "web web/work", "cli work"}) {
		t.Errorf("there are %q", names)
	}
}
