//go:build unix

package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"

	"tabrelay/extension"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/state/config"
)

// ledger is the truth: how often each write was executed.
type ledger struct {
	mu  sync.Mutex
	ran map[string]int
}

func (l *ledger) note(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ran[id]++
}

func (l *ledger) times(id string) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.ran[id]
}

var truth = ledger{ran: map[string]int{}}

// browser is a fake one, which counts what it executes. It connects again for as long as the test runs.
type browser struct {
	*hubtest.Browser
	slowest time.Duration // that a write takes

	mu   sync.RWMutex // held while a write ends, so that none ends in a browser that has died
	life int

	inside inside
}

// inside are the sessions whose writes are being executed.
type inside struct {
	mu      sync.Mutex
	writes  map[string]int
	clashes []string
}

// enters notes that a write of a session begins; nobody else's may be under way.
func (i *inside) enters(who string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	for other, n := range i.writes {
		if other != who && n > 0 {
			i.clashes = append(i.clashes, fmt.Sprintf("%s while %s was there, at %s", who, other,
				time.Now().Format("15:04:05.000")))
		}
	}
	if i.writes == nil {
		i.writes = map[string]int{}
	}
	i.writes[who]++
}

func (i *inside) leaves(who string) {
	i.mu.Lock()
	defer i.mu.Unlock()
	i.writes[who]--
}

func newBrowser(t testing.TB, n *node, number int) *browser {
	t.Helper()
	secrets, err := config.OpenSecrets(n.home)
	if err != nil {
		t.Fatal(err)
	}
	b := &browser{slowest: 20 * time.Millisecond}
	b.Browser = hubtest.New(hubtest.Options{
		Address: n.address, Secret: secrets.Pairing(), ExtensionID: extension.ID, Bundle: extension.BundleHash(),
		Label: fmt.Sprintf("Chrome %d", number), Answer: b.answer,
		Tabs: []wire.Tab{{ID: 1, WindowID: 1, URL: page, Title: "sim", Active: true, Focused: true,
			Status: "complete"}},
	})
	ctx, stop := context.WithCancel(context.Background())
	var ended sync.WaitGroup
	ended.Go(func() { b.stay(ctx) })
	t.Cleanup(func() {
		stop()
		b.Drop()
		ended.Wait()
	})
	return b
}

// stay connects, whenever it is not connected.
func (b *browser) stay(ctx context.Context) {
	for ctx.Err() == nil {
		dialing, cancel := context.WithTimeout(ctx, 5*time.Second)
		err := b.Dial(dialing)
		cancel()
		if err != nil {
			pause(ctx, 50*time.Millisecond)
			continue
		}
		select {
		case <-b.Gone():
			pause(ctx, 20*time.Millisecond)
		case <-ctx.Done():
		}
	}
}

// answer executes a write: it counts, takes its time, and says so unless the browser has died meanwhile.
func (b *browser) answer(c *hubtest.Call) {
	var arguments struct{ ID, Who string }
	_ = json.Unmarshal(c.Arguments, &arguments) // the relay has checked that they are an object
	b.mu.RLock()
	life := b.life
	b.mu.RUnlock()
	c.Started()
	truth.note(arguments.ID)
	b.inside.enters(arguments.Who)
	end := func() {
		b.inside.leaves(arguments.Who) // before it is told, or the next one could be there already
		b.mu.RLock()
		defer b.mu.RUnlock()
		if b.life == life {
			c.Return(json.RawMessage(`{"done":"` + strings.ToValidUTF8(arguments.ID, "") + `"}`))
		}
	}
	if b.slowest == 0 {
		end()
		return
	}
	time.AfterFunc(rand.N(b.slowest), end)
}

// die ends the browser with all that it knows. What it has done it has done.
func (b *browser) die() {
	b.mu.Lock()
	b.life++
	b.mu.Unlock()
	b.Die()
}
