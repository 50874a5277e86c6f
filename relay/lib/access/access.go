// Package access is what every entrance of the relay checks: that a request comes from this machine and not from a web
// page elsewhere that makes a browser send it here, whose Origin gives it away and, after DNS rebinding, its Host; and
// that failing to prove who one is gets slow.
package access

import (
	"context"
	"net/netip"
	"net/url"
	"strconv"
	"strings"
	"time"

	"golang.org/x/time/rate"

	"tabrelay/relay/lib/async"
	"tabrelay/relay/lib/lock"
)

// LocalHost reports whether a Host header, with or without a port, names this machine: localhost, 127.0.0.0/8 in four
// decimal numbers, or [::1]. No other spelling does, whatever a resolver would make of it: clients write one of these.
func LocalHost(host string) bool {
	if at := strings.LastIndexByte(host, ':'); at > strings.LastIndexByte(host, ']') {
		if _, err := strconv.ParseUint(host[at+1:], 10, 16); err != nil || host[at+1] == '+' {
			return false
		}
		host = host[:at]
	}
	if inner, ok := strings.CutPrefix(host, "["); ok {
		inner, closed := strings.CutSuffix(inner, "]")
		return closed && strings.Contains(inner, ":") && localName(inner)
	}
	return !strings.Contains(host, ":") && localName(host)
}

// LocalOrigin reports whether an Origin header is that of a page of this machine. It is taken apart and compared whole,
// never in part.
func LocalOrigin(origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && origin == u.Scheme+"://"+u.Host &&
		LocalHost(u.Host)
}

func localName(host string) bool {
	if strings.ToLower(host) == "localhost" {
		return true
	}
	ip, err := netip.ParseAddr(host)
	return err == nil && ip.IsLoopback() && ip.Zone() == "" && !ip.Is4In6()
}

// tellEvery is how often the log hears that failures go on.
const tellEvery = time.Minute

// Budget is what a Failures allows before it slows down.
type Budget struct {
	Burst int           // failures in a row that are answered at once
	Every time.Duration // one more is allowed after each of these
	Pause time.Duration // how long the answer to every other one is held back
}

// Failures counts failed proofs, slows down who keeps failing, and tells the log of it once instead of every time.
// Whoever proves who they are never waits, whatever others do: there is only one remote address on this machine, so a
// budget for each sender would be a budget for all, and one that is used up must not shut anybody out.
// Its methods may be called concurrently.
type Failures struct {
	limit *rate.Limiter
	pause time.Duration
	tell  func(slowed int)

	mu     lock.Mutex
	slowed int       // since told
	told   time.Time // zero: never
}

// NewFailures makes a Failures. tell is called when the budget is used up, and then at most once a minute, with the
// number of failures that were slowed down since it was called last.
func NewFailures(b Budget, tell func(slowed int)) *Failures {
	return &Failures{limit: rate.NewLimiter(rate.Every(b.Every), b.Burst), pause: b.Pause, tell: tell}
}

// Note counts one failure, and returns when it may be answered: at once within the budget, else after the pause or when
// ctx ends. It reports whether the failure was slowed down; such a one deserves no line of its own in a log.
func (f *Failures) Note(ctx context.Context) (slowed bool) {
	if f.limit.Allow() {
		return false
	}
	f.count()
	async.Sleep(ctx, f.pause)
	return true
}

func (f *Failures) count() {
	f.mu.Lock()
	f.slowed++
	slowed, now := f.slowed, time.Now()
	due := f.told.IsZero() || now.Sub(f.told) >= tellEvery
	if due {
		f.slowed, f.told = 0, now
	}
	f.mu.Unlock()
	if due {
		f.tell(slowed)
	}
}
