package recording

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"tabrelay/relay/program/builtin"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
)

const (
	longest   = time.Hour   // that a tab is recorded
	writeTime = time.Minute // for one line of a recording, which may have megabytes
)

// Order is the body of POST /api/v1/recordings: an address that is opened in a new tab, or a tab that is open.
type Order struct {
	URL     string `json:"url,omitempty"`
	TabID   int    `json:"tabId,omitempty"`
	Profile string `json:"profile,omitempty"` // id or label
	Seconds int    `json:"seconds"`
}

// Begun is the first line of a recording.
type Begun struct {
	ProfileID string `json:"profileId"`
	Profile   string `json:"profile"`
	TabID     int    `json:"tabId"`
	URL       string `json:"url"`
}

// origin is the site that is recorded.
func (b Begun) origin() string {
	u, err := url.Parse(b.URL)
	if err != nil || u.Host == "" {
		return b.URL
	}
	return u.Scheme + "://" + u.Host
}

// Line is one line of a recording: how it began, then what happened, then why it failed or ended.
type Line struct {
	Began  *Begun            `json:"began,omitempty"`
	Events []json.RawMessage `json:"events,omitempty"`
	Others map[string]int    `json:"others,omitempty"` // requests that were left out, by kind or origin
	Ended  string            `json:"ended,omitempty"`
	Error  *fault.Error      `json:"error,omitempty"`
}

// topic is what side panels look at.
const topic = "recordings"

// show answers GET /api/v1/recordings.
func (r *recorder) show(_ http.ResponseWriter, _ *http.Request) (any, *httpapi.Refusal) {
	return Open{r.runs.views()}, nil
}

// record answers POST /api/v1/recordings, which `plugin record` sends: what happens in one tab, a line of JSON for
// each part, until the recording ends, or the request does. Nothing of it is logged or kept.
func (r *recorder) record(w http.ResponseWriter, req *http.Request) {
	var n Order
	failure := httpapi.ReadBody(w, req, &n, `{"url": "https://example.com/", "seconds": 600}`)
	if failure == nil {
		failure = n.check()
	}
	if failure != nil {
		httpapi.Refuse(w, http.StatusBadRequest, failure)
		return
	}
	origin, failure := r.origin(n)
	if failure != nil {
		httpapi.Refuse(w, http.StatusNotFound, failure)
		return
	}
	by, denied := r.Confirm(w, req, change(n, origin))
	if denied != nil {
		denied.Reply(w)
		return
	}
	b, failure := r.begin(req.Context(), n, origin)
	if failure != nil {
		httpapi.Refuse(w, http.StatusConflict, failure)
		return
	}
	session := httpapi.Sender(req.Context())
	r.Audit(call.Entry{At: time.Now(), Kind: call.EntryTab, Session: session, ProfileID: b.ProfileID,
		Profile: b.Profile, TabID: b.TabID, Decision: "recorded", DecidedBy: by,
		Detail: fmt.Sprintf("plugin record saw the requests of the tab %d at %s", b.TabID, origin)})
	defer r.end(req.Context(), b.ProfileID, b.TabID)
	one := r.runs.begin(session, b, origin)
	r.Changed(topic)
	defer r.Changed(topic)
	defer r.runs.end(one)
	r.send(w, req, b, one)
}

// check says what is wrong with a wish to record.
func (n Order) check() *fault.Error {
	if (n.URL == "") == (n.TabID == 0) {
		return fault.New(fault.InvalidRequest, "A recording is of an address or of an open tab",
			fault.WithHint(`Send {"url": "https://example.com/", "seconds": 600}, or tabId in place of url.`))
	}
	if most := int(longest.Seconds()); n.Seconds < 1 || n.Seconds > most {
		return fault.New(fault.InvalidRequest, fmt.Sprintf("seconds is not a number from 1 to %d", most),
			fault.WithHint("Correct what is named above, and send it again."))
	}
	return nil
}

// origin is the origin that a recording is bound to.
func (r *recorder) origin(n Order) (string, *fault.Error) {
	address := n.URL
	for _, t := range r.Browsers.Tabs() {
		if n.TabID != 0 && t.ID == n.TabID && (n.Profile == "" || n.Profile == t.ProfileID || n.Profile == t.Profile) {
			address = t.URL
		}
	}
	u, err := url.Parse(address)
	switch {
	case address == "":
		return "", fault.New(fault.TabNotFound, fmt.Sprintf("There is no tab %d with a web page", n.TabID),
			fault.WithHint("tabrelay tabs lists them."))
	case err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https":
		return "", fault.New(fault.ValidationError, "url is not an http or https address",
			fault.WithHint("Pass a complete address, for example https://example.com/."))
	}
	host := strings.TrimSuffix(strings.ToLower(u.Host), map[string]string{"http": ":80", "https": ":443"}[u.Scheme])
	return u.Scheme + "://" + host, nil // as the browser writes it
}

