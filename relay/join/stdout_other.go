//go:build !unix

package join

import "os"

// ClaimStdout takes the process's stdout for MCP alone. From then on what writes to os.Stdout writes to stderr.
func ClaimStdout() (*os.File, error) {
	claimed := os.Stdout
	os.Stdout = os.Stderr
	return claimed, nil
}
