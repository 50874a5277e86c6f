package front

import (
	"sync"

	"tabrelay/relay/fault"
)

// flights finds the requests of one client that are in flight by the exact text of their id, so that 1 and "1" are two
// requests and nobody can cancel a stranger's.
type flights struct {
	mu    sync.Mutex
	byID  map[string]*exchange
	ended bool
}

// add reports whether x may start: not while another request with its id is in flight, nor after end.
func (f *flights) add(x *exchange) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byID == nil {
		f.byID = map[string]*exchange{}
	}
	if f.byID[string(x.id)] != nil || f.ended {
		return false
	}
	f.byID[string(x.id)] = x
	x.landed = func() { f.remove(x) }
	return true
}

// taken answers a request that may not start, because another one has its id.
func taken(id []byte) response {
	return refuse(id, fault.New(fault.InvalidRequest, "Another request with this id is in flight"), false)
}

// remove forgets x. Another request may have its id by now.
func (f *flights) remove(x *exchange) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.byID[string(x.id)] == x {
		delete(f.byID, string(x.id))
	}
}

// cancel abandons the request with this id. One that is not in flight, or is unknown, is not an error in MCP.
func (f *flights) cancel(id []byte) {
	f.mu.Lock()
	x := f.byID[string(id)]
	f.mu.Unlock()
	if x != nil {
		x.abandon()
	}
}

// end abandons every request and lets no more start.
func (f *flights) end() {
	f.mu.Lock()
	f.ended = true
	all := make([]*exchange, 0, len(f.byID))
	for _, x := range f.byID {
		all = append(all, x)
	}
	f.mu.Unlock()
	for _, x := range all {
		x.abandon()
	}
}

// count returns how many requests are in flight.
func (f *flights) count() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return len(f.byID)
}
