package relay

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/program/httpapi/apitest"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/plugin"
)

// TestLogKeepsSecrets has a conversation full of secrets, and looks for each of them in a log of the finest level.
func TestLogKeepsSecrets(t *testing.T) {
	w := newWorld(t)
	token := w.token("bob", call.Scope{})
	cfg := openConfig()
	cfg.Listen, cfg.Demo.Listen, cfg.Logging.Level, cfg.Logging.IncludeStackTraces = "127.0.0.1:0", "", "debug", true
	log := &apitest.Log{}
	r, err := New(t.Context(), cfg, Options{Home: w.home, Log: zerolog.New(log).Level(zerolog.DebugLevel),
		Plugins: []plugin.Plugin{shop()}})
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- r.Run(context.Background()) }()
	w.browser(func(c *hubtest.Call) {
		c.Started()
		if c.Tool == "pay" {
			c.Throw(json.RawMessage(`{"code":"DENIED","message":"No, Bearer ` +
				`eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJwYWdlIn0.c2VjcmV0LXBhZ2U","category":"auth"}`))
			return
		}
		c.Return(json.RawMessage(`{"session":"result-hunter2"}`))
	})
	const arguments = `{"what":"argument-hunter2"}`
	for _, key := range []string{token, "tabrelay_" + strings.Repeat("beef", 16)} {
		for _, path := range []string{"/api/v1/tools/shop__read/call", "/api/v1/tools/shop__pay/call?key=query-hunter2",
			"/mcp", "/nowhere?key=query-hunter2"} {
			body := fmt.Sprintf(`{"arguments":%s}`, arguments)
			if path == "/mcp" {
				body = fmt.Sprintf(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"shop__pay",`+
					`"arguments":%s,"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
					`"io.modelcontextprotocol/clientCapabilities":{}}}}`, arguments)
			}
			req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, "http://"+r.Address()+path,
				strings.NewReader(body))
			if err != nil {
				t.Fatal(err)
			}
			req.Header.Set("Authorization", "Bearer "+key)
			req.Header.Set("Cookie", "sid=cookie-hunter2")
			req.Header.Set("Content-Type", "application/json")
			req.Header.Set("Accept", "application/json, text/event-stream")
			res, err := http.DefaultClient.Do(req)
			if err != nil {
				t.Fatal(err)
			}
			_, _ = io.Copy(io.Discard, res.Body) // what it says is tested elsewhere
			_ = res.Body.Close()                 // only read from
		}
	}
	a := w.agent(nobodyStarts)
	a.call(1, "shop__pay", arguments)
	a.hears(`"id":1`)
	conn, err := join.Dial(t.Context(), w.home)
	if err != nil {
		t.Fatal(err)
	}
	introduce(t, conn, `{"attach":{"key":"`+strings.Repeat("cd", 16)+
		`","version":"0.1.0","token":"tabrelay_socket-hunter2"}}`)
	_ = conn.Close() // it has been refused
	r.Stop()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	text := log.String()
	for _, secret := range []string{"hunter2", token, "beefbeef", r.secrets.Pairing(), r.secrets.Local(),
		"c2VjcmV0LXBhZ2U", strings.Repeat("cd", 16)} {
		if secret != "" && strings.Contains(text, secret) {
			t.Errorf("the log has the secret %q:\n%s", secret, text)
		}
	}
	for _, member := range []string{`"correlationId":"`, `"code":"DENIED"`, `"class":"tool"`, `"source":"AUTH"`} {
		if !strings.Contains(text, member) {
			t.Errorf("the log lacks %s:\n%s", member, text)
		}
	}
}

// A client reads the same versions whether or not there is a relay.
func TestMinimalModeSpeaksTheSameVersions(t *testing.T) {
	w := newWorld(t)
	w.relay()
	ask := func(without error, line string) string {
		t.Helper()
		var out bytes.Buffer
		proxy := &join.Proxy{Home: w.home, Version: Version, In: strings.NewReader(line + "\n"), Out: &out,
			Log: zerolog.Nop(), Disabled: without}
		if err := proxy.Run(t.Context()); without == nil && err != nil {
			t.Fatal(err)
		}
		var answer struct {
			Result struct {
				ProtocolVersion   string
				SupportedVersions []string
				ServerInfo        struct{ Name, Version string }
			}
		}
		if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
			t.Fatalf("%s: %v %s", line, err, out.String())
		}
		return fmt.Sprintf("%+v", answer.Result)
	}
	lines := []string{`{"jsonrpc":"2.0","id":1,"method":"server/discover",` +
		`"params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",` +
		`"io.modelcontextprotocol/clientCapabilities":{}}}}`}
	for _, version := range []string{"2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28", "2099-01-01",
		"1.0"} {
		lines = append(lines, `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"`+version+
			`","capabilities":{},"clientInfo":{"name":"ann","version":"1"}}}`)
	}
	for _, line := range lines {
		if with, without := ask(nil, line), ask(join.ErrForcedMinimal, line); with != without {
			t.Errorf("%s\nwith a relay    %s\nwithout a relay %s", line, with, without)
		}
	}
}
