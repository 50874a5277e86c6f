package config

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strings"
	"time"

	"tabrelay/relay/lib/diskfile"
	"tabrelay/relay/lib/lazyregexp"

	"github.com/zalando/go-keyring"
)

// KeySource says where a key is. At most one of them is set; none: its owner knows where.
type KeySource struct {
	Env     string `json:"env,omitempty"`
	File    string `json:"file,omitempty"`
	Keyring string `json:"keyring,omitempty"` // service/user
}

// mostKey is how long a file with a key is at the most.
const mostKey = 16 * KiB

// KeySourceKind is where a key is. What stands in its place may be the key.
var KeySourceKind = func() Kind {
	schema := Closed(map[string]any{"env": anyString, "file": anyString, "keyring": anyString})
	schema["maxProperties"] = 1
	k := KindOf(`{"env": "NAME"}, {"file": "/absolute/path"} or {"keyring": "service/user"}; the key itself does not `+
		`belong here`, schema, KeySource.valid)
	return k.Unrepeated()
}()

// valid reports whether at most one place is named, as it should be.
func (s KeySource) valid() bool {
	given := 0
	for _, one := range []string{s.Env, s.File, s.Keyring} {
		if one != "" {
			given++
		}
	}
	service, user, paired := strings.Cut(s.Keyring, "/")
	return given <= 1 && (s.File == "" || AbsolutePath.Valid(s.File)) && (s.Env == "" || isVariable(s.Env)) &&
		(s.Keyring == "" || paired && service != "" && user != "")
}

// SecretVariables are variables of an environment whose values are elsewhere.
var SecretVariables = func() Kind {
	k := KindOf(`an object by name of the variable of {"env": "NAME"}, {"file": "/absolute/path"} or `+
		`{"keyring": "service/user"}`,
		map[string]any{"type": "object", "additionalProperties": KeySourceKind.schema},
		func(list map[string]KeySource) bool {
			for name, at := range list {
				if !isVariable(name) || !at.valid() || at == (KeySource{}) {
					return false
				}
			}
			return true
		})
	return k.Unrepeated()
}()

var isVariable = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`).MatchString

// Place says where a key is.
func (s KeySource) Place() string {
	switch {
	case s.File != "":
		return "the file " + s.File
	case s.Keyring != "":
		return "the keyring entry " + s.Keyring
	}
	return "the variable " + s.Env
}

// Read reads a key from where it is. Nothing else in the relay looks for keys.
func (s KeySource) Read() (value string, err error) {
	switch {
	case s.File != "":
		value, err = readKeyFile(s.File)
	case s.Keyring != "":
		service, user, _ := strings.Cut(s.Keyring, "/")
		value, err = readKeyring(service, user)
	default:
		if value = Variable(s.Env); value == "" {
			return "", errors.New("set " + s.Env)
		}
		return value, nil
	}
	if err == nil && set(value) == "" {
		err = errors.New("it is empty")
	}
	if err != nil {
		return "", fmt.Errorf("%s cannot be read: %w", s.Place(), err)
	}
	return set(value), nil
}

// keyringWait is how long a keyring may take. One that is locked asks the person, and the relay does not wait for that.
const keyringWait = 5 * time.Second

// readKeyring reads an entry of the keyring of the system: of Secret Service, Keychain or Credential Manager.
func readKeyring(service, user string) (string, error) {
	type entry struct {
		value string
		err   error
	}
	read := make(chan entry, 1)
	go func() {
		value, err := keyring.Get(service, user)
		read <- entry{value, err}
	}()
	select {
	case got := <-read:
		switch {
		case errors.Is(got.err, keyring.ErrNotFound):
			return "", fmt.Errorf("there is no such entry; %s", storeKey(service, user))
		case got.err != nil && strings.Contains(got.err.Error(), "unlock"):
			return "", errors.New("the keyring is locked; unlock it")
		}
		return got.value, got.err
	case <-time.After(keyringWait):
		return "", fmt.Errorf("the keyring did not answer within %v; unlock it", keyringWait)
	}
}

// storeKey is how an entry gets into the keyring, where it can be read again.
func storeKey(service, user string) string {
	switch runtime.GOOS {
	case "darwin":
		return fmt.Sprintf("store it: security add-generic-password -s '%s' -a '%s' -w", service, user)
	case "windows":
		return fmt.Sprintf("store it in the Credential Manager, as the generic credential %s:%s", service, user)
	}
	return fmt.Sprintf("store it: secret-tool store --label tabrelay service '%s' username '%s'", service, user)
}

// Variable is the value of an environment variable, empty where that is a reference that nothing replaced.
func Variable(name string) string { return set(os.Getenv(name)) }

func set(value string) string {
	value = strings.TrimSpace(value)
	if strings.HasPrefix(value, "${") && strings.HasSuffix(value, "}") {
		return ""
	}
	return value
}

// readKeyFile reads a file that nobody else may.
func readKeyFile(path string) (string, error) {
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", err
	case !info.Mode().IsRegular() || info.Size() > mostKey:
		return "", errors.New("it is not a file with a key")
	}
	if others := diskfile.OthersOf(path, info); others.Use {
		return "", fmt.Errorf("others may read it (%s); run: %s", others.Why, diskfile.Closing(path, false))
	}
	text, err := os.ReadFile(path)
	return string(text), err
}

// Variables are variables of an environment. Their values may be keys.
var Variables = func() Kind {
	k := KindOf("an object of texts by name of the variable",
		map[string]any{"type": "object", "additionalProperties": anyString},
		func(list map[string]string) bool {
			for name := range list {
				if !isVariable(name) {
					return false
				}
			}
			return true
		})
	return k.Hidden()
}()
