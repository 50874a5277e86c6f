package relay

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"tabrelay/relay/browser/hub/hubtest"
)

// BenchmarkCall is one tools/call over HTTP to a browser that answers at once, both ends in this process.
func BenchmarkCall(b *testing.B) {
	for name, arguments := range map[string]string{"small": `{"what":"tea"}`, "1MiB": `{"what":"` +
		strings.Repeat("x", 1<<20) + `"}`} {
		b.Run(name, func(b *testing.B) {
			ask := openBench(b)
			b.ReportAllocs()
			b.SetBytes(int64(len(arguments)))
			b.ResetTimer()
			for range b.N {
				ask(arguments)
			}
		})
		b.Run(name+"/parallel", func(b *testing.B) {
			ask := openBench(b)
			b.ReportAllocs()
			b.SetParallelism(16)
			b.ResetTimer()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					ask(arguments)
				}
			})
		})
	}
}

// openBench returns a function that calls shop__read.
func openBench(b *testing.B) func(arguments string) {
	w := newWorld(b)
	r, _ := w.relay()
	w.browser(func(c *hubtest.Call) { c.Return(c.Arguments) })
	client := &http.Client{Transport: &http.Transport{MaxIdleConnsPerHost: 64}}
	b.Cleanup(client.CloseIdleConnections)
	token := r.secrets.Local()
	var session string
	var serial atomic.Int64
	post := func(message string) string {
		req, err := http.NewRequest(http.MethodPost, "http://"+r.Address()+"/mcp", strings.NewReader(message))
		if err != nil {
			b.Fatal(err)
		}
		for name, value := range map[string]string{"Authorization": "Bearer " + token,
			"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
			"Mcp-Session-Id": session} {
			if value != "" {
				req.Header.Set(name, value)
			}
		}
		res, err := client.Do(req)
		if err != nil {
			b.Fatal(err)
		}
		defer res.Body.Close() // only read from
		body, err := io.ReadAll(res.Body)
		if err != nil || bytes.Contains(body, []byte(`"isError":true`)) || res.StatusCode >= http.StatusBadRequest {
			b.Fatalf("%d %.300s %v", res.StatusCode, body, err)
		}
		return res.Header.Get("Mcp-Session-Id")
	}
	session = post(`{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18",` +
		`"capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}`)
	return func(arguments string) {
		post(fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tools/call",`+
			`"params":{"_meta":{"tabrelay/maxBytes":4194304},"name":"shop__read","arguments":%s}}`, serial.Add(1),
			arguments))
	}
}
