package front

import "tabrelay/relay/call"

// way is how work reaches the client that waits for it.
type way struct {
	x   *exchange // the one there is; nil when run has it
	run *run
}

func (w *way) exchange() *exchange {
	if w.run == nil {
		return w.x
	}
	w.run.mu.Lock()
	defer w.run.mu.Unlock()
	if w.run.turn == nil {
		return nil
	}
	return w.run.turn.x
}

func (w *way) reportProgress(step call.Progress) {
	if x := w.exchange(); x != nil {
		x.reportProgress(step)
	}
}

func (w *way) reportLog(line call.LogEntry) {
	if x := w.exchange(); x != nil {
		x.reportLog(line)
	}
}
