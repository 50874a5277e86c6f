package nativehost

import (
	"errors"

	"golang.org/x/sys/windows/registry"
)

// known reports whether the browser finds the manifest.
func (p Place) known() bool {
	if p.key == "" {
		return true
	}
	key, err := registry.OpenKey(registry.CURRENT_USER, p.key, registry.QUERY_VALUE)
	if err != nil {
		return false
	}
	defer key.Close()
	file, _, err := key.GetStringValue("")
	return err == nil && file == p.File
}

// announce tells the browser where the manifest is.
func (p Place) announce() error {
	if p.key == "" {
		return nil
	}
	key, _, err := registry.CreateKey(registry.CURRENT_USER, p.key, registry.SET_VALUE)
	if err != nil {
		return err
	}
	return errors.Join(key.SetStringValue("", p.File), key.Close())
}

// retract takes that back.
func (p Place) retract() error {
	if p.key == "" {
		return nil
	}
	if err := registry.DeleteKey(registry.CURRENT_USER, p.key); !errors.Is(err, registry.ErrNotExist) {
		return err
	}
	return nil
}
