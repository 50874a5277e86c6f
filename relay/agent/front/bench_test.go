package front

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/mark3labs/mcp-go/mcp"
	"github.com/mark3labs/mcp-go/server"

	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/road/registry"
)

// What one call costs in the front alone, beside mcp-go's own HTTP handler with the same tool. Run with -benchmem.

// echo answers at once with its arguments.
type echo struct{}

func (echo) Do(_ context.Context, c call.Call) (*call.Result, *fault.Error) {
	return &call.Result{Output: c.Arguments, Meta: call.Meta{CorrelationID: c.ID, TabID: 7, Profile: "Chrome 1",
		Attempts: 1}}, nil
}

func (echo) Reserve(string) call.Position { return 0 }
func (echo) Withdraw(call.Position)       {}

func benchFront(b *testing.B, plugins ...plugin.Plugin) *Front {
	r := registry.New(nil)
	if err := r.Replace(append(plugins, demoPlugin), nil); err != nil {
		b.Fatal(err)
	}
	return New(Options{Version: "1", Instructions: "x", Caller: echo{}, Tools: r})
}

var argumentSizes = []struct {
	name string
	size int
}{{"100B", 100}, {"20KiB", 20 << 10}, {"1MiB", 1 << 20}}

func echoRequest(size int) []byte {
	return []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"demo__echo","arguments":{"text":"` +
		strings.Repeat("lorem ip<um ", size/12) + `"}}}`)
}

func BenchmarkParse(b *testing.B) {
	for _, size := range argumentSizes {
		text := echoRequest(size.size)
		b.Run(size.name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				if _, fail := parse(text); fail != nil {
					b.Fatal(fail)
				}
			}
		})
	}
}

// BenchmarkEngine is what tools/call would cost if mcp-go answered it, arguments taken out: HandleMessage alone.
func BenchmarkEngine(b *testing.B) {
	s := server.NewMCPServer("x", "1", server.WithToolCapabilities(true))
	s.AddTool(mcp.NewTool("demo__echo"), func(context.Context, mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		return mcp.NewToolResultText("x"), nil
	})
	m, _ := parse(echoRequest(100))
	for b.Loop() {
		if _, err := json.Marshal(s.HandleMessage(b.Context(), m.forEngine("1"))); err != nil {
			b.Fatal(err)
		}
	}
}

// sink is a response writer that throws everything away.
type sink struct{ header http.Header }

func (s *sink) Header() http.Header         { return s.header }
func (s *sink) WriteHeader(int)             {}
func (s *sink) Write(p []byte) (int, error) { return len(p), nil }
func (s *sink) Flush()                      {}

func postTo(handler http.Handler, session string, body []byte) *sink {
	r := httptest.NewRequest(http.MethodPost, "/mcp", bytes.NewReader(body))
	r.Host = "127.0.0.1"
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	if session != "" {
		r.Header.Set(mcp.HeaderSessionID, session)
	}
	w := &sink{header: http.Header{}}
	handler.ServeHTTP(w, r)
	return w
}

const initialize = `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25",` +
	`"capabilities":{},"clientInfo":{"name":"b","version":"1"}}}`

func benchHTTP(b *testing.B, handler http.Handler) {
	session := postTo(handler, "", []byte(initialize)).header.Get(mcp.HeaderSessionID)
	for _, size := range argumentSizes {
		body := echoRequest(size.size)
		b.Run(size.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(body)))
			for b.Loop() {
				postTo(handler, session, body)
			}
		})
	}
}

// BenchmarkHTTP is a call through the handler, without network.
func BenchmarkHTTP(b *testing.B) { benchHTTP(b, benchFront(b).Handler()) }

// BenchmarkHTTPLibrary is the same with mcp-go's handler.
func BenchmarkHTTPLibrary(b *testing.B) {
	benchHTTP(b, server.NewStreamableHTTPServer(libraryServer(), server.WithStateful(true)))
}

func libraryServer() *server.MCPServer {
	s := server.NewMCPServer("x", "1", server.WithToolCapabilities(true), server.WithLogging())
	s.AddTool(mcp.NewToolWithRawSchema("demo__echo", "Answers with its arguments.",
		json.RawMessage(`{"type":"object"}`)),
		func(_ context.Context, r mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			return mcp.NewToolResultText(string(r.Params.RawArguments)), nil
		})
	return s
}

// BenchmarkStdio is a call over in-memory pipes, one at a time.
func BenchmarkStdio(b *testing.B) {
	f := benchFront(b)
	for _, size := range argumentSizes {
		line := append(echoRequest(size.size), '\n')
		b.Run(size.name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(int64(len(line)))
			in, send := io.Pipe()
			answered := make(answers, 1)
			go func() { _ = f.ServeStdio(b.Context(), Attachment{Key: "k"}, in, answered) }()
			_, _ = send.Write([]byte(initialize + "\n"))
			<-answered
			for b.Loop() {
				_, _ = send.Write(line)
				<-answered
			}
			_ = send.Close()
		})
	}
}

// answers tells of every line that is written.
type answers chan struct{}

func (a answers) Write(p []byte) (int, error) {
	a <- struct{}{}
	return len(p), nil
}

// BenchmarkList is tools/list with as many tools as the largest installations have.
func BenchmarkList(b *testing.B) {
	const tools = 2078
	large := plugin.Plugin{Manifest: plugin.Manifest{Name: "large", URLPatterns: []string{"*://x/*"}}}
	for i := range tools - len(demoPlugin.Manifest.Tools) {
		t := demoTool(fmt.Sprintf("tool_%04d", i), "A tool", strings.Repeat("Does something useful on a page. ", 8), "")
		t.InputSchema = json.RawMessage(`{"type":"object","properties":{"selector":{"type":"string",` +
			`"description":"CSS selector of the element"},"options":{"type":"object",` +
			`"properties":{"mode":{"enum":["fast","safe"]}}}}}`)
		large.Manifest.Tools = append(large.Manifest.Tools, t)
	}
	handler := benchFront(b, large).Handler()
	session := postTo(handler, "", []byte(initialize)).header.Get(mcp.HeaderSessionID)
	b.ReportAllocs()
	for b.Loop() {
		postTo(handler, session, []byte(`{"jsonrpc":"2.0","id":1,"method":"tools/list"}`))
	}
}
