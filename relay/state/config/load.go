package config

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/tailscale/hujson"

	"tabrelay/relay/lib/diskfile"
	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/lib/suggest"
)

// maxFile bounds config.json and the policy; a larger file is a mistake.
const maxFile = 1 << 20

// tooLarge is what is wrong with one.
var tooLarge = fmt.Sprintf("the file is too large; at most %d bytes are read", maxFile)

// Load reads config.json of a home folder and the environment. Without a file everything has its default; a file that
// is empty is refused, because somebody wrote it and it lost what it said. When anything is wrong the error is a
// [*Error] that lists all of it, and the Config is not usable.
func Load(home Home) (Config, error) {
	return load(home.Config(), os.Environ())
}

// Reload is Load for a relay whose configuration came from a file, or that has a policy: one that is gone is refused
// too. What it said, such as which tools are off, stays in effect until somebody decides otherwise.
func Reload(home Home, hadFile bool, had *Managed) (Config, error) {
	c, err := Load(home)
	switch {
	case err != nil:
	case had != nil && c.Managed == nil:
		err = &FileError{
			Err:  fmt.Errorf("the policy %s is gone, and stays in effect", had.File),
			Next: "have an administrator put it back; or, if it is not to hold any more, restart the relay",
		}
	case hadFile && !c.found:
		err = &FileError{
			Err: fmt.Errorf("%s is gone", home.Config()),
			Next: "put it back; or, to go on without it, restart the relay (tabrelay down, tabrelay up): every " +
				"setting of it then has its default",
		}
	}
	return c, err
}

func load(file string, environ []string) (Config, error) {
	c := Default()
	data, err := readRegular(file, maxFile)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return c, &FileError{Err: fmt.Errorf("cannot read the configuration: %w", err),
			Next: "make it a file that you can read"}
	}
	c.found = err == nil
	r := newReader(file, data)
	if info, err := os.Stat(file); err == nil &&
		(diskfile.OthersOf(file, info).WorldWrite || !diskfile.Owned(info)) {
		r.fault(0, "", "other users can write to the file; when all that it says is yours, run: "+
			diskfile.Closing(file, false))
	}
	if len(data) > maxFile {
		r.fault(0, "", tooLarge)
	} else if c.found {
		r.document(&c)
	}
	r.environment(environ, &c)
	if err := r.policy(&c); err != nil {
		return c, err
	}
	r.relations(&c)
	if len(r.faults) > 0 {
		return c, &Error{Faults: r.faults}
	}
	return c, nil
}

// readRegular reads a file, and no more of it than one byte beyond most. A pipe or a device could keep its reader
// waiting for ever, also one that takes the place of the file now.
func readRegular(file string, most int64) (text []byte, err error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close() // nothing was written
	if info, err := f.Stat(); err != nil {
		return nil, err
	} else if !info.Mode().IsRegular() {
		return nil, &fs.PathError{Op: "read", Path: file, Err: errors.New("not a regular file")}
	}
	return io.ReadAll(io.LimitReader(f, most+1))
}

// defaults is a T with every setting of the table at its default.
func defaults[T any](table []Setting[T]) T {
	var target T
	for _, s := range table {
		if !s.kind.set(s.field(&target), rawjson.MustEncode(s.fallback)) {
			panic("config: the default of " + s.key + " is not allowed")
		}
	}
	return target
}

// reader collects everything that is wrong with one source.
type reader struct {
	file   string
	src    []byte
	faults []Fault
	places map[string]Fault    // where each setting was set, for what concerns several
	order  map[string][]string // names of sections as they were set, by section
	over   bool                // things by name that are there keep what this source does not say
}

func newReader(file string, src []byte) *reader {
	return &reader{file: file, src: src, places: map[string]Fault{}, order: map[string][]string{}}
}

func (r *reader) fault(offset int, key, message string) {
	f := r.place(offset, key)
	f.Message = message
	r.faults = append(r.faults, f)
}

func (r *reader) place(offset int, key string) Fault {
	return Fault{File: r.file, Line: 1 + strings.Count(string(r.src[:offset]), "\n"), Key: key}
}

func (r *reader) document(c *Config) {
	doc, err := parse(r.src)
	if err != nil {
		r.faults = append(r.faults, Fault{File: r.file, Message: err.Error()})
		return
	}
	root, ok := doc.Value.(*hujson.Object)
	if !ok {
		r.fault(doc.StartOffset, "", "expected an object: { … }")
		return
	}
	fill(r, root, "", "", settings, c)
	r.noteFormer(c)
}

