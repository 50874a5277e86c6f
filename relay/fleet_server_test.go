package relay

import (
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/jwt/v2"
	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nkeys"

	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/capability/fleet/gateway"
	"tabrelay/relay/capability/fleet/wire"
	"tabrelay/relay/program/httpapi/apitest"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
)

// external is a NATS server that somebody else runs: nats-server with a configuration file, over TLS.
type external struct {
	t      *testing.T
	server *server.Server
	ca     string
	file   string
}

// runs starts the server with a configuration, in which nothing is said of the port.
func (e *external) runs(text string, port int) {
	e.t.Helper()
	if err := os.WriteFile(e.file, []byte(text), 0o600); err != nil {
		e.t.Fatal(err)
	}
	options, err := server.ProcessConfigFile(e.file)
	if err != nil {
		e.t.Fatal(err)
	}
	options.Host, options.Port, options.NoSigs, options.NoLog = "127.0.0.1", port, true, true
	if e.server, err = server.NewServer(options); err != nil {
		e.t.Fatal(err)
	}
	go e.server.Start()
	if !e.server.ReadyForConnections(time.Minute) {
		e.t.Fatal("the server does not start")
	}
}

func (e *external) stop() {
	e.server.Shutdown()
	e.server.WaitForShutdown()
}

// documented is the configuration that docs/fleet.md shows, with the names and files of a test in the place of those
// that it leaves open.
func documented(t *testing.T, c apitest.Certificate, gateway, node string) string {
	t.Helper()
	page, err := os.ReadFile("../docs/fleet.md")
	if err != nil {
		t.Fatal(err)
	}
	_, text, ok := strings.Cut(string(page), "    accounts { fleet {")
	text, _, end := strings.Cut(text, "\n\n")
	if !ok || !end {
		t.Fatal("docs/fleet.md shows no configuration")
	}
	text = "    accounts { fleet {" + text + "\n"
	for was, now := range map[string]string{"UAGATEWAY…": gateway, "UANODE…": node, "/etc/nats/server.pem": c.File,
		"/etc/nats/server-key.pem": c.Key, "/var/lib/nats": filepath.Join(t.TempDir(), "nats")} {
		if strings.Count(text, was) != 1 {
			t.Fatalf("docs/fleet.md does not have %s once", was)
		}
		text = strings.Replace(text, was, now, 1)
	}
	return text
}

// written is a file that nobody else can read.
func written(t *testing.T, name string, text []byte) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(file, text, 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// newSeed is a user's key: its public half, and the file with its seed.
func newSeed(t *testing.T) (public, file string) {
	t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		t.Fatal(err)
	}
	public, _ = pair.PublicKey()
	seed, _ := pair.Seed()
	return public, written(t, "user.nk", seed)
}

// joins has a relay with a browser join as the node ann, and a gateway called team meet it there.
func (e *external) joins(nodeFile, gatewayFile string) *gateway.Gateway {
	e.t.Helper()
	w := newWorld(e.t)
	w.nodeAs("ann", "", e.peer(nodeFile))
	w.browser(func(c *hubtest.Call) {
		c.Started()
		c.Return(fmt.Appendf(nil, "%d", len(c.Arguments)))
	})
	w.trusts(e.t, "carol/claude@team")
	return gatewayAs(e.t, "team", time.Minute, e.peer(gatewayFile), "ann")
}

func (e *external) peer(file string) wire.Peer {
	return wire.Peer{URL: "tls://" + e.server.Addr().String(), Credentials: config.KeySource{File: file}, CA: e.ca}
}

// works has a small call and one in parts carried out.
func (e *external) works(g *gateway.Gateway) {
	e.t.Helper()
	for _, size := range []int{20, 2 << 20} {
		arguments := `{"what":"` + strings.Repeat("x", size) + `"}`
		if end := <-does(e.t, g, fleetCall("claude", "shop__pay", arguments)); end.failure != nil ||
			end.String() != strconv.Itoa(len(arguments)) {
			e.t.Fatalf("a call with %d bytes ends with %v", size, end)
		}
	}
}

