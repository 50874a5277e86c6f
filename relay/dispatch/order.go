package dispatch

import (
	"time"

	"tabrelay/relay/fault"
)

// orderPatience is how long a call lets an earlier one of its client look for its tab. That takes longer only while no
// browser is connected, and then what waits is not to wait for each other in turn.
const orderPatience = 2 * time.Second

// comeInOrder lets the calls that the client made before this one take their places in line first: each of them runs in
// a goroutine of its own, and the order in which those happen to run is not the client's. Built-in tools stand in no line.
func (r *run) comeInOrder() *fault.Error {
	if r.call.After == nil {
		return nil
	}
	if r.tool.Plugin == nil {
		r.call.Placed()
		return nil
	}
	late := time.NewTimer(orderPatience)
	defer late.Stop()
	select {
	case <-r.call.After:
	case <-late.C:
	case <-r.ctx.Done():
		return unsent(r.ctx)
	}
	return nil
}
