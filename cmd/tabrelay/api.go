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

	"github.com/spf13/cobra"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/program/httpapi"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/policy"
	"tabrelay/relay/state/config"
)

// exitTimeout is how long a process that was killed may take to be gone.
const exitTimeout = time.Second

// maxStarts is how often a command starts a relay, when one ends before it is asked anything.
const maxStarts = 3

// maxConfirmations is how often a person is asked for one request, whose change may be another one once they have read
// it.
const maxConfirmations = 3

var (
	errNoRelay = errors.New("the relay is not running")
	errEnded   = errors.New("the relay ended before it answered")
)

func errNotRunning() error { return failed("%w", errNoRelay).hinting("tabrelay up starts it") }

// answerTime is how long a relay may take to say that it is there. One that takes longer is stuck: stopped by a
// debugger or a signal, or its machine has no time for it.
const answerTime = 3 * time.Second

// errStuck is the error for a relay that has the instance lock and does not answer.
var errStuck = errors.New("the relay does not answer")

// reach makes sure that a relay answers, and starts a temporary one if the command may, also in place of a temporary
// one that runs in other circumstances. A temporary relay lives while connections are open, so this one stays open
// until the command ends. See [join.Lifetime].
func (a *app) reach(ctx context.Context) error {
	state, ok := join.Answering(ctx, a.home)
	switch {
	case ok && state.Temporary == "":
		return a.unlessStuck(ctx, state)
	case !a.startsRelay:
		return errNotRunning()
	}
	if _, err := config.Load(a.home); err != nil {
		return err // a relay could not start with it either
	}
	starter, err := a.starter()
	if err != nil {
		return err
	}
	if ok && state.Temporary != join.Circumstances(a.home) {
		join.EndTemporary(ctx, a.home)
		ok = false
	}
	for range maxStarts {
		if ok {
			if err := a.checkAlive(ctx, state); !errors.Is(err, errEnded) {
				return err
			}
		}
		starting := a.progress("Starting the relay")
		state, err = starter.StartTemporary(ctx)
		starting()
		if err != nil {
			return err
		}
		ok = true
	}
	return failed("%w", errEnded).hinting("tabrelay logs shows why")
}

// unlessStuck fails for a relay that does not answer, but not for one that has ended: the request that follows fails
// then.
func (a *app) unlessStuck(ctx context.Context, state join.State) error {
	if err := a.checkAlive(ctx, state); !errors.Is(err, errEnded) {
		return err
	}
	return nil
}

// checkAlive fails with errStuck when the relay does not answer in time, and with errEnded when it has ended.
func (a *app) checkAlive(ctx context.Context, state join.State) error {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	req, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://127.0.0.1/healthz", nil)
	if err != nil {
		return err
	}
	res, err := a.relay.Do(req)
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return failed("%w within %s (process %d)", errStuck, answerTime, state.PID).
			hinting("tabrelay down --force ends it; then run: tabrelay up")
	case errors.Is(err, context.Canceled):
		return err
	case err != nil:
		return errEnded
	}
	_, err = io.Copy(io.Discard, res.Body) // read to its end, so that the connection can be used again
	return errors.Join(err, res.Body.Close())
}

// startingRelay lets a command and its subcommands start a relay when none runs.
func (a *app) startingRelay(cmd *cobra.Command) *cobra.Command {
	if run := cmd.RunE; run != nil {
		cmd.RunE = func(cmd *cobra.Command, args []string) error {
			a.startsRelay = true
			return run(cmd, args)
		}
	}
	for _, sub := range cmd.Commands() {
		a.startingRelay(sub)
	}
	return cmd
}

// relayGone reports whether a request failed because no relay runs any more.
func relayGone(err error) bool { return errors.Is(err, errNoRelay) || errors.Is(err, errEnded) }

// errUnreadable is the error for a reply of the relay that does not parse.
func errUnreadable(what string, err error) error {
	const hint = "the relay may be of another version; run: tabrelay down, then tabrelay up"
	return failed("%s cannot be read: %w", what, err).hinting(hint)
}

// noReply says why a request has no reply: the relay ended meanwhile, or else what happened to the request.
func (a *app) noReply(ctx context.Context, happened string, err error) error {
	soon, cancel := context.WithTimeout(ctx, exitTimeout)
	defer cancel()
	if join.AwaitLockFree(soon, a.home) {
		return failed("%w", errEnded).hinting("tabrelay logs shows why; tabrelay up starts it again")
	}
	return failed("%s: %w", happened, err).hinting("tabrelay logs shows why")
}

// get reads a JSON document of the running relay.
func (a *app) get(ctx context.Context, path string, reply any) error {
	return a.request(ctx, http.MethodGet, path, nil, reply)
}

// post sends body to the running relay.
func (a *app) post(ctx context.Context, path string, body, reply any) error {
	return a.request(ctx, http.MethodPost, path, body, reply)
}

