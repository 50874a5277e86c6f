package httpapi

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"syscall"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/adapters/demo"
	"tabrelay/relay/lib/access"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/state/logfile"
)

const (
	// headerTime is how long a sender may take for the headers of a request. On this machine it takes a moment.
	headerTime = 10 * time.Second

	// maxHeaders bounds all headers of a request, in bytes.
	maxHeaders = 64 << 10
)

// Listen takes the relay's address. The error says which program is there, if one is.
func Listen(ctx context.Context, address string, limiter *Limiter) (net.Listener, error) {
	listener, err := net.Listen("tcp", address)
	switch {
	case err == nil:
		return limited{listener, limiter}, nil
	case errors.Is(err, syscall.EADDRINUSE):
		return nil, fault.New(fault.PortTaken, address+" is taken by "+WhoAnswers(ctx, address), fault.WithCause(err),
			fault.WithHint("end that program, or set another address: listen in config.json, or TABRELAY_LISTEN"))
	}
	return nil, fault.New(fault.PortTaken, fmt.Sprintf("The relay cannot listen on %s: %v", address, err),
		fault.WithCause(err), fault.WithHint("set another address: listen in config.json, or TABRELAY_LISTEN"))
}

// WhoAnswers describes the program at an address by what it says of itself. It is told nothing.
func WhoAnswers(ctx context.Context, address string) string {
	ctx, cancel := context.WithTimeout(ctx, time.Second)
	defer cancel()
	const unknown = "another program"
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, "http://"+address+"/healthz", nil)
	if err != nil {
		return unknown
	}
	response, err := http.DefaultClient.Do(request)
	if errors.Is(err, context.DeadlineExceeded) {
		return "a program that does not answer; it may be a relay of another home folder that hangs"
	}
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
		return fmt.Sprintf("%s that calls itself %s", unknown, fault.Excerpt(server))
	}
	return unknown + " that speaks HTTP"
}

// NewServer makes the server of the port and the socket. base is the context of their requests, by the listener over
// which they come.
func NewServer(handler http.Handler, limiter *Limiter, base func(net.Listener) context.Context, log zerolog.Logger,
) *http.Server {
	return &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       2 * time.Minute,
		MaxHeaderBytes:    maxHeaders,
		BaseContext:       base,
		ConnContext:       limiter.enter,
		ConnState:         limiter.changed,
		ErrorLog:          logfile.Quiet(log),

		DisableGeneralOptionsHandler: true, // which answers "OPTIONS *" before the access guard is asked
	}
}

// demoPlugin is the name of the plugin that works on the demo site.
const demoPlugin = "demo"

// Demo serves the demo site, on a listener of its own: what runs there must not share the relay's origin.
type Demo struct {
	server   *http.Server
	listener net.Listener
}

// OpenDemo begins to serve the demo site.
func OpenDemo(address string, limiter *Limiter, log zerolog.Logger) (*Demo, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	site := demo.Site()
	d := &Demo{listener: listener, server: &http.Server{
		ReadHeaderTimeout: headerTime,
		IdleTimeout:       time.Minute,
		ErrorLog:          logfile.Quiet(log),
		ConnContext:       limiter.enter,
		ConnState:         limiter.changed,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !access.LocalHost(r.Host) {
				http.Error(w, "This site answers to 127.0.0.1 and localhost only.", http.StatusForbidden)
				return
			}
			site.ServeHTTP(w, r)
		}),
	}}
	go func() {
		if err := d.server.Serve(limited{listener, limiter}); !errors.Is(err, http.ErrServerClosed) {
			log.Error().Err(err).Msg("the demo site failed")
		}
	}()
	return d, nil
}

// URL is where the site's first page is.
func (d *Demo) URL() string { return "http://" + d.listener.Addr().String() + "/" }

// Close stops the site.
func (d *Demo) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if d.server.Shutdown(ctx) == nil {
		return nil
	}
	return d.server.Close() // slow answers are part of the site
}

// Point points the demo plugin, of those that come with the binary, at the address that the site really has.
func (d *Demo) Point(plugins []plugin.Plugin) {
	if d == nil {
		return
	}
	_, port, err := net.SplitHostPort(d.listener.Addr().String())
	if err != nil {
		return // a listener's address always has a port
	}
	for i := range plugins {
		if p := &plugins[i]; p.Shipped && p.Manifest.Name == demoPlugin {
			p.Manifest.Homepage = d.URL()
			p.Manifest.URLPatterns = []string{d.URL() + "*", "http://localhost:" + port + "/*"}
		}
	}
}
