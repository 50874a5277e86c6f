package join

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"os"
	"strings"
	"time"

	"tabrelay/relay/lib/access"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
)

// How a stdio proxy attaches from another machine: an HTTP request with its token, after which the connection is what
// that on the socket is.
const (
	AttachPath = "/api/v1/attach"
	Protocol   = "tabrelay-attach"
)

// KeepAlive is how soon a connection that is lost is noticed, although nobody sends: half a minute.
var KeepAlive = net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 3}

// remoteTime is how long a proxy waits for a relay elsewhere, which may be starting anew, or for the way there.
// TokenExpired is in the WWW-Authenticate of an answer to somebody whose token has expired.
const TokenExpired = `error_description="The token expired"`

const remoteTime = 3 * StartTimeout

// remotePollInterval is the pause between two attempts to reach a relay elsewhere.
const remotePollInterval = 250 * time.Millisecond

// Remote is a relay that was reached over a network, or through SSH.
type Remote struct {
	name    string // the address as it was given
	network string
	address string
	host    string      // for the Host header
	secured *tls.Config // nil: the connection leads to this machine, where SSH has its end
	token   string
}

// ParseRemote reads the address of a relay elsewhere: https://HOST[:PORT], http:// with an address of this machine, or
// unix:// with the absolute path of a socket. roots is a file with the certificates to trust; empty: those that the
// system trusts.
func ParseRemote(address, roots, token string) (*Remote, error) {
	const forms = "give https://HOST:7719; or, through SSH, http://127.0.0.1:PORT or unix:///PATH/OF/A/SOCKET"
	u, err := url.Parse(address)
	if err != nil || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		u.Scheme != "unix" && strings.Trim(u.Path, "/") != "" {
		return nil, fault.Hinted(fmt.Errorf("--relay %q is not the address of a relay", address), forms)
	}
	if token == "" {
		return nil, fault.Hinted(errors.New("a relay on another machine wants a token, and there is none"),
			"run where the browser is: tabrelay clients add --remote NAME; give its token in TABRELAY_TOKEN, or in a "+
				"file with --token-file")
	}
	r := &Remote{name: address, network: "tcp", address: u.Host, host: u.Host, token: token}
	switch {
	case u.Scheme == "unix" && u.Host == "" && strings.HasPrefix(u.Path, "/"):
		r.network, r.address, r.host = "unix", u.Path, "localhost"
	case u.Scheme == "http" && u.Port() != "" && access.LocalHost(u.Host):
	case u.Scheme == "http":
		return nil, fault.Hinted(fmt.Errorf("%s would send the token readable for everybody on the way", address),
			"use https://, or SSH to a port of this machine, as docs/remote.md shows")
	case u.Scheme == "https" && u.Hostname() != "":
		r.address = net.JoinHostPort(u.Hostname(), cmp.Or(u.Port(), "443"))
		r.secured = &tls.Config{MinVersion: tls.VersionTLS13, ServerName: u.Hostname(),
			NextProtos: []string{"http/1.1"}}
		r.secured.RootCAs, err = readRoots(roots)
		return r, err
	default:
		return nil, fault.Hinted(fmt.Errorf("--relay %q is not the address of a relay", address), forms)
	}
	return r, nil
}

// readRoots reads the certificates to trust; nil: those that the system trusts.
func readRoots(file string) (*x509.CertPool, error) {
	if file == "" {
		return nil, nil
	}
	text, err := os.ReadFile(file)
	pool := x509.NewCertPool()
	if err == nil && !pool.AppendCertsFromPEM(text) {
		err = fmt.Errorf("%s has no certificate in PEM", file)
	}
	if err != nil {
		return nil, fault.Hinted(fmt.Errorf("cannot read the certificates to trust: %w", err), "correct --ca")
	}
	return pool, nil
}

// ReadToken reads a token from a file that nobody else can read.
func ReadToken(file string) (string, error) {
	if err := config.ReadByUserOnly(file); err != nil {
		return "", err
	}
	text, err := os.ReadFile(file)
	return strings.TrimSpace(string(text)), err
}

// Dial connects, and has the relay let this proxy in.
func (r *Remote) Dial(ctx context.Context) (net.Conn, error) {
	d := net.Dialer{KeepAliveConfig: KeepAlive}
	conn, err := d.DialContext(ctx, r.network, r.address)
	if err != nil {
		return nil, &unreachable{r.name, err}
	}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	defer stop()
	if r.secured != nil {
		secured := tls.Client(conn, r.secured)
		if err := secured.HandshakeContext(ctx); err != nil {
			return nil, errors.Join(r.distrust(err), conn.Close())
		}
		conn = secured
	}
	in, err := r.ask(conn)
	if err != nil {
		return nil, errors.Join(err, conn.Close())
	}
	return remoteConn{conn, in}, nil
}

