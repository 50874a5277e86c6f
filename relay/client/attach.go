package client

import (
	"bufio"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"net"
	"slices"
	"strconv"
	"strings"

	"tabrelay/relay/call"
	"tabrelay/relay/config"
	"tabrelay/relay/event"
	"tabrelay/relay/fault"
	"tabrelay/relay/front"
	"tabrelay/relay/join"
)

// Attach serves one stdio proxy on the socket, for as long as its client stays.
func (c *Clients) Attach(conn net.Conn, in *bufio.Reader) {
	o := &c.options
	a, err := join.ReadAttach(in)
	if err != nil {
		o.Log.Debug().Err(err).Msg("what came over the socket was not understood")
		c.reply(conn, join.AttachReply{Refused: &join.Refused{
			Code: "INVALID_REQUEST", Message: "The relay did not understand who attaches: " + err.Error(),
			Hint: "install the same version of tabrelay everywhere",
		}})
		return
	}
	name, refused := c.recognize(a)
	switch {
	case refused != nil:
		o.Log.Warn().Str("client", fault.Excerpt(a.Client)).Str("code", refused.Code).Msg("a client was refused")
		c.reply(conn, join.AttachReply{Refused: refused})
		return
	case newer(a.Version, o.Version):
		o.Log.Info().Str("version", a.Version).Msg("a newer tabrelay attaches; this relay makes room for it")
		c.reply(conn, join.AttachReply{Handover: &join.Handover{Version: o.Version}})
		o.Stop()
		return
	}
	if !c.reply(conn, join.AttachReply{Attached: &join.Attached{Version: o.Version, Client: name}}) {
		return
	}
	c.serve(conn, in, a, name)
}

// serve serves an attachment.
func (c *Clients) serve(conn net.Conn, in *bufio.Reader, a join.AttachRequest, name string) {
	o := &c.options
	log := o.Log.With().Str("client", name).Logger()
	log.Info().Int("pending", len(a.Pending)).Msg("a client attached")
	who := Attached{name, "stdio"}
	c.count(who, +1)
	defer c.count(who, -1)
	one := &connection{token: a.Token, name: name, end: func() { _ = conn.Close() }} // it learns why when it comes back
	defer c.add(one)()
	if a.Token != "" {
		o.Seen.Note(name)
	}
	session := call.Session{ID: sessionID(a.Key), Client: name, Via: "stdio", Scope: c.scopeOf(name)}
	c.tellCome(session, "attached")
	defer c.tellCome(session, "left")
	defer c.sessionLeft(session.ID)
	end := &join.RelayEnd{
		Conn: conn, In: in, Stopping: o.Stopping, Over: o.Base.Done(), Muted: &c.muted, Dismissed: &c.dismissed,
		Invalid: func() { o.Meter.Corruption("stdout") },
	}
	err := o.Front.ServeStdio(o.Base, front.Attachment{Session: session, Key: a.Key, Toolset: a.Toolset,
		Pending: a.Pending},
		end, end)
	log.Info().AnErr("reason", err).Msg("a client left")
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
func (c *Clients) recognize(a join.AttachRequest) (name string, refused *join.Refused) {
	if _, fail := c.options.Front.Toolset(a.Toolset); fail != nil {
		return "", &join.Refused{
			Code: string(fail.Code), Message: fail.Message, Hint: "correct --toolset in the client's configuration",
		}
	}
	if a.Token != "" {
		name, ok := c.options.Secrets.Verify(a.Token)
		if !ok {
			return "", &join.Refused{
				Code: "UNAUTHORIZED", Message: "The token in TABRELAY_TOKEN is not known to the relay",
				Hint: "run: tabrelay connect " + cmp.Or(a.Client, "CLIENT"),
			}
		}
		return name, nil
	}
	if config.Reserved(a.Client) {
		return "", &join.Refused{
			Code: "INVALID_REQUEST", Message: "A client cannot be called " + a.Client +
				": that is what the relay calls the person",
			Hint: "choose another name after --client",
		}
	}
	name = cmp.Or(fault.Excerpt(strings.TrimSpace(a.Client)), call.Unnamed)
	if c.nameTaken(name) {
		return "", &join.Refused{
			Code: "UNAUTHORIZED", Message: "The client " + name + " has a token, and this one attached without it",
			Hint: "run: tabrelay connect " + name + ", or set TABRELAY_TOKEN; a client of another name needs none",
		}
	}
	return name, nil
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
