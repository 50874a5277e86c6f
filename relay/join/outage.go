package join

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/fsnotify/fsnotify"

	"tabrelay/relay/fault"
)

// again is the least time between two attempts to have a relay: each may start a process.
const again = time.Second

// ErrForced is why there is no relay when a person wants none.
var ErrForced error = &StartError{Text: "error: TABRELAY_FORCE_MINIMAL is set\nhint: remove TABRELAY_FORCE_MINIMAL from the environment of tabrelay mcp"}

// longestPause is between two attempts that nobody asked for.
const longestPause = 30 * time.Second

// outage answers the client while there is no relay, until one can be had, the client has closed its end, or ctx is
// done: the attachment to the next relay, or none. An error is that of the client's end.
//
// A relay is tried again when the client wants something that only a relay can do, when one announces itself, when
// configuration or secrets change, and when a start that was slow comes to its end. Where no person has to do anything
// first it is also tried again without any of these, after pauses that grow, since a start costs two processes.
func (s *Shim) outage(ctx context.Context, more <-chan struct{}, cause error) (*attachment, error) {
	s.Log.Error().Err(cause).Msg("no relay can be had; only what needs none is answered")
	if err := s.apologize(s.ledger.abandon(), cause, fault.Unknown); err != nil {
		return nil, err
	}
	tried, pause := time.Now(), again
	if errors.Is(cause, errStopped) {
		tried = time.Time{} // nothing was tried
	}
	repaired, stop := s.repairs()
	defer stop()
	missed := false // a change that the start under way may have come too early for
	for {
		ended := s.finished() // looked at first: what the client said before its end is answered
		for text, ok := s.first(); ok; text, ok = s.first() {
			m := parseRequest(text)
			if s.minimal.wantsRelay(m) && s.starting == nil && time.Since(tried) >= again {
				next, err := s.rejoin(ctx)
				if err == nil {
					return next, nil
				}
				cause, tried = err, time.Now()
			}
			s.dropFirst()
			if err := s.alone(text, m, cause); err != nil {
				return nil, err
			}
		}
		if ended || s.ledger.gone() {
			return nil, nil
		}
		var due <-chan time.Time
		if s.starting == nil && (missed || s.passes(cause)) {
			due = time.After(time.Until(tried.Add(pause)))
		}
		select {
		case <-more:
			continue
		case <-ctx.Done():
			return nil, nil
		case <-s.started():
		case <-due:
			missed, pause = false, min(2*pause, longestPause)
		case event := <-repaired:
			if !s.isRepair(event, cause) {
				continue
			}
			if s.starting != nil && event.Name != s.Home.State() {
				missed = true
				continue
			}
		}
		next, err := s.rejoin(ctx)
		if err == nil {
			return next, nil
		}
		cause, tried = err, time.Now()
	}
}

// passes reports whether a cause may be over by itself: it is none that a person has decided, or has to repair.
func (s *Shim) passes(cause error) bool {
	var refused *Refused
	var said *StartError
	var hinted interface { // a configuration that was read here
		error
		Hint() string
	}
	switch {
	case s.Without != nil, errors.Is(cause, errStopped), errors.As(cause, &refused):
		return false
	case errors.As(cause, &said):
		return said.Exit != unusable
	}
	return !errors.As(cause, &hinted)
}

// unusable is the exit code of a relay that cannot start until its configuration, or a file of its, is repaired.
const unusable = 2

// alone answers one message without a relay, and remembers it for the next one where it must.
func (s *Shim) alone(text []byte, m request, cause error) error {
	why := reasonOf(cause, string(s.Home))
	var reply []byte
	switch {
	case s.minimal.promised(m):
		// A relay promised this client tools: their failure is one of a tool, not of the protocol.
		reply = apology(line{id: string(m.id), method: m.method, text: text}, cause, fault.NotExecuted)
	default:
		reply = s.minimal.answer(m, why)
	}
	switch m.method {
	case "initialize", "logging/setLevel", "notifications/initialized", "shutdown", "exit":
		s.ledger.sent(text)
		s.ledger.answered(reply)
	}
	if err := s.print(reply); err != nil {
		return err
	}
	if m.method == "notifications/initialized" && s.minimal.here {
		return s.print(s.minimal.log("error", "tabrelay offers no tools: "+why.text+". "+why.next))
	}
	return nil
}

// recovered tells a client that was promised no tools that there are some now. What it does with it is up to it:
// clients that look at the capabilities of initialize only have to be connected again.
func (s *Shim) recovered() error {
	if !s.minimal.here || s.minimal.shut {
		return nil
	}
	s.minimal.here = false
	if err := s.print(s.minimal.log("notice", "tabrelay works again. If no tools are listed, reconnect this server in the client, or restart the client.")); err != nil {
		return err
	}
	return s.print(toolsChanged)
}

// print writes one message to the client.
func (s *Shim) print(text []byte) error {
	if text == nil {
		return nil
	}
	if _, err := s.Out.Write(append(text[:len(text):len(text)], '\n')); err != nil {
		return clientGone(err)
	}
	return nil
}

func clientGone(err error) error {
	if errors.Is(err, ErrCorrupt) {
		return err
	}
	return fmt.Errorf("the client does not read any more: %w", err)
}

// first is the oldest message that no relay has heard.
func (s *Shim) first() (text []byte, ok bool) {
	s.sending.Lock()
	defer s.sending.Unlock()
	if len(s.held) == 0 {
		return nil, false
	}
	return s.held[0], true
}

func (s *Shim) dropFirst() {
	s.sending.Lock()
	defer s.sending.Unlock()
	s.held = s.held[1:]
}

// repairs tells of changes in the home folder. Where it cannot be watched, only the client's requests try again.
func (s *Shim) repairs() (changes <-chan fsnotify.Event, stop func()) {
	if s.Without != nil {
		return nil, func() {}
	}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return nil, func() {}
	}
	if err := watcher.Add(string(s.Home)); err != nil {
		s.Log.Debug().Err(err).Msg("the home folder cannot be watched")
	}
	go func() {
		for range watcher.Errors { // until it is closed; a change that is missed is seen at the client's next request
		}
	}()
	return watcher.Events, func() { _ = watcher.Close() } // nothing was written
}

// isRepair reports whether a change may have ended the cause. A relay that a person stopped is not started because
// they edit a file.
func (s *Shim) isRepair(e fsnotify.Event, cause error) bool {
	if s.Without != nil || e.Op == fsnotify.Chmod && e.Name != s.Home.Secrets() {
		return false
	}
	switch e.Name {
	case s.Home.State():
		return !e.Has(fsnotify.Remove)
	case s.Home.Config(), s.Home.Secrets(), s.Home.Database():
		return !errors.Is(cause, errStopped)
	}
	return false
}
