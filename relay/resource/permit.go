package resource

import (
	"context"
	"net/url"

	"tabrelay/relay/call"
	"tabrelay/relay/fault"
)

// Permits decides what of open tabs a client may read.
type Permits interface {
	// Shows reports whether a tab is to be listed for a client.
	Shows(s call.Session, tab Tab) bool
	// Tells reports whether the list may tell a client a tab's title and path, and not its site alone.
	Tells(s call.Session, tab Tab) bool
	// Read waits until the client may read a URI of a tab; kind is text, html or console.
	Read(ctx context.Context, s call.Session, tab Tab, kind, uri string) *fault.Error
}

// permit finds the tab that a URI names once the client may read it. The tab is looked at again after that: what was
// allowed of one origin is not read of another. page reports whether a page that was read is of that origin.
func (t *tabs) permit(ctx context.Context, s call.Session, u *url.URL, kind string) (tab Tab, page func(address string) bool, failure *fault.Error) {
	page = func(address string) bool { return t.mayRead(address) }
	tab, failure = t.awake(u)
	if failure != nil || t.permits == nil {
		return tab, page, failure
	}
	origin := Origin(tab.URL)
	if failure := t.permits.Read(ctx, s, tab, kind, u.String()); failure != nil {
		if failure.Code == fault.TabNotFound {
			failure = closed(tab)
		}
		return tab, page, failure
	}
	if tab, failure = t.awake(u); failure == nil && Origin(tab.URL) != origin {
		failure = left(tab)
	}
	return tab, func(address string) bool { return t.mayRead(address) && Origin(address) == origin }, failure
}

// Origin is the origin of an address with a host, else the address itself.
func Origin(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return address
	}
	return u.Scheme + "://" + u.Host
}
