// Package review shows a person what a plugin asks for, what it is made of, and what changed since they looked last. It
// decides nothing: whether a plugin runs is decided by package catalog, by the hash of what was shown here.
package review

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"tabrelay/relay/plugin/build"
	"tabrelay/relay/road/plugin"
)

// maxContent bounds what a packed content may unpack to, in bytes.
const maxContent = 256 << 20

// Content is one state of a plugin: what runs, and the sources that lay beside it then.
type Content struct {
	Plugin  *plugin.Plugin
	Sources map[string][]byte // by slash-separated name in the plugin's folder; only for reading
	Partly  bool              // there are more sources than are kept
}

// Read takes the sources of a plugin from its folder. What runs is in p already, and is not read again.
func Read(p *plugin.Plugin) Content {
	sources, whole := build.SourceFiles(p.Dir)
	return Content{Plugin: p, Sources: sources, Partly: !whole}
}

type packed struct {
	Files   map[string][]byte `json:"files"`
	Sources map[string][]byte `json:"sources,omitempty"`
	Partly  bool              `json:"partly,omitempty"`
}

// Pack makes bytes of a content: JSON with the files in base64, compressed with gzip (RFC 1952).
func (c Content) Pack() ([]byte, error) {
	files, err := c.Plugin.Files()
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	z := gzip.NewWriter(&out)
	if err := errors.Join(json.NewEncoder(z).Encode(packed{files, c.Sources, c.Partly}), z.Close()); err != nil {
		return nil, fmt.Errorf("the content of %s cannot be packed: %w", c.Plugin.Manifest.Name, err)
	}
	return out.Bytes(), nil
}

// Unpack is the reverse of Pack. The plugin's hash is computed anew: whoever wants that of a certain content compares
// it.
func Unpack(content []byte) (Content, error) {
	z, err := gzip.NewReader(bytes.NewReader(content))
	if err != nil {
		return Content{}, fmt.Errorf("the kept content cannot be unpacked: %w", err)
	}
	text, err := io.ReadAll(io.LimitReader(z, maxContent+1))
	if err == nil && len(text) > maxContent {
		err = fmt.Errorf("it has more than %d bytes", maxContent)
	}
	var p packed
	if err == nil {
		err = json.Unmarshal(text, &p)
	}
	if err != nil {
		return Content{}, fmt.Errorf("the kept content cannot be unpacked: %w", err)
	}
	loaded, err := plugin.FromFiles(p.Files)
	if err != nil {
		return Content{}, fmt.Errorf("the kept content is not accepted any more: %w", err)
	}
	return Content{Plugin: loaded, Sources: p.Sources, Partly: p.Partly}, nil
}

// Legible makes text safe to look at: whatever a terminal would obey, whatever turns the direction of text around, and
// whatever cannot be seen is spelled out as \u{…}, and bytes that are not UTF-8 as \x….. Line feeds and tabs stay.
// Otherwise code could look other than it is (https://trojansource.codes/).
func Legible(text string) string {
	if !strings.ContainsFunc(text, hidden) && utf8.ValidString(text) {
		return text
	}
	var b strings.Builder
	b.Grow(len(text) + 16)
	for i := 0; i < len(text); {
		r, size := utf8.DecodeRuneInString(text[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			fmt.Fprintf(&b, `\x%02x`, text[i])
		case r == '\r' && strings.HasPrefix(text[i+1:], "\n"): // how some editors end lines
		case hidden(r):
			fmt.Fprintf(&b, `\u{%x}`, r)
		default:
			b.WriteRune(r)
		}
		i += size
	}
	return b.String()
}

// hidden reports what is not there for the eye. Fillers are letters that show nothing.
func hidden(r rune) bool {
	switch r {
	case '\n', '\t':
		return false
	case '\u115f', '\u1160', '\u3164', '\uffa0', '\u2800', '\u034f', '\u17b4', '\u17b5':
		return true
	}
	return unicode.In(r, unicode.Cc, unicode.Cf, unicode.Co, unicode.Zl, unicode.Zp, unicode.Variation_Selector) ||
		unicode.Is(unicode.Zs, r) && r != ' '
}