func change(n Order, origin string) *policy.Change {
	where := "a new tab"
	if n.TabID != 0 {
		where = fmt.Sprintf("tab %d", n.TabID)
	}
	span := time.Duration(n.Seconds) * time.Second
	return policy.NewChange("The requests of a tab are recorded", "tabrelay plugin record",
		call.Difference{What: where + " at " + origin, Before: "nobody sees its requests",
			After: "plugin record sees them, with what is sent and answered, for at most " + spanText(span)}).
		WithText("What is recorded goes to this terminal's memory. Passwords, cookies and tokens are not " +
			"written to files.")
}

func spanText(d time.Duration) string {
	if d%time.Minute == 0 {
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return d.String()
}

// begin opens the tab if it has to be, and has the browser record it. A tab that was opened for it loads its
// page again, so that the requests of that are seen.
func (r *recorder) begin(ctx context.Context, n Order, origin string) (b Begun,
	failure *fault.Error) {
	profile, tab := n.Profile, n.TabID
	if n.URL != "" {
		made, failure := r.OpenTab(ctx, httpapi.Sender(ctx),
			builtin.NewTab{URL: n.URL, Active: true, Profile: n.Profile})
		if failure != nil {
			return b, failure
		}
		profile, tab = made.Profile, made.TabID
	}
	for _, t := range r.Browsers.Tabs() {
		if t.ID == tab && (profile == "" || profile == t.ProfileID || profile == t.Profile) {
			b = Begun{ProfileID: t.ProfileID, Profile: t.Profile, TabID: t.ID, URL: t.URL}
		}
	}
	if b.TabID == 0 {
		return b, fault.New(fault.TabNotFound, fmt.Sprintf("The tab %d was closed", tab))
	}
	span := time.Duration(n.Seconds) * time.Second
	_, failure = r.Browsers.Command(ctx, b.ProfileID, "record.start",
		map[string]any{"tabId": tab, "origin": origin, "forMs": span.Milliseconds(), "reload": n.URL != ""})
	return b, failure
}

// send passes on what the browser tells, until it tells that the recording has ended.
func (r *recorder) send(w http.ResponseWriter, req *http.Request, b Begun, one *run) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	encoder := json.NewEncoder(w)
	send := func(line any) bool {
		_ = control.SetWriteDeadline(time.Now().Add(writeTime)) // one that cannot be set does not fail later
		return encoder.Encode(line) == nil && control.Flush() == nil
	}
	if !send(Line{Began: &b}) {
		return
	}
	for {
		raw, failure := r.Browsers.Command(req.Context(), b.ProfileID, "record.read", map[string]any{"tabId": b.TabID})
		if failure != nil {
			send(Line{Error: failure})
			return
		}
		var line Line
		if json.Unmarshal(raw, &line) != nil {
			return
		}
		r.runs.note(one, &line)
		r.Changed(topic)
		if !send(line) || line.Ended != "" {
			return
		}
		select {
		case <-r.stopping:
			return
		default:
		}
	}
}

// end ends a recording whose request has ended.
func (r *recorder) end(ctx context.Context, profile string, tab int) *fault.Error {
	_, failure := r.Browsers.Command(context.WithoutCancel(ctx), profile, "record.stop", map[string]any{"tabId": tab})
	return failure // a browser that is gone records nothing
}

// stop answers DELETE /api/v1/recordings/{profile}/{tab}: whoever reads it gets what is left, and its end.
func (r *recorder) stop(_ http.ResponseWriter, req *http.Request) (any, *httpapi.Refusal) {
	tab, err := strconv.Atoi(req.PathValue("tab"))
	if err != nil {
		return nil, httpapi.NewRefusal(http.StatusBadRequest, fault.New(fault.InvalidRequest,
			fault.Excerpt(req.PathValue("tab"))+
				" is not the id of a tab", fault.WithHint("GET /api/v1/tabs lists the tabs.")))
	}
	profile := req.PathValue("profile")
	if httpapi.Sender(req.Context()).Via == call.ViaPanel {
		r.runs.endedBy(endedInPanel, func(v View) bool {
			return v.ProfileID == profile && v.TabID == tab
		})
	}
	if failure := r.end(req.Context(), profile, tab); failure != nil {
		return nil, httpapi.NewRefusal(http.StatusNotFound, failure)
	}
	return map[string]int{"stopped": tab}, nil
}

// stopAll ends every recording: the person has stopped everything.
func (r *recorder) stopAll() {
	for _, v := range r.runs.endedBy(endedWithStop, func(View) bool { return true }) {
		go r.end(context.Background(), v.ProfileID, v.TabID) // a browser that is away may keep it waiting
	}
}
