package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptrace"
	"net/textproto"
	"time"

	"tabrelay/relay"
	"tabrelay/relay/fault"
	"tabrelay/relay/join"
	"tabrelay/relay/policy"
)

// endTime is how long a process that was killed may take to be gone.
const endTime = time.Second

var (
	errNoRelay = errors.New("the relay is not running")
	errEnded   = errors.New("the relay ended before it answered")
)

// errNotRunning is what most commands cannot do without.
func errNotRunning() error { return failed("%w", errNoRelay).hinting("tabrelay up starts it") }

// gone reports whether a request failed because no relay runs any more.
func gone(err error) bool { return errors.Is(err, errNoRelay) || errors.Is(err, errEnded) }

// unanswered says why a request has no answer: the relay ended meanwhile, or else what happened to the request.
func (a *app) unanswered(ctx context.Context, happened string, err error) error {
	soon, cancel := context.WithTimeout(ctx, endTime)
	defer cancel()
	if join.AwaitLockFree(soon, a.home) {
		return failed("%w", errEnded).hinting("tabrelay logs shows why; tabrelay up starts it again")
	}
	return failed("%s: %w", happened, err).hinting("tabrelay logs shows why")
}

// get asks the running relay for a document.
func (a *app) get(ctx context.Context, path string, answer any) error {
	return a.request(ctx, http.MethodGet, path, nil, answer)
}

// post asks the running relay to do something.
func (a *app) post(ctx context.Context, path string, body, answer any) error {
	return a.request(ctx, http.MethodPost, path, body, answer)
}

func (a *app) request(ctx context.Context, method, path string, body, answer any) error {
	res, err := a.send(ctx, method, path, body, "application/json")
	if err != nil {
		return err
	}
	defer res.Body.Close() // only read from
	said, err := io.ReadAll(res.Body)
	if err != nil {
		return a.unanswered(ctx, "the relay's answer ended early", err)
	}
	if err := json.Unmarshal(said, answer); err != nil {
		return failed("the relay's answer cannot be read: %w", err).hinting("the relay may be of another version; run: tabrelay down, then tabrelay up")
	}
	return nil
}

// send sends a request. What comes back is an answer that was not refused. Where a person has to confirm it, they are
// asked at the controlling terminal.
func (a *app) send(ctx context.Context, method, path string, body any, accept string) (*http.Response, error) {
	return a.sendWith(ctx, method, path, body, http.Header{"Accept": {accept}}, a.confirmHere)
}

// mostAsked is how often a person is asked for one request, whose change may be another one once they have read it.
const mostAsked = 3

// sendWith is send with headers, and with another way to confirm it.
func (a *app) sendWith(ctx context.Context, method, path string, body any, header http.Header, confirm func(context.Context, *policy.Change) error) (*http.Response, error) {
	header = header.Clone()
	for asked := 0; ; asked++ {
		res, err := a.sendOnce(ctx, method, path, body, header)
		var u *unconfirmed
		if !errors.As(err, &u) || asked == mostAsked {
			return res, err
		}
		if err := confirm(ctx, u.Change); err != nil {
			return nil, err
		}
		header.Set(relay.ConfirmedHeader, u.Digest)
	}
}

// askedElsewhere tells the person where they are asked, while the relay waits for their answer.
func (a *app) askedElsewhere(ctx context.Context) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{Got1xxResponse: func(_ int, header textproto.MIMEHeader) error {
		if header.Get(relay.AskedHeader) != "" {
			a.notef("Answer in tabrelay's panel.\n")
		}
		return nil
	}})
}

func (a *app) sendOnce(ctx context.Context, method, path string, body any, header http.Header) (*http.Response, error) {
	if _, ok := join.Running(ctx, a.home); !ok {
		return nil, errNotRunning()
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the request: %w", err)
	}
	req, err := http.NewRequestWithContext(a.askedElsewhere(ctx), method, "http://127.0.0.1"+path, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.Header = header
	res, err := join.HTTP(a.home).Do(req)
	if err != nil {
		return nil, a.unanswered(ctx, "the relay did not answer", err)
	}
	if res.StatusCode < http.StatusBadRequest {
		return res, nil
	}
	defer res.Body.Close() // only read from
	said, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, a.unanswered(ctx, "the relay's answer ended early", err)
	}
	if u := (&unconfirmed{}); res.StatusCode == http.StatusPreconditionRequired && json.Unmarshal(said, &u.Unconfirmed) == nil && u.Change != nil && u.Unconfirmed.Error != nil {
		u.Change.Beside = u.Asked
		return nil, u
	}
	return nil, refusal(res.StatusCode, said)
}

// read asks the running relay for a document as it is.
func (a *app) read(ctx context.Context, path string) ([]byte, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1"+path, nil)
	if err != nil {
		return nil, err
	}
	res, err := join.HTTP(a.home).Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() // only read from
	return io.ReadAll(res.Body)
}

// refusal makes an error of the relay's.
func refusal(status int, said []byte) error {
	var answer struct {
		Error *fault.Error `json:"error"`
	}
	if json.Unmarshal(said, &answer) != nil || answer.Error == nil {
		return failed("the relay answered with HTTP %d", status)
	}
	return failed("%s", answer.Error.Message).hinting(answer.Error.Hint)
}

// relayStatus asks the relay how it is. When none runs, or it ends meanwhile, the answer says so.
func (a *app) relayStatus(ctx context.Context) (relay.Status, error) {
	s := relay.Status{Home: string(a.home)}
	err := a.get(ctx, "/api/v1/status", &s)
	if gone(err) {
		return s, nil
	}
	return s, err
}
