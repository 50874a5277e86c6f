package front

import (
	"bufio"
	"bytes"
	"errors"
	"slices"
	"sort"
	"strconv"

	"tabrelay/relay/call"
)

var errLineTooLong = errors.New("line too long")

// readLine returns the next line, trimmed, in memory of its own; an empty line is no error. Of a line longer than
// limit everything up to its end is skipped. At the end of input it returns what is left together with io.EOF.
func readLine(r *bufio.Reader, limit int64) ([]byte, error) {
	var line []byte
	tooLong := false
	for {
		part, err := r.ReadSlice('\n')
		if tooLong = tooLong || int64(len(line)+len(part)) > limit+1; !tooLong {
			if need := len(line) + len(part); need > cap(line) { // double: a long line is copied twice, not ten times
				line = slices.Grow(line, max(len(part), len(line)))
			}
			line = append(line, part...)
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		if tooLong && err == nil {
			return nil, errLineTooLong
		}
		return bytes.TrimSpace(line), err
	}
}

// usedIDs notices a request id that a client uses a second time, which MCP forbids and some clients do. Clients count,
// so ranges are all there is to remember of numbers.
type usedIDs struct {
	ranges []idRange // sorted, apart from each other
	other  map[string]struct{}
}

type idRange struct{ from, to int64 }

// maxUsedIDs bounds what is remembered of a client that does not count.
const maxUsedIDs = 1 << 16

// callID returns the id of the call that a request makes. A request id that was used before makes a random one: two
// calls never have the same.
func (u *usedIDs) callID(key string, requestID []byte) call.ID {
	n, err := strconv.ParseInt(string(requestID), 10, 64)
	if err == nil && !u.addNumber(n) || err != nil && !u.addOther(string(requestID)) {
		return randomID()
	}
	return derivedID(key, requestID)
}

// addNumber reports whether n is new.
func (u *usedIDs) addNumber(n int64) bool {
	i := sort.Search(len(u.ranges), func(i int) bool { return u.ranges[i].to >= n })
	if i < len(u.ranges) && u.ranges[i].from <= n {
		return false
	}
	below := i > 0 && u.ranges[i-1].to == n-1
	above := i < len(u.ranges) && u.ranges[i].from == n+1
	switch {
	case below && above:
		u.ranges[i-1].to = u.ranges[i].to
		u.ranges = slices.Delete(u.ranges, i, i+1)
	case below:
		u.ranges[i-1].to = n
	case above:
		u.ranges[i].from = n
	default:
		if len(u.ranges) == maxUsedIDs {
			u.ranges, i = nil, 0
		}
		u.ranges = slices.Insert(u.ranges, i, idRange{n, n})
	}
	return true
}

// addOther reports whether id is new.
func (u *usedIDs) addOther(id string) bool {
	if _, seen := u.other[id]; seen {
		return false
	}
	if u.other == nil || len(u.other) == maxUsedIDs {
		u.other = map[string]struct{}{}
	}
	u.other[id] = struct{}{}
	return true
}