// The configuration of a NATS server that docs/fleet.md shows is enough for a gateway and a node over TLS, and lets
// neither do the other's. A server with a certificate that nobody vouches for, and keys that it does not know, are
// refused.
func TestTheDocumentedServer(t *testing.T) {
	c := apitest.MakeCertificate(t, time.Now().AddDate(0, 1, 0), "127.0.0.1")
	gatewayKey, gatewayFile := newSeed(t)
	nodeKey, nodeFile := newSeed(t)
	e := &external{t: t, ca: c.Authority, file: filepath.Join(t.TempDir(), "nats-server.conf")}
	e.runs(documented(t, c, gatewayKey, nodeKey), server.RANDOM_PORT)
	t.Cleanup(func() { e.stop() })
	g := e.joins(nodeFile, gatewayFile)
	e.works(g)
	if err := e.server.DisableJetStream(); err != nil { // as without a majority: calls need none
		t.Fatal(err)
	}
	e.works(g)

	_, strangerFile := newSeed(t)
	for what, change := range map[string]func(*wire.Peer){
		"an unknown key":         func(p *wire.Peer) { p.Credentials.File = strangerFile },
		"nobody":                 func(p *wire.Peer) { p.Credentials.File = "" },
		"an unknown certificate": func(p *wire.Peer) { p.CA = "" },
	} {
		peer, refused := e.peer(gatewayFile), make(chan error, 100)
		peer.Changed = func(_ *nats.Conn, err error) { refused <- err }
		change(&peer)
		conn, err := peer.Dial()
		if err != nil {
			t.Fatal(err)
		}
		if err := <-refused; err == nil {
			t.Errorf("%s: it is let in", what)
		}
		conn.Close()
	}
	h := newHostile(t, "team", e.peer(gatewayFile))
	h.denied("a node's entry", h.conn.Publish("$KV."+wire.Bucket+".ann", []byte(`{}`)))
	_, err := h.conn.SubscribeSync(wire.NodeSubject("ann"))
	h.denied("a node's place", err)

	// Rotation: with another key in the file, and at the server, the next connection is made with it.
	newNode, newFile := newSeed(t)
	seed, err := os.ReadFile(newFile)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(nodeFile, seed, 0o600); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(e.file)
	if err != nil {
		t.Fatal(err)
	}
	port := e.server.Addr().(*net.TCPAddr).Port
	e.stop()
	e.runs(strings.Replace(string(text), nodeKey, newNode, 1), port)
	for {
		end := <-does(t, g, fleetCall("claude", "shop__pay", `{}`))
		if end.failure.Ours(fault.ProfileNotConnected) {
			continue // both are on their way
		}
		if end.failure != nil {
			t.Errorf("after the rotation a call ends with %v", end)
		}
		break
	}
}

// Credentials as nsc writes them, a JWT with its seed, are taken by a server with an operator.
func TestCredentialsOfAnOperator(t *testing.T) {
	key := func(make func() (nkeys.KeyPair, error)) (pair nkeys.KeyPair, public string) {
		t.Helper()
		pair, err := make()
		if err == nil {
			public, err = pair.PublicKey()
		}
		if err != nil {
			t.Fatal(err)
		}
		return pair, public
	}
	signed := func(claims jwt.Claims, by nkeys.KeyPair) string {
		t.Helper()
		text, err := claims.Encode(by)
		if err != nil {
			t.Fatal(err)
		}
		return text
	}
	operator, operatorKey := key(nkeys.CreateOperator)
	account, accountKey := key(nkeys.CreateAccount)
	_, systemKey := key(nkeys.CreateAccount)
	claims := jwt.NewAccountClaims(accountKey)
	claims.Limits.JetStreamLimits = jwt.JetStreamLimits{MemoryStorage: -1, DiskStorage: -1, Streams: -1, Consumer: -1}
	credentials := func(publish, subscribe []string, responses bool) string {
		user, userKey := key(nkeys.CreateUser)
		may := jwt.NewUserClaims(userKey)
		may.Pub.Allow.Add(publish...)
		may.Sub.Allow.Add(subscribe...)
		if responses {
			may.Resp = &jwt.ResponsePermission{MaxMsgs: -1, Expires: time.Hour}
		}
		seed, err := user.Seed()
		if err != nil {
			t.Fatal(err)
		}
		text, err := jwt.FormatUserConfig(signed(may, account), seed)
		if err != nil {
			t.Fatal(err)
		}
		return written(t, "user.creds", text)
	}
	c := apitest.MakeCertificate(t, time.Now().AddDate(0, 1, 0), "127.0.0.1")
	e := &external{t: t, ca: c.Authority, file: filepath.Join(t.TempDir(), "nats-server.conf")}
	e.runs(fmt.Sprintf(`operator: %s
system_account: %s
resolver: MEMORY
resolver_preload: { %s: %s, %s: %s }
jetstream { store_dir: %q, max_memory_store: 64M, max_file_store: 1G }
tls { cert_file: %q, key_file: %q }
`, signed(jwt.NewOperatorClaims(operatorKey), operator), systemKey, accountKey, signed(claims, operator), systemKey,
		signed(jwt.NewAccountClaims(systemKey), operator), t.TempDir(), c.File, c.Key), server.RANDOM_PORT)
	t.Cleanup(func() { e.stop() })
	e.works(e.joins(
		credentials([]string{"$KV.tabrelay-nodes.ann", "$JS.API.STREAM.INFO.KV_tabrelay-nodes"},
			[]string{wire.NodeSubject("ann"), wire.NodeInbox("ann") + ".>"}, true),
		credentials([]string{"tabrelay.v1.node.*.team.*", "$JS.>"}, []string{wire.Inbox("team") + ".>"}, false)))
}
