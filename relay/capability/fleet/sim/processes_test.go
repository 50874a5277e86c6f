//go:build unix

package sim

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/nats-io/nats-server/v2/server"
)

// asServer is the variable that makes this test program a NATS server, which a test can kill: it has the configuration.
const asServer = "FLEET_SIM_SERVER"

func TestMain(m *testing.M) {
	if file := os.Getenv(asServer); file != "" {
		options, err := server.ProcessConfigFile(file)
		var s *server.Server
		if err == nil {
			s, err = server.NewServer(options)
		}
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		s.ConfigureLogger()
		s.Start()
		s.WaitForShutdown()
		return
	}
	if url := os.Getenv(asEcho); url != "" {
		fmt.Fprintln(os.Stderr, echo(url, os.Getenv("FLEET_SIM_KEY")))
		os.Exit(1)
	}
	m.Run()
}

// program is the tabrelay that is tried: TABRELAY_PROGRAM, or one that is built now.
func program(t testing.TB) string {
	t.Helper()
	if file := os.Getenv("TABRELAY_PROGRAM"); file != "" {
		return file
	}
	file := filepath.Join(t.TempDir(), "tabrelay")
	build := exec.Command("go", "build", "-o", file, "tabrelay/cmd/tabrelay")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, said)
	}
	return file
}

// process is a program that is killed and started again at the same addresses.
type process struct {
	name  string
	args  []string
	env   []string
	log   string // file, to which each life adds
	ready func() bool
	cmd   *exec.Cmd
}

// startTime is how long a process may take to start, on a machine that does much else.
const startTime = 3 * time.Minute

func (p *process) start(ctx context.Context) error {
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	defer log.Close() // the process has it
	p.cmd = exec.Command(p.args[0], p.args[1:]...)
	p.cmd.Env = append(os.Environ(), p.env...)
	p.cmd.Stdout, p.cmd.Stderr = log, log
	if err := p.cmd.Start(); err != nil {
		return err
	}
	for began := time.Now(); !p.ready(); {
		if time.Since(began) > startTime || !pause(ctx, 5*time.Millisecond) {
			text, _ := os.ReadFile(p.log)
			return errors.Join(fmt.Errorf("%s does not start: %s", p.name, tail(string(text))), ctx.Err())
		}
	}
	return nil
}

func tail(text string) string { return text[max(0, len(text)-2000):] }

func (p *process) kill() {
	if p.cmd == nil || p.cmd.Process == nil {
		return
	}
	_ = p.cmd.Process.Kill() // it may have ended
	_ = p.cmd.Wait()         // as it was killed
}

// halt stops the process from running, as a machine does that swaps, or a laptop that sleeps.
func (p *process) halt() { _ = p.cmd.Process.Signal(syscall.SIGSTOP) } // it may have ended
func (p *process) goOn() { _ = p.cmd.Process.Signal(syscall.SIGCONT) }

// pause waits, and reports whether there is still time.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

// freePorts are ports of loopback that nobody has at this moment.
func freePorts(t testing.TB, n int) (list []string) {
	t.Helper()
	for range n {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close() // together, so that none comes twice
		list = append(list, l.Addr().String())
	}
	return list
}

// healthy reports whether an HTTP server answers.
func healthy(url string) func() bool {
	client := &http.Client{Timeout: time.Second, Transport: &http.Transport{DisableKeepAlives: true}}
	return func() bool {
		res, err := client.Get(url)
		if err != nil {
			return false
		}
		_ = res.Body.Close() // only its status counts
		return res.StatusCode == http.StatusOK
	}
}

// configuration is that of one NATS server of the cluster, with the permissions that docs/fleet.md shows.
func configuration(folder string, i int, listen, monitor, routes, gateways, nodes []string, keys map[string]string,
) string {
	var users strings.Builder
	for _, name := range gateways {
		fmt.Fprintf(&users, `{ nkey: %s, permissions: {
  publish: ["tabrelay.v1.node.*.%s.*", "$JS.API.INFO", "$JS.API.STREAM.*.KV_tabrelay-nodes",
    "$JS.API.CONSUMER.*.KV_tabrelay-nodes", "$JS.API.CONSUMER.*.KV_tabrelay-nodes.>",
    "$JS.API.DIRECT.GET.KV_tabrelay-nodes.>", "$JS.ACK.KV_tabrelay-nodes.>", "$JS.FC.KV_tabrelay-nodes.>"],
  subscribe: ["tabrelay.v1.gateway.%[2]s.inbox.>"] } }
`, keys[name], name)
	}
	for _, name := range nodes {
		fmt.Fprintf(&users, `{ nkey: %s, permissions: {
  publish: ["$KV.tabrelay-nodes.%s", "$JS.API.STREAM.INFO.KV_tabrelay-nodes"],
  subscribe: ["tabrelay.v1.node.%[2]s.*.*", "tabrelay.v1.nodes.%[2]s.inbox.>"],
  allow_responses: { max: -1, expires: "2h" } } }
`, keys[name], name)
	}
	var all []string
	for _, r := range routes {
		all = append(all, `"nats://`+r+`"`)
	}
	cluster := ""
	if len(routes) > 1 {
		cluster = fmt.Sprintf("cluster { name: fleet, listen: %q, routes: [ %s ] }\n", routes[i],
			strings.Join(all, ", "))
	}
	return fmt.Sprintf(`server_name: s%d
listen: %q
http: %q
accounts { fleet { jetstream: enabled, users: [ %s { nkey: %s } ] }, sys { users: [ { nkey: %s } ] } }
system_account: sys
jetstream { store_dir: %q, sync_interval: always, max_memory_store: 64M, max_file_store: 1G }
%s`, i, listen[i], monitor[i], users.String(), keys["admin"], keys["sys"], filepath.Join(folder, fmt.Sprintf("s%d", i)),
		cluster)
}
