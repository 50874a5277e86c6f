package front

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"math"
)

// A cursor of a paged list (MCP, "Pagination") holds an offset and is bound to one list by the hash of that list: after
// the list has changed, or in another list, it no longer reads. It carries nothing secret and proves nothing. A client
// that makes one up reaches a place of a list that it may read anyway; the reader of a cursor still compares the offset
// with the length of its list.
const (
	cursorVersion = 1
	cursorDigest  = 12                                       // bytes of the list's hash that a cursor carries
	cursorBytes   = 1 + cursorDigest + binary.MaxVarintLen64 // at the most
	cursorChars   = (cursorBytes*8 + 5) / 6                  // the same as text
	maxOffset     = math.MaxInt32                            // no list of the relay is longer
)

// cursorText refuses stray bits at the end; readCursor compares whole, so that a cursor has one spelling only.
var cursorText = base64.RawURLEncoding.Strict()

// makeCursor returns the cursor that continues at offset (from 0) in the list that hash identifies. The hash may be any
// text, for example a cursorDigest of the list's bytes, together with what else the page depends on. The cursor is at most
// 31 characters of the URL-safe base64 alphabet. A negative offset counts as 0.
func makeCursor(hash string, offset int) string {
	raw := append(make([]byte, 0, cursorBytes), cursorVersion)
	raw = append(raw, hashOfList(hash)...)
	raw = binary.AppendUvarint(raw, uint64(min(max(offset, 0), maxOffset)))
	return cursorText.EncodeToString(raw)
}

// readCursor returns the offset of a cursor that makeCursor made for the same hash. Any other text is not ok: garbage, a cursor
// of another list, or of the same list as it was before.
func readCursor(text, hash string) (offset int, ok bool) {
	if len(text) > cursorChars {
		return 0, false
	}
	raw, err := cursorText.DecodeString(text)
	if err != nil || len(raw) < 1+cursorDigest+1 || raw[0] != cursorVersion || string(raw[1:1+cursorDigest]) != string(hashOfList(hash)) {
		return 0, false
	}
	value, n := binary.Uvarint(raw[1+cursorDigest:])
	if n != len(raw)-1-cursorDigest || value > maxOffset || text != makeCursor(hash, int(value)) {
		return 0, false
	}
	return int(value), true
}

func hashOfList(hash string) []byte {
	sum := sha256.Sum256([]byte(hash))
	return sum[:cursorDigest]
}
