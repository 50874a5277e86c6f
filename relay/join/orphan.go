package join

import (
	"context"
	"os"
	"runtime"
	"time"
)

// parentEvery is how often a shim looks whether the program that started it is still there. The end of its input
// nearly always says so first, but some other process may hold the pipe open.
const parentEvery = 30 * time.Second

// Orphan returns a function that reports whether this process's parent is another than now. On Windows a process
// keeps its parent's number for ever, so the answer there is always no.
func Orphan() func() bool {
	parent := os.Getppid()
	return func() bool { return runtime.GOOS != "windows" && os.Getppid() != parent }
}

// watchParent ends the client's side once the client is gone.
func (s *Shim) watchParent(ctx context.Context, more chan<- struct{}) {
	if s.Orphaned == nil {
		return
	}
	look := time.NewTicker(parentEvery)
	defer look.Stop()
	for !s.Orphaned() {
		select {
		case <-look.C:
		case <-ctx.Done():
			return
		}
	}
	s.Log.Warn().Msg("the program that started tabrelay mcp is gone; it ends too")
	s.end()
	select {
	case more <- struct{}{}:
	default:
	}
}
