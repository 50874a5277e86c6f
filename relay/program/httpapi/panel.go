package httpapi

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"path"
	"runtime/debug"
	"slices"
	"strings"

	"github.com/rs/zerolog"

	"tabrelay/relay/browser/hub"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// panelAPI is before everything a side panel may ask for.
const panelAPI = apiPath + "v1/"

// panelMethods are the methods a side panel may use.
var panelMethods = []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodDelete}

// PanelClient is what the person at a side panel is called.
const PanelClient = "panel"

// panelSessions is what the IDs of sessions of side panels begin with; the profile follows.
const panelSessions = "panel:"

// panelKey marks a request of a side panel, with its session.
type panelKey struct{}

// panelSession is the session of the side panels of one profile.
func panelSession(profileID string) call.Session {
	return call.Session{ID: panelSessions + profileID, Client: PanelClient, Via: call.ViaPanel}
}

// AtProfile is the profile whose side panel sends a request, empty for everybody else.
func AtProfile(s call.Session) string {
	if s.Via != call.ViaPanel {
		return ""
	}
	return strings.TrimPrefix(s.ID, panelSessions)
}

// fromPanel is the session of a request that came over an extension's link. Nothing that a request carries can set it.
func fromPanel(ctx context.Context) (call.Session, bool) {
	s, ok := ctx.Value(panelKey{}).(call.Session)
	return s, ok
}

// servePanel answers a request of a side panel with the handlers of the HTTP API, behind the same guard.
func servePanel(handler http.Handler, log zerolog.Logger) hub.PanelAnswer {
	return func(ctx context.Context, asked hub.PanelRequest) (status int, body json.RawMessage) {
		w := &panelWriter{header: http.Header{}}
		defer func() {
			if broken := recover(); broken != nil {
				log.Error().Str("path", fault.Excerpt(asked.Path)).Str("panic", fmt.Sprint(broken)).Bytes("stack",
					debug.Stack()).Msg("a request of the panel failed")
				status, body = http.StatusInternalServerError,
					failureBody(fault.New(fault.InternalError, "The relay failed while it answered "+
						fault.Excerpt(asked.Path),
						fault.WithHint("The relay's log says more: tabrelay status names the file.")))
			}
		}()
		req, status, problem := panelRequest(ctx, asked)
		if problem != nil {
			return status, failureBody(problem)
		}
		handler.ServeHTTP(w, req)
		if ctx.Err() != nil {
			return http.StatusGatewayTimeout, failureBody(fault.New(fault.TimeoutCode,
				fmt.Sprintf("%s was not answered within %s", fault.Excerpt(asked.Path), wire.RequestTime),
				fault.WithHint("Check whether it was done after all before you try again.")))
		}
		return w.answer()
	}
}

// panelRequest is the HTTP request that a panel's request stands for.
func panelRequest(ctx context.Context, asked hub.PanelRequest) (req *http.Request, status int, problem *fault.Error) {
	if !slices.Contains(panelMethods, asked.Method) {
		return nil, http.StatusMethodNotAllowed, fault.New(fault.InvalidRequest, "A panel cannot send "+
			fault.Excerpt(asked.Method),
			fault.WithHint("Use "+strings.Join(panelMethods, ", ")+"."))
	}
	if len(asked.Path) > wire.MaxPathBytes {
		return nil, http.StatusRequestURITooLong,
			fault.New(fault.InputTooLarge, fmt.Sprintf("The path has %d bytes, more than %d", len(asked.Path),
				wire.MaxPathBytes))
	}
	at, err := url.ParseRequestURI(asked.Path)
	switch {
	case err != nil || !strings.HasPrefix(asked.Path, panelAPI) || at.Host != "" || path.Clean(at.Path) != at.Path:
		return nil, http.StatusNotFound, fault.New(fault.ResourceNotFound, "A panel cannot ask for "+
			fault.Excerpt(asked.Path), fault.WithHint("Its paths begin with "+panelAPI+"."))
	}
	ctx = context.WithValue(ctx, panelKey{}, panelSession(asked.ProfileID))
	req, err = http.NewRequestWithContext(ctx, asked.Method, "http://localhost"+asked.Path, bytes.NewReader(asked.Body))
	if err != nil {
		return nil, http.StatusBadRequest, malformed("The path " + fault.Excerpt(asked.Path) +
			" cannot be read")
	}
	req.RequestURI = asked.Path
	if asked.Body != nil {
		req.Header.Set("Content-Type", "application/json")
	}
	return req, 0, nil
}

// failureBody is the body of a failure, as [Refuse] writes it.
func failureBody(f *fault.Error) json.RawMessage {
	w := &panelWriter{header: http.Header{}}
	Refuse(w, http.StatusOK, f)
	return w.body.Bytes()
}

// panelWriter keeps the answer to a panel's request.
type panelWriter struct {
	header http.Header
	status int
	body   bytes.Buffer
	over   bool
}

func (w *panelWriter) Header() http.Header { return w.header }

func (w *panelWriter) WriteHeader(status int) {
	w.status = cmp.Or(w.status, status)
}

// Write keeps what is written, up to a little more than may be sent: [wire.MaxResponseBytes] is told apart from more.
func (w *panelWriter) Write(p []byte) (int, error) {
	w.WriteHeader(http.StatusOK)
	if w.body.Len()+len(p) > wire.MaxResponseBytes {
		w.over = true
		return 0, http.ErrContentLength
	}
	return w.body.Write(p)
}

// Flush does nothing: the answer goes out as a whole.
func (w *panelWriter) Flush() {}

// answer is the status, and the body as one JSON value; text that is no JSON is a string.
func (w *panelWriter) answer() (status int, body json.RawMessage) {
	w.WriteHeader(http.StatusOK)
	if w.over {
		return http.StatusInternalServerError, failureBody(fault.New(fault.OutputTooLarge,
			fmt.Sprintf("The answer has more than %d bytes", wire.MaxResponseBytes),
			fault.WithHint("Ask for less, with filters or a smaller limit, or use `tabrelay` in a terminal.")))
	}
	text := w.body.Bytes()
	if kind, _, _ := mime.ParseMediaType(w.header.Get("Content-Type")); kind == "application/json" || len(text) == 0 {
		return w.status, text
	}
	quoted, err := json.Marshal(string(text))
	if err != nil {
		return http.StatusInternalServerError, nil
	}
	return w.status, quoted
}
