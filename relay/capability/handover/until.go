package handover

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/registry"
	"tabrelay/relay/road/untrusted"
)

// condition is what ends a request besides an answer of the person.
type condition struct {
	words string                     // for the person; empty: nothing does
	await func(context.Context) bool // returns true once it holds, false when it cannot be seen any more
}

const (
	waitAtOnce   = 60 * time.Second
	checkAtFirst = 10 * time.Second           // whether there is something to wait for
	againAfter   = 2 * time.Second            // a look for what is awaited failed
	waitTimedOut = fault.Code("WAIT_TIMEOUT") // of browser__wait
)

// condition reads the argument until, about the page of a tab.
func (d *desk) condition(ctx context.Context, c call.Call, at *hub.Tab, raw json.RawMessage) (condition, *fault.Error) {
	var u struct {
		Text, Gone, URL string
		SignedIn        bool
	}
	if err := json.Unmarshal(raw, &u); err != nil {
		return condition{}, fault.New(fault.ValidationError, "until cannot be read: "+err.Error())
	}
	if u.SignedIn {
		return d.signedIn(ctx, c, at)
	}
	words := fmt.Sprintf("its address has “%s”", untrusted.Name(u.URL, mostTitle))
	switch {
	case u.Text != "":
		words = fmt.Sprintf("the page says “%s”", untrusted.Name(u.Text, mostTitle))
	case u.Gone != "":
		words = fmt.Sprintf("“%s” is gone from the page", untrusted.Name(u.Gone, mostTitle))
	}
	args := map[string]any{}
	if err := json.Unmarshal(raw, &args); err != nil {
		return condition{}, fault.New(fault.ValidationError, "until cannot be read: "+err.Error())
	}
	args["tabId"], args["timeoutMs"] = at.ID, waitAtOnce.Milliseconds()
	return condition{words, func(ctx context.Context) bool { return d.awaitShown(ctx, c, at, args, u.URL) }}, nil
}

// awaitShown waits until a page shows what is awaited. Of an address, which may be empty, what a page sees counts only
// where the tab's address has it at a place that means something.
func (d *desk) awaitShown(ctx context.Context, c call.Call, at *hub.Tab, args map[string]any, address string) bool {
	moved, stop := d.moves(at)
	defer stop()
	for ctx.Err() == nil {
		_, failure := d.look(ctx, c, waitTool, args, 0)
		switch {
		case failure != nil && waitToRetry(ctx, failure):
			continue
		case failure != nil:
			return false
		case address == "" || slices.ContainsFunc(d.Browsers.Tabs(), func(t hub.Tab) bool {
			return t.ProfileID == at.ProfileID && t.ID == at.ID && hasPart(t.URL, address)
		}):
			return true
		}
		select {
		case <-moved:
		case <-ctx.Done():
			return false
		}
		select { // a page may change its address all the time
		case <-time.After(againAfter):
		case <-ctx.Done():
		}
	}
	return false
}

// hasPart reports whether an address has a part: an address itself up to where it ends, a site's name with what its
// path begins with, or a part of the path. What stands behind ? or # counts only where the part has one of these: it
// often names where a page is going to lead (?next=/account).
func hasPart(address, part string) bool {
	at, err := url.Parse(address)
	if err != nil {
		return false
	}
	_, rest, _ := strings.Cut(address, "://")
	if i := strings.IndexAny(rest, "/?#"); i >= 0 {
		rest = rest[i:]
	} else {
		rest = ""
	}
	if !strings.ContainsAny(part, "?#") {
		rest = at.EscapedPath()
	}
	name := part
	if whole, err := url.Parse(part); err == nil && whole.Host != "" && whole.Scheme != "" {
		if whole.Scheme != at.Scheme {
			return false
		}
		_, name, _ = strings.Cut(part, "://")
	} else if strings.Contains(rest, part) {
		return true
	}
	var path string
	if i := strings.IndexAny(name, "/?#"); i >= 0 {
		name, path = name[:i], name[i:]
	}
	host := strings.ToLower(at.Host)
	if !strings.Contains(name, ":") {
		host = strings.ToLower(at.Hostname())
	}
	name = strings.ToLower(name)
	known := name != "" && (host == name || strings.Contains(name, ".") && strings.HasSuffix(host, "."+name))
	return known && strings.HasPrefix(rest, path)
}

