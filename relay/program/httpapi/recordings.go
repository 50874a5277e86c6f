package httpapi

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
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
)

const (
	// LongestRecording is how long a tab can be recorded at the most.
	LongestRecording = time.Hour
	// recordingWrite is how long the reader of a recording may take for one line, which may have megabytes.
	recordingWrite = time.Minute
)

// NewRecording is the body of POST /api/v1/recordings: an address that is opened in a new tab, or a tab that is open.
type NewRecording struct {
	URL     string `json:"url,omitempty"`
	TabID   int    `json:"tabId,omitempty"`
	Profile string `json:"profile,omitempty"` // id or label
	Seconds int    `json:"seconds"`
}

// BegunRecording is the first line of a recording.
type BegunRecording struct {
	ProfileID string `json:"profileId"`
	Profile   string `json:"profile"`
	TabID     int    `json:"tabId"`
	URL       string `json:"url"`
}

// RecordingLine is one line of a recording: how it began, then what happened, then why it failed or ended.
type RecordingLine struct {
	Began  *BegunRecording   `json:"began,omitempty"`
	Events []json.RawMessage `json:"events,omitempty"`
	Others map[string]int    `json:"others,omitempty"` // requests that were left out, by kind or origin
	Ended  string            `json:"ended,omitempty"`
	Error  *fault.Error      `json:"error,omitempty"`
}

// recordTab answers POST /api/v1/recordings, which `plugin record` sends: what happens in one tab, a line of JSON for
// each part, until the recording ends, or the request does. Nothing of it is logged or kept.
func (a *API) recordTab(w http.ResponseWriter, req *http.Request) {
	var n NewRecording
	failure := ReadBody(w, req, &n, `{"url": "https://example.com/", "seconds": 600}`)
	if failure == nil {
		failure = n.check()
	}
	if failure != nil {
		Refuse(w, http.StatusBadRequest, failure)
		return
	}
	origin, failure := a.recordedOrigin(n)
	if failure != nil {
		Refuse(w, http.StatusNotFound, failure)
		return
	}
	by, denied := a.confirmed(w, req, recordingChange(n, origin))
	if denied != nil {
		denied.reply(w)
		return
	}
	b, failure := a.beginRecording(req.Context(), n, origin)
	if failure != nil {
		Refuse(w, http.StatusConflict, failure)
		return
	}
	session := Sender(req.Context())
	a.Audit.Record(call.Entry{At: time.Now(), Kind: call.EntryTab, Session: session, ProfileID: b.ProfileID,
		Profile: b.Profile, TabID: b.TabID, Decision: "recorded", DecidedBy: by,
		Detail: fmt.Sprintf("plugin record saw the requests of the tab %d at %s", b.TabID, origin)})
	defer a.endRecording(req.Context(), b.ProfileID, b.TabID)
	run := a.recordings.begin(session, b, origin)
	a.recordingsChanged()
	defer a.recordingsChanged()
	defer a.recordings.end(run)
	a.sendRecording(w, req, b, run)
}

// check says what is wrong with a wish to record.
func (n NewRecording) check() *fault.Error {
	if (n.URL == "") == (n.TabID == 0) {
		return fault.New(fault.InvalidRequest, "A recording is of an address or of an open tab",
			fault.WithHint(`Send {"url": "https://example.com/", "seconds": 600}, or tabId in place of url.`))
	}
	if most := int(LongestRecording.Seconds()); n.Seconds < 1 || n.Seconds > most {
		return malformed(fmt.Sprintf("seconds is not a number from 1 to %d", most))
	}
	return nil
}

