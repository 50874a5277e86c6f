package call

import "time"

// longestTimeout keeps what a client asks for within a time.Duration. What a call may really take is bounded where its
// deadline is set.
const longestTimeout = 1e12 * time.Millisecond // 31 years

// Timeout is a time that a client gave in milliseconds, at most 31 years.
func Timeout[N int64 | float64](ms N) time.Duration {
	return time.Duration(min(ms, N(longestTimeout/time.Millisecond))) * time.Millisecond
}
