package demo

import (
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"
)

// The site is open to every page of this machine, so what it remembers is bounded.
const (
	maxNames   = 1000
	maxEntries = 1000
	maxBody    = 64 << 10
	maxWait    = 30 * time.Second
)

// counters are named numbers with a log of every increment that was asked for, repeated keys included:
// the log is the proof that an action happened once.
type counters struct {
	mu     sync.Mutex
	byName map[string]*counter
}

type counter struct {
	Value int         `json:"value"`
	Asked int         `json:"asked"` // how many increments arrived; the log keeps the last maxEntries of them
	Log   []increment `json:"log"`
}

type increment struct {
	Key string `json:"key,omitempty"` // the caller's name for this action
	By  int    `json:"by"`
	At  int64  `json:"at"` // Unix time in milliseconds
}

func newCounters() *counters { return &counters{byName: map[string]*counter{}} }

func (c *counters) value(name string) int { return c.snapshot(name).Value }

func (c *counters) snapshot(name string) counter {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.byName[name]
	if n == nil {
		return counter{Log: []increment{}}
	}
	return counter{Value: n.Value, Asked: n.Asked, Log: slices.Clone(n.Log)}
}

func (c *counters) read(w http.ResponseWriter, r *http.Request) {
	answer(w, c.snapshot(r.PathValue("name")))
}

func (c *counters) increment(w http.ResponseWriter, r *http.Request) {
	body := struct {
		By  *int   `json:"by"`
		Key string `json:"key"`
	}{}
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&body); err != nil {
		refuse(w, http.StatusBadRequest, "The body has to be JSON: "+err.Error())
		return
	}
	by := 1
	if body.By != nil {
		by = *body.By
	}
	name := r.PathValue("name")
	if !c.add(name, increment{Key: body.Key, By: by, At: time.Now().UnixMilli()}) {
		refuse(w, http.StatusInsufficientStorage, "There are too many counters.")
		return
	}
	answer(w, c.snapshot(name))
}

func (c *counters) add(name string, i increment) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := c.byName[name]
	if n == nil {
		if len(c.byName) == maxNames {
			return false
		}
		n = &counter{}
		c.byName[name] = n
	}
	n.Value += i.By
	n.Asked++
	n.Log = append(n.Log, i)
	n.Log = n.Log[max(0, len(n.Log)-maxEntries):]
	return true
}

// notes are named lists of lines that a tool leaves behind, for example that its signal fired, and when.
type notes struct {
	mu     sync.Mutex
	byName map[string][]note
	added  chan struct{} // closed and replaced whenever a note arrives
}

type note struct {
	Text string `json:"text"`
	At   int64  `json:"at"` // Unix time in milliseconds
}

func newNotes() *notes { return &notes{byName: map[string][]note{}, added: make(chan struct{})} }

func (n *notes) add(w http.ResponseWriter, r *http.Request) {
	body := note{At: time.Now().UnixMilli()} // a page that tells when it happened knows better
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxBody)).Decode(&body); err != nil {
		refuse(w, http.StatusBadRequest, "The body has to be JSON: "+err.Error())
		return
	}
	count, ok := n.append(r.PathValue("name"), body)
	if !ok {
		refuse(w, http.StatusInsufficientStorage, "There are too many notes.")
		return
	}
	answer(w, map[string]int{"notes": count})
}

func (n *notes) append(name string, one note) (count int, ok bool) {
	n.mu.Lock()
	defer n.mu.Unlock()
	list, known := n.byName[name]
	if (!known && len(n.byName) == maxNames) || len(list) == maxEntries {
		return 0, false
	}
	n.byName[name] = append(list, one)
	close(n.added)
	n.added = make(chan struct{})
	return len(list) + 1, true
}

// read answers the notes of one name. With ?count=N it first waits, at most maxWait, until there are N of them.
func (n *notes) read(w http.ResponseWriter, r *http.Request) {
	want, _ := strconv.Atoi(r.URL.Query().Get("count")) // absent or wrong: do not wait
	limit := time.NewTimer(maxWait)
	defer limit.Stop()
	for {
		n.mu.Lock()
		list, added := slices.Clone(n.byName[r.PathValue("name")]), n.added
		n.mu.Unlock()
		if len(list) >= want {
			answer(w, map[string]any{"notes": append([]note{}, list...)})
			return
		}
		select {
		case <-added:
		case <-limit.C:
			refuse(w, http.StatusGatewayTimeout, "Only "+strconv.Itoa(len(list))+" notes arrived.")
			return
		case <-r.Context().Done():
			return
		}
	}
}