// recordedOrigin is the origin that a recording is bound to.
func (a *API) recordedOrigin(n NewRecording) (string, *fault.Error) {
	address := n.URL
	for _, t := range a.Hub.Tabs() {
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

func recordingChange(n NewRecording, origin string) *policy.Change {
	where := "a new tab"
	if n.TabID != 0 {
		where = fmt.Sprintf("tab %d", n.TabID)
	}
	span := time.Duration(n.Seconds) * time.Second
	return policy.NewChange("The requests of a tab are recorded", "tabrelay plugin record",
		call.Difference{What: where + " at " + origin, Before: "nobody sees its requests",
			After: "plugin record sees them, with what is sent and answered, for at most " + spanText(span)}).
		Reading("What is recorded goes to this terminal's memory. Passwords, cookies and tokens are not " +
			"written to files.")
}

func spanText(d time.Duration) string {
	if d%time.Minute == 0 {
		return fmt.Sprintf("%d min", d/time.Minute)
	}
	return d.String()
}

// beginRecording opens the tab if it has to be, and has the browser record it. A tab that was opened for it loads its
// page again, so that the requests of that are seen.
func (a *API) beginRecording(ctx context.Context, n NewRecording, origin string) (b BegunRecording,
	failure *fault.Error) {
	profile, tab := n.Profile, n.TabID
	if n.URL != "" {
		made, failure := builtin.TabsOf(a.Hub).Open(ctx, call.Call{Session: Sender(ctx)},
			builtin.NewTab{URL: n.URL, Active: true, Profile: n.Profile})
		if failure != nil {
			return b, failure
		}
		profile, tab = made.Profile, made.TabID
	}
	for _, t := range a.Hub.Tabs() {
		if t.ID == tab && (profile == "" || profile == t.ProfileID || profile == t.Profile) {
			b = BegunRecording{ProfileID: t.ProfileID, Profile: t.Profile, TabID: t.ID, URL: t.URL}
		}
	}
	if b.TabID == 0 {
		return b, fault.New(fault.TabNotFound, fmt.Sprintf("The tab %d was closed", tab))
	}
	span := time.Duration(n.Seconds) * time.Second
	_, failure = a.Hub.Command(ctx, b.ProfileID, "record.start",
		map[string]any{"tabId": tab, "origin": origin, "forMs": span.Milliseconds(), "reload": n.URL != ""})
	return b, failure
}

// sendRecording passes on what the browser tells, until it tells that the recording has ended.
func (a *API) sendRecording(w http.ResponseWriter, req *http.Request, b BegunRecording, run *recordingRun) {
	w.Header().Set("Content-Type", "application/x-ndjson")
	w.Header().Set("Cache-Control", "no-store")
	w.WriteHeader(http.StatusOK)
	control := http.NewResponseController(w)
	encoder := json.NewEncoder(w)
	send := func(line any) bool {
		_ = control.SetWriteDeadline(time.Now().Add(recordingWrite)) // one that cannot be set does not fail later
		return encoder.Encode(line) == nil && control.Flush() == nil
	}
	if !send(RecordingLine{Began: &b}) {
		return
	}
	for {
		raw, failure := a.Hub.Command(req.Context(), b.ProfileID, "record.read", map[string]any{"tabId": b.TabID})
		if failure != nil {
			send(RecordingLine{Error: failure})
			return
		}
		var line RecordingLine
		if json.Unmarshal(raw, &line) != nil {
			return
		}
		a.recordings.note(run, &line)
		a.recordingsChanged()
		if !send(line) || line.Ended != "" {
			return
		}
		select {
		case <-a.Stopping:
			return
		default:
		}
	}
}

// endRecording ends a recording whose request has ended.
func (a *API) endRecording(ctx context.Context, profile string, tab int) *fault.Error {
	_, failure := a.Hub.Command(context.WithoutCancel(ctx), profile, "record.stop", map[string]any{"tabId": tab})
	return failure // a browser that is gone records nothing
}

// stopRecording answers DELETE /api/v1/recordings/{profile}/{tab}: whoever reads it gets what is left, and its end.
func (a *API) stopRecording(_ http.ResponseWriter, req *http.Request) (any, *Refusal) {
	tab, err := strconv.Atoi(req.PathValue("tab"))
	if err != nil {
		return nil, NewRefusal(http.StatusBadRequest, fault.New(fault.InvalidRequest,
			fault.Excerpt(req.PathValue("tab"))+
				" is not the id of a tab", fault.WithHint("GET /api/v1/tabs lists the tabs.")))
	}
	profile := req.PathValue("profile")
	if Sender(req.Context()).Via == call.ViaPanel {
		a.recordings.endedBy(endedInPanel, func(v RecordingView) bool {
			return v.ProfileID == profile && v.TabID == tab
		})
	}
	if failure := a.endRecording(req.Context(), profile, tab); failure != nil {
		return nil, NewRefusal(http.StatusNotFound, failure)
	}
	return map[string]int{"stopped": tab}, nil
}
