package config

import (
	"crypto/tls"
	"fmt"
)

// Remote is where clients of other machines reach the relay.
type Remote struct {
	Listen      string // host and port; empty: nowhere
	Certificate string // file with the certificate, and those between it and its root, in PEM
	Key         string // file with its private key, in PEM
}

// KeyPair reads the certificate with which the relay proves to other machines that it is the one they mean.
func (r Remote) KeyPair() (*tls.Certificate, error) {
	if err := ReadByUserOnly(r.Key); err != nil {
		return nil, err
	}
	pair, err := tls.LoadX509KeyPair(r.Certificate, r.Key)
	if err != nil {
		return nil, &FileError{
			Err: fmt.Errorf("the certificate for remote.listen, which needs TLS, cannot be used: %w", err),
			Next: "set remote.certificate and remote.key to files in PEM that belong together, as docs/remote.md " +
				"shows; or leave remote.listen empty",
		}
	}
	return &pair, nil
}
