package main

import (
	"context"
	"encoding/json"
	"os"
	"sync"

	"github.com/mark3labs/mcp-go/client"
	"github.com/mark3labs/mcp-go/client/transport"
	"github.com/mark3labs/mcp-go/mcp"
)

// mcpGo is the client of the library whose server is inside the relay.
type mcpGo struct {
	client  *client.Client
	version string
	changed chan struct{}

	mu       sync.Mutex
	progress func(float64) // of the call that runs
}

func dialMCPGo(ctx context.Context, place Place) (Talker, error) {
	var line transport.Interface
	if place.Binary != "" {
		line = transport.NewStdio(place.Binary, os.Environ(), "mcp")
	} else {
		//lint:ignore SA1019 the GET stream of the legacy era is what is tested
		http, err := transport.NewStreamableHTTP(place.URL, transport.WithContinuousListening(),
			transport.WithHTTPHeaders(map[string]string{"Authorization": "Bearer " + place.Token}))
		if err != nil {
			return nil, err
		}
		line = http
	}
	//lint:ignore SA1019 so is its handshake
	m := &mcpGo{client: client.NewClient(line, client.WithLegacyProtocolOnly()), changed: make(chan struct{}, 8)}
	m.client.OnNotification(m.hear)
	// The context given to Start ends the connection with it.
	if err := m.client.Start(context.WithoutCancel(ctx)); err != nil {
		return nil, err
	}
	var hello mcp.InitializeRequest
	hello.Params.ProtocolVersion = mcp.LATEST_LEGACY_PROTOCOL_VERSION
	hello.Params.ClientInfo = mcp.Implementation{Name: "outside-mcp-go", Version: "1.0.0"}
	welcome, err := m.client.Initialize(ctx, hello)
	if err != nil {
		return nil, err
	}
	m.version = welcome.ProtocolVersion
	return m, nil
}

func (m *mcpGo) hear(n mcp.JSONRPCNotification) {
	switch n.Method {
	case string(mcp.MethodNotificationToolsListChanged):
		select {
		case m.changed <- struct{}{}:
		default:
		}
	case "notifications/progress":
		m.mu.Lock()
		defer m.mu.Unlock()
		if p, ok := n.Params.AdditionalFields["progress"].(float64); ok && m.progress != nil {
			m.progress(p)
		}
	}
}

func (m *mcpGo) Version() string          { return m.version }
func (m *mcpGo) Changed() <-chan struct{} { return m.changed }
func (m *mcpGo) Close() error             { return m.client.Close() }

func (m *mcpGo) Tools(ctx context.Context) (names []string, err error) {
	list, err := m.client.ListTools(ctx, mcp.ListToolsRequest{})
	if err != nil {
		return nil, err
	}
	for _, tool := range list.Tools {
		names = append(names, tool.Name)
	}
	return names, nil
}

func (m *mcpGo) Call(ctx context.Context, name string, arguments map[string]any, onProgress func(float64)) (Answer, error) {
	m.mu.Lock()
	m.progress = onProgress
	m.mu.Unlock()
	var request mcp.CallToolRequest
	request.Params.Name, request.Params.Arguments = name, arguments
	if onProgress != nil {
		request.Params.Meta = &mcp.Meta{ProgressToken: name}
	}
	result, err := m.client.CallTool(ctx, request)
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{Failed: result.IsError, Structured: result.StructuredContent}
	for _, item := range result.Content {
		if text, ok := item.(mcp.TextContent); ok {
			answer.Texts = append(answer.Texts, text.Text)
		}
	}
	if raw, ok := answer.Structured.(json.RawMessage); ok && len(raw) == 0 {
		answer.Structured = nil
	}
	return answer, nil
}
