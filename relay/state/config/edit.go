package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
	"github.com/tailscale/hujson"

	"tabrelay/relay/lib/diskfile"
	"tabrelay/relay/lib/rawjson"
)

// Edit is one value in config.json. path is the key, one element per level, so that a plugin's name may contain a dot.
type Edit struct {
	Path  []string
	Value json.RawMessage // nil removes what is there, so that the default counts again
}

// Set writes one value into config.json and keeps everything else, comments included. Nothing is written when the
// result is not valid.
func Set(home Home, path []string, value json.RawMessage) error {
	return Apply(home, Edit{path, value})
}

// Unset removes one value. It is not an error when there is none.
func Unset(home Home, path []string) error { return Apply(home, Edit{Path: path}) }

// Apply makes all of some edits, or none. What the policy sets cannot be edited.
func Apply(home Home, edits ...Edit) error {
	if err := refuseFixed(edits); err != nil {
		return err
	}
	return edit(home, func(doc *hujson.Value) error {
		for _, one := range edits {
			if err := one.apply(doc); err != nil {
				return err
			}
		}
		return nil
	})
}

func (e Edit) apply(doc *hujson.Value) error {
	names := namesOf(strings.Join(e.Path, "."))
	for _, was := range names[:len(names)-1] { // which must not stand beside it
		if path := strings.Split(was, "."); doc.Find(rawjson.Pointer(path)) != nil {
			if err := patch(doc, "remove", path, nil); err != nil {
				return err
			}
		}
	}
	if e.Value == nil {
		if doc.Find(rawjson.Pointer(e.Path)) == nil {
			return nil
		}
		if err := patch(doc, "remove", e.Path, nil); err != nil {
			return err
		}
		return removeEmpty(doc, e.Path[:len(e.Path)-1])
	}
	for i := 1; i < len(e.Path); i++ {
		if doc.Find(rawjson.Pointer(e.Path[:i])) == nil {
			if err := patch(doc, "add", e.Path[:i], json.RawMessage("{}")); err != nil {
				return err
			}
		}
	}
	return patch(doc, "add", e.Path, e.Value)
}

// removeEmpty removes the object at a path where a removal has left nothing in it, and those around it. One with a
// comment in it stays.
func removeEmpty(doc *hujson.Value, path []string) error {
	for ; len(path) > 0; path = path[:len(path)-1] {
		object, ok := doc.Find(rawjson.Pointer(path)).Value.(*hujson.Object)
		if !ok || len(object.Members) > 0 || strings.TrimSpace(string(object.AfterExtra)) != "" {
			return nil
		}
		if err := patch(doc, "remove", path, nil); err != nil {
			return err
		}
	}
	return nil
}

func edit(home Home, change func(*hujson.Value) error) error {
	lock := flock.New(home.Config()+".lock", flock.SetPermissions(0o600))
	if err := lock.Lock(); err != nil {
		return fmt.Errorf("cannot lock the configuration: %w", err)
	}
	defer lock.Unlock()
	data, err := readRegular(home.Config(), maxFile)
	if errors.Is(err, fs.ErrNotExist) {
		data, err = []byte(starter), nil
	}
	if err != nil {
		return fmt.Errorf("cannot read the configuration: %w", err)
	}
	doc, err := parse(data)
	if err != nil {
		return &Error{Faults: []Fault{{File: home.Config(), Message: err.Error()}}}
	}
	if err := change(&doc); err != nil {
		return fmt.Errorf("cannot change %s: %w", home.Config(), err)
	}
	doc.Format()
	if err := valid(home.Config(), doc.Pack()); err != nil {
		return err
	}
	file := home.Config()
	if real, err := filepath.EvalSymlinks(file); err == nil {
		file = real // a link stays a link
	}
	if err := diskfile.Write(file, doc.Pack(), 0o600); err != nil {
		return fmt.Errorf("cannot write the configuration: %w", err)
	}
	return nil
}

// valid reads a text as config.json would be read, without the environment.
func valid(file string, text []byte) error {
	c := Default()
	r := newReader(file, text)
	r.document(&c)
	r.relations(&c)
	if len(r.faults) > 0 {
		return &Error{Faults: r.faults}
	}
	return nil
}

func patch(doc *hujson.Value, op string, path []string, value json.RawMessage) error {
	step := map[string]any{"op": op, "path": rawjson.Pointer(path)}
	if value != nil {
		step["value"] = value
	}
	text, err := json.Marshal([]any{step})
	if err != nil {
		return fmt.Errorf("the value is not JSON: %w", err)
	}
	return doc.Patch(text)
}
