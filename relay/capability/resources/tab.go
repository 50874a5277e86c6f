package resources

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/capability"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/untrusted"
)

// mostTitle is how many bytes of a tab's title are shown.
const mostTitle = 200

// tabs serves tab://ID/text and tab://ID/html.
type tabs struct {
	browser  capability.Browsers
	chars    int
	readable func(string) bool  // nil: every page
	policy   capability.Reading // may be nil
}

func (t *tabs) mayRead(address string) bool { return t.readable == nil || t.readable(address) }

// mayReadFrame judges a frame without an address of its own (about:srcdoc) by its origin.
func (t *tabs) mayReadFrame(f page) bool {
	switch {
	case strings.HasPrefix(f.URL, "http"):
		return t.mayRead(f.URL)
	case strings.HasPrefix(f.Origin, "http"):
		return t.mayRead(f.Origin + "/")
	}
	return true // of no origin, and so of nobody's session
}

// open are the tabs that may be read.
func (t *tabs) open() []hub.Tab {
	return slices.DeleteFunc(t.browser.Tabs(), func(tab hub.Tab) bool { return !t.mayRead(tab.URL) })
}

// otherPage is the failure of a tab that went to a page which may not be read, after it was found and before it was
// read.
func otherPage(tab hub.Tab) *fault.Error {
	return notFound(fmt.Sprintf("The tab %d shows another page by now", tab.ID), "List the resources again.")
}

const profileNote = " With several browser profiles connected, add ?profile=LABEL."

func (*tabs) templates() []call.ResourceTemplate {
	return []call.ResourceTemplate{
		{URITemplate: "tab://{id}/text", Name: "tab text", Title: "Text of an open tab", MIMEType: "text/plain",
			Description: "What the page shows, without markup. A long page is cut, and its end says how to read on " +
				"(?from=N)." + profileNote},
		{URITemplate: "tab://{id}/html", Name: "tab HTML", Title: "HTML of an open tab", MIMEType: "text/html",
			Description: "The page's markup as it is now, without what scripts and styles contain. A long page is " +
				"cut; ?from=N reads on." + profileNote},
	}
}

// list shows the text of every open tab, with the site alone where the person has not allowed more. Queries and
// fragments of their addresses are left out: they may hold secrets.
func (t *tabs) list(_ context.Context, s call.Session) ([]call.Resource, *fault.Error) {
	open := t.open()
	if t.policy != nil {
		open = slices.DeleteFunc(open, func(tab hub.Tab) bool { return !t.policy.ShowsTab(s, target(tab)) })
	}
	slices.SortStableFunc(open, func(a, b hub.Tab) int {
		return cmp.Or(cmp.Compare(a.Profile, b.Profile), cmp.Compare(a.ProfileID, b.ProfileID), cmp.Compare(a.ID, b.ID))
	})
	var list []call.Resource
	for _, tab := range open {
		title, where := untrusted.Line(tab.Title, mostTitle), place(tab.URL)
		if t.policy != nil && !t.policy.TellsTab(s, target(tab)) {
			where = Origin(tab.URL)
			title = "A page of " + where
		}
		list = append(list, call.Resource{
			URI: "tab://" + strconv.Itoa(tab.ID) + "/text" + query(tab, open), Name: "tab " + strconv.Itoa(tab.ID),
			Title:       title,
			Description: where + state(tab, open), MIMEType: "text/plain",
		})
	}
	return list, nil
}

// query names the profile of a tab where it has to be named.
func query(tab hub.Tab, open []hub.Tab) string {
	others, same := false, false // profiles; of them, with the same label
	for _, o := range open {
		others = others || o.ProfileID != tab.ProfileID
		same = same || o.ProfileID != tab.ProfileID && o.Profile == tab.Profile
	}
	switch {
	case same:
		return "?profile=" + url.QueryEscape(tab.ProfileID)
	case others:
		return "?profile=" + url.QueryEscape(tab.Profile)
	}
	return ""
}

