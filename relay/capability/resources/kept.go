package resources

import (
	"context"
	"fmt"
	"math"
	"net/url"
	"slices"
	"sync"
	"time"

	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/event"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/untrusted"
)

// Keep is what the relay has kept: large results and dead letters.
type Keep interface {
	// Result returns a kept result, if there is one and this session may see it.
	Result(ctx context.Context, s call.Session, id string) (call.StoredResult, bool, error)
	// Letters returns the newest dead letters that this session may see, at most limit.
	Letters(ctx context.Context, s call.Session, limit int) ([]call.DeadLetter, error)
	// Letter returns a dead letter as clients see it, if there is one and this session may see it.
	Letter(ctx context.Context, s call.Session, id call.ID) (view any, found bool, err error)
}

var isID = lazyregexp.New(`^[0-9a-f]{32}$`).MatchString

// idOf is the id in result://ID and deadletter://ID, empty when there is none.
func idOf(u *url.URL) string {
	if !isID(u.Host) || u.Path != "" && u.Path != "/" {
		return ""
	}
	return u.Host
}

func storeFailed(err error) *fault.Error {
	return unreadable(fault.TypeInternal, "The relay could not read its own records",
		"Repeat the request; if it fails again, look into `tabrelay logs`.",
		fault.WithCause(err), fault.WithRetryable(true))
}

// results serves result://ID, to the client whose call it was.
type results struct{ keep Keep }

func (*results) templates() []call.ResourceTemplate {
	return []call.ResourceTemplate{{URITemplate: "result://{id}", Name: "result", Title: "Result of a tool, whole",
		Description: "What a tool returned when the answer could only show a part of it. The answer names the id."}}
}

func (*results) list(context.Context, call.Session) ([]call.Resource, *fault.Error) { return nil, nil }

func (k *results) read(ctx context.Context, r reading, u *url.URL) ([]call.ResourceContents, *fault.Error) {
	if failure := only(u); failure != nil {
		return nil, failure
	}
	missing := notFound("This client has no kept result with that id, or no longer has it", "Call the tool again.")
	id := idOf(u)
	if id == "" {
		return nil, missing
	}
	kept, found, err := k.keep.Result(ctx, r.session, id)
	if err != nil {
		return nil, storeFailed(err)
	}
	if !found {
		return nil, missing
	}
	meta := map[string]any{"tabrelay/tool": kept.Tool, "tabrelay/correlationId": kept.CallID,
		"tabrelay/created": kept.Created.UTC().Format(time.RFC3339), "tabrelay/untrusted": true}
	c := contentOf(kept.MIMEType, kept.Data, meta)
	if kept.MIMEType == "text/plain" && c.Blob == nil { // a result that was no JSON
		c.Text = untrusted.Wrap(untrusted.Nonce(), "", c.Text)
	}
	c.Fresh = keptFresh
	return []call.ResourceContents{c}, nil
}

func (*results) watch(call.Session, *url.URL, func()) (func(), *fault.Error) {
	return nil, invalid("A kept result does not change, so it cannot be subscribed to", "Read it.")
}

// keptFresh is for how long clients are told that they need not read a kept result again: it never changes, and only
// its removal is to have an end.
const keptFresh = time.Hour

// letters serves deadletter://ID, to the client whose call it was. The end of such a call may come late.
type letters struct {
	keep Keep
	bus  *event.Bus // may be nil
}

// listedLetters is how many dead letters a list shows: the newest.
const listedLetters = 20

func (*letters) templates() []call.ResourceTemplate {
	return []call.ResourceTemplate{{URITemplate: "deadletter://{id}", Name: "deadletter",
		Title: "Call that failed for good", MIMEType: "application/json",
		Description: "A call with unknown outcome, or that failed at every attempt: what it was, and what " +
			"is known of it by now."}}
}

