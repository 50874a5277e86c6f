package join

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/random"
	"tabrelay/relay/state/config"
)

// maxClientMessage is the longest client message that the proxy parses; the relay refuses longer ones.
const maxClientMessage = 64 << 20

// parentPollInterval is how often a proxy checks that the program that started it is alive. Usually the end of its
// input says so first, but another process may hold the pipe open.
const parentPollInterval = 30 * time.Second

// errRelayStopped is why there is no relay after a person stopped it.
var errRelayStopped = errors.New("it was stopped with: tabrelay down")

// Proxy connects an MCP client that speaks over stdin and stdout to the relay of the home folder. It changes no byte in
// between, but remembers enough of the conversation to continue it with the next relay when one is lost.
type Proxy struct {
	Home                            config.Home
	Version, Client, Token, Toolset string
	Remote                          *Remote                              // the relay, where it is on another machine
	Start                           func(context.Context) (State, error) // starts a relay in the background
	In                              io.Reader
	Out                             io.Writer
	Log                             zerolog.Logger
	Disabled                        error       // why no relay may be used at all; nil: one may
	ParentExited                    func() bool // whether the program that started this one is gone; may be nil

	requests inFlight

	// Owned by Run.
	key          string
	starting     *start // the start of a relay that is under way; nil: none
	offline      minimalServer
	joinOnly     bool  // a relay that runs is used, and none is started
	hadHome      bool  // there was a home folder, which is not made anew for a client that outlives it
	relayStopped bool  // the relay sent ShutdownNotice
	heard        int64 // how many lines it had heard then
	successor    bool  // the relay sent SuccessorNotice, and the one it announced has not answered yet
	lost         bool  // the connection to a relay just ended, and nothing was answered without one yet
	replaced     bool  // a relay made room for another once: this proxy demands it no more

	// sending orders what goes to the relay; requests.mu may be locked while it is held, never the reverse.
	sending     lock.Mutex
	conn        net.Conn // nil while there is none
	lines       int64    // that were written to conn
	buffered    [][]byte // what the client sent meanwhile
	inputClosed bool
}

// Run forwards until the client closes its end and has its last reply, or says exit, or ctx is done. While no relay can
// be reached, the client is told why, in minimal mode. If there never was one, Run returns the reason.
func (p *Proxy) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	p.key = random.Hex(16)
	p.offline = minimalServer{name: "tabrelay", version: p.Version}
	next, cause := p.reconnect(ctx)
	wake := make(chan struct{}, 1)     // the client sent something, or closed its end
	go func() { p.readClient(wake) }() // ends with the process: nothing interrupts a read of stdin
	go p.watchParent(ctx, wake)
	for joined := false; ctx.Err() == nil; joined = true {
		if cause != nil {
			var err error
			if next, err = p.serveOffline(ctx, wake, cause); err != nil {
				return err
			}
			if next == nil && joined {
				return nil
			}
			if next == nil {
				return cause
			}
			if err := p.announceRecovery(); err != nil {
				return err
			}
		}
		err := p.forward(ctx, next)
		if err != nil || ctx.Err() != nil || p.isInputClosed() || p.requests.hasExited() {
			return err
		}
		p.offline.initialized, p.offline.hadRelay = p.requests.initialized(), true
		if cause = nil; p.relayStopped {
			p.relayStopped, cause = false, errRelayStopped
			continue
		}
		p.Log.Warn().Msg("the connection to the relay was lost; connecting to the next one")
		p.lost = true
		next, cause = p.reconnect(ctx)
	}
	return nil
}

// forward passes on what the relay sends until it closes the connection. An error is that of the client's end.
func (p *Proxy) forward(ctx context.Context, a *attachment) error {
	var replaying sync.WaitGroup
	replaying.Go(func() { p.replayTo(a) }) // concurrently: a relay that replies at once must find a reader
	stop := context.AfterFunc(ctx, func() { _ = a.conn.Close() })
	defer stop()
	err := p.forwardReplies(a.replies)
	_ = a.conn.Close() // the conversation on it is over
	replaying.Wait()
	p.sending.Lock()
	p.conn = nil
	if p.relayStopped {
		p.buffered = slices.Concat(p.requests.removeUnheard(p.heard), p.buffered)
	}
	p.sending.Unlock()
	return err
}

