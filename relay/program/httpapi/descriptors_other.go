//go:build !unix

package httpapi

import (
	"math"
	"net"
)

// descriptors is how many the process may have: here no number bounds them.
func descriptors() uint64 { return math.MaxUint64 }

func outOfDescriptors(error) bool { return false }

// hasAsked cannot be told here without reading.
func hasAsked(net.Conn) bool { return false }
