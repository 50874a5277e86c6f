package delegation

import (
	"fmt"
	"time"

	"tabrelay/relay/road/call"
)

// pulseTime is how long a client hears nothing at the most while an errand goes on: many give up after a minute.
const pulseTime = 15 * time.Second

// pulse tells a client of an errand, and that it still goes on when nothing else is told.
type pulse struct {
	tell  func(call.Progress)
	began time.Time
	stop  chan struct{}
	over  chan struct{} // closed when nothing is told any more

	timer *time.Timer

	telling chan struct{} // holds one while the client is told; it guards the rest
	at      float64       // the last progress: every one has to be more
	ended   bool
}

// newPulse begins to tell; tell may be nil.
func newPulse(tell func(call.Progress)) *pulse {
	p := &pulse{tell: tell, began: time.Now(), stop: make(chan struct{}), over: make(chan struct{}),
		telling: make(chan struct{}, 1)}
	if tell == nil {
		close(p.over)
		return p
	}
	p.timer = time.NewTimer(pulseTime)
	go p.beat()
	return p
}

func (p *pulse) beat() {
	defer close(p.over)
	for {
		select {
		case <-p.timer.C:
			took := time.Since(p.began).Round(time.Second)
			p.say(call.Progress{Message: fmt.Sprintf("the agent works on it (%s)", took)})
		case <-p.stop:
			return
		}
	}
}

// say tells something. What is told is numbered anew: openings and turns do not know of each other.
func (p *pulse) say(progress call.Progress) {
	p.telling <- struct{}{}
	defer func() { <-p.telling }()
	if p.ended || p.tell == nil {
		return
	}
	p.timer.Reset(pulseTime)
	p.at++
	progress.Progress = p.at
	p.tell(progress)
}

// end ends it; nothing is told afterwards.
func (p *pulse) end() {
	p.telling <- struct{}{}
	ended := p.ended
	p.ended = true
	<-p.telling
	if p.tell != nil && !ended {
		p.timer.Stop()
		close(p.stop)
	}
	<-p.over
}

// pulsing has the client of a call hear of it at least each 15 seconds, until end.
func pulsing(c *call.Call) (end func()) {
	p := newPulse(c.Progress)
	if c.Progress != nil {
		c.Progress = p.say
	}
	return p.end
}
