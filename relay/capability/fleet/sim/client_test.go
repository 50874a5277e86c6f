//go:build unix

package sim

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"time"
)

// answer is what a client was told of a write.
type answer struct {
	id      string
	node    string
	outcome string // executed, not_executed or unknown
	code    string // of a failure
	said    string
	took    time.Duration
	ended   time.Time
	sent    int // how often
}

// client is an agent that speaks MCP, of the era in which any gateway can be asked.
type client struct {
	name string // of its session
	http *http.Client
}

func newClient(name string) *client {
	return &client{name, &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 4}}}
}

// patience is how long a client waits for one gateway.
const patience = 8 * time.Second

// write has a write done, and asks the next gateway under the same id for as long as no answer comes. lose is after
// what time the first connection breaks off; 0: it holds.
func (c *client) write(ctx context.Context, gateways []*door, id, node, filling string, lose time.Duration) answer {
	a := answer{id: id, node: node}
	began, again := time.Now(), false
	for i := 0; ctx.Err() == nil; i++ {
		wait, cancel := context.WithTimeout(ctx, patience)
		if lose > 0 && i == 0 {
			cancel()
			wait, cancel = context.WithTimeout(ctx, lose)
		}
		err := c.ask(wait, gateways[i%len(gateways)], &a, again, filling)
		cancel()
		a.sent++
		if err == nil {
			break
		}
		a.said = err.Error()
		var refused *net.OpError
		if !errors.As(err, &refused) || refused.Op != "dial" {
			again = true // it may have come
		}
		pause(ctx, 20*time.Millisecond)
	}
	a.ended = time.Now()
	a.took = a.ended.Sub(began)
	return a
}

// ask sends a write to one gateway. An error means that no answer came.
func (c *client) ask(ctx context.Context, g *door, a *answer, again bool, filling string) error {
	own := ""
	if a.node != "" { // else it is a relay's own
		own = fmt.Sprintf(`"tabrelay/callId":%q,"tabrelay/again":%t,`, a.id, again)
	}
	arguments := fmt.Sprintf(`"id":%q,"who":%q,"filling":%q`, a.id, c.name, filling)
	if a.node != "" {
		arguments += fmt.Sprintf(`,"profile":%q`, a.node)
	}
	text, err := c.post(ctx, g, "tools/call", tool, own, fmt.Sprintf(`,"name":%q,"arguments":{%s}`, tool, arguments))
	if err != nil {
		return err
	}
	return a.read(text)
}

// post sends a request of MCP to a gateway, and returns the response. meta and params are members besides those that
// every request has.
func (c *client) post(ctx context.Context, g *door, method, name, meta, params string) ([]byte, error) {
	body := fmt.Appendf(nil, `{"jsonrpc":"2.0","id":1,"method":%q,"params":{"_meta":{%s`+
		`"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"sim","version":"1"},`+
		`"io.modelcontextprotocol/clientCapabilities":{},"tabrelay/session":%q}%s}}`, method, meta, c.name, params)
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, g.url, bytes.NewReader(body))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{"Authorization": "Bearer " + g.token, "Mcp-Name": name,
		"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method} {
		if value != "" {
			req.Header.Set(name, value)
		}
	}
	res, err := c.http.Do(req)
	if err != nil {
		return nil, err
	}
	defer res.Body.Close() // only read from
	text, err := io.ReadAll(res.Body)
	if err == nil && res.StatusCode != http.StatusOK {
		err = fmt.Errorf("HTTP %d: %.300s", res.StatusCode, text)
	}
	return text, err
}

// read reads the response of a gateway.
func (a *answer) read(text []byte) error {
	if !bytes.HasPrefix(text, []byte("{")) { // a stream of events
		_, data, ok := strings.Cut("\n"+string(text), "\ndata: ")
		if !ok {
			return fmt.Errorf("no answer: %.300s", text)
		}
		data, _, _ = strings.Cut(data, "\n")
		text = []byte(data)
	}
	type failure struct{ Code, Outcome, Message string }
	var r struct {
		Result *struct {
			IsError bool `json:"isError"`
			Meta    struct {
				Call  struct{ Outcome string } `json:"tabrelay/call"`
				Error *failure                 `json:"tabrelay/error"`
			} `json:"_meta"`
		}
		Error *struct {
			Message string
			Data    failure
		}
	}
	if err := json.Unmarshal(text, &r); err != nil {
		return fmt.Errorf("an answer that cannot be read: %w: %.300s", err, text)
	}
	a.said = fmt.Sprintf("%.600s", text)
	switch {
	case r.Error != nil:
		a.outcome, a.code = r.Error.Data.Outcome, r.Error.Data.Code
	case r.Result == nil:
	case r.Result.Meta.Error != nil:
		a.outcome, a.code = r.Result.Meta.Error.Outcome, r.Result.Meta.Error.Code
	default:
		a.outcome = r.Result.Meta.Call.Outcome
	}
	return nil
}
