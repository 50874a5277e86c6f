package bench

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"tabrelay/extension"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/browser/wire"
	"tabrelay/relay/state/config"
)

// stage is a relay with a browser, and an agent that speaks HTTP.
type stage struct {
	*relayProcess
	bare    bool // the relay is a bare one, which has no browser and answers with what it is asked
	browser *hubtest.Browser
	client  *http.Client
	token   string
	session string
	serial  atomic.Int64 // of requests: their ids differ
}

func openStage(ctx context.Context, executable, home string) (s *stage, err error) {
	secrets, err := config.OpenSecrets(config.Home(home))
	if err != nil {
		return nil, err
	}
	token, err := secrets.Add("bench")
	if err != nil {
		return nil, err
	}
	p, err := startRelay(ctx, executable, home)
	if err != nil {
		return nil, err
	}
	s = &stage{relayProcess: p, token: token, client: newClient()}
	s.browser, err = hubtest.Connect(ctx, hubtest.Options{
		Address: p.address, Secret: secrets.Pairing(), ExtensionID: extension.ID, Bundle: extension.BundleHash(),
		Label: "Bench",
		Tabs: []wire.Tab{{ID: 1, WindowID: 1, URL: page, Title: "Bench", Active: true, Focused: true,
			Status: "complete"}},
		Answer: answer,
	})
	if err == nil {
		err = s.introduce(ctx)
	}
	if err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

// answer gives the arguments back, as an extension does from the document of a tab.
func answer(c *hubtest.Call) {
	c.End(&wire.Outcome{Status: wire.Returned, Started: true, Origin: c.Origin}, c.Arguments)
}

func newClient() *http.Client {
	return &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: inFlight}}
}

func (s *stage) close() error {
	if s.browser != nil {
		s.browser.Close()
	}
	s.client.CloseIdleConnections()
	return s.stop()
}

// introduce opens a session, as clients before 2026-07-28 do.
func (s *stage) introduce(ctx context.Context) error {
	_, header, err := s.post(ctx, []byte(`{"jsonrpc":"2.0","id":0,"method":"initialize",`+
		`"params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`))
	if err != nil {
		return err
	}
	s.session = header.Get("Mcp-Session-Id")
	_, _, err = s.post(ctx, []byte(`{"jsonrpc":"2.0","method":"notifications/initialized"}`))
	return err
}

// post sends one message and returns the answer.
func (s *stage) post(ctx context.Context, message []byte) ([]byte, http.Header, error) {
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://"+s.address+"/mcp", bytes.NewReader(message))
	if err != nil {
		return nil, nil, err
	}
	req.Header.Set("Authorization", "Bearer "+s.token)
	req.Header.Set("Content-Type", "application/json")
	req.Header.Set("Accept", "application/json, text/event-stream")
	if s.session != "" {
		req.Header.Set("Mcp-Session-Id", s.session)
		req.Header.Set("Mcp-Protocol-Version", "2025-06-18")
	}
	res, err := s.client.Do(req)
	if err != nil {
		return nil, nil, err
	}
	defer res.Body.Close() // only read from
	body, err := readAll(res)
	if err == nil && res.StatusCode >= http.StatusBadRequest {
		err = fmt.Errorf("HTTP %d: %s", res.StatusCode, body)
	}
	return body, res.Header, err
}

// readAll reads an answer into memory of the right size, when it says how long it is: growing would be measured too.
func readAll(res *http.Response) ([]byte, error) {
	if res.ContentLength < 0 {
		return io.ReadAll(res.Body)
	}
	body := make([]byte, res.ContentLength)
	_, err := io.ReadFull(res.Body, body)
	return body, err
}

// The _meta of a call: one that wants its whole result, and one that says nothing and so gets a large one truncated.
const (
	wantsAll   = `{"tabrelay/maxBytes":4194304}`
	wantsUsual = `{}`
)

// call calls the measured tool. An answer that is not one ends the measurement.
func (s *stage) call(ctx context.Context, meta string, arguments []byte) error {
	message := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"_meta":%s,`+
		`"name":"bench-0__tool_0","arguments":`, s.serial.Add(1), meta)
	message = append(message, arguments...)
	answer, _, err := s.post(ctx, append(message, "}}"...))
	answered := bytes.Contains(answer, []byte(`"result"`)) && !bytes.Contains(answer, []byte(`"isError":true`))
	if err == nil && !answered && !s.bare {
		err = fmt.Errorf("the call failed: %.300s", answer)
	}
	if err == nil && meta == wantsAll && len(answer) < len(arguments) {
		err = fmt.Errorf("the answer to %d bytes has %d", len(arguments), len(answer))
	}
	return err
}

// oneByOne calls n times and returns the sorted times, those of the first calls left out: they warm caches.
func (s *stage) oneByOne(ctx context.Context, n int, meta string, arguments []byte) ([]time.Duration, error) {
	warm := n / 20
	times := make([]time.Duration, 0, n)
	for i := range n + warm {
		began := time.Now()
		if err := s.call(ctx, meta, arguments); err != nil {
			return nil, err
		}
		if i >= warm {
			times = append(times, time.Since(began))
		}
	}
	slices.Sort(times)
	return times, nil
}

// load calls n times, always so many at once.
func (s *stage) load(ctx context.Context, n int) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	tickets := make(chan struct{}, n)
	for range n {
		tickets <- struct{}{}
	}
	close(tickets)
	var agents sync.WaitGroup
	for range inFlight {
		agents.Go(func() {
			for range tickets {
				if err := s.call(ctx, wantsAll, []byte(`{"n":1}`)); err != nil {
					cancel(err)
					return
				}
			}
		})
	}
	agents.Wait()
	return context.Cause(ctx)
}

// lists lists the tools n times and returns the sorted times, and the size of one answer.
func (s *stage) lists(ctx context.Context, n int) (times []time.Duration, size int, err error) {
	for range n {
		began := time.Now()
		answer, _, err := s.post(ctx, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
		if err != nil {
			return nil, 0, err
		}
		times, size = append(times, time.Since(began)), len(answer)
		if !json.Valid(answer[max(0, bytes.IndexByte(answer, '{')):]) {
			return nil, 0, fmt.Errorf("the list cannot be read: %.300s", answer)
		}
	}
	slices.Sort(times)
	return times, size, nil
}
