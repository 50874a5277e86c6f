package front

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/mark3labs/mcp-go/mcp"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/registry"
)

// changes tells clients that a list has changed. Changes are gathered for a moment: a plugin that is rebuilt, or a
// start with many plugins, is one change.
type changes struct {
	mu      lock.Mutex
	waiting map[string]*time.Timer // by what tells it: a method, and for lists that differ a client
	stops   []func()               // stop listening to what changes
	ended   bool
	told    uint64 // Listing of the snapshot that clients know of
	pages   uint64 // Pages of the same
	viewed  bool   // views have changed since
}

// watchLists listens to everything that has a list.
func (f *Front) watchLists() {
	f.changes.waiting = map[string]*time.Timer{}
	f.changes.pages = f.options.Tools.Snapshot().Pages
	stops := []func(){f.options.Tools.OnChange(
		func(s *registry.Snapshot) { f.toolsChanged(s) })}
	if f.options.Prompts != nil {
		stops = append(stops, f.options.Prompts.OnChange(
			func() { f.changed(mcp.MethodNotificationPromptsListChanged) }))
	}
	if f.options.Views != nil {
		stops = append(stops, f.options.Views.OnChange(f.viewsChanged))
	}
	if f.options.Open != nil {
		stops = append(stops, f.watchOpen())
	}
	f.changes.mu.Lock()
	defer f.changes.mu.Unlock()
	f.changes.stops = stops
}

// toolsChanged announces other tools. Tools of pages are announced only to clients that list them.
func (f *Front) toolsChanged(s *registry.Snapshot) {
	f.changed(mcp.MethodNotificationToolsListChanged)
	c := &f.changes
	c.mu.Lock()
	news := s.Pages != c.pages
	c.pages = s.Pages
	c.mu.Unlock()
	if news {
		f.announceLater(openChanged, f.announceOpen)
	}
}

// viewsChanged announces the lists that differ between clients, because what a client may see has changed.
func (f *Front) viewsChanged() {
	f.changes.mu.Lock()
	f.changes.viewed = true
	f.changes.mu.Unlock()
	f.changed(everyView)
}

// everyView stands for what changes when views do: the tools, and then the prompts if there are any.
const everyView = "views"

func (f *Front) announceViews() {
	f.changes.mu.Lock()
	delete(f.changes.waiting, everyView)
	f.changes.mu.Unlock()
	f.announce(mcp.MethodNotificationToolsListChanged)
	if f.options.Prompts != nil && len(f.options.Prompts.List()) > 0 {
		f.announce(mcp.MethodNotificationPromptsListChanged)
	}
}

// changed announces a change after the delay in which changes are gathered.
func (f *Front) changed(method string) {
	announce := func() { f.announce(method) }
	if method == everyView {
		announce = f.announceViews
	}
	f.announceLater(method, announce)
}

// announceLater calls announce after ListChangedDelay, once for all calls with the same key until then. announce
// deletes the key.
func (f *Front) announceLater(key string, announce func()) {
	c := &f.changes
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting[key] == nil && !c.ended {
		c.waiting[key] = time.AfterFunc(f.options.ListChangedDelay, announce)
	}
}

// announce tells every client that listens. Of tools only if what they would list is not what they know.
func (f *Front) announce(method string) {
	c := &f.changes
	news := true
	listing := f.options.Tools.Snapshot().Listing
	c.mu.Lock()
	delete(c.waiting, method)
	if method == mcp.MethodNotificationToolsListChanged {
		news = listing != c.told || c.viewed
		c.told, c.viewed = listing, false
	}
	c.mu.Unlock()
	if news {
		f.engine.SendNotificationToAllClients(method, nil)
	}
}

// end stops listening and telling.
func (c *changes) end() {
	c.mu.Lock()
	c.ended = true
	stops := c.stops
	c.stops = nil
	for _, timer := range c.waiting {
		timer.Stop()
	}
	c.mu.Unlock()
	for _, stop := range stops {
		stop()
	}
}

