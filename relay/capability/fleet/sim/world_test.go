//go:build unix

package sim

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"
	"github.com/nats-io/nkeys"

	"tabrelay/relay/plugin/build"
	"tabrelay/relay/road/plugin"
	"tabrelay/relay/state/config"
)

const (
	gatewayName = "team"
	clientName  = "claude"
	guest       = "carol/" + clientName + "@" + gatewayName
	page        = "https://sim.example/"
	tool        = "sim__pay"
)

// size is how large a simulated fleet is.
type size struct {
	servers, nodes, gateways int
	direct                   bool // without links: what they cost is not measured
}

// world is a fleet of processes on loopback.
type world struct {
	t        testing.TB
	size     size
	program  string
	folder   string
	plugin   string
	servers  []*process
	at       []string // of the servers
	keys     map[string]string
	nodes    []*node
	gateways []*door
}

// member is a process that reaches the servers over links of its own.
type member struct {
	process
	home  config.Home
	links []*link
}

// node is a relay with a browser.
type node struct {
	member
	address  string
	leased   bool // its profiles are leased to one session at a time
	browsers []*browser
}

// door is a gateway.
type door struct {
	member
	url   string
	token string
}

func newWorld(t testing.TB, s size) *world {
	t.Helper()
	w := &world{t: t, size: s, program: program(t), folder: t.TempDir(), keys: map[string]string{}}
	w.plugin = w.makePlugin("sim")
	var names []string
	for i := range s.nodes {
		names = append(names, nodeName(i))
	}
	w.startCluster(s.servers, names)
	for i := range s.nodes {
		w.addNode(i)
	}
	addresses := freePorts(t, s.gateways)
	for i, address := range addresses {
		w.addGateway(i, address)
	}
	return w
}

func nodeName(i int) string { return fmt.Sprintf("n%d", i) }

// key makes a key, and returns the file with its seed.
func (w *world) key(name string) (file string) {
	w.t.Helper()
	pair, err := nkeys.CreateUser()
	if err != nil {
		w.t.Fatal(err)
	}
	w.keys[name], _ = pair.PublicKey() // of a key that there is
	seed, _ := pair.Seed()
	file = w.keyFile(name)
	w.write(file, string(seed))
	return file
}

func (w *world) keyFile(name string) string { return filepath.Join(w.folder, name+".nk") }

func (w *world) write(file, text string) {
	w.t.Helper()
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		w.t.Fatal(err)
	}
}

// startCluster starts the NATS servers, and makes the directory as docs/fleet.md says.
func (w *world) startCluster(n int, nodes []string) {
	w.t.Helper()
	ports := freePorts(w.t, 3*n)
	w.at = ports[:n]
	admin := w.key("admin")
	for _, name := range append([]string{"sys", gatewayName}, nodes...) {
		w.key(name)
	}
	for i := range n {
		name := fmt.Sprintf("s%d", i)
		file := filepath.Join(w.folder, name+".conf")
		w.write(file, configuration(w.folder, i, w.at, ports[n:2*n], ports[2*n:], []string{gatewayName}, nodes, w.keys))
		p := &process{name: name, args: []string{os.Args[0]}, env: []string{asServer + "=" + file},
			log: filepath.Join(w.folder, name+".log"), ready: healthy("http://" + ports[n+i] + "/healthz")}
		if n > 1 {
			p.ready = func() bool { return true } // a cluster is healthy when most of it is there
		}
		w.starts(p)
		w.servers = append(w.servers, p)
	}
	for i, p := range w.servers {
		p.ready = healthy("http://" + ports[n+i] + "/healthz")
		for began := time.Now(); !p.ready(); {
			if time.Since(began) > startTime || !pause(w.t.Context(), 10*time.Millisecond) {
				text, _ := os.ReadFile(p.log)
				w.t.Fatalf("%s does not get healthy: %s", p.name, tail(string(text)))
			}
		}
	}
	w.makeDirectory(admin, n)
}

func (w *world) makeDirectory(admin string, replicas int) {
	w.t.Helper()
	ctx, cancel := context.WithTimeout(w.t.Context(), startTime)
	defer cancel()
	nc := w.dial(admin)
	defer nc.Close()
	js, err := jetstream.New(nc)
	if err != nil {
		w.t.Fatal(err)
	}
	for {
		_, err = js.CreateOrUpdateKeyValue(ctx, jetstream.KeyValueConfig{Bucket: "tabrelay-nodes",
			TTL: 30 * time.Second, Replicas: replicas, MaxValueSize: 256 << 10})
		if err == nil {
			return
		}
		if !pause(ctx, 100*time.Millisecond) {
			w.t.Fatal(err)
		}
	}
}