func (p *Proxy) forwardReplies(replies *bufio.Reader) error {
	for {
		text, err := readLine(replies, maxAttachLine)
		if err != nil {
			return nil // the relay is gone; an incomplete message is dropped
		}
		switch last, ok := readLastLine(text); {
		case !ok:
		case last.Farewell != nil:
			p.relayStopped, p.heard = true, last.Farewell.Heard
			return nil
		default:
			p.successor, p.replaced = true, true
			return nil
		}
		if !p.requests.recordReply(text) {
			continue
		}
		if err := p.print(text); err != nil {
			return err
		}
	}
}

// print writes one message to the client.
func (p *Proxy) print(text []byte) error {
	if text == nil {
		return nil
	}
	_, err := p.Out.Write(append(text[:len(text):len(text)], '\n'))
	if err == nil || errors.Is(err, ErrInvalidOutput) {
		return err
	}
	return fmt.Errorf("the client does not read any more: %w", err)
}

// readClient sends on what the client sends, or buffers it while there is no relay.
func (p *Proxy) readClient(wake chan<- struct{}) {
	in := bufio.NewReaderSize(p.In, 64<<10)
	if mark, err := in.Peek(3); err == nil && string(mark) == "\ufeff" { // from Windows shells (RFC 8259, section 8.1)
		_, _ = in.Discard(3)
	}
	for {
		text, err := readLine(in, maxClientMessage)
		if len(text) > 0 && (err == nil || errors.Is(err, io.EOF)) {
			p.send(text)
		} else if errors.Is(err, errTooLong) {
			err = p.sendOversized(text, in)
		}
		if err != nil {
			p.closeInput()
		}
		notify(wake)
		if err != nil {
			return
		}
	}
}

// notify wakes the receiver unless it was notified already.
func notify(wake chan<- struct{}) {
	select {
	case wake <- struct{}{}:
	default:
	}
}

func (p *Proxy) send(text []byte) {
	p.sending.Lock()
	defer p.sending.Unlock()
	if p.conn == nil {
		p.buffered = append(p.buffered, text)
		return
	}
	p.requests.recordSent(text, p.lines+1)
	p.write(text)
}

// write sends one line to the relay. A failure needs no handling here: the reading side sees the connection end, and
// what was lost is replayed to the next relay.
func (p *Proxy) write(text []byte) {
	p.lines++
	if _, err := p.conn.Write(append(text[:len(text):len(text)], '\n')); err != nil {
		p.Log.Debug().Err(err).Msg("cannot write to the relay")
	}
}

// sendOversized passes on a message too long to parse.
func (p *Proxy) sendOversized(begun []byte, in *bufio.Reader) error {
	p.sending.Lock()
	defer p.sending.Unlock()
	p.lines++
	for part, err := begun, error(nil); ; part, err = in.ReadSlice('\n') {
		if p.conn != nil {
			_, _ = p.conn.Write(part) // failures: see write
		}
		if err == nil && len(part) > 0 && part[len(part)-1] == '\n' {
			return nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// replayTo makes a's connection the one that client messages go to, after those that its relay has missed.
func (p *Proxy) replayTo(a *attachment) {
	p.sending.Lock()
	defer p.sending.Unlock()
	p.conn, p.lines = a.conn, 0
	for _, text := range a.replay {
		p.write(text)
	}
	for _, text := range p.buffered {
		p.requests.recordSent(text, p.lines+1)
		p.write(text)
	}
	p.buffered = nil
	if p.inputClosed {
		p.closeWrite()
	}
}

// closeInput tells the relay that the client sends no more: it answers what is in flight, then closes.
func (p *Proxy) closeInput() {
	p.sending.Lock()
	defer p.sending.Unlock()
	p.inputClosed = true
	p.closeWrite()
}

func (p *Proxy) closeWrite() {
	if half, ok := p.conn.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // the reading side sees a connection that broke
	}
}

func (p *Proxy) isInputClosed() bool {
	p.sending.Lock()
	defer p.sending.Unlock()
	return p.inputClosed
}

// ParentExited returns a function that reports whether this process has lost the parent it has now. On Windows a
// process keeps its parent's number for ever, so the answer there is always no.
func ParentExited() func() bool {
	parent := os.Getppid()
	return func() bool { return runtime.GOOS != "windows" && os.Getppid() != parent }
}

// watchParent closes the input when the client has exited.
func (p *Proxy) watchParent(ctx context.Context, wake chan<- struct{}) {
	if p.ParentExited == nil {
		return
	}
	ticker := time.NewTicker(parentPollInterval)
	defer ticker.Stop()
	for !p.ParentExited() {
		select {
		case <-ticker.C:
		case <-ctx.Done():
			return
		}
	}
	p.Log.Warn().Msg("the program that started tabrelay mcp is gone; it ends too")
	p.closeInput()
	notify(wake)
}
