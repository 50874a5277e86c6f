// Package receiver posts to the receivers of an organization, such as OpenTelemetry collectors. They are trusted with
// what they get, and with nothing else: no redirection is followed, and a bounded part of an answer is read.
package receiver

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	common "go.opentelemetry.io/proto/otlp/common/v1"
	resource "go.opentelemetry.io/proto/otlp/resource/v1"
)

// answerBytes is how much of an answer is read.
const answerBytes = 1 << 20

// Refusal is the error of what a receiver never takes, however often it is sent.
type Refusal struct {
	Why   string
	Count int // how many of what was sent together; 0: all of it. The others were accepted
}

func (r *Refusal) Error() string { return r.Why }

// Pausing is the error of a receiver that takes nothing now.
type Pausing struct {
	error
	After time.Duration // when it asks to come back; 0: it does not say
}

// Client returns a client whose requests take at most a time.
func Client(most time.Duration) *http.Client {
	return &http.Client{Timeout: most, CheckRedirect: func(*http.Request, []*http.Request) error {
		return http.ErrUseLastResponse // what is sent is for nobody else
	}}
}

// Post sends a body, and fails unless it was accepted; it returns the answer.
func Post(ctx context.Context, client *http.Client, address string, body []byte, header http.Header) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, address, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	req.Header = header
	res, err := client.Do(req)
	if err != nil {
		if in, ok := errors.AsType[*url.Error](err); ok {
			err = in.Err // without the address, which may have a key in it
		}
		return nil, err
	}
	answer, err := io.ReadAll(io.LimitReader(res.Body, answerBytes)) // to its end: the connection is used again
	if err := errors.Join(err, res.Body.Close()); err != nil && res.StatusCode/100 != 2 {
		return nil, err
	}
	// The receiver's own word for its status is not repeated.
	why := strings.TrimSpace(fmt.Sprintf("it answers %d %s", res.StatusCode, http.StatusText(res.StatusCode)))
	switch {
	case res.StatusCode/100 == 2:
		return answer, nil
	case slices.Contains(neverTaken, res.StatusCode):
		return nil, &Refusal{Why: why}
	}
	return nil, &Pausing{errors.New(why), retryAfter(res.Header.Get("Retry-After"))}
}

// neverTaken are the answers that say that a body is refused as such. Others may be about the key, the address or the
// moment, which somebody mends, or pass.
var neverTaken = []int{http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnprocessableEntity}

// retryAfter is how long a header asks to wait, in seconds or until a date; 0: it does not.
func retryAfter(header string) time.Duration {
	if seconds, err := strconv.ParseUint(header, 10, 32); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if at, err := http.ParseTime(header); err == nil {
		return max(0, time.Until(at))
	}
	return 0
}

// Hostname is that of this machine, empty where it has none.
func Hostname() string {
	name, _ := os.Hostname()
	return name
}

// Resource says to OpenTelemetry who sends.
func Resource(version string) *resource.Resource {
	return &resource.Resource{Attributes: []*common.KeyValue{
		Text("service.name", "tabrelay"), Text("service.version", version), Text("host.name", Hostname()),
	}}
}

// Text is an attribute of OpenTelemetry.
func Text(key, value string) *common.KeyValue {
	return &common.KeyValue{Key: key, Value: TextValue(value)}
}

// TextValue is a value of OpenTelemetry.
func TextValue(s string) *common.AnyValue {
	return &common.AnyValue{Value: &common.AnyValue_StringValue{StringValue: s}}
}
