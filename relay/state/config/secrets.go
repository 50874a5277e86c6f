package config

import (
	"bytes"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"tabrelay/relay/lib/diskfile"
	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/lock"
	"tabrelay/relay/lib/random"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/lib/suggest"
	"tabrelay/relay/road/call"
)

// Secrets is secrets.json: what proves who is asking. Several processes may use the file at once; a change by
// one, such as a revoked client, is seen by the others at their next question.
type Secrets struct {
	path string

	mu      lock.Mutex
	seen    fs.FileInfo // of the file that content was read from
	content secretsFile

	known atomic.Pointer[[]Client] // as they were read last
}

// Client is a program that may use the relay. Its token is known to it alone; the relay keeps a hash.
type Client struct {
	Name      string    `json:"name"`
	TokenHash string    `json:"tokenHash"` // hexadecimal SHA-256
	Created   time.Time `json:"created"`

	Scope  call.Scope `json:"scope,omitzero"`   // what it may see and call at the most
	Remote bool       `json:"remote,omitempty"` // it is on another machine

	// when its token expires; zero: never
	Expires time.Time `json:"expires,omitzero"`
}

// Expired reports whether its token has expired.
func (c Client) Expired(now time.Time) bool { return !c.Expires.IsZero() && !now.Before(c.Expires) }

type secretsFile struct {
	Pairing string   `json:"pairing"` // 64 hexadecimal digits, shared with the extension
	Local   string   `json:"local"`   // the token of this machine's own programs
	Clients []Client `json:"clients"`
}

var pairingForm = lazyregexp.New(`^[0-9a-f]{64}$`)

// OpenSecrets reads secrets.json of a home folder, and makes it with fresh secrets where there is none.
func OpenSecrets(home Home) (*Secrets, error) {
	s := &Secrets{path: home.Secrets()}
	err := s.change(func(*secretsFile) error { return nil })
	return s, err
}

// Pairing is the secret relay and extension prove to each other.
func (s *Secrets) Pairing() string { return s.current().Pairing }

// Local is the token with which the command line talks to the relay.
func (s *Secrets) Local() string { return s.current().Local }

// Clients lists who may use the relay, sorted by name.
func (s *Secrets) Clients() []Client { return slices.Clone(s.current().Clients) }

// Known are the clients as the file said when it could be read last: Load does not look at the file again, and gives
// the same pointer until the file has changed. Nobody may write to it.
func (s *Secrets) Known() interface{ Load() *[]Client } { return &s.known }

// Verify names the client a token belongs to. It takes the same time whether or not, and which, token matches.
func (s *Secrets) Verify(token string) (client string, ok bool) {
	if one, ok := s.owner(token); ok && !one.Expired(time.Now()) {
		return one.Name, true
	}
	return "", false
}

// Expired is the client whose token this was until it expired.
func (s *Secrets) Expired(token string) (one Client, ok bool) {
	one, ok = s.owner(token)
	return one, ok && one.Expired(time.Now())
}

// owner is the client that a token was given, whether or not it has expired since.
func (s *Secrets) owner(token string) (client Client, ok bool) {
	c := s.current()
	if c.Local == "" {
		return client, false // the file cannot be read at present: nobody gets in
	}
	sum := sha256.Sum256([]byte(token))
	local := sha256.Sum256([]byte(c.Local))
	if subtle.ConstantTimeCompare(sum[:], local[:]) == 1 {
		client, ok = Client{Name: LocalClient}, true
	}
	given := []byte(hex.EncodeToString(sum[:]))
	for _, known := range c.Clients {
		if subtle.ConstantTimeCompare(given, []byte(known.TokenHash)) == 1 {
			client, ok = known, true
		}
	}
	return client, ok
}

// Add admits a client and returns its token, which is not kept and cannot be shown again.
func (s *Secrets) Add(name string) (token string, err error) { return s.Admit(Client{Name: name}) }

// AddWithin is Add for a client with a scope.
func (s *Secrets) AddWithin(name string, scope call.Scope) (token string, err error) {
	return s.Admit(Client{Name: name, Scope: scope})
}

// Admit is Add for a client with a scope, or on another machine.
func (s *Secrets) Admit(one Client) (token string, err error) {
	token = newToken()
	return token, s.change(func(c *secretsFile) error {
		if err := CheckNew(one.Name, c.Clients); err != nil {
			return err
		}
		one.TokenHash, one.Created = hashed(token), time.Now().UTC().Truncate(time.Second)
		c.Clients = append(c.Clients, one)
		return nil
	})
}

// Rotate gives a client a new token; the old one stops working at once. The new one expires when the old one would
// have; of one that has expired, the error is an [ExpiredError].
func (s *Secrets) Rotate(name string) (token string, err error) { return s.rotate(name, nil) }

// RotateUntil is Rotate for a token that expires at another time; zero: never.
func (s *Secrets) RotateUntil(name string, expires time.Time) (token string, err error) {
	return s.rotate(name, &expires)
}

