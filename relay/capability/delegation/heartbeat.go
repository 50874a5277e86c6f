package delegation

import (
	"fmt"
	"time"

	"tabrelay/relay/road/call"
)

// heartbeatTime is how long a client hears nothing at the most while an errand goes on: many give up after a minute.
const heartbeatTime = 15 * time.Second

// heartbeat tells a client of an errand, and that it still goes on when nothing else is told.
type heartbeat struct {
	tell  func(call.Progress)
	began time.Time
	stop  chan struct{}
	over  chan struct{} // closed when nothing is told any more

	timer *time.Timer

	telling chan struct{} // holds one while the client is told; it guards the rest
	at      float64       // the last progress: every one has to be more
	ended   bool
}

// newHeartbeat begins to tell; tell may be nil.
func newHeartbeat(tell func(call.Progress)) *heartbeat {
	h := &heartbeat{tell: tell, began: time.Now(), stop: make(chan struct{}), over: make(chan struct{}),
		telling: make(chan struct{}, 1)}
	if tell == nil {
		close(h.over)
		return h
	}
	h.timer = time.NewTimer(heartbeatTime)
	go h.beat()
	return h
}

func (h *heartbeat) beat() {
	defer close(h.over)
	for {
		select {
		case <-h.timer.C:
			took := time.Since(h.began).Round(time.Second)
			h.say(call.Progress{Message: fmt.Sprintf("the agent works on it (%s)", took)})
		case <-h.stop:
			return
		}
	}
}

// say tells something. What is told is numbered anew: openings and turns do not know of each other.
func (h *heartbeat) say(progress call.Progress) {
	h.telling <- struct{}{}
	defer func() { <-h.telling }()
	if h.ended || h.tell == nil {
		return
	}
	h.timer.Reset(heartbeatTime)
	h.at++
	progress.Progress = h.at
	h.tell(progress)
}

// end ends it; nothing is told afterwards.
func (h *heartbeat) end() {
	h.telling <- struct{}{}
	ended := h.ended
	h.ended = true
	<-h.telling
	if h.tell != nil && !ended {
		h.timer.Stop()
		close(h.stop)
	}
	<-h.over
}

// pulsing has the client of a call hear of it at least each 15 seconds, until end.
func pulsing(c *call.Call) (end func()) {
	h := newHeartbeat(c.Progress)
	if c.Progress != nil {
		c.Progress = h.say
	}
	return h.end
}
