package client

import (
	"crypto/sha256"
	"sync"

	"tabrelay/relay/lib/random"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/dispatch"
)

// tokenHash is what is kept of a token: finding one by it takes the same time whatever is tried.
type tokenHash [sha256.Size]byte

// Lend makes a token with which the program of an agent can reach the tools of its session, and nothing else:
// whatever comes with it is that session, whose Bounds are set. It is in memory only. Once it is revoked, what came
// with it has ended or is ending.
func (c *Clients) Lend(s call.Session) (token string, revoke func()) {
	token = random.Hex(32)
	hash := tokenHash(sha256.Sum256([]byte(token)))
	c.mu.Lock()
	c.lent[hash] = s
	c.mu.Unlock()
	return token, sync.OnceFunc(func() {
		same := func(other call.Session) bool { return other.Bounds == s.Bounds }
		c.recall(same)
		c.options.Calls.Interrupt(func(one dispatch.Running) bool { return same(one.Session) },
			"The session of the agent "+s.Bounds.Agent+" was closed, so its calls were ended")
		c.endStale()
		c.options.Front.EndSessions(same)
	})
}

// borrower is the session that a lent token stands for.
func (c *Clients) borrower(token string) (call.Session, bool) {
	hash := tokenHash(sha256.Sum256([]byte(token)))
	c.mu.Lock()
	defer c.mu.Unlock()
	s, ok := c.lent[hash]
	return s, ok
}

// holds reports whether a token is known.
func (c *Clients) holds(token string) bool {
	if _, ok := c.borrower(token); ok {
		return true
	}
	_, ok := c.options.Secrets.Verify(token)
	return ok
}

// recall revokes the tokens that were lent to sessions. What came with them is ended by endStale.
func (c *Clients) recall(which func(call.Session) bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for hash, s := range c.lent {
		if which(s) {
			delete(c.lent, hash)
		}
	}
}
