//go:build !windows

package nativehost

// Browsers look for the file itself; there is no registry.

func (Place) known() bool     { return true }
func (Place) announce() error { return nil }
func (Place) retract() error  { return nil }