func (s *Secrets) rotate(name string, expires *time.Time) (token string, err error) {
	token = newToken()
	return token, s.change(func(c *secretsFile) error {
		i := slices.IndexFunc(c.Clients, named(name))
		if i < 0 {
			return UnknownClient(name, c.Clients)
		}
		one := &c.Clients[i]
		switch {
		case expires != nil:
			one.Expires = *expires
		case one.Expired(time.Now()):
			return &ExpiredError{*one}
		}
		one.TokenHash = hashed(token)
		return nil
	})
}

// ExpiredError says that the token of a client has expired.
type ExpiredError struct{ Client Client }

// Error says so.
func (e *ExpiredError) Error() string {
	return fmt.Sprintf("the token of %s expired on %s", e.Client.Name, e.Client.Expires.UTC().Format(UntilForm))
}

// Hint is the next step.
func (e *ExpiredError) Hint() string {
	return "where the browser is, say how long a new one is to last: tabrelay clients rotate " + e.Client.Name +
		" --expires 30d"
}

// UntilForm is how it is written until when a token is good.
const UntilForm = "2006-01-02 15:04 MST"

// Bounds of how long a token may last that is to expire.
const (
	leastLifetime = time.Minute
	mostLifetime  = 3650 * 24 * time.Hour
)

// ReadExpiry reads when a token is to expire that is made now: after a time such as 90m, 12h or 30d, or never, which is
// the zero time.
func ReadExpiry(text string, now time.Time) (time.Time, error) {
	if text == "never" {
		return time.Time{}, nil
	}
	lifetime, err := time.ParseDuration(text)
	if days, ok := strings.CutSuffix(text, "d"); ok {
		var n uint64
		n, err = strconv.ParseUint(days, 10, 16)
		lifetime = time.Duration(n) * 24 * time.Hour
	}
	if err != nil || lifetime < leastLifetime || lifetime > mostLifetime {
		return time.Time{}, fmt.Errorf("%q is not how long a token may last: from 1m to 3650d, such as 12h or 30d, "+
			"or never", text)
	}
	return now.Add(lifetime).UTC().Truncate(time.Second), nil
}

// SetScope bounds a client anew; its token stays.
func (s *Secrets) SetScope(name string, scope call.Scope) error {
	return s.change(func(c *secretsFile) error {
		i := slices.IndexFunc(c.Clients, named(name))
		if i < 0 {
			return UnknownClient(name, c.Clients)
		}
		c.Clients[i].Scope = scope
		return nil
	})
}

// Revoke shuts a client out at once.
func (s *Secrets) Revoke(name string) error {
	return s.change(func(c *secretsFile) error {
		i := slices.IndexFunc(c.Clients, named(name))
		if i < 0 {
			return UnknownClient(name, c.Clients)
		}
		c.Clients = slices.Delete(c.Clients, i, i+1)
		return nil
	})
}

// RotatePairing makes a new pairing secret; the extension has to read it before it connects again.
func (s *Secrets) RotatePairing() error {
	return s.change(func(c *secretsFile) error { c.Pairing = random.Hex(32); return nil })
}

// current is the content of the file as it is now; empty when it cannot be read.
func (s *Secrets) current() secretsFile {
	info, err := os.Stat(s.path) // before the lock, for which every request would wait
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refresh(info, err); err != nil {
		s.seen, s.content = nil, secretsFile{}
	}
	return s.content
}

// Check says why the file cannot be used at present, if so.
func (s *Secrets) Check() error {
	info, err := os.Stat(s.path)
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.refresh(info, err)
}

// refresh reads the file when it is another than the one read last; info and err are what the system says of it.
// Writers always put a new file in place.
func (s *Secrets) refresh(info fs.FileInfo, err error) error {
	if err != nil {
		return fmt.Errorf("cannot read the secrets: %w", err)
	}
	if s.seen != nil && os.SameFile(info, s.seen) && info.ModTime().Equal(s.seen.ModTime()) &&
		info.Size() == s.seen.Size() && info.Mode() == s.seen.Mode() {
		return nil
	}
	content, info, err := readSecrets(s.path)
	if err != nil {
		return err
	}
	s.seen, s.content = info, content
	s.known.Store(&content.Clients)
	return nil
}