func (l *letters) list(ctx context.Context, s call.Session) ([]call.Resource, *fault.Error) {
	found, err := l.keep.Letters(ctx, s, listedLetters)
	if err != nil {
		return nil, storeFailed(err)
	}
	var list []call.Resource
	for _, d := range found {
		list = append(list, call.Resource{URI: "deadletter://" + string(d.ID), Name: "dead letter of " + d.Tool,
			MIMEType:    "application/json",
			Title:       fmt.Sprintf("%s, %s", d.Tool, d.Created.UTC().Format(time.RFC3339)),
			Description: fmt.Sprintf("This call failed (attempts: %d, outcome: %s).", d.Attempts, d.Outcome)})
	}
	return list, nil
}

func (l *letters) read(ctx context.Context, r reading, u *url.URL) ([]call.ResourceContents, *fault.Error) {
	if failure := only(u); failure != nil {
		return nil, failure
	}
	missing := notFound("This client has no dead letter with that id, or no longer has it",
		"List the resources again, or call relay__dead_letters.")
	id := idOf(u)
	if id == "" {
		return nil, missing
	}
	view, found, err := l.keep.Letter(ctx, r.session, call.ID(id))
	switch {
	case err != nil:
		return nil, storeFailed(err)
	case !found:
		return nil, missing
	}
	return []call.ResourceContents{{MIMEType: "application/json", Text: string(rawjson.MustEncode(view)),
		Meta: rawjson.MustEncode(map[string]any{"tabrelay/untrusted": true})}}, nil
}

func (l *letters) watch(s call.Session, u *url.URL, changed func()) (func(), *fault.Error) {
	id := idOf(u)
	if failure := only(u); failure != nil || id == "" || l.bus == nil {
		return nil, unwatchable("deadletter")
	}
	return subscribe(l.bus, func(e event.Event) {
		if e.Concerns(s) && e.Data["deadLetter"] == id {
			changed()
		}
	}), nil
}

// subscribe calls hear with each event, until stop.
func subscribe(bus *event.Bus, hear func(event.Event)) (stop func()) {
	news, unsubscribe := bus.Subscribe()
	end := make(chan struct{})
	go func() {
		for {
			select {
			case e := <-news:
				hear(e)
			case <-end:
				return
			}
		}
	}()
	return sync.OnceFunc(func() {
		unsubscribe()
		close(end)
	})
}

// events serves events://recent.
type events struct{ bus *event.Bus }

// recentEvents is how many events a read tells.
const recentEvents = 100

const eventsURI = "events://recent"

func (*events) templates() []call.ResourceTemplate { return nil }

func (*events) list(context.Context, call.Session) ([]call.Resource, *fault.Error) {
	return []call.Resource{{URI: eventsURI, Name: "recent events",
		Title: "What the relay has reported about this client lately", MIMEType: "application/json",
		Description: "Failures, retries and questions about calls of this client: the last 100, oldest first."}}, nil
}

func isEvents(u *url.URL) *fault.Error {
	if u.Host != "recent" || u.Path != "" && u.Path != "/" {
		return notFound("There are no such events", "Read "+eventsURI+".")
	}
	return only(u)
}

func (e *events) read(_ context.Context, r reading, u *url.URL) ([]call.ResourceContents, *fault.Error) {
	if failure := isEvents(u); failure != nil {
		return nil, failure
	}
	list := slices.DeleteFunc(e.bus.Recent(math.MaxInt), func(one event.Event) bool { return !one.Concerns(r.session) })
	list = list[max(0, len(list)-recentEvents):]
	text := rawjson.MustEncode(map[string]any{"events": list})
	return []call.ResourceContents{{MIMEType: "application/json", Text: string(text)}}, nil
}

func (e *events) watch(s call.Session, u *url.URL, changed func()) (func(), *fault.Error) {
	if failure := isEvents(u); failure != nil {
		return nil, failure
	}
	return subscribe(e.bus, func(one event.Event) {
		if one.Concerns(s) {
			changed()
		}
	}), nil
}
