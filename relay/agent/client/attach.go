package client

import (
	"bufio"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"
	"time"

	"tabrelay/relay/agent/front"
	"tabrelay/relay/agent/join"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
)

// Elsewhere is another machine from which a stdio proxy attaches.
type Elsewhere struct {
	Token   string // with which the proxy was let in
	Address string // host and port
}

// Attach serves one stdio proxy, for as long as its client stays. from is nil for one on the socket.
func (c *Clients) Attach(conn net.Conn, in *bufio.Reader, from *Elsewhere) {
	o := &c.options
	read := func() bool { return true }
	if from != nil {
		c.remote.Add(1)
		defer c.remote.Done()
		read = context.AfterFunc(o.Base, func() { _ = conn.Close() })
	}
	a, err := join.ReadAttach(in)
	read()
	if from != nil { // its program cannot start a relay here in the place of this one
		a.Token, a.Keep = from.Token, true
	}
	if err != nil {
		o.Log.Debug().Err(err).Msg("what came over the socket was not understood")
		c.reply(conn, join.AttachReply{Refused: &join.Refused{
			Code: "INVALID_REQUEST", Message: "The relay did not understand who attaches: " + err.Error(),
			Hint: "install the same version of tabrelay everywhere",
		}})
		return
	}
	session, refused := c.recognize(a)
	name := session.Client
	switch {
	case refused != nil:
		o.Log.Warn().Str("client", fault.Excerpt(a.Client)).Str("code", refused.Code).Msg("a client was refused")
		c.reply(conn, join.AttachReply{Refused: refused})
		return
	}
	accepted := &join.Attached{Version: o.Version, Client: name}
	if c.succeeds(a, session) {
		if accepted.Running = o.Calls.InFlight(); accepted.Running == 0 {
			o.Log.Info().Str("version", a.Version).Msg("a newer tabrelay attaches; this relay makes room for it")
			c.MakeRoom(a.Version)
			c.reply(conn, join.AttachReply{Handover: &join.Handover{Version: o.Version}})
			o.Stop()
			return
		}
		o.Log.Warn().Str("version", a.Version).Int("running", accepted.Running).
			Msg("a newer tabrelay attached; this relay keeps running until no call runs")
	}
	if !c.reply(conn, join.AttachReply{Attached: accepted}) {
		return
	}
	if accepted.Running > 0 {
		attached, left := context.WithCancel(o.Base)
		defer left()
		go c.succeedWhenIdle(attached, a.Version)
	}
	if from != nil {
		session.Remote, session.Machine = true, from.machine(a.Machine)
	}
	c.serve(conn, in, a, session, from)
}

// serve serves an attachment.
func (c *Clients) serve(conn net.Conn, in *bufio.Reader, a join.AttachRequest, session call.Session, from *Elsewhere) {
	o := &c.options
	log := o.Log.With().Str("client", session.Client).Logger()
	one := &connection{token: a.Token, name: session.Client, end: func() { _ = conn.Close() }}
	machine := session.Machine
	if from != nil {
		one.key, one.left = a.Key, make(chan struct{})
		log = log.With().Str("from", machine).Logger()
		c.endEarlier(session.Client, a.Key)
		defer close(one.left)
	}
	defer c.add(one)() // it learns why when it comes back
	log.Info().Int("pending", len(a.Pending)).Bool("bounded", session.Bounds != nil).Msg("a client attached")
	if session.Bounds == nil {
		defer c.come(session, a.Token != "", machine)()
	} else if !c.holds(a.Token) { // the session was closed meanwhile
		return
	}
	farewell := &c.farewell
	if c.succeeds(a, session) {
		farewell = &c.successorFarewell
	}
	end := &join.RelaySide{
		Conn: conn, In: in, Stopping: o.Stopping, Ended: o.Base.Done(), Silenced: &c.muted, Farewell: farewell,
		Invalid: func() { o.Meter.Corruption("stdout") },
	}
	err := o.Front.ServeStdio(o.Base, front.Attachment{Session: session, Key: a.Key, Toolset: a.Toolset,
		Pending: a.Pending},
		end, end)
	log.Info().AnErr("reason", err).Msg("a client left")
}

// endEarlier ends the attachment that a proxy elsewhere had before and has lost, which the network may not have told
// yet, and returns when it has: until then its calls and its session are the earlier one's.
func (c *Clients) endEarlier(client, key string) {
	c.mu.Lock()
	var earlier []*connection
	for one := range c.open {
		if one.key == key && one.name == client {
			earlier = append(earlier, one)
		}
	}
	c.mu.Unlock()
	for _, one := range earlier {
		one.end()
		<-one.left
	}
}

// machine is the other machine for a person to read: what it calls itself, which nothing proves, and its address.
func (e *Elsewhere) machine(called string) string {
	host, _, err := net.SplitHostPort(e.Address)
	if err != nil {
		host = e.Address
	}
	if called = fault.Excerpt(called); called == "" {
		return host
	}
	if ip := net.ParseIP(host); ip == nil || ip.IsLoopback() { // through SSH
		return called
	}
	return called + " (" + host + ")"
}

