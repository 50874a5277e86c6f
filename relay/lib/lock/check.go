//go:build lockcheck

package lock

import (
	"fmt"
	"os"
	"runtime/debug"
	"sync"
	"sync/atomic"

	"github.com/petermattis/goid"
	"github.com/sasha-s/go-deadlock"
)

func init() {
	deadlock.Opts.DeadlockTimeout = 0 // a lock that is held for long is no error on a busy machine
}

// held counts the locks of each goroutine that holds any.
var held sync.Map // from the goroutine's id to *atomic.Int32

func count(change int32) {
	id := goid.Get()
	n, _ := held.LoadOrStore(id, new(atomic.Int32))
	if n.(*atomic.Int32).Add(change) == 0 {
		held.Delete(id)
	}
}

// Mutex is a mutex whose order among others is checked.
type Mutex struct{ mu deadlock.Mutex }

// Lock is that of [sync.Mutex].
func (m *Mutex) Lock() {
	m.mu.Lock()
	count(1)
}

// Unlock is that of [sync.Mutex].
func (m *Mutex) Unlock() {
	count(-1)
	m.mu.Unlock()
}

// RWMutex is a reader/writer mutex whose order among others is checked.
type RWMutex struct{ mu deadlock.RWMutex }

// Lock is that of [sync.RWMutex].
func (m *RWMutex) Lock() {
	m.mu.Lock()
	count(1)
}

// Unlock is that of [sync.RWMutex].
func (m *RWMutex) Unlock() {
	count(-1)
	m.mu.Unlock()
}

// RLock is that of [sync.RWMutex].
func (m *RWMutex) RLock() {
	m.mu.RLock()
	count(1)
}

// RUnlock is that of [sync.RWMutex].
func (m *RWMutex) RUnlock() {
	count(-1)
	m.mu.RUnlock()
}

// NoneHeld ends the program when the calling goroutine holds a lock: a panic might be recovered, and pass unseen. doing
// names what may take long.
func NoneHeld(doing string) {
	if n, ok := held.Load(goid.Get()); ok {
		fmt.Fprintf(os.Stderr, "%s while the goroutine holds %d locks\n%s", doing, n.(*atomic.Int32).Load(),
			debug.Stack())
		os.Exit(2)
	}
}