func (a *app) request(ctx context.Context, method, path string, body, reply any) error {
	text, err := a.exchange(ctx, method, path, body)
	if err != nil {
		return err
	}
	if err := json.Unmarshal(text, reply); err != nil {
		return errUnreadable("the relay's answer", err)
	}
	return nil
}

// exchange sends a request and returns the body of the reply.
func (a *app) exchange(ctx context.Context, method, path string, body any) ([]byte, error) {
	res, err := a.send(ctx, method, path, body, "application/json")
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() // only read from
	text, err := io.ReadAll(res.Body)
	if err != nil {
		if stopped := stoppedRequest(ctx, method, path); stopped != nil {
			return nil, stopped
		}
		return nil, a.noReply(ctx, "the relay's answer ended early", err)
	}
	return text, nil
}

// send sends a request; a refusal is an error. A change that a person has to confirm is confirmed at the controlling
// terminal.
func (a *app) send(ctx context.Context, method, path string, body any, accept string) (*http.Response, error) {
	return a.sendConfirmed(ctx, method, path, body, http.Header{"Accept": {accept}}, a.confirmHere)
}

// sendConfirmed is send with headers and another way to confirm.
func (a *app) sendConfirmed(
	ctx context.Context, method, path string, body any, header http.Header,
	confirm func(context.Context, *policy.Change) error,
) (*http.Response, error) {
	header = header.Clone()
	for asked := 0; ; asked++ {
		res, err := a.sendOnce(ctx, method, path, body, header)
		var u *unconfirmed
		if !errors.As(err, &u) || asked == maxConfirmations {
			return res, err
		}
		if err := confirm(ctx, u.Change); err != nil {
			return nil, err
		}
		header.Set(httpapi.ConfirmedHeader, u.Digest)
	}
}

// withPanelNotice returns a context with which a request tells the person that the side panel asks them something. The
// relay sends an informational response (1xx) then; relayAnswered ends the progress display.
func (a *app) withPanelNotice(ctx context.Context, relayAnswered func()) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		Got1xxResponse: func(_ int, header textproto.MIMEHeader) error {
			if header.Get(httpapi.AskedHeader) != "" {
				relayAnswered()
				a.notef("Answer in tabrelay's panel. %s opens it.\n", panelKeys)
			}
			return nil
		},
	})
}

func (a *app) sendOnce(
	ctx context.Context, method, path string, body any, header http.Header,
) (*http.Response, error) {
	if err := a.reach(ctx); err != nil {
		return nil, err
	}
	text, err := json.Marshal(body)
	if err != nil {
		return nil, fmt.Errorf("cannot encode the request: %w", err)
	}
	url := "http://127.0.0.1" + path
	done := a.progress("Waiting for the relay")
	req, err := http.NewRequestWithContext(a.withPanelNotice(ctx, done), method, url, bytes.NewReader(text))
	if err != nil {
		return nil, err
	}
	req.Header = header
	res, err := a.relay.Do(req)
	done()
	if err != nil {
		if stopped := stoppedRequest(ctx, method, path); stopped != nil {
			return nil, stopped
		}
		return nil, a.noReply(ctx, "the relay did not answer", err)
	}
	if res.StatusCode < http.StatusBadRequest {
		return res, nil
	}
	defer res.Body.Close() // only read from
	reply, err := io.ReadAll(res.Body)
	if err != nil {
		return nil, a.noReply(ctx, "the relay's answer ended early", err)
	}
	if err := unknownToken(res); a.isClient && err != nil {
		return nil, err
	}
	return nil, refusal(res.StatusCode, reply)
}

// refusal is the error for a reply with an error status.
func refusal(status int, reply []byte) error {
	u := &unconfirmed{}
	if status == http.StatusPreconditionRequired && json.Unmarshal(reply, &u.Unconfirmed) == nil &&
		u.Change != nil && u.Unconfirmed.Error != nil {
		u.Change.ShownElsewhere = u.Asked
		return u
	}
	var answer struct {
		Error *fault.Error `json:"error"`
	}
	if json.Unmarshal(reply, &answer) != nil || answer.Error == nil {
		return failed("the relay answered with HTTP %d", status)
	}
	return failed("%w", &refusedFault{answer.Error}).hinting(answer.Error.Hint)
}

// refusedFault is what the relay answers to a request that it refuses.
type refusedFault struct{ fault *fault.Error }

func (r *refusedFault) Error() string { return r.fault.Message }

// relayStatus reads the status of the relay. When none runs, or it ends meanwhile, the status says so.
func (a *app) relayStatus(ctx context.Context) (httpapi.Status, error) {
	s := httpapi.NotRunning(string(a.home))
	err := a.get(ctx, "/api/v1/status", &s)
	if relayGone(err) {
		return s, nil
	}
	return s, err
}
