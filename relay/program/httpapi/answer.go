package httpapi

import (
	"encoding/json"
	"errors"
	"io"
	"net/http"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	jsonv1 "github.com/go-json-experiment/json/v1"

	"tabrelay/relay/road/fault"
)

// Reply answers with a JSON document.
func Reply(w http.ResponseWriter, status int, v any) {
	h := w.Header()
	h.Set("Content-Type", "application/json")
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	w.WriteHeader(status)
	body, _ := jsonv2.Marshal(v, inAnswers) // everything replied with can be encoded
	_, _ = w.Write(body)                    // all that can fail is a client that went away
}

// inAnswers writes as encoding/json does, but for lists and maps: one that has nothing is empty, and never null.
var inAnswers = jsonv2.JoinOptions(jsonv1.DefaultOptionsV1(), jsontext.EscapeForHTML(false),
	jsonv2.FormatNilSliceAsNull(false), jsonv2.FormatNilMapAsNull(false))

// Refusal is the answer to a request that is not done.
type Refusal struct {
	status   int
	document any
}

// NewRefusal is the refusal for a failure.
func NewRefusal(status int, f *fault.Error) *Refusal {
	return &Refusal{status, map[string]any{"error": f}}
}

// Reply answers with it.
func (r *Refusal) Reply(w http.ResponseWriter) { Reply(w, r.status, r.document) }

// Answers makes a handler of one that returns its answer: a document, or why there is none.
func Answers(handle func(w http.ResponseWriter, req *http.Request) (any, *Refusal)) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		document, refused := handle(w, req)
		if refused != nil {
			refused.Reply(w)
			return
		}
		Reply(w, http.StatusOK, document)
	}
}

// Streams makes a handler of one that answers for as long as somebody listens, which no side panel can.
func Streams(handle http.HandlerFunc) http.HandlerFunc {
	return func(w http.ResponseWriter, req *http.Request) {
		if AtProfile(Sender(req.Context())) != "" {
			Refuse(w, http.StatusBadRequest, fault.New(fault.InvalidRequest, fault.Excerpt(req.URL.Path)+
				" is a stream, and a panel gets whole answers only", fault.WithHint("Ask for "+panelAPI+
				"events?once=1; news says when something has changed.")))
			return
		}
		handle(w, req)
	}
}

// Refuse answers with a failure.
func Refuse(w http.ResponseWriter, status int, f *fault.Error) { NewRefusal(status, f).Reply(w) }

// statusOf is the HTTP status of a request that is refused.
func statusOf(f *fault.Error) int {
	switch f.Code {
	case fault.NotFoundCode:
		return http.StatusNotFound
	case fault.PermissionDenied:
		return http.StatusForbidden
	case fault.InternalError:
		return http.StatusInternalServerError
	}
	return http.StatusBadRequest
}

// malformed is the failure of a request that is not as it has to be; message says what is wrong with it.
func malformed(message string) *fault.Error {
	return fault.New(fault.InvalidRequest, message, fault.WithHint("Correct what is named above, and send it again."))
}

// maxBody bounds what a person's own requests say, in bytes.
const maxBody = 64 << 10

// ReadBody reads a small JSON object, and refuses members that it does not know: what somebody misspelt must not be
// taken for what they left out. example is a body that would do.
func ReadBody(w http.ResponseWriter, req *http.Request, into any, example string) *fault.Error {
	d := json.NewDecoder(http.MaxBytesReader(w, req.Body, maxBody))
	d.DisallowUnknownFields()
	err := d.Decode(into)
	if err == nil && d.Decode(new(json.RawMessage)) != io.EOF {
		err = errors.New("more than one value")
	}
	if err != nil {
		return fault.New(fault.InvalidRequest, "The body cannot be read: "+err.Error(),
			fault.WithHint("Send "+example+"."))
	}
	return nil
}