// come counts a client that attached, and tells of it, until left is called.
func (c *Clients) come(s call.Session, registered bool, from string) (left func()) {
	who := Attached{s.Client, s.Via, time.Now().UTC().Round(0), s.ID, from}
	c.count(who, +1)
	if registered {
		c.options.Seen.Note(s.Client)
	}
	c.tellCome(s, "attached")
	return func() {
		c.sessionLeft(s.ID)
		c.tellCome(s, "left")
		c.count(who, -1)
	}
}

// sessionLeft ends a session whose client left. When the relay ends, the client may go on with the next one.
func (c *Clients) sessionLeft(id string) {
	select {
	case <-c.options.Stopping:
	default:
		c.options.SessionEnded(id)
	}
}

// tellCome tells that a client came or went.
func (c *Clients) tellCome(s call.Session, what string) {
	c.options.Changed(event.TopicClients)
	c.options.Events.Publish(event.Of(s), event.Session, fmt.Sprintf("The client %s %s", fault.Excerpt(s.Client), what),
		map[string]any{"via": s.Via, "change": what})
}

func (c *Clients) reply(conn net.Conn, a join.AttachReply) bool {
	if err := a.Write(conn); err != nil {
		c.options.Log.Debug().Err(err).Msg("a stdio proxy left without its answer")
		return false
	}
	return true
}

// recognize decides who attaches. A token names its client and must be known; without one the socket itself is proof
// enough, and the client is called what it calls itself.
func (c *Clients) recognize(a join.AttachRequest) (s call.Session, refused *join.Refused) {
	if _, fail := c.options.Front.Toolset(a.Toolset); fail != nil {
		return s, &join.Refused{
			Code: string(fail.Code), Message: fail.Message, Hint: "correct --toolset in the client's configuration",
		}
	}
	if a.Token != "" {
		if s, ok := c.borrower(a.Token); ok {
			return s, nil
		}
		name, ok := c.options.Secrets.Verify(a.Token)
		if err := c.Expired(a.Token); err != nil {
			return s, &join.Refused{Code: "UNAUTHORIZED", Message: "The relay lets nobody in: " + err.Error(),
				Hint: fault.HintOf(err)}
		}
		if !ok {
			return s, &join.Refused{
				Code: "UNAUTHORIZED", Message: "The token in TABRELAY_TOKEN is not known to the relay",
				Hint: "run: tabrelay connect " + cmp.Or(a.Client, "CLIENT"),
			}
		}
		return c.attachedAs(a, name), nil
	}
	name, err := config.NameWithoutToken(a.Client)
	if err != nil {
		return s, &join.Refused{
			Code: "INVALID_REQUEST", Message: "The program cannot attach: " + fault.Sanitize(err.Error()),
			Hint: "choose another name after --client, or leave it out",
		}
	}
	if other, taken := c.nameTaken(name); taken {
		return s, &join.Refused{
			Code: "UNAUTHORIZED", Message: "The client " + other + " has a token, and this one, which attached as " +
				name + ", has none",
			Hint: "run: tabrelay connect " + other + ", or set TABRELAY_TOKEN; a client of another name needs none",
		}
	}
	return c.attachedAs(a, name), nil
}

// attachedAs is the session of an attachment.
func (c *Clients) attachedAs(a join.AttachRequest, name string) call.Session {
	one := c.knownAs(name)
	return call.Session{ID: sessionID(a.Key), Client: name, Via: call.ViaStdio, Scope: one.Scope, Remote: one.Remote}
}

// sessionID names an attachment. The key itself stays between proxy and front.
func sessionID(key string) string {
	sum := sha256.Sum256([]byte(key))
	return "stdio:" + hex.EncodeToString(sum[:8])
}

// newer reports whether version a comes after b. What is not a version comes before everything.
func newer(a, b string) bool { return slices.Compare(numbers(a), numbers(b)) > 0 }

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

// succeeds reports whether a relay of the program that attaches is to take this one's place: it is newer, and was not
// replaced itself. The agent of a bounded session would end with the relay.
func (c *Clients) succeeds(a join.AttachRequest, session call.Session) bool {
	return newer(a.Version, c.options.Version) && !a.Keep && session.Bounds == nil
}

// succeedWhenIdle ends the relay once no call runs, unless the newer program that is attached has left by then, which
// ends ctx. That program starts the next relay; the other stdio proxies wait for it.
func (c *Clients) succeedWhenIdle(ctx context.Context, version string) {
	select {
	case <-c.options.Calls.Idle():
	case <-ctx.Done():
		return
	}
	if ctx.Err() != nil || !c.succeeded.CompareAndSwap(false, true) {
		return
	}
	c.options.Log.Info().Str("version", version).Msg("no call runs any more; this relay makes room for a newer one")
	notice := join.SuccessorNotice(version)
	c.farewell.Store(&notice)
	c.options.Stop()
}
