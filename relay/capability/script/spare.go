package script

import (
	"bufio"
	"errors"
	"time"

	"tabrelay/relay/capability/script/engine"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/sandbox"
)

// spareTime is how long a process is kept ready after the last script: starting one takes longer than most scripts.
const spareTime = 5 * time.Minute

// mostMessage is the size of the largest message of a script's process: arguments of one call, most of all.
const mostMessage = 16 << 20

// worker is a process that runs one script.
type worker struct {
	*sandbox.Process
	messages *bufio.Scanner
	memory   uint64
}

func newWorker(memory uint64) (*worker, error) {
	process, err := sandbox.Start(engine.Name, sandbox.Limits{Memory: memory})
	if err != nil {
		return nil, err
	}
	w := &worker{process, bufio.NewScanner(process), memory}
	w.messages.Buffer(make([]byte, 0, 16<<10), mostMessage)
	return w, nil
}

// ready waits until the process can begin with a script.
func (w *worker) ready() error {
	if w.messages.Scan() {
		return nil
	}
	w.Close()
	return errors.Join(errors.New("it does not start"), w.messages.Err(), w.Ended())
}

// spare is a process that waits for the next script. There is none before the first one.
type spare struct {
	mu    lock.Mutex
	waits *worker
	end   *time.Timer
	shut  bool // the relay ends
}

// take returns a process, the one that waits or a new one.
func (s *spare) take(memory uint64) (*worker, error) {
	s.mu.Lock()
	waits := s.empty()
	s.mu.Unlock()
	if waits != nil && waits.memory == memory {
		return waits, nil
	}
	if waits != nil {
		waits.Close()
	}
	w, err := newWorker(memory)
	if err == nil {
		err = w.ready()
	}
	return w, err
}

// empty takes the process that waits. It is called while mu is held.
func (s *spare) empty() *worker {
	waits := s.waits
	if s.waits = nil; s.end != nil {
		s.end.Stop()
	}
	return waits
}

// refill makes a process ready for the next script.
func (s *spare) refill(memory uint64) {
	w, err := newWorker(memory)
	if err != nil || w.ready() != nil {
		return // the next script says why
	}
	s.mu.Lock()
	if s.waits != nil || s.shut {
		s.mu.Unlock()
		w.Close()
		return
	}
	s.waits, s.end = w, time.AfterFunc(spareTime, func() { s.close(false) })
	s.mu.Unlock()
}

// close ends the process that waits; for good: there is no next one either.
func (s *spare) close(forGood bool) {
	s.mu.Lock()
	s.shut = s.shut || forGood
	waits := s.empty()
	s.mu.Unlock()
	if waits != nil {
		waits.Close()
	}
}