// readSecrets reads the file whose mode and owner it has looked at, and not one that was put in its place since.
func readSecrets(path string) (c secretsFile, info fs.FileInfo, err error) {
	if info, err = os.Stat(path); err == nil && !info.Mode().IsRegular() { // opening a pipe would wait for its writer
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	if err != nil {
		return c, nil, unreadable(err)
	}
	f, err := os.Open(path)
	if err != nil {
		return c, nil, unreadable(err)
	}
	defer f.Close() // only read from
	if info, err = f.Stat(); err != nil {
		return c, nil, unreadable(err)
	}
	if err := private(path, info); err != nil {
		return c, nil, err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxFile))
	if err != nil {
		return c, nil, unreadable(err)
	}
	if len(bytes.TrimSpace(data)) == 0 {
		return c, nil, damaged(path, errors.New("it is empty"))
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(&c); err != nil {
		if json.Unmarshal(data, &secretsFile{}) == nil { // without what is not known it can be read
			return c, nil, &FileError{Err: fmt.Errorf("%s was written by a newer tabrelay: %w", path, err),
				Next: "update tabrelay to the version that wrote it, or a newer one"}
		}
		return c, nil, damaged(path, err)
	}
	if !pairingForm.MatchString(c.Pairing) || len(c.Local) < 32 {
		return c, nil, damaged(path, errors.New("no pairing secret or local token"))
	}
	return c, info, nil
}

// ReadByUserOnly says why a file with a secret cannot be used: it is not there, or others could read or change it.
func ReadByUserOnly(path string) error {
	info, err := os.Stat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = &fs.PathError{Op: "read", Path: path, Err: errors.New("not a regular file")}
	}
	switch {
	case err != nil:
		return &FileError{Err: err, Next: "make it a file that you can read"}
	case !diskfile.Owned(info):
		return &FileError{Err: fmt.Errorf("%s belongs to another user", path), Next: "use a file of your own"}
	}
	if others := diskfile.OthersOf(path, info); others.Use {
		return &FileError{Err: fmt.Errorf("%s can be read by other users (%s)", path, others.Why),
			Next: "run: " + diskfile.Closing(path, false)}
	}
	return nil
}

// private refuses secrets that others could have read or written.
func private(path string, info fs.FileInfo) error {
	if !diskfile.Owned(info) {
		return &FileError{
			Err: fmt.Errorf("%s belongs to another user", path),
			Next: "move it away: a new one is made, and every client has to be connected again: tabrelay connect " +
				"CLIENT",
		}
	}
	if others := diskfile.OthersOf(path, info); others.Use {
		return &FileError{
			Err: fmt.Errorf("%s can be read by other users (%s)", path, others.Why),
			Next: "run: " + diskfile.Closing(path, false) +
				", then give every client a new token: tabrelay clients rotate NAME",
		}
	}
	return nil
}

func unreadable(err error) error {
	return &FileError{Err: fmt.Errorf("cannot read the secrets: %w", err),
		Next: "make the file readable for you, or move it away: a new one is made, and every client has to be " +
			"connected again"}
}

func damaged(path string, err error) error {
	return &FileError{Err: fmt.Errorf("%s is damaged: %w", path, err),
		Next: "restore it from a backup, or move it away, and a new one is made; every client then has to be " +
			"connected again: tabrelay connect CLIENT"}
}

// change edits the file under a lock shared with other processes.
func (s *Secrets) change(edit func(*secretsFile) error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	lock := flock.New(s.path+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("cannot lock the secrets: %w", err)
	}
	defer lock.Unlock()
	err := s.refresh(os.Stat(s.path))
	fresh := errors.Is(err, fs.ErrNotExist)
	if fresh {
		s.content, err = secretsFile{Pairing: random.Hex(32), Local: newToken()}, nil
	}
	if err != nil {
		return err
	}
	next := s.content
	next.Clients = slices.Clone(next.Clients)
	if err := edit(&next); err != nil {
		return err
	}
	slices.SortFunc(next.Clients, func(a, b Client) int { return bytes.Compare([]byte(a.Name), []byte(b.Name)) })
	before, after := rawjson.MustEncode(s.content), rawjson.MustEncode(next)
	if !fresh && bytes.Equal(before, after) {
		return nil
	}
	if err := s.write(next); err != nil {
		return err
	}
	return s.refresh(os.Stat(s.path))
}

func (s *Secrets) write(c secretsFile) error {
	data, err := json.MarshalIndent(c, "", "  ")
	if err == nil {
		err = diskfile.Write(s.path, append(data, '\n'), 0o600)
	}
	if err != nil {
		return unwritable(fmt.Errorf("cannot write the secrets: %w", err))
	}
	return nil
}

func named(name string) func(Client) bool { return func(c Client) bool { return c.Name == name } }

// ErrNoClient is the error of naming a client that has no token.
var ErrNoClient = errors.New("no client is called")

// UnknownClient is an [ErrNoClient], with the name that was probably meant.
func UnknownClient(name string, clients []Client) error {
	known := make([]string, len(clients))
	for i, c := range clients {
		known[i] = c.Name
	}
	return fmt.Errorf("%w %q%s", ErrNoClient, name, suggest.DidYouMean(name, known))
}

// newToken is 256 random bits, recognizable as ours in a leaked file.
func newToken() string { return "tabrelay_" + random.Hex(32) }

func hashed(token string) string {
	sum := sha256.Sum256([]byte(token))
	return hex.EncodeToString(sum[:])
}
