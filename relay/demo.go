package relay

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"

	"github.com/rs/zerolog"

	"tabrelay/adapters/demo"
	"tabrelay/relay/loopback"
	"tabrelay/relay/plugin"
)

// demoPlugin is the name of the plugin that works on the demo site.
const demoPlugin = "demo"

// demoSite serves the demo site, on a listener of its own: what runs there must not share the relay's origin.
type demoSite struct {
	server   *http.Server
	listener net.Listener
}

func openDemo(address string, open *visitors, log zerolog.Logger) (*demoSite, error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	site := demo.Site()
	d := &demoSite{listener: listener, server: &http.Server{
		ReadHeaderTimeout: 10 * time.Second,
		IdleTimeout:       time.Minute,
		ErrorLog:          quietLog(log),
		ConnContext:       open.enter,
		ConnState:         open.changed,
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			if !loopback.Host(r.Host) {
				http.Error(w, "This site answers to 127.0.0.1 and localhost only.", http.StatusForbidden)
				return
			}
			site.ServeHTTP(w, r)
		}),
	}}
	go func() {
		if err := d.server.Serve(roomy{listener, open}); !errors.Is(err, http.ErrServerClosed) {
			log.Error().Err(err).Msg("the demo site failed")
		}
	}()
	return d, nil
}

// URL is where the site's first page is.
func (d *demoSite) URL() string { return "http://" + d.listener.Addr().String() + "/" }

// Close stops the site.
func (d *demoSite) Close() error {
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	if d.server.Shutdown(ctx) == nil {
		return nil
	}
	return d.server.Close() // slow answers are part of the site
}

// settle points the demo plugin at the address the site really has.
func (d *demoSite) settle(p *plugin.Plugin) {
	p.Manifest.Homepage = d.URL()
	_, port, err := net.SplitHostPort(d.listener.Addr().String())
	if err != nil {
		return // a listener's address always has a port
	}
	p.Manifest.URLPatterns = []string{d.URL() + "*", "http://localhost:" + port + "/*"}
}