// ask sends the request, and returns what follows the relay's consent.
func (r *Remote) ask(conn net.Conn) (*bufio.Reader, error) {
	_, err := fmt.Fprintf(conn, "GET %s HTTP/1.1\r\nHost: %s\r\nConnection: Upgrade\r\nUpgrade: %s\r\n"+
		"Authorization: Bearer %s\r\n\r\n", AttachPath, r.host, Protocol, r.token)
	if err != nil {
		return nil, &unreachable{r.name, err}
	}
	in := bufio.NewReaderSize(conn, 64<<10)
	response, err := http.ReadResponse(in, nil)
	if err != nil {
		return nil, &unreachable{r.name, err}
	}
	if response.StatusCode == http.StatusSwitchingProtocols && response.Header.Get("Upgrade") == Protocol {
		return in, nil
	}
	defer response.Body.Close() // only read from
	var said struct{ Error *Refused }
	text, err := io.ReadAll(io.LimitReader(response.Body, 64<<10))
	if err != nil {
		return nil, &unreachable{r.name, err}
	}
	known := json.Unmarshal(text, &said) == nil && said.Error != nil && said.Error.Code != ""
	switch {
	case known && response.StatusCode == http.StatusUnauthorized &&
		strings.Contains(response.Header.Get("WWW-Authenticate"), TokenExpired):
		return nil, &Refused{Code: string(fault.Unauthorized), Message: "The relay at " + r.name + " lets nobody in: " +
			strings.TrimPrefix(said.Error.Message, "The request is refused: "), Hint: said.Error.Hint}
	case known && response.StatusCode == http.StatusUnauthorized:
		return nil, &Refused{Code: string(fault.Unauthorized),
			Message: "The relay at " + r.name + " does not know the token, or no longer, or not for another machine",
			Hint: "run where the browser is: tabrelay clients add --remote NAME, or tabrelay clients rotate NAME; " +
				"then give the new token to tabrelay mcp"}
	case known && response.StatusCode < http.StatusInternalServerError && response.StatusCode != http.StatusNotFound:
		return nil, said.Error
	case known && response.StatusCode != http.StatusNotFound:
		return nil, &unreachable{r.name, errors.New(said.Error.Message)} // which passes
	}
	return nil, &Refused{Code: string(fault.InvalidRequest),
		Message: fmt.Sprintf("What answers at %s is no relay that other machines can attach to (status %d)", r.name,
			response.StatusCode),
		Hint: "check the address and the port; the relay has to be of this version, or a newer one"}
}

// distrust words why the relay was not believed to be the one that was meant. Trying again does not help.
func (r *Remote) distrust(err error) error {
	var authority x509.UnknownAuthorityError
	var name x509.HostnameError
	var invalid x509.CertificateInvalidError
	why, next := "", ""
	switch {
	case errors.As(err, &authority):
		why = "is signed by nobody that this machine trusts"
		next = "give the certificate of its authority, or its own, with --ca FILE"
	case errors.As(err, &name):
		why = "is for other names: " + fault.Sanitize(name.Error())
		next = "use a name in the certificate, or make one for this name where the browser is"
	case errors.As(err, &invalid) && invalid.Reason == x509.Expired:
		why = "has expired, or is not valid yet: " + fault.Sanitize(invalid.Detail)
		next = "renew it where the browser is (remote.certificate), and look at the clocks of both machines"
	case errors.As(err, &invalid):
		why = "is not valid: " + fault.Sanitize(err.Error())
		next = "make another one where the browser is (remote.certificate)"
	case errors.As(err, new(tls.RecordHeaderError)):
		return &cannotStart{fault.Hinted(fmt.Errorf("what answers at %s speaks no TLS", r.name),
			"use the port of remote.listen; the relay's other port is for programs of its own machine")}
	default:
		return &unreachable{r.name, err}
	}
	return &cannotStart{fault.Hinted(fmt.Errorf("the certificate of the relay at %s %s; nothing was sent to it", r.name,
		why), next)}
}

// unreachable is a relay elsewhere that did not answer: it, or the way to it, may come back.
type unreachable struct {
	name string
	err  error
}

// Error says which.
func (u *unreachable) Error() string {
	return fmt.Sprintf("the relay at %s cannot be reached: %v", u.name, u.err)
}

// Unwrap is the cause.
func (u *unreachable) Unwrap() error { return u.err }

// Hint is the next step.
func (u *unreachable) Hint() string {
	return "ask the person whether tabrelay runs on the other machine, and the way there (SSH, network) is open; it " +
		"is tried again by itself"
}

// remoteConn is a connection to a relay elsewhere whose first bytes are in a buffer already.
type remoteConn struct {
	net.Conn
	in *bufio.Reader
}

// Read reads what is in the buffer first.
func (c remoteConn) Read(p []byte) (int, error) { return c.in.Read(p) }

// CloseWrite says that nothing more is sent.
func (c remoteConn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return c.Close()
}
