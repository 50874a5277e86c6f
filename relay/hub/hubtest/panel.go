package hubtest

import (
	"context"
	"encoding/json"

	"tabrelay/relay/wire"
)

// Response is what the relay answered to a request of the side panel.
type Response struct {
	Status int
	Body   json.RawMessage
}

// Ask asks the relay something as the side panel does, and waits for the answer. body is JSON, or nil.
func (b *Browser) Ask(ctx context.Context, method, path string, body json.RawMessage) (r Response, err error) {
	id := wire.NewID()
	b.SendRaw(encode(&wire.Request{ID: id, Method: method, Path: path}, body))
	err = b.await(ctx, method+" "+path, func() bool {
		answer, here := b.answers[id]
		delete(b.answers, id)
		r = answer
		return here
	})
	return r, err
}

// News is everything the relay told side panels so far.
func (b *Browser) News() []wire.News {
	b.mu.Lock()
	defer b.mu.Unlock()
	return append([]wire.News{}, b.news...)
}

// AwaitNews waits until the relay has told panels something that passes the test.
func (b *Browser) AwaitNews(ctx context.Context, passes func(wire.News) bool) error {
	return b.await(ctx, "news", func() bool {
		for _, n := range b.news {
			if passes(n) {
				return true
			}
		}
		return false
	})
}
