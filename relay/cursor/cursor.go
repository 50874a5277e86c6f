// Package cursor makes the opaque cursors of paged lists (MCP, "Pagination"). A cursor holds an offset and is bound to
// one list by the hash of that list: after the list has changed, or in another list, it no longer reads.
//
// A cursor carries nothing secret and proves nothing. A client that makes one up reaches a place of a list that it
// may read anyway; the reader of a cursor still compares the offset with the length of its list.
package cursor

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"math"
)

const (
	version  = 1
	digest   = 12                                 // bytes of the list's hash that a cursor carries
	longest  = 1 + digest + binary.MaxVarintLen64 // bytes of a cursor
	maxChars = (longest*8 + 5) / 6                // the same as text
	maxValue = math.MaxInt32                      // an offset: no list of the relay is longer
)

// encoding refuses stray bits at the end; Read compares whole, so that a cursor has one spelling only.
var encoding = base64.RawURLEncoding.Strict()

// Make returns the cursor that continues at offset (from 0) in the list that hash identifies. The hash may be any
// text, for example a digest of the list's bytes, together with what else the page depends on. The cursor is at most
// 31 characters of the URL-safe base64 alphabet. A negative offset counts as 0.
func Make(hash string, offset int) string {
	raw := append(make([]byte, 0, longest), version)
	raw = append(raw, bind(hash)...)
	raw = binary.AppendUvarint(raw, uint64(min(max(offset, 0), maxValue)))
	return encoding.EncodeToString(raw)
}

// Read returns the offset of a cursor that Make made for the same hash. Any other text is not ok: garbage, a cursor
// of another list, or of the same list as it was before.
func Read(text, hash string) (offset int, ok bool) {
	if len(text) > maxChars {
		return 0, false
	}
	raw, err := encoding.DecodeString(text)
	if err != nil || len(raw) < 1+digest+1 || raw[0] != version || string(raw[1:1+digest]) != string(bind(hash)) {
		return 0, false
	}
	value, n := binary.Uvarint(raw[1+digest:])
	if n != len(raw)-1-digest || value > maxValue || text != Make(hash, int(value)) {
		return 0, false
	}
	return int(value), true
}

func bind(hash string) []byte {
	sum := sha256.Sum256([]byte(hash))
	return sum[:digest]
}
