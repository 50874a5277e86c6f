package join

import (
	"bytes"
	"os"
	"time"
)

// pacePatience is how long a client may leave a notification unread before what follows is written all the same. On a
// machine with too much to do a client reads nothing for a second and goes on; to wait for one that has hung costs nobody.
const pacePatience = 5 * time.Second

var notificationStart = []byte(`{"jsonrpc":"2.0","method":"notifications/`)

// Paced writes messages to a client's end of a pipe, and lets nothing but notifications follow a notification before the
// client has read that one. The official TypeScript clients handle a response before the notifications of the same
// read, and then drop those; a client that was busy for a moment reads everything at once. The wait costs a client that
// reads nothing: it is over as soon as the client has read, and in pacePatience at the latest. It belongs to one goroutine.
type Paced struct {
	to       *os.File
	unread   func(*os.File) (bytes int, known bool)
	notified bool // the last message was a notification, and may not have been read
}

// Pace paces what is written to a pipe or socket. Where the system does not tell what was read, nothing waits.
func Pace(to *os.File) *Paced { return &Paced{to: to, unread: unread} }

// Write writes one message with its line feed.
func (p *Paced) Write(message []byte) (int, error) {
	notifies := bytes.HasPrefix(message, notificationStart)
	if p.notified && !notifies {
		p.settle()
	}
	p.notified = notifies
	return p.to.Write(message)
}

func (p *Paced) settle() {
	pause := 50 * time.Microsecond
	for began := time.Now(); time.Since(began) < pacePatience; pause = min(2*pause, 2*time.Millisecond) {
		if left, known := p.unread(p.to); !known || left == 0 {
			return
		}
		time.Sleep(pause)
	}
}
