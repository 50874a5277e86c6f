package rawjson

import (
	"fmt"

	"github.com/tailscale/hujson"
)

// MostNested is how deep arrays and objects may nest in a file that people write.
const MostNested = 1000

// ParseCommented reads JSON with comments and trailing commas, as people write it into files. What nests deeper than
// [MostNested] is refused before it is read: hujson calls itself for each level, and a stack that overflows ends the
// program.
func ParseCommented(text []byte) (hujson.Value, error) {
	if n := Depth(text); n > MostNested {
		return hujson.Value{}, fmt.Errorf("arrays and objects nest %d levels deep; at most %d are read", n, MostNested)
	}
	return hujson.Parse(text)
}
