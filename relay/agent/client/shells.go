package client

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
)

const (
	// shellIdle is how long a shell's session lives without a command.
	shellIdle = time.Hour
	// maxShells bounds what terminals of one client leave behind that were closed within an hour.
	maxShells = 100
)

// TerminalSession begins the name of a terminal's session. What follows is the process that leads it and, where the
// system tells, when that began: process ids are used again.
const TerminalSession = "terminal:"

var terminal = lazyregexp.New(`^` + TerminalSession + `([0-9]{1,10})(\.[0-9]{1,20})?$`)

// Shells are the sessions that commands of one client share: those of one terminal, or those that were given the same
// name. A session begins with its first command. Its methods may be called concurrently.
type Shells struct {
	ended func(sessionID string)

	mu lock.Mutex
	by map[string]*shell // by name
}

// Shell is a session of commands.
type Shell struct {
	Name     string     `json:"name"` // of a client with a token CLIENT/NAME
	Client   string     `json:"client"`
	Process  int        `json:"process,omitempty"` // that leads the session of the terminal; none: it was given a name
	Since    time.Time  `json:"since"`
	Commands int        `json:"commands"`       // that run
	Ends     *time.Time `json:"ends,omitempty"` // when no command comes before that; none while one runs
}

type shell struct {
	Shell
	id     string // of the session
	expiry *time.Timer
}

// NewShells has ended hear of each session that has ended.
func NewShells(ended func(sessionID string)) *Shells {
	return &Shells{ended: ended, by: map[string]*shell{}}
}

// Enter begins a command that a client sends in its session with a name, until leave.
func (s *Shells) Enter(by call.Session, name string) (session call.Session, leave func(), refused *fault.Error) {
	of := terminal.FindStringSubmatch(name)
	if of == nil && !call.SessionName.MatchString(name) {
		return session, nil, fault.New(fault.InvalidRequest, "The session "+fault.Excerpt(name)+" is not a name of 1 "+
			"to 64 letters, digits, ., _ or -")
	}
	session = by
	session.ID = shellID(by.ID, name)
	if by.Client != config.LocalClient {
		name = by.Client + "/" + name
	}
	s.mu.Lock()
	one, oldest := s.by[name], ""
	if one == nil {
		if count, idle := s.of(by.Client); count >= maxShells {
			if oldest = idle; oldest == "" {
				s.mu.Unlock()
				return session, nil, fault.New(fault.Overloaded, "Commands run in "+strconv.Itoa(maxShells)+
					" sessions, and there are no more", fault.WithRetryAfter(time.Second))
			}
		}
		one = &shell{Shell: Shell{Name: name, Client: by.Client, Since: now()}, id: session.ID}
		if of != nil {
			one.Process, _ = strconv.Atoi(of[1])
		}
		s.by[name] = one
	}
	one.Commands++
	one.Ends = nil
	if one.expiry != nil {
		one.expiry.Stop()
	}
	s.mu.Unlock()
	if oldest != "" {
		s.Close(oldest)
	}
	return session, func() { s.leave(one) }, nil
}

// shellID is the id of a session inside that of a client. Terminals share tabs like the windows of one client. A
// session that was given a name does not: call.NamedSession in its id keeps it apart.
func shellID(of, name string) string {
	if strings.HasPrefix(name, TerminalSession) {
		return of + "/" + name
	}
	return of + call.NamedSession + name
}

func now() time.Time { return time.Now().UTC().Round(0) }

// of counts the sessions of a client, and names the one that no command has used for longest; empty: one runs in each.
// Called with the lock held.
func (s *Shells) of(client string) (count int, idle string) {
	var ends time.Time
	for _, one := range s.by {
		if one.Client != client {
			continue
		}
		count++
		if one.Ends != nil && (idle == "" || one.Ends.Before(ends)) {
			idle, ends = one.Name, *one.Ends
		}
	}
	return count, idle
}

func (s *Shells) leave(one *shell) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if one.Commands--; one.Commands > 0 || s.by[one.Name] != one {
		return
	}
	ends := now().Add(shellIdle)
	one.Ends = &ends
	if one.expiry != nil {
		one.expiry.Reset(shellIdle)
		return
	}
	one.expiry = time.AfterFunc(shellIdle, func() {
		// a command may have come while the timer was about to run
		s.end(one.Name, func(now *shell) bool { return now == one && one.Commands == 0 })
	})
}

// Close ends a session and returns its id, where there was one. What runs in it goes on, and its next command begins
// another.
func (s *Shells) Close(name string) (id string, ok bool) {
	return s.end(name, func(*shell) bool { return true })
}

func (s *Shells) end(name string, which func(*shell) bool) (id string, ok bool) {
	s.mu.Lock()
	one := s.by[name]
	if one == nil || !which(one) {
		s.mu.Unlock()
		return "", false
	}
	if one.expiry != nil {
		one.expiry.Stop()
	}
	delete(s.by, name)
	s.mu.Unlock()
	s.ended(one.id)
	return one.id, true
}

// List lists the sessions by name.
func (s *Shells) List() []Shell {
	s.mu.Lock()
	defer s.mu.Unlock()
	list := make([]Shell, 0, len(s.by))
	for _, one := range s.by {
		list = append(list, one.Shell)
	}
	slices.SortFunc(list, func(a, b Shell) int { return cmp.Compare(a.Name, b.Name) })
	return list
}
