package wire

import (
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"net/url"
	"os"
	"strings"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"tabrelay/relay/lib/access"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
)

const (
	// AliveEvery is how often a node says that a call goes on.
	AliveEvery = 300 * time.Millisecond
	// LostAfter is after how long a silence a gateway takes a node for lost.
	LostAfter = time.Second

	reconnectWait = 250 * time.Millisecond
	pingEvery     = 10 * time.Second
)

// Credentials is where the credentials are: a file of an NKey seed, or one with a user's JWT and its seed, as nsc
// writes it. It is read anew for each connection, so that others replace it without a restart.
type Credentials = config.KeySource

// maxServers bounds the servers of one fleet that are named.
const maxServers = 16

// CheckURL says why this is not the address of a NATS server to connect to, or several of one cluster with commas
// between them; nil: it is.
func CheckURL(address string) error {
	all := strings.Split(address, ",")
	if len(all) > maxServers {
		return fault.Hinted(fmt.Errorf("these are %d addresses of NATS servers, and at most %d are taken", len(all),
			maxServers), "name some servers of the cluster")
	}
	scheme := func(one string) string { before, _, _ := strings.Cut(one, "://"); return before }
	for _, one := range all {
		if err := checkServer(one); err != nil {
			return err
		}
		if scheme(one) != scheme(all[0]) {
			return fault.Hinted(fmt.Errorf("%q has servers with TLS and without", fault.Excerpt(address)),
				"give tls:// for all of them")
		}
	}
	return nil
}

func checkServer(address string) error {
	const forms = "give tls://HOST:4222, several of one cluster with commas between them, or nats://127.0.0.1:4222 " +
		"for a server of this machine"
	u, err := url.Parse(address)
	if err != nil || u.Hostname() == "" || u.Port() == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		strings.Trim(u.Path, "/") != "" {
		return fault.Hinted(fmt.Errorf("%q is not the address of a NATS server", fault.Excerpt(address)), forms)
	}
	switch {
	case u.Scheme == "tls":
		return nil
	case u.Scheme == "nats" && access.LocalHost(u.Host):
		return nil
	case u.Scheme == "nats":
		return fault.Hinted(fmt.Errorf("%s would send what pages show readable for everybody on the way",
			fault.Excerpt(address)), "use tls://, with a server that has a certificate, as docs/fleet.md shows")
	}
	return fault.Hinted(fmt.Errorf("%q is not the address of a NATS server", fault.Excerpt(address)), forms)
}

// Peer is how one side reaches NATS.
type Peer struct {
	URL         string
	Credentials Credentials // zero: none, which only a server of this machine should take
	CA          string      // file with the certificates to trust; empty: those that the system trusts
	Name        string      // of the connection, for who looks at the server
	Inbox       string      // beginning of the subjects on which it is answered; empty: NATS's own
	Changed     func(*nats.Conn, error)
}

