package hub

import (
	"time"

	"tabrelay/relay/browser/wire"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/call"
)

const (
	queueFrames = 1024
	queueBytes  = 4 * wire.MaxFrameBytes

	// ackDelay lets acknowledgements travel with the next frame, or with each other. Nobody waits for them.
	ackDelay = 20 * time.Millisecond
)

// queue has the frames to be sent on one connection. It is bounded and never closed: when its connection ends, it is
// garbage.
type queue struct {
	wake chan struct{} // one slot: there is something to take

	mu     lock.Mutex
	frames [][]byte
	bytes  int
	acks   []call.ID
	timer  *time.Timer // wakes the send loop for acks that nothing else took along; nil until the first
}

func newQueue() *queue { return &queue{wake: make(chan struct{}, 1)} }

// put adds a frame and reports whether it did: not if the queue is full, which means that the peer does not read,
// unless forced.
func (q *queue) put(frame []byte, force bool) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if full := len(q.frames) >= queueFrames || q.bytes+len(frame) > queueBytes && len(q.frames) > 0; full && !force {
		return false
	}
	q.frames = append(q.frames, frame)
	q.bytes += len(frame)
	q.notify()
	return true
}

// putAlways adds a small frame that must not be dropped, even to a full queue. There is at most one of them for each
// call in flight and each frame received, so the queue stays bounded.
func (q *queue) putAlways(frame []byte) { q.put(frame, true) }

// ack remembers to acknowledge an outcome.
func (q *queue) ack(id call.ID) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.acks = append(q.acks, id)
	if len(q.acks) > 1 {
		return
	}
	if q.timer == nil {
		q.timer = time.AfterFunc(ackDelay, q.notify)
	} else {
		q.timer.Reset(ackDelay)
	}
}

// drain appends all frames to into and empties the queue; acknowledgements come last.
func (q *queue) drain(into [][]byte) [][]byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	into = append(into, q.frames...)
	clear(q.frames)
	q.frames, q.bytes = q.frames[:0], 0
	if len(q.acks) > 0 {
		into = append(into, mustEncode(&wire.Ack{IDs: q.acks}))
		q.acks = q.acks[:0]
	}
	return into
}

// stop ends the timer.
func (q *queue) stop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.timer != nil {
		q.timer.Stop()
	}
}

func (q *queue) notify() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// mustEncode encodes a frame of our own making, which holds no raw JSON.
func mustEncode(f wire.Frame) []byte {
	frame, err := wire.Encode(f, nil)
	if err != nil {
		panic("hub: " + err.Error())
	}
	return frame
}
