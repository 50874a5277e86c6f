package front

import (
	"testing"
	"time"
)

// reusing is a client that uses a request's id again as soon as it has read the answer.
type reusing struct {
	openRequests *openRequests
	again        bool
}

func (r *reusing) send([]byte) error            { return nil }
func (r *reusing) asks() bool                   { return false }
func (r *reusing) responseDelay() time.Duration { return 0 }
func (r *reusing) finish(response) error {
	r.again = r.openRequests.add(&exchange{id: []byte("1")})
	return nil
}

func TestAnsweredIDIsFree(t *testing.T) {
	var f openRequests
	client := &reusing{openRequests: &f}
	x := &exchange{id: []byte("1"), out: client}
	f.add(x)
	x.respond(response{})
	f.remove(x) // as those who started it do
	if !client.again || f.count() != 1 {
		t.Errorf("accepted again %v, in flight %d, want the second request", client.again, f.count())
	}
}
