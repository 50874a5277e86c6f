package relay

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"syscall"
	"time"

	"tabrelay/relay/fault"
)

// portTaken explains why the relay's address cannot be listened on, and who is there.
func portTaken(ctx context.Context, address string, err error) error {
	if !errors.Is(err, syscall.EADDRINUSE) {
		return fault.New(fault.PortTaken, fmt.Sprintf("The relay cannot listen on %s: %v", address, err), fault.WithCause(err),
			fault.WithHint("set another address: listen in config.json, or TABRELAY_LISTEN"))
	}
	return fault.New(fault.PortTaken, address+" is taken by "+whoAnswers(ctx, address), fault.WithCause(err),
		fault.WithHint("end that program, or set another address: listen in config.json, or TABRELAY_LISTEN"))
}

// whoAnswers describes the program at an address by what it says of itself. It is told nothing.
func whoAnswers(ctx context.Context, address string) string {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	const unknown = "another program"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/healthz", nil)
	if err != nil {
		return unknown
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		return unknown + " that does not speak HTTP"
	}
	defer response.Body.Close() // only read from
	var said struct {
		Name string `json:"name"`
	}
	body, err := io.ReadAll(io.LimitReader(response.Body, 4<<10))
	if err == nil && json.Unmarshal(body, &said) == nil && said.Name == "tabrelay" {
		return "another relay of tabrelay, with another home folder"
	}
	if server := response.Header.Get("Server"); server != "" {
		return fmt.Sprintf("%s that calls itself %s", unknown, excerpt(server))
	}
	return unknown + " that speaks HTTP"
}
