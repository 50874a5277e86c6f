package script

import (
	"time"

	"tabrelay/relay/capability/script/engine"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/sandbox"
)

// spareTime is how long a process is kept ready after the last script: starting one takes longer than most scripts.
const spareTime = 5 * time.Minute

// spare is a process that waits for the next script. There is none before the first one.
type spare struct {
	mu      lock.Mutex
	process *sandbox.Process
	memory  uint64
	end     *time.Timer
	shut    bool // the relay ends
}

// take returns a process, the one that waits or a new one.
func (s *spare) take(memory uint64) (*sandbox.Process, error) {
	s.mu.Lock()
	ready := s.process
	if s.process = nil; s.end != nil {
		s.end.Stop()
	}
	fits := s.memory == memory
	s.mu.Unlock()
	if ready != nil && fits {
		return ready, nil
	}
	if ready != nil {
		ready.Close()
	}
	return start(memory)
}

func start(memory uint64) (*sandbox.Process, error) {
	return sandbox.Start(engine.Name, sandbox.Limits{Memory: memory})
}

// refill starts a process for the next script.
func (s *spare) refill(memory uint64) {
	next, err := start(memory)
	if err != nil {
		return // the next script says why
	}
	s.mu.Lock()
	if s.process != nil || s.shut {
		s.mu.Unlock()
		next.Close()
		return
	}
	s.process, s.memory = next, memory
	s.end = time.AfterFunc(spareTime, func() { s.close(false) })
	s.mu.Unlock()
}

// close ends the process that waits; for good: there is no next one either.
func (s *spare) close(forGood bool) {
	s.mu.Lock()
	s.shut = s.shut || forGood
	waits := s.process
	if s.process = nil; s.end != nil {
		s.end.Stop()
	}
	s.mu.Unlock()
	if waits != nil {
		waits.Close()
	}
}
