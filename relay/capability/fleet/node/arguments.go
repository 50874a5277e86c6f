package node

import (
	"time"

	"tabrelay/relay/capability/fleet/wire"
	"tabrelay/relay/road/call"
)

const (
	// maxComing bounds the arguments that are on their way in parts, in bytes of all calls together.
	maxComing = 64 << 20
	// comingTime is how long a part is waited for.
	comingTime = 30 * time.Second
)

// coming is a call whose arguments are on their way in parts. The node asks for one part after the other, so that the
// gateway hears that it goes on, and what was lost is sent again alone. Until the last one is here, nothing has begun.
type coming struct {
	request   *wire.Request
	reply     string
	asked     time.Time // when the request came: its deadline counts from there
	at        time.Time // of the last part
	arguments []byte
}

// next is the part that is missing, from 1 on. All but the last one are of the same size. 0: none is.
func (c *coming) next() int {
	if c.whole() {
		return 0
	}
	return len(c.arguments)/wire.PartBytes + 1
}

// whole reports whether all parts are here. They are kept while the call waits for its turn.
func (c *coming) whole() bool { return len(c.arguments) == c.request.Bytes }

// expect waits for the arguments of a call, and returns the part to ask for, 0 when all are here, or why there is no
// room for them. It is called while mu is held.
func (c *calls) expect(id call.ID, reply string, r *wire.Request) (part int, full string) {
	one := c.coming[id]
	if one == nil || one.request.Bytes != r.Bytes {
		delete(c.coming, id)
		bytes := r.Bytes
		for _, other := range c.coming {
			bytes += other.request.Bytes
		}
		if bytes > maxComing {
			return 0, "arguments of too many bytes are on their way to the node already"
		}
		one = &coming{}
		c.coming[id] = one
	}
	one.request, one.reply, one.asked, one.at = r, reply, time.Now(), time.Now()
	return one.next(), ""
}

// gather takes a part of arguments. One that is not the next is passed over: it was sent again.
func (c *calls) gather(gateway string, r *wire.Request, piece []byte) {
	id := localID(c.node.sessionOf(gateway, r.Caller).Client, r.ID)
	c.mu.Lock()
	one := c.coming[id]
	if one == nil || one.whole() || r.Part != one.next() ||
		len(piece) != min(wire.PartBytes, one.request.Bytes-len(one.arguments)) {
		c.mu.Unlock()
		return
	}
	if one.arguments == nil {
		one.arguments = make([]byte, 0, one.request.Bytes)
	}
	one.arguments, one.at = append(one.arguments, piece...), time.Now()
	whole := one.whole()
	part := one.next()
	c.mu.Unlock()
	if !whole {
		c.node.reply(one.reply, wire.Reply{Kind: wire.Wants, Part: part}, nil)
		return
	}
	complete := *one.request
	complete.WaitMs -= time.Since(one.asked).Milliseconds()
	switch err := wire.CheckArguments(one.arguments); {
	case err != nil:
		c.forget(id)
		c.node.refuse(gateway, one.reply, err)
	case complete.WaitMs <= 0: // its gateway does not wait any more
		c.forget(id)
	default:
		c.take(gateway, one.reply, &complete, nil)
	}
}

// forget drops the arguments of a call.
func (c *calls) forget(id call.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	delete(c.coming, id)
}

// dropComing forgets calls whose arguments do not come any more.
func (c *calls) dropComing() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for id, one := range c.coming {
		if time.Since(one.at) > comingTime {
			delete(c.coming, id)
		}
	}
}
