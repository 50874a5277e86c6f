package join

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"io"
	"net/http"
	"os"
	"slices"
	"strings"
	"time"

	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/state/config"
)

// idleTime is how long a temporary relay goes on when no program is connected to its socket, so that the commands of a
// script share one.
const idleTime = 5 * time.Second

// Circumstances tells starts of a relay apart that may behave differently: another program, another environment, other
// settings. A temporary relay of other circumstances is replaced.
func Circumstances(home config.Home) string {
	all := slices.DeleteFunc(os.Environ(), func(entry string) bool {
		return !strings.HasPrefix(entry, "TABRELAY_") || ofStarter(entry)
	})
	slices.Sort(all)
	settings, _ := os.ReadFile(home.Config()) // without one the defaults count
	all = append(all, Build(), string(settings))
	sum := sha256.Sum256([]byte(strings.Join(all, "\x00")))
	return hex.EncodeToString(sum[:8])
}

// Lifetime ends a temporary relay, which was started for a command, once no program has been connected to its socket
// for a while. The nil Lifetime is that of a relay that stays until it is stopped.
type Lifetime struct {
	stop func()

	mu    lock.Mutex
	timer *time.Timer
	open  int  // connections
	stays bool // see Keep
	ended bool
}

// NewLifetime is that of a temporary relay; stop ends it.
func NewLifetime(stop func()) *Lifetime {
	l := &Lifetime{stop: stop}
	l.timer = time.AfterFunc(idleTime, l.end)
	return l
}

func (l *Lifetime) end() {
	l.mu.Lock()
	ends := l.open == 0 && !l.stays
	l.ended = l.ended || ends
	l.mu.Unlock()
	if ends {
		l.stop()
	}
}

// Keep makes the relay stay; it reports whether that is news.
func (l *Lifetime) Keep() (news bool) {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	news = !l.stays && !l.ended
	l.stays = l.stays || news
	return news
}

// Temporary reports whether the relay ends by itself.
func (l *Lifetime) Temporary() bool {
	if l == nil {
		return false
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.stays
}

// enter counts a connection until leave is called. It is refused when the relay has begun to end.
func (l *Lifetime) enter() (leave func(), ok bool) {
	if l == nil {
		return func() {}, true
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.ended {
		return nil, false
	}
	l.open++
	return l.leave, true
}

func (l *Lifetime) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open--; l.open == 0 {
		l.timer.Reset(idleTime)
	}
}

// EndTemporary ends a temporary relay, if there is one, and waits until it has ended: whoever calls it goes on as if
// none had run. Without success the relay goes on to hold the instance lock, which is found by what needs that.
func EndTemporary(ctx context.Context, home config.Home) {
	state, ok := Answering(ctx, home)
	if !ok || state.Temporary == "" {
		return
	}
	ctx, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	body := strings.NewReader(`{"successor":` + string(rawjson.MustEncode(state.Version)) + "}")
	req, err := http.NewRequestWithContext(ctx, http.MethodPost, "http://127.0.0.1/api/v1/stop", body)
	if err != nil {
		return
	}
	client := HTTP(home)
	defer client.CloseIdleConnections()
	if res, err := client.Do(req); err == nil {
		_, _ = io.Copy(io.Discard, res.Body) // what it says does not matter
		_ = res.Body.Close()
	}
	AwaitLockFree(ctx, home)
}

// StartTemporary starts a relay that ends by itself soon after the last command that uses it, and returns when it
// answers. It is a child in a process session of its own, which outlives the command.
func (s Starter) StartTemporary(ctx context.Context) (State, error) {
	ctx, cancel := context.WithTimeout(ctx, StartTimeout)
	defer cancel()
	state, err := s.detach(ctx, "--temporary")
	if err != nil && ctx.Err() != nil {
		return state, fmt.Errorf("the relay did not start within %s: %w", StartTimeout, err)
	}
	return state, err
}
