package join

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"tabrelay/relay/lib/async"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/fault"
)

// maxAttachLine bounds the first line of an attachment, which contains the pending requests, and one message of the
// relay.
const maxAttachLine = 64 << 20

// AttachRequest is the first line that a proxy sends. The MCP conversation of one client follows it.
type AttachRequest struct {
	Key     string            `json:"key"` // 32 hexadecimal digits, the same for the life of the proxy
	Client  string            `json:"client,omitempty"`
	Token   string            `json:"token,omitempty"`
	Toolset string            `json:"toolset,omitempty"`
	Version string            `json:"version"`
	Machine string            `json:"machine,omitempty"` // of a proxy elsewhere: what its machine calls itself
	Keep    bool              `json:"keep,omitempty"`    // the relay need not make room for this newer version
	Pending []json.RawMessage `json:"pending,omitempty"` // tool calls that an earlier relay received and did not answer
}

// AttachReply is the relay's first line. Exactly one member is set.
type AttachReply struct {
	Attached *Attached `json:"attached,omitempty"`
	Refused  *Refused  `json:"refused,omitempty"`
	Handover *Handover `json:"handover,omitempty"`
}

// Attached says that the conversation may begin.
type Attached struct {
	Version string `json:"version"` // of the relay
	Client  string `json:"client"`  // as the relay knows the client
	// the calls that keep the relay, which is older than the proxy, from making room for a newer one
	Running int `json:"running,omitempty"`
}

// Handover says that the relay is older than the proxy and ends, so that a newer one can be started.
type Handover struct {
	Version string `json:"version"`
}

// Farewell makes the relay's last line. heard is how many lines of the proxy it has read after the first.
type Farewell func(heard int64) string

// ShutdownNotice is the relay's last line when a person stopped it. The proxy then starts no relay until the client
// sends a request that needs one, which those that this relay has not heard are.
func ShutdownNotice(heard int64) string { return fmt.Sprintf(`{"farewell":{"heard":%d}}`+"\n", heard) }

// SuccessorNotice is the relay's last line when one of another version takes its place. The proxy then waits for that
// relay, instead of starting one itself: its own program may be the replaced one.
func SuccessorNotice(version string) Farewell {
	line := `{"successor":{"version":` + string(rawjson.MustEncode(version)) + "}}\n"
	return func(int64) string { return line }
}

// lastLine is the relay's last line, read. One of its members is set.
type lastLine struct {
	Farewell  *struct{ Heard int64 } // a ShutdownNotice
	Successor *struct{}              // a SuccessorNotice
}

// readLastLine reads a line that may be the relay's last one. MCP messages begin with another member.
func readLastLine(line []byte) (last lastLine, ok bool) {
	if !bytes.HasPrefix(line, []byte(`{"farewell":`)) && !bytes.HasPrefix(line, []byte(`{"successor":`)) {
		return last, false
	}
	err := json.Unmarshal(line, &last)
	return last, err == nil && (last.Farewell != nil) != (last.Successor != nil)
}

// successorTime is how long a proxy waits for a relay of another version that was announced, once the one before it has
// ended.
const successorTime = 3 * time.Second

