package main

import (
	"context"
	"net/http"
	"os"
	"os/exec"
	"sync"

	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// sdk is the official Go SDK.
type sdk struct {
	session *mcp.ClientSession
	changed chan struct{}

	mu       sync.Mutex
	progress func(float64) // of the call that runs
}

func dialSDK(ctx context.Context, place Place) (Talker, error) {
	s := &sdk{changed: make(chan struct{}, 8)}
	client := mcp.NewClient(&mcp.Implementation{Name: "outside-go-sdk", Version: "1.0.0"}, &mcp.ClientOptions{
		ToolListChangedHandler: func(context.Context, *mcp.ToolListChangedRequest) {
			select {
			case s.changed <- struct{}{}:
			default:
			}
		},
		ProgressNotificationHandler: func(_ context.Context, r *mcp.ProgressNotificationClientRequest) {
			s.mu.Lock()
			defer s.mu.Unlock()
			if s.progress != nil {
				s.progress(r.Params.Progress)
			}
		},
	})
	var transport mcp.Transport
	if place.Binary != "" {
		command := exec.Command(place.Binary, "mcp")
		command.Stderr = os.Stderr
		transport = &mcp.CommandTransport{Command: command}
	} else {
		transport = &mcp.StreamableClientTransport{Endpoint: place.URL, HTTPClient: &http.Client{Transport: bearer(place.Token)}}
	}
	var err error
	s.session, err = client.Connect(ctx, transport, &mcp.ClientSessionOptions{ProtocolVersion: place.Version})
	return s, err
}

func (s *sdk) Version() string          { return s.session.InitializeResult().ProtocolVersion }
func (s *sdk) Changed() <-chan struct{} { return s.changed }
func (s *sdk) Close() error             { return s.session.Close() }

func (s *sdk) Tools(ctx context.Context) (names []string, err error) {
	for tool, err := range s.session.Tools(ctx, nil) {
		if err != nil {
			return nil, err
		}
		names = append(names, tool.Name)
	}
	return names, nil
}

func (s *sdk) Call(ctx context.Context, name string, arguments map[string]any, onProgress func(float64)) (Answer, error) {
	s.mu.Lock()
	s.progress = onProgress
	s.mu.Unlock()
	params := &mcp.CallToolParams{Name: name, Arguments: arguments}
	if onProgress != nil {
		params.SetProgressToken(name)
	}
	result, err := s.session.CallTool(ctx, params)
	if err != nil {
		return Answer{}, err
	}
	answer := Answer{Failed: result.IsError, Structured: result.StructuredContent}
	for _, item := range result.Content {
		if text, ok := item.(*mcp.TextContent); ok {
			answer.Texts = append(answer.Texts, text.Text)
		}
	}
	return answer, nil
}
