package relay

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"tabrelay/relay/call"
	"tabrelay/relay/config"
	"tabrelay/relay/event"
	"tabrelay/relay/front"
	"tabrelay/relay/join"
	"tabrelay/relay/metrics"
)

// attach serves one shim on the socket, for as long as its client stays.
func (r *Relay) attach(conn net.Conn, in *bufio.Reader) {
	a, err := join.ReadAttach(in)
	if err != nil {
		r.Log.Debug().Err(err).Msg("a guest of the socket was not understood")
		r.tell(conn, join.AttachReply{Refused: &join.Refused{Code: "INVALID_REQUEST", Message: "The relay did not understand who attaches: " + err.Error(), Hint: "install the same version of tabrelay everywhere"}})
		return
	}
	client, refused := r.recognize(a)
	switch {
	case refused != nil:
		r.Log.Warn().Str("client", excerpt(a.Client)).Str("code", refused.Code).Msg("a client was refused")
		r.tell(conn, join.AttachReply{Refused: refused})
		return
	case newer(a.Version, Version):
		r.Log.Info().Str("version", a.Version).Msg("a newer tabrelay attaches; this relay makes room for it")
		r.tell(conn, join.AttachReply{Handover: &join.Handover{Version: Version}})
		r.Stop()
		return
	}
	if !r.tell(conn, join.AttachReply{Attached: &join.Attached{Version: Version, Client: client}}) {
		return
	}
	log := r.Log.With().Str("client", client).Logger()
	log.Info().Int("pending", len(a.Pending)).Msg("a client attached")
	defer r.clients.enter(client, "stdio")()
	if a.Token != "" {
		r.seen.note(client)
		defer r.passes.enter(a.Token, func() { _ = conn.Close() })() // the shim learns why when it comes back
	} else {
		defer r.passes.enterAs(client, func() { _ = conn.Close() })() // as above
	}
	session := call.Session{ID: session(a.Key), Client: client, Via: "stdio", Scope: r.scopeOf(client)}
	r.clientChanged(session, "attached")
	defer r.clientChanged(session, "left")
	defer r.sessionLeft(session.ID)
	err = r.front.ServeStdio(r.base, front.Attachment{
		Session: session, Key: a.Key, Toolset: a.Toolset, Pending: a.Pending,
	}, &guest{in: in, conn: conn, stop: r.stop, gone: r.base.Done(), dismissed: &r.dismissed}, answers{conn, &r.mute, r.meter})
	log.Info().AnErr("reason", err).Msg("a client left")
}

// clientChanged tells that a client came or went.
func (r *Relay) clientChanged(s call.Session, what string) {
	r.panels.Changed(event.TopicClients)
	r.events.Publish(event.Of(s), event.Session, fmt.Sprintf("The client %s %s", excerpt(s.Client), what), map[string]any{"via": s.Via, "change": what})
}

func (r *Relay) tell(conn net.Conn, a join.AttachReply) bool {
	if err := a.Write(conn); err != nil {
		r.Log.Debug().Err(err).Msg("a guest of the socket left without its answer")
		return false
	}
	return true
}

// recognize decides who attaches. A token names its client and must be known; without one the socket itself is
// proof enough, and the client is called what it calls itself.
func (r *Relay) recognize(a join.AttachRequest) (client string, refused *join.Refused) {
	if _, fail := r.front.Toolset(a.Toolset); fail != nil {
		return "", &join.Refused{Code: string(fail.Code), Message: fail.Message, Hint: "correct --toolset in the client's configuration"}
	}
	if a.Token == "" && config.Reserved(a.Client) {
		return "", &join.Refused{Code: "INVALID_REQUEST", Message: "A client cannot be called " + a.Client + ": that is what the relay calls the person", Hint: "choose another name after --client"}
	}
	if a.Token == "" {
		client = cmp.Or(excerpt(strings.TrimSpace(a.Client)), call.Unnamed)
		return client, r.impostor(client)
	}
	client, ok := r.secrets.Verify(a.Token)
	if !ok {
		return "", &join.Refused{
			Code: "UNAUTHORIZED", Message: "The token in TABRELAY_TOKEN is not known to the relay",
			Hint: "run: tabrelay connect " + cmp.Or(a.Client, "CLIENT"),
		}
	}
	return client, nil
}

