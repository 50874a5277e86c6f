package relay

import (
	"context"
	"encoding/json"
	"io"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"tabrelay/relay/agent/client"
	"tabrelay/relay/agent/join"
	"tabrelay/relay/browser/hub/hubtest"
	"tabrelay/relay/program/httpapi/apitest"
	"tabrelay/relay/road/fault"
	"tabrelay/relay/state/config"
)

// abroad is a relay that other machines reach.
type abroad struct {
	*world
	certificate apitest.Certificate
	token       string // of a client there
}

func newAbroad(t *testing.T) *abroad {
	w := &abroad{world: newWorld(t), certificate: apitest.MakeCertificate(t, time.Now().AddDate(0, 1, 0), "127.0.0.1")}
	secrets, err := config.OpenSecrets(w.home)
	if err == nil {
		w.token, err = secrets.Admit(config.Client{Name: "devbox", Remote: true})
	}
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// relayAt is a relay that listens for other machines at an address.
func (w *abroad) relayAt(address string) (r *Relay, end func()) {
	w.t.Helper()
	return w.relayAs(func(cfg *config.Config) {
		cfg.Remote = config.Remote{Listen: address, Certificate: w.certificate.File, Key: w.certificate.Key}
	})
}

// proxy is a stdio proxy on another machine.
func (w *abroad) proxy(address, token string) *join.Proxy {
	w.t.Helper()
	remote, err := join.ParseRemote(address, w.certificate.Authority, token)
	if err != nil {
		w.t.Fatal(err)
	}
	return &join.Proxy{Remote: remote}
}

func (w *abroad) agentAt(address string) *mcpClient {
	w.t.Helper()
	return w.agentWith(nobodyStarts, w.proxy(address, w.token))
}

// An agent on another machine: its calls, its name and its machine in the list of clients, its scope, and its end.
func TestAgentOnAnotherMachine(t *testing.T) {
	w := newAbroad(t)
	r, _ := w.relayAt("127.0.0.1:0")
	w.browser(func(c *hubtest.Call) { c.Started(); c.Return(c.Arguments) })
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	for _, address := range []string{"https://" + r.remote.Addr().String(), "http://" + r.Address()} {
		a := w.agentAt(address)
		a.call(1, "shop__read", `{"what":"tea"}`)
		a.hears(`"id":1,`, `"text":"{\"what\":\"tea\"}"`)
		list := r.clients.List()
		at := slices.IndexFunc(list, func(v client.View) bool { return v.Name == "devbox" })
		if at < 0 || !list[at].Remote || list[at].Attached != 1 || !slices.Equal(list[at].From, []string{machine}) {
			t.Errorf("%s: listed %+v", address, list)
		}
		a.leave()
	}
	a := w.agentAt("https://" + r.remote.Addr().String())
	if err := r.secrets.Revoke("devbox"); err != nil {
		t.Fatal(err)
	}
	for id := 2; ; id++ {
		a.call(id, "shop__read", `{"what":"tea"}`)
		if line := a.line(); strings.Contains(line, `UNAUTHORIZED`) {
			if !strings.Contains(line, "does not know the token, or no longer") {
				t.Errorf("the agent heard %s", line)
			}
			break
		}
	}
}

// A person who is asked for a client on another machine reads which one, as it calls itself, over TLS and through SSH.
func TestAQuestionFromAnotherMachine(t *testing.T) {
	w := newAbroad(t)
	r, _ := w.relayAs(func(cfg *config.Config) {
		cfg.Remote = config.Remote{Listen: "127.0.0.1:0", Certificate: w.certificate.File, Key: w.certificate.Key}
		cfg.Permissions = map[string]map[string]string{"shop": {config.EveryClient: "ask"}}
	})
	w.browser(func(c *hubtest.Call) { c.Started(); c.Return(c.Arguments) })
	machine, err := os.Hostname()
	if err != nil {
		t.Fatal(err)
	}
	asked := questions(t, r)
	want := "another machine (“" + machine + "”, as far as it says)"
	for _, address := range []string{"https://" + r.remote.Addr().String(), "http://" + r.Address()} {
		a := w.agentAt(address)
		a.call(1, "shop__pay", `{}`)
		if q := asked(); q.Machine != want || !strings.HasPrefix(q.Sentence, "May devbox on "+want+",") {
			t.Errorf("%s: %q, %q", address, q.Machine, q.Sentence)
		}
		a.leave()
	}
}

// A token that expires while its client is attached from elsewhere ends the attachment, and whoever comes with it is
// told.
func TestTokenExpiresElsewhere(t *testing.T) {
	w := newAbroad(t)
	secrets, err := config.OpenSecrets(w.home)
	if err != nil {
		t.Fatal(err)
	}
	w.token, err = secrets.RotateUntil("devbox", time.Now().Add(2*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	r, end := w.relayAt("127.0.0.1:0")
	w.browser(func(c *hubtest.Call) { c.Started(); c.Return(c.Arguments) })
	for _, address := range []string{"https://" + r.remote.Addr().String(), "http://" + r.Address()} {
		a := w.agentAt(address)
		for line, id := "", 1; !strings.Contains(line, "lets nobody in: the token of devbox expired on 20"); id++ {
			a.call(id, "shop__read", `{"what":"tea"}`)
			if line = a.line(); strings.Contains(line, "does not know the token") {
				t.Fatalf("%s: the agent heard %s", address, line)
			}
		}
		a.leave()
	}
	end()
	var said []string
	for _, row := range w.auditRows() {
		if row.Client == "devbox" && row.Tool == "" {
			said = append(said, row.DecidedBy+": "+row.Detail)
		}
	}
	if got := strings.Join(said, "\n"); !strings.HasSuffix(got, "relay: The client devbox has a token that expired") ||
		strings.Count(got, "expired") != 1 {
		t.Errorf("the log says %s", got)
	}
}

// line is the next answer.
func (a *mcpClient) line() string {
	a.t.Helper()
	for a.out.Scan() {
		if line := a.out.Text(); strings.Contains(line, `"id":`) {
			return line
		}
	}
	a.t.Fatal("the agent heard nothing more")
	return ""
}

// Over the port for other machines: TLS and a token of a client there, and nothing else.
func TestTokensFromElsewhere(t *testing.T) {
	w := newAbroad(t)
	r, _ := w.relayAt("127.0.0.1:0")
	here, err := r.secrets.Add("ann")
	if err != nil {
		t.Fatal(err)
	}
	tls := apitest.Trusting(t, w.certificate)
	ask := func(path, token string) int {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), "GET", "https://"+r.remote.Addr().String()+path, nil)
		if err != nil {
			t.Fatal(err)
		}
		req.Header.Set("Authorization", "Bearer "+token)
		res, err := tls.Do(req)
		if err != nil {
			t.Fatal(err)
		}
		_ = res.Body.Close() // only its status is of interest
		return res.StatusCode
	}
	for token, want := range map[string]int{w.token: http.StatusOK, here: http.StatusUnauthorized,
		r.secrets.Local(): http.StatusUnauthorized, "wrong": http.StatusUnauthorized, "": http.StatusUnauthorized} {
		if got := ask("/api/v1/tools", token); got != want {
			t.Errorf("a token: %d, want %d", got, want)
		}
	}
	if got := ask("/api/v1/clients", w.token); got != http.StatusForbidden {
		t.Errorf("what is for the person: %d", got)
	}
	for _, token := range []string{here, r.secrets.Local()} { // known through SSH, but not as another machine's
		s := outsider{t, r.Address()}
		res, body := s.ask("GET", join.AttachPath, "Authorization: Bearer "+token, "Upgrade: "+join.Protocol)
		if res.StatusCode != http.StatusForbidden || !strings.Contains(body, "clients add --remote") {
			t.Errorf("attaching: %d %s", res.StatusCode, body)
		}
	}
	res, err := http.Get("http://" + r.remote.Addr().String() + "/healthz")
	if err == nil && res.StatusCode != http.StatusBadRequest {
		t.Errorf("without TLS: %d", res.StatusCode)
	}
}

// A program of another machine that is newer does not end this relay: it could not start one here.
func TestNewerProgramElsewhere(t *testing.T) {
	w := newAbroad(t)
	r, _ := w.relayAt("127.0.0.1:0")
	remote := w.proxy("https://"+r.remote.Addr().String(), w.token).Remote
	conn, err := remote.Dial(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close() // nothing more is said on it
	answer := introduce(t, conn, `{"attach":{"key":"`+strings.Repeat("0", 32)+`","version":"99.0.0"}}`)
	if answer.Attached == nil || answer.Attached.Client != "devbox" {
		t.Errorf("answered %+v", answer)
	}
	select {
	case <-r.stop:
		t.Error("the relay stops")
	default:
	}
}

// The relay ends while a page pays for an agent elsewhere. The next one learns the outcome, the agent gets it, and
// nobody pays twice.
func TestRestartDuringAWriteFromElsewhere(t *testing.T) {
	w := newAbroad(t)
	first, end := w.relayAt("127.0.0.1:0")
	begun := make(chan *hubtest.Call, 4)
	b := w.browser(func(c *hubtest.Call) { c.Started(); begun <- c })
	address := first.remote.Addr().String()
	a := w.agentAt("https://" + address)
	a.call(1, "shop__pay", `{}`)
	call := <-begun

	b.Drop() // as if the relay had been killed: it cannot tell the page anything
	end()
	call.Return(json.RawMessage(`{"paid":true}`))
	next, _ := w.relayAt(address)
	b.Move(next.Address())
	if err := b.Dial(t.Context()); err != nil {
		t.Fatal(err)
	}
	a.hears(`"id":1,`, `\"paid\":true`)
	select {
	case again := <-begun:
		t.Errorf("the page was asked to pay again, as %s", again.ID)
	default:
	}
}

// The relay ends while a page pays, and what has its address then does not prove to be it: the agent elsewhere hears
// that nobody knows how it went, and what it asks for later has not happened.
func TestAnotherRelayDuringAWrite(t *testing.T) {
	w := newAbroad(t)
	r, end := w.relayAt("127.0.0.1:0")
	begun := make(chan *hubtest.Call, 4)
	b := w.browser(func(c *hubtest.Call) { c.Started(); begun <- c })
	address := r.remote.Addr().String()
	a := w.agentAt("https://" + address)
	a.call(1, "shop__pay", `{}`)
	<-begun
	b.Drop()
	end()
	w.certificate = apitest.MakeCertificate(t, time.Now().AddDate(0, 1, 0), "127.0.0.1")
	w.relayAt(address)
	a.hears(`"id":1,`, `"isError":true`, `\"outcome\":\"unknown\"`, "signed by nobody that this machine trusts")
	a.call(2, "shop__pay", `{}`)
	a.hears(`"id":2,`, `"isError":true`, `\"outcome\":\"not_executed\"`)
}

// forward is a connection of SSH between two machines. Its near end can be lost without the far one noticing.
type forward struct {
	net.Listener
	mu   sync.Mutex
	near []net.Conn
	made chan struct{} // one for each connection
}

func forwardTo(t *testing.T, address string) *forward {
	t.Helper()
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &forward{Listener: listener, made: make(chan struct{}, 8)}
	var far []net.Conn
	var copying sync.WaitGroup
	copying.Go(func() {
		for {
			near, err := listener.Accept()
			if err != nil {
				return
			}
			to, err := (&net.Dialer{}).DialContext(context.Background(), "tcp", address)
			if err != nil {
				_ = near.Close() // the relay is gone
				continue
			}
			f.mu.Lock()
			f.near, far = append(f.near, near), append(far, to)
			f.mu.Unlock()
			copying.Go(func() { _, _ = io.Copy(to, near) }) // until one of them is closed
			copying.Go(func() { _, _ = io.Copy(near, to) }) // as above
			f.made <- struct{}{}
		}
	})
	t.Cleanup(func() {
		_ = listener.Close()
		f.lose()
		f.mu.Lock()
		for _, conn := range far {
			_ = conn.Close() // the relay may have closed it
		}
		f.mu.Unlock()
		copying.Wait()
	})
	return f
}

// lose closes the near ends.
func (f *forward) lose() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, conn := range f.near {
		_ = conn.Close() // it may be lost already
	}
	f.near = nil
}

// The way to the relay is lost while a page pays, and the relay does not notice. The agent comes back another way, gets
// the outcome, and nobody pays twice.
func TestConnectionLostDuringAWrite(t *testing.T) {
	w := newAbroad(t)
	r, _ := w.relayAt("127.0.0.1:0")
	begun := make(chan *hubtest.Call, 4)
	w.browser(func(c *hubtest.Call) { c.Started(); begun <- c })
	way := forwardTo(t, r.Address())
	a := w.agentAt("http://" + way.Addr().String())
	<-way.made
	a.call(1, "shop__pay", `{}`)
	call := <-begun
	way.lose()
	<-way.made
	call.Return(json.RawMessage(`{"paid":true}`))
	a.hears(`"id":1,`, `\"paid\":true`)
	select {
	case again := <-begun:
		t.Errorf("the page was asked to pay again, as %s", again.ID)
	default:
	}
	if n := len(r.clients.Attached()); n != 1 {
		t.Errorf("%d attachments are there", n)
	}
}

// What listens for other machines has TLS, or the relay does not start.
func TestNoTLSNoPort(t *testing.T) {
	w := newAbroad(t)
	other := apitest.MakeCertificate(t, time.Now().AddDate(0, 1, 0), "127.0.0.1")
	for name, remote := range map[string]config.Remote{
		"no such file":   {Listen: "127.0.0.1:0", Certificate: w.certificate.File + ".missing", Key: w.certificate.Key},
		"no key":         {Listen: "127.0.0.1:0", Certificate: w.certificate.File, Key: w.certificate.Key + ".missing"},
		"another's key":  {Listen: "127.0.0.1:0", Certificate: w.certificate.File, Key: other.Key},
		"no certificate": {Listen: "127.0.0.1:0", Certificate: w.certificate.Key, Key: w.certificate.Key},
	} {
		cfg := openConfig()
		cfg.Listen, cfg.Demo.Listen, cfg.Remote = "127.0.0.1:0", "", remote
		_, err := New(t.Context(), cfg, Options{Home: w.home, Log: w.log})
		if err == nil || fault.HintOf(err) == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := os.Chmod(w.certificate.Key, 0o644); err != nil {
		t.Fatal(err)
	}
	cfg := openConfig()
	cfg.Listen, cfg.Demo.Listen = "127.0.0.1:0", ""
	cfg.Remote = config.Remote{Listen: "127.0.0.1:0", Certificate: w.certificate.File, Key: w.certificate.Key}
	if _, err := New(t.Context(), cfg, Options{Home: w.home, Log: w.log}); err == nil ||
		!strings.Contains(err.Error(), "can be read by other users") {
		t.Errorf("a key that others can read: %v", err)
	}
}
