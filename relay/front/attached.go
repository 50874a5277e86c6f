package front

// EndSessions ends the HTTP sessions of a client, and with them what it listens to.
func (f *Front) EndSessions(client string) {
	f.sessions.mu.Lock()
	var ended []*httpSession
	for _, s := range f.sessions.byID {
		if s.owner.Client == client {
			ended = append(ended, s)
		}
	}
	f.sessions.mu.Unlock()
	for _, s := range ended {
		f.endSession(s)
	}
}

// Sessions counts the HTTP sessions of the legacy era that are open, by client. The modern era has none.
func (f *Front) Sessions() map[string]int {
	f.sessions.mu.Lock()
	defer f.sessions.mu.Unlock()
	count := map[string]int{}
	for _, s := range f.sessions.byID {
		count[s.owner.Client]++
	}
	return count
}