// noteFormer says which settings were set under names that they had before, and refuses those that were under both.
func (r *reader) noteFormer(c *Config) {
	for _, was := range slices.Sorted(maps.Keys(former)) {
		place, there := r.places[was]
		if _, both := r.places[former[was]]; there && both {
			place.Message = "is called " + former[was] + " now, which is set, too; keep that one"
			r.faults = append(r.faults, place)
		} else if there {
			r.places[former[was]] = place
			c.Warnings = append(c.Warnings, fmt.Sprintf("%s is called %s now, and counts as that: rename it in %s", was,
				former[was], filepath.Base(r.file)))
		}
	}
}

// parse reads JSON with comments as editors leave it: with a byte order mark, or a comment as its last line that no
// line feed ends.
func parse(text []byte) (hujson.Value, error) {
	text = bytes.TrimPrefix(text, []byte("\ufeff"))
	if len(bytes.TrimSpace(text)) == 0 {
		return hujson.Value{}, errors.New("the file is empty; put back what it said, or write {} into it, with which " +
			"every setting has its default")
	}
	doc, err := rawjson.ParseCommented(append(text[:len(text):len(text)], '\n'))
	if err != nil {
		if why, syntax := strings.CutPrefix(err.Error(), "hujson: "); syntax {
			err = errors.New("not JSON: " + why)
		}
	}
	return doc, err
}

// fill stores an object's members in target. group is the object's own key within the table, path the same as
// a person sees it; both end in a dot unless they are empty.
func fill[T any](r *reader, obj *hujson.Object, group, path string, table []Setting[T], target *T) {
	seen := make(map[string]bool, len(obj.Members))
	for _, m := range obj.Members {
		name := m.Name.Value.(hujson.Literal).String()
		if seen[name] {
			r.fault(m.Name.StartOffset, path+name, "is set twice; keep one")
			continue
		}
		seen[name] = true
		if path == "" && name == "$schema" {
			continue // for editors
		}
		if outer, inner, dotted := strings.Cut(name, "."); dotted { // or it could be set twice, and is not found again
			r.fault(m.Name.StartOffset, path+name, fmt.Sprintf("no such setting; write it as {%q: {%q: …}}", outer,
				inner))
			continue
		}
		member(r, m, group+name, path+name, table, target)
	}
}

func member[T any](r *reader, m hujson.ObjectMember, key, path string, table []Setting[T], target *T) {
	isGroup := slices.ContainsFunc(slices.Collect(maps.Keys(former)), func(was string) bool {
		return strings.HasPrefix(was, key+".")
	})
	key = Now(key)
	for _, s := range table {
		if s.key == key {
			r.assign(s.kind, s.field(target), path, &m.Value)
			return
		}
		isGroup = isGroup || strings.HasPrefix(s.key, key+".")
	}
	if now, ok := renamed[key]; ok {
		r.fault(m.Name.StartOffset, path, "is called "+now+" now")
		return
	}
	if !isGroup {
		r.fault(m.Name.StartOffset, path, "no such setting"+suggest.DidYouMean(key, siblings(table, key)))
		return
	}
	sub, ok := m.Value.Value.(*hujson.Object)
	if !ok {
		r.fault(m.Value.StartOffset, path, "expected an object, but got "+excerpt(m.Value))
		return
	}
	fill(r, sub, key+".", path+".", table, target)
}

func (r *reader) assign(k Kind, field any, path string, v *hujson.Value) {
	if k.fill != nil {
		k.fill(r, field, path, v)
		return
	}
	r.places[path] = r.place(v.StartOffset, path)
	standard := v.Clone()
	standard.Minimize()
	if !k.set(field, standard.Pack()) {
		message := "expected " + k.accepts
		if !k.secret {
			message += ", but got " + excerpt(*v)
		}
		r.fault(v.StartOffset, path, message)
	}
}

// ForceMinimal is the variable with which `tabrelay mcp` answers in minimal mode, whatever relay there is.
const ForceMinimal = "TABRELAY_FORCE_MINIMAL"

// Minimal reports whether it is set.
func Minimal() bool {
	value := os.Getenv(ForceMinimal)
	return value != "" && value != "0" && value != "false"
}

// SessionVariable names the session that commands share.
const SessionVariable = "TABRELAY_SESSION"

// elsewhere are variables of ours that are no settings: the home folder, the token of one client, the session of
// commands, minimal mode.
var elsewhere = []string{"TABRELAY_HOME", "TABRELAY_TOKEN", SessionVariable, ForceMinimal}