// moves tells when a tab may have another address than before.
func (d *desk) moves(at *hub.Tab) (moved <-chan struct{}, stop func()) {
	news := make(chan struct{}, 1)
	return news, d.Browsers.OnTabs(func(n hub.TabNews) {
		if n.ProfileID == at.ProfileID && (n.TabID == at.ID || n.TabID == 0) {
			select {
			case news <- struct{}{}:
			default:
			}
		}
	})
}

// signedIn is that the plugins of the page know that a person is signed in. A page can make them believe it, which ends
// the request earlier, and nothing more.
func (d *desk) signedIn(ctx context.Context, c call.Call, at *hub.Tab) (condition, *fault.Error) {
	sites := map[string]*registry.Site{}
	for _, t := range d.Tools.List(c.Session) {
		if t.Site != nil && t.Page == nil && t.Site.SignIn != nil && t.Site.Serves(at.URL) {
			sites[t.Group] = t.Site
		}
	}
	var known []*registry.Site
	var titles []string
	for _, name := range slices.Sorted(maps.Keys(sites)) {
		site := sites[name]
		if knows, failure := d.isSignedIn(ctx, c, site, at, checkAtFirst); knows || failure != nil {
			known = append(known, site)
			titles = append(titles, "“"+untrusted.Name(site.Plugin.Manifest.DisplayName, mostTitle)+"”")
		}
	}
	if len(known) == 0 {
		why := "No plugin is for the page of tab " + strconv.Itoa(at.ID)
		if len(sites) > 0 {
			why = "The plugin " + strings.Join(slices.Sorted(maps.Keys(sites)), ", ") + " does not say how to know " +
				"that a person is signed in"
		}
		return condition{}, fault.New(fault.ValidationError, why+", which until.signedIn needs",
			fault.WithOutcome(fault.NotExecuted), fault.WithHint("Pass until.text, gone or url with what the page "+
				"shows once the person is signed in, or no until: they can say themselves that they are."))
	}
	return condition{"you are signed in to " + strings.Join(titles, " and "), func(ctx context.Context) bool {
		for _, site := range known {
			if !d.awaitSignIn(ctx, c, site, at) {
				return false
			}
		}
		return true
	}}, nil
}

// awaitSignIn waits until a plugin says that a person is signed in, and does not ask while the tab shows another site,
// such as one where people sign in to several.
func (d *desk) awaitSignIn(ctx context.Context, c call.Call, site *registry.Site, at *hub.Tab) bool {
	moved, stop := d.moves(at)
	defer stop()
	for {
		shown := slices.ContainsFunc(d.Browsers.Tabs(), func(t hub.Tab) bool {
			return t.ProfileID == at.ProfileID && t.ID == at.ID && site.Serves(t.URL)
		})
		if !shown {
			select {
			case <-moved:
				continue
			case <-ctx.Done():
				return false
			}
		}
		is, failure := d.isSignedIn(ctx, c, site, at, waitAtOnce)
		if failure == nil || !waitToRetry(ctx, failure) {
			return is
		}
	}
}

// isSignedIn asks a plugin for up to half of most; false without a failure means that it cannot know.
func (d *desk) isSignedIn(ctx context.Context, c call.Call, site *registry.Site, at *hub.Tab,
	most time.Duration) (is bool, _ *fault.Error) {
	said, failure := d.look(ctx, c, site.SignIn.Name, map[string]any{"tabId": at.ID, "profile": at.ProfileID}, most)
	return failure == nil && string(said.Output) == "true", failure
}

// look makes a call for the agent; most is its time, 0 the tool's own.
func (d *desk) look(ctx context.Context, c call.Call, tool string, args map[string]any,
	most time.Duration) (*call.Result, *fault.Error) {
	return d.Tools.Do(ctx, call.Call{ID: call.NewID(), Session: c.Session, Tool: tool,
		Arguments: rawjson.MustEncode(args), Timeout: most, Ask: c.Ask})
}

// waitToRetry reports whether another look may see what this one did not; it waits first unless the look did: the page
// may be on its way to another one, and a plugin that fails at once, as with AUTH_ERROR, would ask its site without
// end. What keeps it from looking leaves the end to the person.
func waitToRetry(ctx context.Context, failure *fault.Error) bool {
	switch failure.Code {
	case waitTimedOut: // it took its time
		return ctx.Err() == nil
	case fault.PermissionDenied, fault.ApprovalDenied, fault.UnknownTool:
		return false
	}
	select {
	case <-time.After(againAfter):
		return true
	case <-ctx.Done():
		return false
	}
}
