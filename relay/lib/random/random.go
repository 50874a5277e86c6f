// Package random makes ids and secrets.
package random

import (
	"crypto/rand"
	"encoding/hex"
)

// Hex returns so many random bytes as hexadecimal digits. 16 bytes make an id that nobody guesses, 32 a secret that
// protects for years.
func Hex(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails since Go 1.24
	return hex.EncodeToString(b)
}
