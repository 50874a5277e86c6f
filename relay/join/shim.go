package join

import (
	"bufio"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"net"
	"sync"

	"github.com/rs/zerolog"

	"tabrelay/relay/config"
)

// maxTracked is the longest client message the shim looks into; the relay refuses longer ones anyway.
const maxTracked = 64 << 20

// Shim connects an MCP client that speaks over stdin and stdout to the relay of the home folder. Between the two
// it is a pipe: it changes no byte, but remembers enough to go on with another relay when one is lost.
type Shim struct {
	Home                            config.Home
	Version, Client, Token, Toolset string
	Start                           func(context.Context) (State, error) // a relay in the background
	In                              io.Reader
	Out                             io.Writer
	Log                             zerolog.Logger
	Without                         error       // why there can be no relay at all; nil: there can
	Orphaned                        func() bool // whether the program that started this one is gone; may be nil

	key       string
	starting  *start // the start of a relay that nobody has heard the end of; nil: none; belongs to Run
	ledger    ledger
	minimal   minimal
	dismissed bool // the relay said farewell; belongs to Run

	// sending orders what goes to the relay; ledger.mu may be taken while it is held, never the reverse.
	sending sync.Mutex
	link    net.Conn // nil while there is none
	held    [][]byte // what the client sent meanwhile
	ended   bool     // the client closed its end
}

// Run pipes until the client closes its end and has its last answer, or says exit, or ctx is done. While no relay can be had the
// client is told why, in minimal mode. When there never was one, the reason is the error in the end.
func (s *Shim) Run(ctx context.Context) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	s.key = newKey()
	s.minimal = minimal{name: "tabrelay", version: s.Version}
	next, cause := s.rejoin(ctx)
	more := make(chan struct{}, 1) // the client sent something, or its end
	go func() { s.listen(more) }() // ends with the process: nothing interrupts a read of stdin
	go s.watchParent(ctx, more)
	for joined := false; ctx.Err() == nil; joined = true {
		if cause != nil {
			var err error
			if next, err = s.outage(ctx, more, cause); err != nil {
				return err
			}
			if next == nil && joined {
				return nil
			}
			if next == nil {
				return cause
			}
			if err := s.recovered(); err != nil {
				return err
			}
		}
		err := s.converse(ctx, next)
		if err != nil || ctx.Err() != nil || s.finished() || s.ledger.gone() {
			return err
		}
		s.minimal.opened, s.minimal.served = s.ledger.initialized(), true
		if cause = nil; s.dismissed {
			s.dismissed, cause = false, errStopped
			continue
		}
		s.Log.Warn().Msg("the relay is gone; joining the next one")
		next, cause = s.rejoin(ctx)
	}
	return nil
}

// errStopped is why there is no relay after a person stopped it.
var errStopped = errors.New("it was stopped with: tabrelay down")

// attachment is one link to one relay.
type attachment struct {
	link    net.Conn
	answers *bufio.Reader
	lines   [][]byte // what the relay has to be told before anything new
}

// converse passes on what the relay says until it says no more. An error is that of the client's end.
func (s *Shim) converse(ctx context.Context, a *attachment) error {
	var telling sync.WaitGroup
	telling.Go(func() { s.resume(a) }) // aside: a relay that answers at once must find a reader
	stop := context.AfterFunc(ctx, func() { _ = a.link.Close() })
	defer stop()
	err := s.answer(a.answers)
	_ = a.link.Close() // it has ended already, or the client has
	telling.Wait()
	s.sending.Lock()
	s.link = nil
	s.sending.Unlock()
	return err
}

func (s *Shim) answer(answers *bufio.Reader) error {
	for {
		text, err := readLine(answers, maxAttach)
		if err != nil {
			return nil // the relay is gone; half a message is worth nothing
		}
		if len(text) < len(Farewell) && string(text)+"\n" == Farewell {
			s.dismissed = true
			return nil
		}
		if !s.ledger.answered(text) {
			continue
		}
		if err := s.print(text); err != nil {
			return err
		}
	}
}

// listen passes on what the client says, or holds it while there is no relay.
func (s *Shim) listen(more chan<- struct{}) {
	in := bufio.NewReaderSize(s.In, 64<<10)
	if mark, err := in.Peek(3); err == nil && string(mark) == "\ufeff" { // Windows shells begin with it (RFC 8259, section 8.1)
		_, _ = in.Discard(3)
	}
	for {
		text, err := readLine(in, maxTracked)
		if len(text) > 0 && (err == nil || errors.Is(err, io.EOF)) {
			s.send(text)
		} else if errors.Is(err, errTooLong) {
			err = s.sendUntracked(text, in)
		}
		if err != nil {
			s.end()
		}
		select {
		case more <- struct{}{}:
		default:
		}
		if err != nil {
			return
		}
	}
}

func (s *Shim) send(text []byte) {
	s.sending.Lock()
	defer s.sending.Unlock()
	if s.link == nil {
		s.held = append(s.held, text)
		return
	}
	s.ledger.sent(text)
	s.put(text)
}

// put writes one line. A failure needs no answer here: the reading side sees the end of the link, and the next
// relay is told again.
func (s *Shim) put(text []byte) {
	if _, err := s.link.Write(append(text[:len(text):len(text)], '\n')); err != nil {
		s.Log.Debug().Err(err).Msg("cannot write to the relay")
	}
}

