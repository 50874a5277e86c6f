package front

import (
	"fmt"

	"tabrelay/relay/fault"
	"tabrelay/relay/rawjson"
)

// maxWatches bounds the resources that one client can listen to.
const maxWatches = 256

// watch is one resource that a client listens to.
type watch struct{ stop func() }

// watch has the client told when a resource changes. From now on it listens to that resource, which begin brings
// about or says why it cannot. Listening twice to one resource is listening once.
func (f *Front) watch(c *client, uri string) (begin func() *fault.Error) {
	w := &watch{stop: func() {}}
	if known, fail := c.reserve(uri, w); known || fail != nil {
		return func() *fault.Error { return fail }
	}
	return func() *fault.Error { return f.beginWatch(c, uri, w) }
}

func (f *Front) beginWatch(c *client, uri string, w *watch) *fault.Error {
	stop, fail := f.options.Resources.Watch(c.session, uri, func() {
		c.box.post(letter{"updated " + uri, "notifications/resources/updated", rawjson.AppendText([]byte(`"uri":`), uri)})
	})
	c.mu.Lock()
	kept := c.watches[uri] == w
	switch {
	case fail != nil && kept:
		delete(c.watches, uri)
	case kept:
		w.stop = stop
	}
	c.mu.Unlock()
	if fail == nil && !kept { // the client has unsubscribed, or gone, in the meantime
		stop()
	}
	return fail
}

// reserve keeps a place for w, or reports that the client listens to this resource already.
func (c *client) reserve(uri string, w *watch) (known bool, fail *fault.Error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.watches == nil {
		return true, nil
	}
	if c.watches[uri] != nil {
		return true, nil
	}
	if len(c.watches) == maxWatches {
		return false, fault.New(fault.InvalidParams, fmt.Sprintf("This client listens to %d resources already", maxWatches),
			fault.WithHint("Unsubscribe from one that is no longer needed."))
	}
	c.watches[uri] = w
	return false, nil
}

// unwatch ends listening to a resource. One that the client does not listen to is no error.
func (c *client) unwatch(uri string) {
	c.mu.Lock()
	stop := func() {}
	if w := c.watches[uri]; w != nil {
		stop = w.stop
	}
	delete(c.watches, uri)
	c.mu.Unlock()
	stop()
}

// unwatchAll ends listening for good.
func (c *client) unwatchAll() {
	c.mu.Lock()
	var stops []func()
	for _, w := range c.watches {
		stops = append(stops, w.stop)
	}
	c.watches = nil
	c.mu.Unlock()
	for _, stop := range stops {
		stop()
	}
}