// impostor says why an attachment without a token may not have a name: it is that of a client with a token.
func (r *Relay) impostor(client string) *join.Refused {
	if !r.nameTaken(client) {
		return nil
	}
	return &join.Refused{
		Code: "UNAUTHORIZED", Message: "The client " + client + " has a token, and this one attached without it", Hint: "run: tabrelay connect " + client + ", or set TABRELAY_TOKEN; a client of another name needs none",
	}
}

// nameTaken reports whether a name is that of a client with a token, however it is written.
func (r *Relay) nameTaken(client string) bool {
	known := r.secrets.Known()
	return known != nil && slices.ContainsFunc(*known, func(c config.Client) bool { return strings.EqualFold(c.Name, client) })
}

// guest is what a shim says. Once the relay was asked to stop, nothing more of it is heard: the shim will say it to
// the next relay, instead of being refused by this one.
type guest struct {
	in   io.Reader // with what was read ahead
	conn net.Conn
	stop <-chan struct{}
	gone <-chan struct{}

	dismissed *atomic.Bool
}

func (g *guest) Read(p []byte) (int, error) {
	n, err := g.in.Read(p)
	select {
	case <-g.stop:
		<-g.gone
		return 0, io.EOF
	default:
		return n, err
	}
}

// Close tells a shim whether it is to start the next relay by itself, and closes the connection.
func (g *guest) Close() error {
	if g.dismissed.Load() {
		_ = g.conn.SetWriteDeadline(time.Now().Add(farewellTime)) // a shim that does not read misses little
		_, _ = io.WriteString(g.conn, join.ShutdownNotice)        // as above
	}
	return g.conn.Close()
}

// answers is what a shim is told. Calls that the relay's own end cuts short have no answer here: the next relay, which
// can learn how they really ended, gives it.
type answers struct {
	conn  net.Conn
	mute  *atomic.Bool
	meter *metrics.Metrics
}

func (a answers) Write(p []byte) (int, error) {
	if a.mute.Load() {
		return 0, net.ErrClosed
	}
	if problem := join.InvalidMessage(p); problem != "" { // the shim will hold it back, and cannot count it here
		a.meter.Corruption("stdout")
	}
	return a.conn.Write(p)
}

// session names an attachment. The key itself stays between shim and front.
func session(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "stdio:" + hex.EncodeToString(sum[:8])
}

// newer reports whether version a comes after b. What is not a version comes before everything.
func newer(a, b string) bool {
	return slices.Compare(numbers(a), numbers(b)) > 0
}

func numbers(version string) []int {
	version, _, _ = strings.Cut(version, "-")
	var list []int
	for part := range strings.SplitSeq(version, ".") {
		n, err := strconv.Atoi(part)
		if err != nil {
			return nil
		}
		list = append(list, n)
	}
	return list
}

// clients counts who is attached.
type clients struct {
	mu    sync.Mutex
	count map[Attached]int
}

// Attached is a client with an open attachment.
type Attached struct {
	Client string `json:"client"`
	Via    string `json:"via"`
}

func (c *clients) enter(client, via string) (leave func()) {
	c.change(Attached{client, via}, +1)
	return func() { c.change(Attached{client, via}, -1) }
}

func (c *clients) change(who Attached, by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.count == nil {
		c.count = map[Attached]int{}
	}
	if c.count[who] += by; c.count[who] == 0 {
		delete(c.count, who)
	}
}

// list has an entry for every attachment, sorted by name.
func (c *clients) list() []Attached {
	c.mu.Lock()
	defer c.mu.Unlock()
	all := []Attached{}
	for who, n := range c.count {
		for range n {
			all = append(all, who)
		}
	}
	slices.SortFunc(all, func(a, b Attached) int { return strings.Compare(a.Client, b.Client) })
	return all
}
