//go:build !linux

package httpapi

import "net"

// queueOf returns 0: only Linux reports the length of the queue.
func queueOf(net.Listener) int { return 0 }