// Environment is what of an environment sets something: NAME=value, sorted.
func Environment(environ []string) []string {
	known := map[string]bool{}
	for _, s := range settings {
		known[Twin(s.key)] = true
	}
	for was := range former {
		known[Twin(was)] = true
	}
	var set []string
	for _, entry := range environ {
		if name, _, _ := strings.Cut(entry, "="); known[name] {
			set = append(set, entry)
		}
	}
	slices.Sort(set)
	return set
}

// environment applies the twins, which win over the file.
func (r *reader) environment(environ []string, c *Config) {
	known := map[string]Setting[Config]{}
	names := slices.Clone(elsewhere)
	formerly := map[string]string{}
	for was, now := range renamed {
		formerly[Twin(was)] = now
	}
	for _, s := range settings {
		known[Twin(s.key)] = s
		names = append(names, Twin(s.key))
	}
	for was, now := range former {
		known[Twin(was)] = known[Twin(now)]
	}
	for _, entry := range environ {
		name, value, _ := strings.Cut(entry, "=")
		if s, ok := known[name]; ok {
			if now := Twin(s.key); now != name && slices.ContainsFunc(environ, func(e string) bool {
				return strings.HasPrefix(e, now+"=")
			}) {
				r.faults = append(r.faults, Fault{File: "environment variable " + name, Key: s.key,
					Message: "its variable is called " + now + " now, which is set, too; keep that one"})
			} else if now != name {
				c.Warnings = append(c.Warnings, name+" is called "+now+" now, and counts as that: rename it")
			}
			r.twin(name, value, s, c)
		} else if now, ok := formerly[name]; ok {
			r.faults = append(r.faults, Fault{File: "environment variable " + name, Key: now,
				Message: "its variable is called " + Twin(now) + " now"})
			// only then: comparing takes time
		} else if strings.HasPrefix(name, "TABRELAY_") && !slices.Contains(elsewhere, name) {
			if hint := suggest.DidYouMean(name, names); hint != "" {
				c.Warnings = append(c.Warnings, "environment variable "+name+" is not a setting"+hint)
			}
		}
	}
}

func (r *reader) twin(name, value string, s Setting[Config], c *Config) {
	raw := s.kind.fromText(value)
	sub := newReader("environment variable "+name, raw)
	v, err := rawjson.ParseCommented(raw)
	if err == nil {
		sub.assign(s.kind, s.field(c), s.key, &v)
	} else {
		sub.fault(0, s.key, fmt.Sprintf("expected %s, but got %q", s.kind.accepts, cut(value)))
	}
	r.places[s.key] = Fault{File: sub.file, Key: s.key}
	for section, names := range sub.order {
		r.order[section] = append(r.order[section], names...)
	}
	for _, f := range sub.faults {
		f.Line = 0 // a variable has no lines
		r.faults = append(r.faults, f)
	}
}

// relations checks what no single setting can.
func (r *reader) relations(c *Config) {
	if len(r.faults) > 0 {
		return
	}
	broken := Checker{r}.Broken
	if c.Timeout > c.MaxTimeout {
		broken("timeoutMs", fmt.Sprintf("is %d, but maxTimeoutMs allows no more than %d", c.Timeout.Milliseconds(),
			c.MaxTimeout.Milliseconds()))
	}
	if c.FrameBytes < c.ResultBytes+64*KiB {
		broken("frameBytes", fmt.Sprintf("is %d; a result of resultBytes (%d) needs at least %d", c.FrameBytes,
			c.ResultBytes, c.ResultBytes+64*KiB))
	}
	if c.MaxBytes > c.ResultBytes {
		broken("maxBytes", fmt.Sprintf("is %d, but resultBytes allows no more than %d", c.MaxBytes, c.ResultBytes))
	}
	if retry := c.Errors.Transient.Retry; retry.InitialDelay > retry.MaxDelay {
		broken("errors.transient.retry.initialDelayMs", "is longer than maxDelayMs")
	}
	if c.Remote.Listen != "" && (c.Remote.Certificate == "" || c.Remote.Key == "") {
		broken("remote.listen", "is open to other machines, which needs TLS: set remote.certificate and remote.key to "+
			"files in PEM, as docs/remote.md shows; or leave it empty, and have clients come through SSH")
	}
	if c.Remote.Listen == c.Listen && !strings.HasSuffix(c.Listen, ":0") {
		broken("remote.listen", "is the relay's own address; other machines need another one")
	}
	if c.Demo.Listen == c.Listen && !strings.HasSuffix(c.Listen, ":0") {
		broken("demo.listen", "is the relay's own address; the demo site needs one of its own")
	}
	for _, one := range sections {
		one.check(c, r)
	}
}
