//go:build !unix

package join

import "net"

// listenPrivately makes a socket in the user's own folder, whose access list it has.
func listenPrivately(path string) (net.Listener, error) { return net.Listen("unix", path) }
