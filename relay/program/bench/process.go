package bench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"
)

// startTimeout is how long a relay may take to start, or to stop.
const startTimeout = 20 * time.Second

// relayProcess is one relay in a child process.
type relayProcess struct {
	cmd     *exec.Cmd
	address string
	took    time.Duration // from its start to its first answer
	said    *bytes.Buffer
}

// startRelay starts a relay and waits for its first answer.
func startRelay(ctx context.Context, executable, home string) (*relayProcess, error) {
	return startProcess(ctx, executable, home, func(string) []string { return []string{"serve"} })
}

// startProcess starts this program with arguments that make it serve an address, and waits for its first answer.
func startProcess(
	ctx context.Context, executable, home string, arguments func(address string) []string,
) (*relayProcess, error) {
	address, err := freeAddress()
	if err != nil {
		return nil, err
	}
	p := &relayProcess{address: address, said: &bytes.Buffer{}}
	p.cmd = exec.CommandContext(ctx, executable, arguments(address)...)
	p.cmd.Env = append(os.Environ(), "TABRELAY_HOME="+home, "TABRELAY_LISTEN="+address, "TABRELAY_DEMO_LISTEN=",
		"TABRELAY_LOGGING_LEVEL=warn", "TABRELAY_PERMISSIONS=auto", "TABRELAY_REVIEW_REQUIRED=false")
	p.cmd.Stderr = p.said
	began := time.Now()
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	for !answers(address) {
		if time.Since(began) > startTimeout {
			return nil, errors.Join(fmt.Errorf("the relay did not answer within %s", startTimeout), p.stop())
		}
	}
	p.took = time.Since(began)
	return p, nil
}

// freeAddress is a loopback address that nobody has at this moment.
func freeAddress() (string, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	return l.Addr().String(), l.Close()
}

// answers asks once. It lets a moment pass when nobody listens yet, so that asking costs the relay nothing.
func answers(address string) bool {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		<-time.After(200 * time.Microsecond)
		return false
	}
	_ = conn.Close() // the question goes over a connection of its own
	response, err := http.Get("http://" + address + "/healthz")
	if err != nil {
		return false
	}
	_ = response.Body.Close() // only its status counts
	return response.StatusCode == http.StatusOK
}

// stop ends the relay and waits for it.
func (p *relayProcess) stop() error {
	if err := p.cmd.Process.Signal(os.Interrupt); err != nil {
		_ = p.cmd.Process.Kill() // where there are no signals
	}
	ended := time.AfterFunc(startTimeout, func() { _ = p.cmd.Process.Kill() })
	defer ended.Stop()
	err := p.cmd.Wait()
	if _, ok := errors.AsType[*exec.ExitError](err); ok && p.said.Len() > 0 {
		return fmt.Errorf("the relay ended with %w: %s", err, strings.TrimSpace(p.said.String()))
	}
	return err
}

// memory is the resident memory in MiB; 0 where the system does not tell.
func (p *relayProcess) memory() (float64, error) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
	if errors.Is(err, os.ErrNotExist) {
		return p.memoryByPS()
	}
	if err != nil {
		return 0, err
	}
	for line := range strings.SplitSeq(string(text), "\n") {
		if rest, ok := strings.CutPrefix(line, "VmRSS:"); ok {
			return kib(strings.TrimSuffix(strings.TrimSpace(rest), " kB"))
		}
	}
	return 0, nil
}

// processor is the processor time it has used, in ticks; 0 where the system does not tell.
func (p *relayProcess) processor() float64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", p.cmd.Process.Pid))
	if err != nil {
		return 0
	}
	// Behind the name of the program, which may have spaces: user and system time are the 12th and 13th.
	fields := strings.Fields(string(text[bytes.LastIndexByte(text, ')')+1:]))
	var ticks float64
	for _, field := range fields[11:13] {
		n, _ := strconv.ParseFloat(field, 64) // the system writes numbers
		ticks += n
	}
	return ticks
}

// perCall is the processor time of each of n calls in milliseconds, since it had used so much.
func (p *relayProcess) perCall(used float64, n int) float64 {
	const tick = 10 // milliseconds, on every Linux that Go supports
	return (p.processor() - used) * tick / float64(n)
}

func (p *relayProcess) memoryByPS() (float64, error) {
	out, err := exec.Command("ps", "-o", "rss=", "-p", strconv.Itoa(p.cmd.Process.Pid)).Output()
	if err != nil {
		return 0, nil // there is no ps; the rows are left out
	}
	return kib(strings.TrimSpace(string(out)))
}

func kib(text string) (float64, error) {
	n, err := strconv.Atoi(text)
	return float64(n) / 1024, err
}
