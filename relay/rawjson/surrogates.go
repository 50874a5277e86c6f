package rawjson

import (
	"bytes"
	"strconv"
)

// Mend replaces each escape of half a surrogate pair in JSON text by that of U+FFFD, and says whether there was one. JSON
// allows them (RFC 8259, section 8.2), but parsers differ: some refuse the whole message. Text without any is returned
// as it is.
func Mend(raw []byte) (mended []byte, changed bool) {
	for i := 0; i < len(raw); {
		at := bytes.IndexByte(raw[i:], '\\')
		if at < 0 {
			break
		}
		i += at
		half, ok := escaped(raw[i:])
		switch {
		case !ok:
			i += 2 // another escape
			continue
		case half < 0xd800 || half > 0xdfff:
			i += 6
			continue
		case half < 0xdc00:
			if low, ok := escaped(raw[i+6:]); ok && low >= 0xdc00 && low <= 0xdfff {
				i += 12
				continue
			}
		}
		if !changed {
			raw, changed = bytes.Clone(raw), true
		}
		copy(raw[i:], `\ufffd`)
		i += 6
	}
	return raw, changed
}

// escaped reads \uXXXX.
func escaped(raw []byte) (unit uint64, ok bool) {
	if len(raw) < 6 || raw[0] != '\\' || raw[1] != 'u' {
		return 0, false
	}
	unit, err := strconv.ParseUint(string(raw[2:6]), 16, 16)
	return unit, err == nil
}
