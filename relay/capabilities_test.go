package relay

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/rs/zerolog"

	"tabrelay/relay/capability"
)

// pageToolsOfNobody knows of no tool of a page.
type pageToolsOfNobody struct{}

func (pageToolsOfNobody) Tell(string, int, json.RawMessage) {}
func (pageToolsOfNobody) Has(string, int, string) bool      { return false }

// What a relay has one of is not brought by two: none of them is left out quietly.
func TestTwoCapabilitiesBringTheSame(t *testing.T) {
	all := capabilities
	t.Cleanup(func() { capabilities = all })
	for _, name := range []string{"first", "second"} {
		capabilities = append(slices.Clone(capabilities), capability.Capability{
			Name: name, New: func(capability.Core) capability.Attachment {
				return capability.Attachment{PageTools: pageToolsOfNobody{}}
			},
		})
	}
	w := newWorld(t)
	cfg := openConfig()
	cfg.Listen, cfg.Demo.Listen = "127.0.0.1:0", ""
	_, err := New(t.Context(), cfg, Options{Home: w.home, Log: zerolog.Nop()})
	if err == nil || !strings.Contains(err.Error(), "first, second all know the tools of pages") {
		t.Errorf("it starts: %v", err)
	}
}
