package relay

import "sync"

// signIns remembers where a web app asked to sign in at the last call of its plugin.
type signIns struct {
	mu   sync.Mutex
	out  map[place]struct{}
	tell func() // that something is different; nil: nobody wants to know
}

// place is a plugin in a browser profile.
type place struct{ plugin, profileID string }

// note hears how the last call of a plugin in a profile ended: it was asked to sign in, or it worked.
func (s *signIns) note(plugin, profileID string, out bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	at := place{plugin, profileID}
	if _, was := s.out[at]; was == out {
		return
	}
	if s.out == nil {
		s.out = map[place]struct{}{}
	}
	if out {
		s.out[at] = struct{}{}
	} else {
		delete(s.out, at)
	}
	if s.tell != nil {
		s.tell()
	}
}

// signedOut reports whether a plugin's web app wants the person to sign in, in a profile; an empty one means any.
func (s *signIns) signedOut(plugin, profileID string) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	for at := range s.out {
		if at.plugin == plugin && (profileID == "" || at.profileID == profileID) {
			return true
		}
	}
	return false
}