func state(tab hub.Tab, open []hub.Tab) string {
	var words []string
	if query(tab, open) != "" {
		words = append(words, "profile "+fault.Sanitize(tab.Profile))
	}
	if tab.Active && tab.Focused {
		words = append(words, "in front")
	}
	if tab.Discarded {
		words = append(words, "asleep")
	}
	if len(words) == 0 {
		return ""
	}
	return " (" + strings.Join(words, ", ") + ")"
}

// place is the origin and path of a page's address.
func place(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return fault.Sanitize((&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String())
}

// find is the tab that a URI names.
func (t *tabs) find(u *url.URL) (hub.Tab, *fault.Error) {
	id, err := strconv.Atoi(u.Host)
	if err != nil || id < 0 || strconv.Itoa(id) != u.Host {
		return hub.Tab{}, invalid("A tab is named by its number, for example tab://12/text",
			"List the resources and use the number of an open tab.")
	}
	profile := u.Query().Get("profile")
	var found []hub.Tab
	for _, tab := range t.open() {
		if tab.ID == id && (profile == "" || profile == tab.Profile || profile == tab.ProfileID) {
			found = append(found, tab)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		var names []string
		for _, tab := range found {
			names = append(names, strconv.Quote(fault.Sanitize(tab.Profile))+" ("+tab.ProfileID+")")
		}
		return hub.Tab{}, invalid(fmt.Sprintf("More than one browser profile has a tab %d: %s", id,
			strings.Join(names, ", ")),
			"Add ?profile= with the label or id of one of them.")
	}
	if trouble := t.browser.Trouble(); trouble != nil {
		return hub.Tab{}, trouble
	}
	return hub.Tab{}, notFound(fmt.Sprintf("No tab %d with a web page is open", id),
		"List the resources again: the tab was closed, or shows a page of the browser itself.")
}

// page is one frame as the extension read it.
type page struct {
	URL         string `json:"url"`
	Origin      string `json:"origin"`
	Title       string `json:"title"`
	ContentType string `json:"contentType"`
	Text        string `json:"text"`
	Total       int    `json:"total"`  // characters (UTF-16 code units), also those that are not in Text
	Closed      bool   `json:"closed"` // it may not be read, and Text says so
}

func (t *tabs) read(ctx context.Context, r reading, u *url.URL) ([]call.ResourceContents, *fault.Error) {
	kind, from, failure := t.parse(u)
	if failure != nil {
		return nil, failure
	}
	tab, same, failure := t.permit(ctx, r, u)
	if failure != nil {
		return nil, failure
	}
	params := map[string]any{"tabId": tab.ID, "kind": kind, "from": from, "max": t.chars}
	if t.policy != nil {
		params["sites"] = t.policy.TabSites(r.session, target(tab))
	}
	raw, failure := t.command(ctx, tab, "tabs.read", params)
	if failure != nil {
		return nil, failure
	}
	var answer struct {
		Frames []page `json:"frames"`
	}
	if err := json.Unmarshal(raw, &answer); err != nil || len(answer.Frames) == 0 {
		return nil, unreadable(fault.TypeInternal, "The extension answered with something other than a page",
			"Repeat the request.", fault.WithCause(err))
	}
	if !same(answer.Frames[0].URL) {
		return nil, otherPage(tab)
	}
	for i, f := range answer.Frames {
		if !f.Closed && !t.mayReadFrame(f) { // the extension has left it out already, unless it is an older one
			answer.Frames[i] = withheld(f)
		}
	}
	return t.contents(u, kind, from, answer.Frames), nil
}

// withheld stands for a frame that may not be read, as the extension words it. The characters that it has stay, so that
// those of the others are numbered as they were.
func withheld(f page) page {
	site := f.Origin
	if strings.HasPrefix(f.URL, "http") {
		site = Origin(f.URL)
	}
	w := page{URL: site, Origin: site, Total: f.Total, Closed: true}
	if f.Text != "" {
		w.Text = "(frame " + site + " not readable: off)"
	}
	return w
}

// parse says what a URI asks for of a tab.
func (t *tabs) parse(u *url.URL) (kind string, from int, failure *fault.Error) {
	if failure := only(u, "profile", "from"); failure != nil {
		return "", 0, failure
	}
	kind = strings.TrimPrefix(u.Path, "/")
	if kind != "text" && kind != "html" {
		return "", 0, notFound("A tab has text and html", "Read tab://"+u.Host+"/text.")
	}
	if text := u.Query().Get("from"); text != "" {
		n, err := strconv.ParseUint(text, 10, 31)
		if err != nil {
			return "", 0, invalid("from is not a number of characters",
				"Use the number that the end of the previous part names.")
		}
		from = int(n)
	}
	return kind, from, nil
}

// awake is the tab that a URI names, if its page is in memory.
func (t *tabs) awake(u *url.URL) (hub.Tab, *fault.Error) {
	tab, failure := t.find(u)
	if failure == nil && tab.Discarded {
		failure = asleep()
	}
	return tab, failure
}

func closed(tab hub.Tab) *fault.Error {
	return notFound(fmt.Sprintf("The tab %d was closed", tab.ID), "List the resources again.")
}

func asleep() *fault.Error {
	return unreadable(fault.TypeInternal, "The browser has put the tab to sleep, so there is no page to read",
		"Ask the person to open the tab, or call a tool in it, then repeat the request.", fault.WithRetryable(true))
}

// command asks the tab's browser. A tab that is gone by now is a resource that does not exist.
func (t *tabs) command(ctx context.Context, tab hub.Tab, name string, params any) (json.RawMessage, *fault.Error) {
	raw, failure := t.browser.Command(ctx, tab.ProfileID, name, params)
	if failure == nil {
		return raw, nil
	}
	switch failure.Code {
	case fault.TabNotFound:
		return nil, closed(tab)
	case fault.TabUnresponsive, fault.TabChanged, fault.InjectionFailed:
		retry := failure.Code != fault.InjectionFailed
		return nil, unreadable(fault.TypeInternal, failure.Message, failure.Hint,
			fault.WithTab(failure.TabID, failure.Profile), fault.WithRetryable(retry))
	}
	return nil, failure
}

// contents makes one entry of each frame that has something to show; of the top document always.
func (t *tabs) contents(u *url.URL, kind string, from int, frames []page) []call.ResourceContents {
	total := 0
	for _, f := range frames {
		total += f.Total
	}
	next, nonce := from+t.chars, untrusted.Nonce()
	var list []call.ResourceContents
	for i, f := range frames {
		if i > 0 && f.Text == "" {
			continue
		}
		meta := map[string]any{"tabrelay/origin": f.Origin, "tabrelay/page": f.URL,
			"tabrelay/title": untrusted.Line(f.Title, mostTitle), "tabrelay/untrusted": true}
		if i > 0 {
			meta["tabrelay/frame"] = f.URL
		}
		if from > 0 || next < total {
			meta["tabrelay/truncated"] = map[string]any{"from": from, "characters": max(0, min(next, total)-from),
				"total": total}
		}
		// a document, which stays what it is
		c := call.ResourceContents{MIMEType: "text/html", Text: f.Text, Meta: rawjson.MustEncode(meta)}
		if kind == "text" {
			c.MIMEType, c.Text = "text/plain", untrusted.Wrap(nonce, f.Origin, f.Text)
		}
		list = append(list, c)
	}
	if next < total {
		query := u.Query()
		query.Set("from", strconv.Itoa(next))
		more := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawQuery: query.Encode()}
		list[len(list)-1].Text += fmt.Sprintf("\n[cut here: characters %d to %d of %d; %s reads on]", from, next, total,
			more.String())
	}
	return list
}

func (t *tabs) watch(_ call.Session, u *url.URL, changed func()) (func(), *fault.Error) {
	kind, _, failure := t.parse(u)
	if failure != nil {
		return nil, failure
	}
	tab, failure := t.find(u)
	if failure != nil {
		return nil, failure
	}
	stop := t.browser.OnTabs(func(n hub.TabNews) {
		if n.ProfileID == tab.ProfileID && (n.TabID == 0 || n.TabID == tab.ID && n.Page) {
			changed()
		}
	})
	ctx, cancel := context.WithCancel(context.Background())
	go t.follow(ctx, tab, kind, changed)
	return func() {
		stop()
		cancel()
	}, nil
}