// Dial connects, and connects again for as long as the connection is not closed. The server need not be there yet.
func (p Peer) Dial() (*nats.Conn, error) {
	if err := CheckURL(p.URL); err != nil {
		return nil, err
	}
	told := func(nc *nats.Conn, err error) {
		if p.Changed != nil {
			p.Changed(nc, err)
		}
	}
	options := []nats.Option{
		nats.Name(p.Name), nats.RetryOnFailedConnect(true), nats.MaxReconnects(-1), nats.ReconnectWait(reconnectWait),
		nats.ReconnectJitter(reconnectWait/2, reconnectWait/2), nats.Timeout(5 * time.Second),
		nats.PingInterval(pingEvery), nats.MaxPingsOutstanding(2),
		// What cannot be sent fails at once: a message that waits for the next connection would come when nobody
		// expects it any more.
		nats.ReconnectBufSize(-1),
		// A server that names others could name ones without TLS.
		nats.IgnoreDiscoveredServers(),
		// A password that is wrong today may be right after the file was replaced.
		nats.IgnoreAuthErrorAbort(),
		nats.ConnectHandler(func(nc *nats.Conn) { told(nc, nil) }),
		nats.ReconnectHandler(func(nc *nats.Conn) { told(nc, nil) }),
		nats.DisconnectErrHandler(func(nc *nats.Conn, err error) {
			if err == nil {
				err = nats.ErrConnectionClosed
			}
			told(nc, err)
		}),
		nats.ErrorHandler(func(nc *nats.Conn, _ *nats.Subscription, err error) { told(nc, err) }),
		nats.ReconnectErrHandler(func(nc *nats.Conn, err error) { told(nc, err) }),
	}
	if p.Inbox != "" {
		options = append(options, nats.CustomInboxPrefix(p.Inbox))
	}
	if strings.HasPrefix(p.URL, "tls://") {
		secured := &tls.Config{MinVersion: tls.VersionTLS12}
		if p.CA != "" {
			text, err := os.ReadFile(p.CA)
			secured.RootCAs = x509.NewCertPool()
			if err == nil && !secured.RootCAs.AppendCertsFromPEM(text) {
				err = fmt.Errorf("%s has no certificate in PEM", p.CA)
			}
			if err != nil {
				return nil, fault.Hinted(fmt.Errorf("cannot read the certificates to trust: %w", err),
					"correct fleet.ca")
			}
		}
		options = append(options, nats.Secure(secured))
	}
	var made atomic.Pointer[nats.Conn]
	if p.Credentials != (Credentials{}) {
		credentials, err := p.authenticate(&made)
		if err != nil {
			return nil, err
		}
		options = append(options, credentials)
	}
	nc, err := nats.Connect(p.URL, options...)
	made.Store(nc)
	return nc, err
}

// errOtherKey fails an attempt to connect as the user of a key that is not in the file any more.
var errOtherKey = errors.New("the file has another key, which the next attempt uses")

// authenticate is how the connection proves who it is. made has the connection once it was made.
func (p Peer) authenticate(made *atomic.Pointer[nats.Conn]) (nats.Option, error) {
	text, err := p.Credentials.Read()
	if err != nil {
		return nil, err
	}
	if strings.Contains(text, "BEGIN NATS USER JWT") {
		read := func() ([]byte, error) {
			text, err := p.Credentials.Read()
			return []byte(text), err
		}
		return nats.UserJWT(func() (string, error) {
			text, err := read()
			if err != nil {
				return "", err
			}
			return nkeys.ParseDecoratedJWT(text)
		}, func(nonce []byte) ([]byte, error) {
			text, err := read()
			if err != nil {
				return nil, err
			}
			pair, err := nkeys.ParseDecoratedUserNKey(text)
			if err != nil {
				return nil, err
			}
			defer pair.Wipe()
			return pair.Sign(nonce)
		}), nil
	}
	pair, err := nkeys.FromSeed([]byte(text))
	if err != nil {
		return nil, fault.Hinted(errors.New(p.Credentials.Place()+" has no NKey seed and no credentials of NATS"),
			"give the file that nsc or nk wrote: a line SU…, or a JWT with its seed")
	}
	defer pair.Wipe()
	public, err := pair.PublicKey()
	if err != nil {
		return nil, err
	}
	return nats.Nkey(public, func(nonce []byte) ([]byte, error) {
		text, err := p.Credentials.Read()
		if err != nil {
			return nil, err
		}
		pair, err := nkeys.FromSeed([]byte(text))
		if err != nil {
			return nil, err
		}
		defer pair.Wipe()
		now, err := pair.PublicKey()
		if err != nil {
			return nil, err
		}
		// The attempt names the key of the options as they were when it began. They are those of the connection, whose
		// lock is held here.
		if nc := made.Load(); nc == nil && now != public || nc != nil && now != nc.Opts.Nkey {
			if nc != nil {
				nc.Opts.Nkey = now
			}
			return nil, errOtherKey
		}
		return pair.Sign(nonce)
	}), nil
}

// CheckCredentials says why the credentials cannot be used.
func (p Peer) CheckCredentials() error {
	_, err := p.authenticate(new(atomic.Pointer[nats.Conn]))
	return err
}
