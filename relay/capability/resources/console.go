package resources

import (
	"context"
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/untrusted"
)

// mostAddress is how many bytes of a page's address are shown.
const mostAddress = 500

// consoles serves console://ID. A console is captured from its first read on; reading and watching keep that up.
type consoles struct{ tabs *tabs }

const (
	holdTime  = 10 * time.Minute // the capture goes on this long after the last read
	renewTime = 4 * time.Minute  // of a capture that is watched
)

func (*consoles) templates() []call.ResourceTemplate {
	return []call.ResourceTemplate{{URITemplate: "console://{id}", Name: "tab console", Title: "Console of an open tab",
		MIMEType: "text/plain",
		Description: "Errors, warnings, uncaught errors and unhandled rejections of the page, with times. Captured " +
			"from the first read on: read, " +
			"use or reload the page, read again. Only the top document's." + profileNote}}
}

func (*consoles) list(context.Context, call.Session) ([]call.Resource, *fault.Error) { return nil, nil }

// captured is a console as the extension read it; times are Unix milliseconds.
type captured struct {
	URL     string `json:"url"`
	Since   int64  `json:"since"`
	Dropped int    `json:"dropped"`
	Lines   []struct {
		At   int64  `json:"at"`
		Text string `json:"text"`
	} `json:"lines"`
}

func (c *consoles) check(u *url.URL) *fault.Error {
	if u.Path != "" && u.Path != "/" {
		return notFound("A tab has one console", "Read console://"+u.Host+".")
	}
	return only(u, "profile")
}

func (c *consoles) read(ctx context.Context, r reading, u *url.URL) ([]call.ResourceContents, *fault.Error) {
	if failure := c.check(u); failure != nil {
		return nil, failure
	}
	tab, same, failure := c.tabs.permit(ctx, r, u)
	if failure != nil {
		return nil, failure
	}
	seen, failure := c.capture(ctx, tab)
	if failure != nil {
		return nil, failure
	}
	if !same(seen.URL) {
		return nil, otherPage(tab)
	}
	since := time.UnixMilli(seen.Since).UTC()
	meta := map[string]any{"tabrelay/origin": originOf(seen.URL), "tabrelay/page": seen.URL,
		"tabrelay/since": since.Format(time.RFC3339), "tabrelay/lines": len(seen.Lines), "tabrelay/untrusted": true}
	return []call.ResourceContents{{MIMEType: "text/plain", Text: consoleText(tab.ID, seen, since, c.tabs.chars),
		Meta: rawjson.MustEncode(meta)}}, nil
}

func (c *consoles) capture(ctx context.Context, tab hub.Tab) (captured, *fault.Error) {
	var seen captured
	raw, failure := c.tabs.command(ctx, tab, "console.read",
		map[string]any{"tabId": tab.ID, "holdMs": holdTime.Milliseconds()})
	if failure != nil {
		return seen, failure
	}
	if err := json.Unmarshal(raw, &seen); err != nil {
		return seen, unreadable(fault.TypeInternal, "The extension answered with something other than a console",
			"Repeat the request.", fault.WithCause(err))
	}
	return seen, nil
}

// consoleText writes what was seen, one line each, without what looks like a credential: the newest lines, as many as
// fit into so many bytes.
func consoleText(tabID int, seen captured, since time.Time, room int) string {
	lines := make([]string, 0, len(seen.Lines))
	for _, line := range slices.Backward(seen.Lines) {
		text := time.UnixMilli(line.At).UTC().Format("15:04:05.000") + " " + fault.Sanitize(fault.Redact(line.Text)) +
			"\n"
		if room -= len(text); room < 0 {
			break
		}
		lines = append(lines, text)
	}
	slices.Reverse(lines)
	var b strings.Builder
	fmt.Fprintf(&b, "Console of tab %d, %s\nCaptured since %s: errors, warnings, uncaught errors, unhandled "+
		"rejections.\n",
		tabID, untrusted.Line(seen.URL, mostAddress), since.Format("2006-01-02 15:04:05 UTC"))
	if left := seen.Dropped + len(seen.Lines) - len(lines); left > 0 {
		fmt.Fprintf(&b, "%d older lines are left out.\n", left)
	}
	if len(seen.Lines) == 0 {
		b.WriteString("Nothing so far. What the page wrote earlier cannot be seen; reload or use it, then read this " +
			"again.\n")
		return b.String()
	}
	b.WriteByte('\n')
	if len(lines) == 0 {
		return b.String()
	}
	b.WriteString(untrusted.Wrap(untrusted.Nonce(), originOf(seen.URL), strings.Join(lines, "")))
	return b.String()
}

// originOf is the scheme and host of an address.
func originOf(address string) string {
	u, err := url.Parse(address)
	if err != nil || u.Host == "" {
		return ""
	}
	return u.Scheme + "://" + u.Host
}

// watch begins the capture, and begins it anew when the browser was away.
func (c *consoles) watch(_ call.Session, u *url.URL, changed func()) (func(), *fault.Error) {
	if failure := c.check(u); failure != nil {
		return nil, failure
	}
	tab, failure := c.tabs.find(u)
	if failure != nil {
		return nil, failure
	}
	ctx, cancel := context.WithCancel(context.Background())
	again := make(chan struct{}, 1)
	stop := c.tabs.browser.OnTabs(func(n hub.TabNews) {
		if n.ProfileID != tab.ProfileID {
			return
		}
		if n.TabID == tab.ID && (n.Console || n.Page) {
			changed()
		}
		if n.TabID == 0 {
			select {
			case again <- struct{}{}:
			default:
			}
		}
	})
	go func() {
		renew := time.NewTicker(renewTime)
		defer renew.Stop()
		for {
			_, _ = c.capture(ctx, tab) // when it fails the tab is gone or away, and a read says so
			select {
			case <-again:
				changed() // what happened meanwhile was not told
			case <-renew.C:
			case <-ctx.Done():
				return
			}
		}
	}()
	return func() {
		stop()
		cancel()
	}, nil
}