// Refused says why an attachment cannot be served, and what to do. It is an error.
type Refused struct {
	Code    string `json:"code"`
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Error is the message of the refusal.
func (r *Refused) Error() string { return r.Message }

// errTooLong is the error for a line beyond the limit.
var errTooLong = errors.New("the line is too long")

// ReadAttach reads the first line of an attachment.
func ReadAttach(r *bufio.Reader) (a AttachRequest, err error) {
	line, err := readLine(r, maxAttachLine)
	if err != nil {
		return a, fmt.Errorf("cannot read who attaches: %w", err)
	}
	var first struct {
		Attach *AttachRequest `json:"attach"`
	}
	if err := json.Unmarshal(line, &first); err != nil {
		return a, fmt.Errorf("the first line is not JSON: %w", err)
	}
	if first.Attach == nil || len(first.Attach.Key) != 32 || strings.Trim(first.Attach.Key, "0123456789abcdef") != "" {
		return a, errors.New("the first line has no attach.key of 32 hexadecimal digits")
	}
	return *first.Attach, nil
}

// write sends the line. Requests travel as the exact text the client sent, because they are recognized by it.
func (a AttachRequest) write(w io.Writer) error {
	return writeJSONLine(w, map[string]AttachRequest{"attach": a})
}

// Write sends the relay's first line.
func (a AttachReply) Write(w io.Writer) error { return writeJSONLine(w, a) }

func readAttachReply(r *bufio.Reader) (a AttachReply, err error) {
	line, err := readLine(r, 64<<10)
	if err != nil {
		return a, fmt.Errorf("the relay did not answer: %w", err)
	}
	if err := json.Unmarshal(line, &a); err != nil {
		return a, fmt.Errorf("the relay's answer is not JSON: %w", err)
	}
	return a, nil
}

func writeJSONLine(w io.Writer, v any) error {
	line, err := rawjson.Encode(v)
	if err == nil {
		_, err = w.Write(append(line, '\n'))
	}
	return err
}

// readLine reads up to and without the line feed. At the end of input it returns what is left with io.EOF. A line
// beyond the limit is returned as far as it was read, with errTooLong.
func readLine(r *bufio.Reader, limit int) ([]byte, error) {
	var line []byte
	for {
		part, err := r.ReadSlice('\n')
		line = append(line, part...)
		switch {
		case err == nil:
			return line[:len(line)-1], nil
		case !errors.Is(err, bufio.ErrBufferFull):
			return line, err
		case len(line) > limit:
			return line, errTooLong
		}
	}
}

// RelaySide is the relay's end of an attachment, as the io.ReadWriteCloser on which MCP is served.
type RelaySide struct {
	Conn     net.Conn
	In       io.Reader                 // what comes over Conn, with what was read ahead
	Stopping <-chan struct{}           // closed when the relay was asked to stop
	Ended    <-chan struct{}           // closed when it has ended all attachments
	Silenced *atomic.Bool              // writes fail from now on
	Farewell *atomic.Pointer[Farewell] // makes the last line; nil: none is sent, and the proxy starts the next relay
	Invalid  func()                    // called for a message that the proxy will drop because it is invalid

	heard atomic.Int64 // lines of the proxy
}

// farewellTime is how long telling a proxy that the relay stops may take.
const farewellTime = 200 * time.Millisecond

// Read reads from the proxy and counts its lines. Once the relay is stopping, it returns io.EOF without counting what
// it read: the proxy sends these lines to the next relay, instead of having them refused by this one.
func (e *RelaySide) Read(b []byte) (int, error) {
	n, err := e.In.Read(b)
	select {
	case <-e.Stopping:
		<-e.Ended
		return 0, io.EOF
	default:
		e.heard.Add(int64(bytes.Count(b[:n], []byte{'\n'})))
		return n, err
	}
}

// Write writes to the proxy. Calls that are cut short because the relay stops get no answer here: the next relay can
// learn how they really ended, and answers them.
func (e *RelaySide) Write(b []byte) (int, error) {
	if e.Silenced.Load() {
		return 0, net.ErrClosed
	}
	if InvalidMessage(b) != "" {
		e.Invalid()
	}
	return e.Conn.Write(b)
}

// Close tells a proxy what to do about the next relay, and closes the connection.
func (e *RelaySide) Close() error {
	if farewell := e.Farewell.Load(); farewell != nil {
		_ = e.Conn.SetWriteDeadline(time.Now().Add(farewellTime))  // a proxy that does not read misses little
		_, _ = io.WriteString(e.Conn, (*farewell)(e.heard.Load())) // as above
	}
	return e.Conn.Close()
}

// attachment is one connection of a proxy to one relay.
type attachment struct {
	conn    net.Conn
	replies *bufio.Reader
	replay  [][]byte // what the relay has to be sent before anything new
}

// reconnect attaches to the relay, starting one if necessary.
func (p *Proxy) reconnect(ctx context.Context) (*attachment, error) {
	if p.Disabled != nil {
		return nil, p.Disabled
	}
	patience, again := StartTimeout, true
	if p.Remote != nil { // only what is lost is waited for: without a relay the client is answered at once
		patience, again = remoteTime, p.lost
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		calls, replay := p.requests.replay()
		request := AttachRequest{
			Key: p.key, Client: p.Client, Token: p.Token, Toolset: p.Toolset, Version: p.Version, Keep: p.replaced,
			Pending: calls,
		}
		pause := pollInterval
		if p.Remote != nil { // which has sent the token
			request.Client, request.Token, pause = "", "", remotePollInterval
			request.Machine, _ = os.Hostname() // it is then known by its address
		}
		a, err := p.attach(ctx, request)
		if err == nil {
			a.replay = replay
			return a, nil
		}
		var refused *Refused
		var unable *cannotStart
		if errors.As(err, &refused) || errors.As(err, &unable) || !again || !async.Sleep(ctx, pause) {
			return nil, err
		}
	}
}

// attach connects to the relay and sends the request.
func (p *Proxy) attach(ctx context.Context, request AttachRequest) (*attachment, error) {
	conn, err := p.connect(ctx)
	if err != nil {
		return nil, err
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	replies := bufio.NewReaderSize(conn, 64<<10)
	var reply AttachReply
	if err = request.write(conn); err == nil {
		reply, err = readAttachReply(replies)
	}
	if !stop() {
		err = errors.Join(err, ctx.Err())
	}
	switch {
	case err != nil:
	case reply.Refused != nil:
		err = reply.Refused
	case reply.Handover != nil:
		p.replaced = true // once: the file of this program may be that of the older version by now
		p.Log.Info().Str("relay", reply.Handover.Version).Msg("an older relay ends for a newer one")
		AwaitLockFree(ctx, p.Home)
		err = errors.New("the older relay has not ended yet")
	case reply.Attached == nil:
		err = errors.New("this version of tabrelay does not understand the relay's answer")
	}
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	p.successor = false // until then it may have been the relay that ends
	if n := reply.Attached.Running; n > 0 {
		p.Log.Warn().Str("relay", reply.Attached.Version).Str("program", p.Version).Int("running", n).
			Msg("the relay is older than this program, and keeps running because calls are running; once they " +
				"have ended, " +
				"a relay of this program takes its place")
	}
	return &attachment{conn: conn, replies: replies}, nil
}

// connect opens the socket of the relay, which it starts if none answers.
func (p *Proxy) connect(ctx context.Context) (net.Conn, error) {
	if p.Remote != nil {
		return p.Remote.Dial(ctx)
	}
	conn, err := Dial(ctx, p.Home)
	if err != nil && p.successor {
		conn, err = p.awaitSuccessor(ctx)
	}
	if err != nil && p.joinOnly {
		return nil, &cannotStart{errNoneRuns}
	}
	if err != nil {
		if err = p.checkHome(); err == nil {
			err = p.awaitStart(ctx)
		}
		if err != nil {
			return nil, &cannotStart{err}
		}
		if conn, err = Dial(ctx, p.Home); err != nil {
			return nil, fmt.Errorf("the relay started, but does not answer: %w", err)
		}
	}
	p.hadHome = true
	p.starting = nil // the result of a start no longer matters
	return conn, nil
}

// errNoneRuns is why there is no relay where none is to be started.
var errNoneRuns = errors.New("no relay runs")

// checkHome refuses to make a home folder anew that was there before: the person has removed it.
func (p *Proxy) checkHome() error {
	if p.Home.Exists() {
		p.hadHome = true
	} else if p.hadHome {
		return fault.Hinted(errors.New("tabrelay was uninstalled, or its home folder was moved"),
			"ask the person whether they still want it; tabrelay up brings it back")
	}
	return nil
}

// awaitSuccessor waits for the relay that was announced. The error is that it has not come. While somebody holds the
// lock, which is the relay that ends or the next one, that time does not count.
func (p *Proxy) awaitSuccessor(ctx context.Context) (conn net.Conn, err error) {
	for left := successorTime; left > 0; {
		if conn, err = Dial(ctx, p.Home); err == nil {
			return conn, nil
		}
		if !async.Sleep(ctx, pollInterval) {
			return nil, err
		}
		if LockFree(p.Home) {
			left -= pollInterval
		}
	}
	p.successor = false
	return nil, err
}

// cannotStart is why no relay starts: trying again at once would not help.
type cannotStart struct{ error }

func (c *cannotStart) Unwrap() error { return c.error }

// start is one start of a relay. On a busy machine it takes longer than a client waits, so it goes on in the
// background.
type start struct {
	done chan struct{}
	err  error // read after done
}

// errStarting is why there is no relay while one starts.
var errStarting error = &StartError{
	Text: "error: the relay is still starting\n" +
		"hint: wait for it; if that takes minutes, ask the person to run: tabrelay doctor",
}

// awaitStart starts a relay, unless a start is under way, and waits for the result as long as ctx lives. The start
// itself is never cancelled, not even when the client leaves: the next client finds a relay that runs, or is nearer to
// it.
func (p *Proxy) awaitStart(ctx context.Context) error {
	if p.starting == nil {
		one := &start{done: make(chan struct{})}
		p.starting = one
		go func() {
			defer close(one.done)
			_, one.err = p.Start(context.WithoutCancel(ctx))
		}()
	}
	select {
	case <-p.starting.done:
		err := p.starting.err
		p.starting = nil
		return err
	case <-ctx.Done():
		return errStarting
	}
}

// startDone is closed when the start that is under way has ended; nil when none is.
func (p *Proxy) startDone() <-chan struct{} {
	if p.starting == nil {
		return nil
	}
	return p.starting.done
}