// sendUntracked passes on a message too long to look into.
func (s *Shim) sendUntracked(begun []byte, in *bufio.Reader) error {
	s.sending.Lock()
	defer s.sending.Unlock()
	for part, err := begun, error(nil); ; part, err = in.ReadSlice('\n') {
		if s.link != nil {
			_, _ = s.link.Write(part) // as in put
		}
		if err == nil && len(part) > 0 && part[len(part)-1] == '\n' {
			return nil
		}
		if err != nil && !errors.Is(err, bufio.ErrBufferFull) {
			return err
		}
	}
}

// end tells the relay that the client says no more; it answers what is under way, then closes.
func (s *Shim) end() {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.ended = true
	if half, ok := s.link.(interface{ CloseWrite() error }); ok {
		_ = half.CloseWrite() // the reading side sees a link that broke
	}
}

func (s *Shim) finished() bool {
	s.sending.Lock()
	defer s.sending.Unlock()
	return s.ended
}

// rejoin attaches to the relay, starting one if need be.
func (s *Shim) rejoin(ctx context.Context) (*attachment, error) {
	if s.Without != nil {
		return nil, s.Without
	}
	ctx, cancel := context.WithTimeout(ctx, Patience)
	defer cancel()
	for {
		calls, lines := s.ledger.replay()
		a, err := s.attach(ctx, Attach{
			Key: s.key, Client: s.Client, Token: s.Token, Toolset: s.Toolset, Version: s.Version, Pending: calls,
		})
		if err == nil {
			a.lines = lines
			return a, nil
		}
		var refused *Refused
		var unable *cannotStart
		if errors.As(err, &refused) || errors.As(err, &unable) || !wait(ctx) {
			return nil, err
		}
	}
}

// cannotStart is why no relay starts: trying once more at once would not help.
type cannotStart struct{ error }

func (c *cannotStart) Unwrap() error { return c.error }

// start is one start of a relay. On a busy machine it takes longer than a client wants to wait, so it goes on while
// the client is told so.
type start struct {
	done chan struct{}
	err  error // read after done
}

// errStarting is why there is no relay while one starts.
var errStarting error = &StartError{
	Text: "error: the relay is still starting\nhint: wait for it; if that takes minutes, ask the person to run: tabrelay doctor",
}

// begin starts a relay, unless a start is under way, and waits for its end as long as ctx lives. The start itself is
// never given up, not even when the client leaves: it comes back to a relay that runs, or is nearer to it.
func (s *Shim) begin(ctx context.Context) error {
	if s.starting == nil {
		one := &start{done: make(chan struct{})}
		s.starting = one
		go func() {
			defer close(one.done)
			_, one.err = s.Start(context.WithoutCancel(ctx))
		}()
	}
	select {
	case <-s.starting.done:
		err := s.starting.err
		s.starting = nil
		return err
	case <-ctx.Done():
		return errStarting
	}
}

// started is closed when the start that is under way has come to its end; nil when none is.
func (s *Shim) started() <-chan struct{} {
	if s.starting == nil {
		return nil
	}
	return s.starting.done
}

// attach introduces the shim to the relay.
func (s *Shim) attach(ctx context.Context, introduction Attach) (*attachment, error) {
	link, err := Dial(ctx, s.Home)
	if err != nil {
		if err = s.begin(ctx); err != nil {
			return nil, &cannotStart{err}
		}
		if link, err = Dial(ctx, s.Home); err != nil {
			return nil, fmt.Errorf("the relay started, but does not answer: %w", err)
		}
	}
	s.starting = nil // there is a relay: how a start ends matters no more
	stop := context.AfterFunc(ctx, func() { _ = link.Close() })
	answers := bufio.NewReaderSize(link, 64<<10)
	var answer Answer
	if err = introduction.write(link); err == nil {
		answer, err = readAnswer(answers)
	}
	if !stop() {
		err = errors.Join(err, ctx.Err())
	}
	switch {
	case err != nil:
	case answer.Refused != nil:
		err = answer.Refused
	case answer.Handover != nil:
		s.Log.Info().Str("relay", answer.Handover.Version).Msg("an older relay makes room")
		AwaitVacant(ctx, s.Home)
		err = errors.New("the older relay has not ended yet")
	case answer.Attached == nil:
		err = errors.New("the relay's answer has no meaning to this version of tabrelay")
	}
	if err != nil {
		return nil, errors.Join(err, link.Close())
	}
	return &attachment{link: link, answers: answers}, nil
}

// resume makes a's link the one that the client's messages go to, after those that the relay missed.
func (s *Shim) resume(a *attachment) {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.link = a.link
	for _, text := range a.lines {
		s.put(text)
	}
	for _, text := range s.held {
		s.ledger.sent(text)
		s.put(text)
	}
	s.held = nil
	if half, ok := s.link.(interface{ CloseWrite() error }); ok && s.ended {
		_ = half.CloseWrite() // as in end
	}
}

func newKey() string {
	b := make([]byte, 16)
	_, _ = rand.Read(b) // never fails since Go 1.24
	return hex.EncodeToString(b)
}
