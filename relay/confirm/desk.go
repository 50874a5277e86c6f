package confirm

import (
	"cmp"
	"context"
	"crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"
)

// most bounds the questions that wait at once.
const most = 20

// How a question ends without a yes.
var (
	ErrDenied   = errors.New("the person did not allow it in tabrelay's panel")
	ErrTimeout  = errors.New("nobody answered in tabrelay's panel in time")
	ErrFull     = fmt.Errorf("%d changes wait for an answer in tabrelay's panel already", most)
	ErrClosed   = errors.New("the relay stopped before there was an answer")
	ErrNoChange = errors.New("no such change waits for an answer")
)

// Question is a change that waits for an answer in the panel.
type Question struct {
	ID string `json:"id"`
	*Change
	From  string    `json:"from"` // who asks for it, in words
	Asked time.Time `json:"asked"`
	Until time.Time `json:"until"`

	answer chan bool
}

// Desk is where changes wait for an answer. Its zero value is not usable: see [NewDesk].
type Desk struct {
	timeout time.Duration
	changed func() // what is open is different now; must not block

	mu     sync.Mutex
	open   map[string]*Question
	shut   bool
	closed chan struct{}
}

// NewDesk makes a desk where a question is open so long.
func NewDesk(timeout time.Duration, changed func()) *Desk {
	return &Desk{timeout: timeout, changed: changed, open: map[string]*Question{}, closed: make(chan struct{})}
}

// Ask waits until the person has answered. Its error says why there was no yes; that of ctx when whoever asked is gone.
func (d *Desk) Ask(ctx context.Context, c *Change, from string) error {
	q, err := d.put(c, from)
	if err != nil {
		return err
	}
	defer d.take(q.ID)
	late := time.NewTimer(d.timeout)
	defer late.Stop()
	select {
	case allowed := <-q.answer:
		return verdict(allowed)
	case <-ctx.Done():
	case <-late.C:
	case <-d.closed:
	}
	if d.take(q.ID) == nil { // it was answered meanwhile
		return verdict(<-q.answer)
	}
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case d.isShut():
		return ErrClosed
	}
	return ErrTimeout
}

func verdict(allowed bool) error {
	if allowed {
		return nil
	}
	return ErrDenied
}

func (d *Desk) put(c *Change, from string) (*Question, error) {
	now := time.Now().UTC()
	q := &Question{Change: c, From: from, Asked: now, Until: now.Add(d.timeout), answer: make(chan bool, 1)}
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.shut:
		return nil, ErrClosed
	case len(d.open) >= most:
		return nil, ErrFull
	}
	for q.ID = newID(); d.open[q.ID] != nil; q.ID = newID() {
	}
	d.open[q.ID] = q
	d.changed()
	return q, nil
}

// take removes a question, and returns nil when it is not open any more. Whoever takes it decides.
func (d *Desk) take(id string) *Question {
	d.mu.Lock()
	defer d.mu.Unlock()
	q := d.open[id]
	if q != nil {
		delete(d.open, id)
		d.changed()
	}
	return q
}

func (d *Desk) isShut() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.shut
}

// Answer answers a question. The first answer counts; after it the question is [ErrNoChange].
func (d *Desk) Answer(id string, allow bool) error {
	q := d.take(id)
	if q == nil {
		return ErrNoChange
	}
	q.answer <- allow
	return nil
}

// Open are the questions that wait, the oldest first.
func (d *Desk) Open() []Question {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := []Question{}
	for _, q := range d.open {
		list = append(list, *q)
	}
	slices.SortFunc(list, func(a, b Question) int { return cmp.Or(a.Asked.Compare(b.Asked), cmp.Compare(a.ID, b.ID)) })
	return list
}

// Close ends the questions that wait.
func (d *Desk) Close() {
	d.mu.Lock()
	defer d.mu.Unlock()
	if !d.shut {
		d.shut = true
		close(d.closed)
	}
}

func newID() string {
	var b [8]byte
	_, _ = rand.Read(b[:]) // never fails since Go 1.24
	return hex.EncodeToString(b[:])
}
