package hub

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"time"

	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// commandTime is how long a browser may take for a command: longer than it gives a page that is read.
const commandTime = 25 * time.Second

// Command asks a browser to do something to itself: tabs.create {url, active}, tabs.activate {tabId}, tabs.read,
// tabs.watch and console.read (PROTOCOL.md has their parameters), reload {}. An empty profile means the browser that is
// connected; when there are several, the one with the focus or last used.
func (h *Hub) Command(ctx context.Context, profile, name string, params any) (json.RawMessage, *fault.Error) {
	raw, err := json.Marshal(params)
	if err != nil {
		return nil, fault.New(fault.InternalError, "The parameters of "+name+" cannot be written as JSON",
			fault.WithOutcome(fault.NotExecuted), fault.WithCause(err))
	}
	if params == nil {
		raw = nil
	}
	b, failure := h.await(ctx, profile)
	if failure != nil {
		return nil, failure
	}
	id := call.ID(wire.NewID())
	answer := make(chan *wire.Reply, 1)
	frame, err := wire.Encode(&wire.Command{ID: id, Name: name, Params: raw}, nil)
	if err != nil {
		return nil, fault.New(fault.InternalError, "The command could not be written as a frame",
			fault.WithOutcome(fault.NotExecuted), fault.WithCause(err))
	}
	b.update(func(s *calls) {
		switch {
		case s.conn == nil:
			failure = neverSent(b)
		case s.conn.protocol < wire.WithSites && (name == "tabs.read" || bytes.Contains(raw, []byte(`"sites":`))):
			failure = outdated(b)
		case !s.conn.queue.put(frame, false):
			failure = fault.New(fault.Overloaded, "The browser does not take commands as fast as they come",
				fault.WithRetryAfter(time.Second))
		default:
			s.commands[id] = answer
		}
	})
	if failure != nil {
		return nil, failure
	}
	return b.awaitReply(ctx, id, name, answer)
}

func (b *browser) awaitReply(ctx context.Context, id call.ID, name string, answer <-chan *wire.Reply) (json.RawMessage,
	*fault.Error) {
	late := time.NewTimer(commandTime)
	defer late.Stop()
	defer b.update(func(s *calls) { delete(s.commands, id) })
	select {
	case r := <-answer:
		return b.readReply(name, r)
	case <-late.C:
		return nil, fault.TimedOut(fault.Fixed, commandTime, commandTime, false, "", b.at(0))
	case <-ctx.Done():
		return nil, fault.New(fault.Cancelled, "The command was "+
			"abandoned", b.at(0), fault.WithCause(context.Cause(ctx)))
	}
}

func (b *browser) readReply(name string, r *wire.Reply) (json.RawMessage, *fault.Error) {
	switch {
	case r == nil:
		return nil, fault.New(fault.ExtensionLost, "The link to the browser was lost while it ran "+name, b.at(0))
	case r.OK:
		return r.Result, nil
	case r.Error == nil:
		return nil, fault.New(fault.InternalError, "The browser could not do "+name+" and did not say why", b.at(0))
	}
	code := fault.Code(r.Error.Code)
	switch code {
	case fault.TabNotFound, fault.TabUnresponsive, fault.TabChanged, fault.InjectionFailed, fault.ValidationError,
		fault.PageNotLoaded:
	default:
		code = fault.InternalError
	}
	return nil, fault.New(code, fault.Sanitize(r.Error.Message), b.at(0))
}

// replied hands a reply to whoever waits for it. The payload, valid only until then, is its result.
func (b *browser) replied(r *wire.Reply, payload json.RawMessage) {
	if payload != nil {
		r.Result = bytes.Clone(payload)
	}
	b.update(func(s *calls) {
		if answer := s.commands[r.ID]; answer != nil {
			delete(s.commands, r.ID)
			answer <- r
		}
	})
}

// await finds the browser for a command, and waits a bounded time for one that is on its way.
func (h *Hub) await(ctx context.Context, profile string) (*browser, *fault.Error) {
	var late *time.Timer // from when it has to wait
	for {
		news := h.Changed()
		b, failure, wait := h.commandee(profile)
		if !wait {
			return b, failure
		}
		if late == nil {
			late = time.NewTimer(h.patience())
			defer late.Stop()
		}
		select {
		case <-news:
		case <-late.C:
			return nil, failure
		case <-ctx.Done():
			return nil, fault.CallEnded(ctx, "before it was sent")
		}
	}
}

// commandee chooses the browser for a command. When there is none, failure says why, and wait whether that may change
// in a moment.
func (h *Hub) commandee(profile string) (b *browser, failure *fault.Error, wait bool) {
	all := h.candidates()
	if len(all) == 0 {
		return nil, h.absent(), h.starting()
	}
	s := search{hub: h, r: &call.Selector{Profile: profile}, browsers: all}
	if profile != "" {
		if failure := s.keepNamedProfile(); failure != nil {
			return nil, failure, s.mayAppear
		}
	}
	var best candidate
	var bestTab *tab
	for _, c := range s.connected() {
		for _, tab := range c.b.tabs.Load().list {
			if bestTab == nil || better(tab, bestTab) < 0 {
				best, bestTab = c, tab
			}
		}
		if best.b == nil {
			best = c // it has no tab with a web page
		}
	}
	if best.b != nil {
		return best.b, nil, false
	}
	wait = s.connecting()
	if profile != "" {
		failure = fault.New(fault.ProfileNotConnected, fmt.Sprintf("The browser profile %q is not connected", profile))
		return nil, failure, wait
	}
	return nil, h.absent(), wait
}

// Recover has a browser do something about what made a call fail: reload the tab, put the plugin's adapter into its
// page again, or open the web app in a new tab, in the background. The page that is reloaded loses what it has not
// saved.
func (h *Hub) Recover(ctx context.Context, action string, at call.Target, r call.Invocation) *fault.Error {
	switch action {
	case "reload_tab":
		return h.order(ctx, at.ProfileID, "tabs.reload", map[string]any{"tabId": at.TabID})
	case "reinject_adapter":
		return h.order(ctx, at.ProfileID, "adapter.inject", map[string]any{"tabId": at.TabID, "plugin": r.Plugin})
	case "open_url":
		if r.OpenURL == "" {
			return fault.New(fault.ConfigError, "The plugin "+r.Plugin+" does not say where its web app is")
		}
		return h.order(ctx, h.meant(at, r), "tabs.create", map[string]any{"url": r.OpenURL, "active": false})
	}
	return fault.New(fault.ConfigError, "There is no recovery called "+action)
}

// meant is the profile that a call was for: the one it was routed to, else the one it names, else its session's.
func (h *Hub) meant(at call.Target, r call.Invocation) string {
	if at.ProfileID != "" {
		return at.ProfileID
	}
	if r.Profile != "" {
		return r.Profile
	}
	last, _ := h.lastTabs.recall(&r.Selector)
	return last.profileID
}

func (h *Hub) order(ctx context.Context, profile, command string, params any) *fault.Error {
	_, failure := h.Command(ctx, profile, command, params)
	return failure
}
