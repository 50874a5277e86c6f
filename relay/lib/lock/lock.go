//go:build !lockcheck

// Package lock has the mutexes of the relay. They are those of package sync; tests with the build tag lockcheck get
// some that end the program when two of them are taken in different orders, and when a file or the database is written
// under one.
package lock

import "sync"

// Mutex is a [sync.Mutex].
type Mutex = sync.Mutex

// RWMutex is a [sync.RWMutex].
type RWMutex = sync.RWMutex

// NoneHeld ends the program under the build tag lockcheck when the calling goroutine holds a lock. It is called by what
// may take long, such as writing a file; doing names that.
func NoneHeld(doing string) {}
