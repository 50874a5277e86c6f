// Package picture checks the pictures that go to delegated agents, and those that come from them. They are untrusted
// input, and a provider refuses a whole conversation for one picture that it cannot decode.
package picture

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	_ "image/jpeg" // the kinds of pictures that every provider takes
	_ "image/png"
	"slices"

	_ "golang.org/x/image/webp"
)

// Picture is a checked picture.
type Picture struct {
	MIMEType string `json:"mimeType"`
	Data     []byte `json:"data"`
}

// Limits of one message. As base64 a picture has at most 5 MiB, the least that a provider takes, and all of them
// together fit into the 10 MiB that some programs of the Agent Client Protocol read as one message.
const (
	Most      = 4
	MostBytes = 15 << 18
	MostTotal = 6 << 20
	MostSide  = 8000 // pixels
)

// MIMETypes names the accepted types, for messages.
const MIMETypes = "image/png, image/jpeg or image/webp"

var kinds = []string{"png", "jpeg", "webp"}

// Read reads a picture in base64.
func Read(mimeType, data string) (Picture, error) {
	if len(data) > base64.StdEncoding.EncodedLen(MostBytes) {
		return Picture{}, tooLarge(base64.StdEncoding.DecodedLen(len(data)))
	}
	raw, err := base64.StdEncoding.Strict().DecodeString(data)
	if err != nil {
		return Picture{}, errors.New("its data is not base64 (RFC 4648, with padding, no data: URL)")
	}
	p := Picture{mimeType, raw}
	return p, Check(p)
}

func tooLarge(size int) error {
	return fmt.Errorf("it has %d bytes, and may have %d", size, MostBytes)
}

// Check says what keeps a picture from being shown.
func Check(p Picture) error {
	if len(p.Data) > MostBytes {
		return tooLarge(len(p.Data))
	}
	found, kind, err := image.DecodeConfig(bytes.NewReader(p.Data))
	switch {
	case err != nil, !slices.Contains(kinds, kind): // other packages may have made others known
		return errors.New("its data is no picture of the type " + MIMETypes)
	case "image/"+kind != p.MIMEType:
		return fmt.Errorf("its mimeType is %.40q, but its data is image/%s", p.MIMEType, kind)
	case found.Width < 1 || found.Height < 1:
		return errors.New("it is empty")
	case found.Width > MostSide || found.Height > MostSide:
		return fmt.Errorf("it has %d x %d pixels, and may have %d on a side", found.Width, found.Height, MostSide)
	}
	return nil
}

// List is pictures of one message, as many as it may have.
type List struct {
	pictures []Picture
	size     int
}

// Add adds a picture; it fails when a limit is exceeded.
func (l *List) Add(p Picture) error {
	switch {
	case len(l.pictures) == Most:
		return fmt.Errorf("there may be %d pictures", Most)
	case l.size+len(p.Data) > MostTotal:
		return fmt.Errorf("all pictures together may have %d bytes", MostTotal)
	}
	l.pictures, l.size = append(l.pictures, p), l.size+len(p.Data)
	return nil
}

// All returns the pictures.
func (l *List) All() []Picture { return l.pictures }

// Mark returns the placeholder in a text for the nth picture of its message; with err, for one that was left out.
func Mark(n int, err error) string {
	if err != nil {
		return "[picture left out: " + err.Error() + "]"
	}
	return fmt.Sprintf("[picture %d]", n)
}