// addListener subscribes c to changes and to log messages of the relay.
func (f *Front) addListener(c *listener) {
	if err := f.engine.RegisterSession(context.Background(), c); err != nil {
		panic(err)
	}
	unlist := func() {}
	if r, ok := f.options.Resources.(ResourcesChanging); ok { // each has a list of its own
		unlist = r.OnListChange(c.session, func() { f.resourcesChanged(c) })
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.listeners[c] = unlist
}

// resourcesChanged tells c soon that its list of resources changed, if it wants to hear that.
func (f *Front) resourcesChanged(c *listener) {
	key := mcp.MethodNotificationResourcesListChanged + " " + c.id
	f.announceLater(key, func() {
		f.changes.mu.Lock()
		delete(f.changes.waiting, key)
		f.changes.mu.Unlock()
		c.resourcesChanged()
	})
}

func (c *listener) resourcesChanged() {
	c.changed(mcp.MethodNotificationResourcesListChanged, func(filter mcp.SubscriptionFilter) bool {
		return filter.ResourcesListChanged
	})
}

// changed tells c that a list of its own changed, unless it listens only to other things.
func (c *listener) changed(method string, wants func(mcp.SubscriptionFilter) bool) {
	if filter, active := c.SubscriptionFilter(); !c.Initialized() || active && !wants(filter) {
		return
	}
	note := mcp.JSONRPCNotification{JSONRPC: mcp.JSONRPC_VERSION}
	note.Method = method
	select {
	case c.NotificationChannel() <- note:
	default: // it reads slowly, and one that waits says the same
	}
}

// removeListener ends the subscription of c.
func (f *Front) removeListener(c *listener) {
	f.engine.UnregisterSession(context.Background(), c.id)
	f.mu.Lock()
	unlist := f.listeners[c]
	delete(f.listeners, c)
	f.mu.Unlock()
	if unlist != nil {
		unlist()
	}
	c.unwatchAll()
}

// Log sends log messages to clients, for example that a plugin was refused (MCP, "Logging"). level is one of the eight
// of RFC 5424 in lower case, logger names the part that speaks, and data is anything that encodes as JSON. It reaches
// every client of the legacy era whose level lets it through, and in the modern era every subscription whose request
// names a log level. Log does not block.
func (f *Front) Log(level, logger string, data any) {
	members := rawjson.AppendText([]byte(`"level":`), levels[levelRank(level)])
	members = rawjson.AppendText(append(members, `,"logger":`...), logger)
	encoded, err := rawjson.Encode(data)
	if err != nil { // better its words than nothing
		encoded = rawjson.AppendText(nil, fmt.Sprint(data))
	}
	members = append(append(members, `,"data":`...), encoded...)
	l := notification{method: "notifications/message", members: members}
	f.mu.Lock()
	listeners := slices.Collect(maps.Keys(f.listeners))
	f.mu.Unlock()
	for _, c := range listeners {
		if wanted(level, string(c.GetLogLevel())) {
			c.outbox.add(l)
		}
	}
}

// maxWaiting bounds what waits for a client that does not listen. Changes are kept once each, so that this many
// resources must have changed, or log messages come, before anything is lost.
const maxWaiting = 256

// outbox queues the notifications to a client that mcp-go does not send.
type outbox struct {
	mu      lock.Mutex
	waiting []notification
	wake    chan struct{} // holds a token while something waits
}

// notification is one notification, without the envelope that depends on who gets it.
type notification struct {
	// a second notification with the key of one that still waits says nothing new; empty: every one counts
	key     string
	method  string
	members []byte             // of params, without braces
	task    func() taskMembers // in place of members, for what may change until it is sent; nil: members
}

func newOutbox() outbox { return outbox{wake: make(chan struct{}, 1)} }

// add adds a notification. The oldest gives way when there are too many.
func (b *outbox) add(l notification) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if l.key != "" && slices.ContainsFunc(b.waiting, func(w notification) bool { return w.key == l.key }) {
		return
	}
	if len(b.waiting) == maxWaiting {
		b.waiting = slices.Delete(b.waiting, 0, 1)
	}
	b.waiting = append(b.waiting, l)
	b.signal()
}

// signal wakes the reader of the outbox.
func (b *outbox) signal() {
	select {
	case b.wake <- struct{}{}:
	default:
	}
}

// drain removes and returns what waits.
func (b *outbox) drain() []notification {
	b.mu.Lock()
	defer b.mu.Unlock()
	waiting := b.waiting
	b.waiting = nil
	return waiting
}

// encode writes the notification for the subscription with this id, or for a client of the legacy era when it is nil.
func (l notification) encode(subscription []byte) []byte {
	var meta []byte
	if l.task != nil {
		now := l.task()
		l.members, meta = now.members, now.meta
	}
	b := append([]byte(`{"jsonrpc":"2.0","method":"`), l.method...)
	b = append(b, `","params":{`...)
	if subscription != nil {
		b = append(append(b, `"_meta":{"io.modelcontextprotocol/subscriptionId":`...), subscription...)
		b = append(append(b, meta...), `},`...)
	}
	return append(append(b, l.members...), "}}"...)
}
