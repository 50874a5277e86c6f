package front

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
