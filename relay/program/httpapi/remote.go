package httpapi

import (
	"context"
	"crypto/tls"
	"fmt"
	"net"
	"net/http"
	"os"
	"strings"

	"github.com/rs/zerolog"

	"tabrelay/relay/agent/client"
	"tabrelay/relay/agent/join"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
)

// Certificate is what the relay proves to other machines who it is with. It is read again when its file is another one.
type Certificate struct {
	remote config.Remote
	log    zerolog.Logger

	mu   lock.Mutex
	seen os.FileInfo // of the certificate's file
	pair *tls.Certificate
}

// OpenCertificate reads the certificate and its key.
func OpenCertificate(remote config.Remote, log zerolog.Logger) (*Certificate, error) {
	c := &Certificate{remote: remote, log: log}
	return c, c.read()
}

func (c *Certificate) read() error {
	info, err := os.Stat(c.remote.Certificate)
	if c.pair != nil && (err != nil || os.SameFile(info, c.seen) && info.ModTime().Equal(c.seen.ModTime())) {
		return err
	}
	pair, err := c.remote.KeyPair()
	if err != nil {
		return err
	}
	c.seen, c.pair = info, pair
	return nil
}

// current is the certificate as its file has it now. While a new one cannot be used, it is the one before.
func (c *Certificate) current() *tls.Certificate {
	c.mu.Lock()
	defer c.mu.Unlock()
	if err := c.read(); err != nil {
		c.log.Warn().Err(err).Msg("the certificate for other machines cannot be read anew; the one before stays")
	}
	return c.pair
}

// names reports whether a Host header, with or without a port, names this relay to another machine.
func (c *Certificate) names(host string) bool {
	if name, _, err := net.SplitHostPort(host); err == nil {
		host = name
	}
	return !strings.ContainsAny(host, "*") && c.current().Leaf.VerifyHostname(host) == nil
}

// ListenRemote takes the address at which other machines reach the relay, always over TLS.
func ListenRemote(ctx context.Context, address string, c *Certificate, limiter *Limiter) (net.Listener, error) {
	wide := net.ListenConfig{KeepAliveConfig: join.KeepAlive}
	listener, err := wide.Listen(ctx, "tcp", address)
	if err != nil {
		return nil, fault.New(fault.PortTaken,
			fmt.Sprintf("The relay cannot listen on %s for other machines: %v", address, err),
			fault.WithCause(err), fault.WithHint("set another address: remote.listen in config.json; or none"))
	}
	return tls.NewListener(limited{listener, limiter}, &tls.Config{
		MinVersion: tls.VersionTLS13, NextProtos: []string{"http/1.1"},
		GetCertificate: func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return c.current(), nil },
	}), nil
}

type elsewhereKey struct{}

// FromRemote marks what other machines send. c has the names by which they know the relay.
func FromRemote(ctx context.Context, c *Certificate) context.Context {
	return context.WithValue(ctx, elsewhereKey{}, c)
}

// elsewhere is the certificate of the listener over which another machine sends; nil: this machine does.
func elsewhere(ctx context.Context) *Certificate {
	c, _ := ctx.Value(elsewhereKey{}).(*Certificate)
	return c
}

// attach hands the connection over to the stdio proxy of another machine, which came over TLS or through SSH.
func (a *API) attach(w http.ResponseWriter, req *http.Request) {
	if req.Header.Get("Upgrade") != join.Protocol {
		w.Header().Set("Upgrade", join.Protocol)
		Refuse(w, http.StatusUpgradeRequired, fault.New(fault.InvalidRequest, "Only stdio proxies attach here",
			fault.WithHint("Run on the other machine: tabrelay mcp --relay URL")))
		return
	}
	select {
	case <-a.Stopping:
		Refuse(w, http.StatusServiceUnavailable, fault.New(fault.ShuttingDown, "The relay ends"))
		return
	default:
	}
	conn, in, err := http.NewResponseController(w).Hijack()
	if err != nil {
		Refuse(w, http.StatusBadRequest, fault.New(fault.InvalidRequest, "This connection cannot be handed over"))
		return
	}
	defer conn.Close() // it may have ended already
	if _, err := fmt.Fprintf(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: %s\r\n\r\n",
		join.Protocol); err != nil {
		return // the proxy left
	}
	a.Keep()
	a.Clients.Attach(conn, in.Reader, &client.Elsewhere{Token: bearer(req), Address: req.RemoteAddr})
}

// connOf is the connection of which a limiter knows: that below TLS.
func connOf(conn net.Conn) net.Conn {
	if secured, ok := conn.(*tls.Conn); ok {
		return secured.NetConn()
	}
	return conn
}