// dial connects to the servers without links between.
func (w *world) dial(keyFile string) *nats.Conn {
	w.t.Helper()
	option, err := nats.NkeyOptionFromSeed(keyFile)
	if err != nil {
		w.t.Fatal(err)
	}
	nc, err := nats.Connect("nats://"+strings.Join(w.at, ",nats://"), option)
	if err != nil {
		w.t.Fatal(err)
	}
	return nc
}

func (w *world) starts(p *process) {
	w.t.Helper()
	w.t.Cleanup(p.kill)
	if err := p.start(w.t.Context()); err != nil {
		w.t.Fatal(err)
	}
}

// member makes the home of a process with links to all servers.
func (w *world) member(name string, args ...string) member {
	w.t.Helper()
	m := member{home: config.Home(filepath.Join(w.folder, name))}
	if err := m.home.Create(); err != nil {
		w.t.Fatal(err)
	}
	for _, to := range w.at {
		m.links = append(m.links, newLink(w.t, to))
	}
	m.process = process{name: name, args: append([]string{w.program}, args...),
		log: filepath.Join(w.folder, name+".log"), env: []string{"TABRELAY_HOME=" + string(m.home)}}
	return m
}

func (w *world) serversOf(m *member) string {
	if w.size.direct {
		return "nats://" + strings.Join(w.at, ",nats://")
	}
	var list []string
	for _, k := range m.links {
		list = append(list, "nats://"+k.address())
	}
	return strings.Join(list, ",")
}

func (w *world) configure(home config.Home, settings map[string]any) {
	w.t.Helper()
	text, err := json.MarshalIndent(settings, "", "  ")
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(filepath.Join(string(home), "config.json"), string(text))
}

func (w *world) addNode(i int) {
	w.t.Helper()
	name := nodeName(i)
	// One node has leases, short ones.
	n := &node{member: w.member(name, "serve"), address: freePorts(w.t, 1)[0], leased: i == 1}
	lease := map[string]any{"idleMs": 100, "longestMs": 1000}
	n.ready = healthy("http://" + n.address + "/healthz")
	w.configure(n.home, map[string]any{
		"listen": n.address, "demo": map[string]any{"listen": ""}, "review": map[string]any{"required": false},
		"tabs":        map[string]any{"ownership": "off"},
		"permissions": map[string]any{"default": "auto", "sim": map[string]any{guest: "auto"}},
		"fleet": map[string]any{"url": w.serversOf(&n.member), "node": name, "exclusive": n.leased, "lease": lease,
			"credentials": map[string]any{"file": w.keyFile(name)}},
	})
	if _, _, err := build.Add(w.t.Context(), n.home.Plugins(), w.plugin); err != nil {
		w.t.Fatal(err)
	}
	w.starts(&n.process)
	n.browsers = append(n.browsers, newBrowser(w.t, n, 0))
	w.nodes = append(w.nodes, n)
}

// makePlugin makes a built plugin with a tool that writes.
func (w *world) makePlugin(name string) (dir string) {
	w.t.Helper()
	text, err := json.Marshal(plugin.Manifest{Name: name, Version: "1.0.0", DisplayName: name,
		URLPatterns: []string{page + "*"}, World: plugin.Isolated, Tools: []plugin.Tool{{Name: "pay",
			DisplayName: "Pay", Description: "Pays.", InputSchema: json.RawMessage(`{"type":"object"}`)}}})
	dir = filepath.Join(w.t.TempDir(), name)
	if err == nil {
		err = os.MkdirAll(filepath.Join(dir, "dist"), 0o700)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.write(filepath.Join(dir, "dist", "manifest.json"), string(text))
	w.write(filepath.Join(dir, "dist", "adapter.js"), "var tabrelayPlugin = { default: { tools: [] } };\n")
	return dir
}

func (w *world) addGateway(i int, address string) {
	w.t.Helper()
	g := &door{member: w.member(fmt.Sprintf("g%d", i), "fleet", "gateway"), url: "http://" + address + "/mcp"}
	g.ready = healthy("http://" + address + "/healthz")
	w.configure(g.home, map[string]any{"fleet": map[string]any{"url": w.serversOf(&g.member), "gateway": map[string]any{
		"name": gatewayName, "listen": address, "queueMs": 2000,
		"credentials": map[string]any{"file": w.keyFile(gatewayName)}, "people": map[string]any{clientName: "carol"}}}})
	secrets, err := config.OpenSecrets(g.home)
	if err == nil {
		g.token, err = secrets.Add(clientName)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	w.starts(&g.process)
	w.gateways = append(w.gateways, g)
}
