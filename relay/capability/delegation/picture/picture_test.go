package picture_test

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"hash/crc32"
	"image"
	"image/gif"
	"image/jpeg"
	"image/png"
	"strings"
	"testing"

	"tabrelay/relay/capability/delegation/picture"
)

func encoded(t *testing.T, write func(*bytes.Buffer) error) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := write(&b); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// bomb is the beginning of a PNG that says it has 100,000 x 100,000 pixels: what decodes it needs 40 GB.
func bomb() []byte {
	b := []byte("\x89PNG\r\n\x1a\n\x00\x00\x00\x0d")
	head := append([]byte("IHDR"), 0, 1, 0x86, 0xa0, 0, 1, 0x86, 0xa0, 8, 6, 0, 0, 0)
	return binary.BigEndian.AppendUint32(append(b, head...), crc32.ChecksumIEEE(head))
}

const webp = "UklGRiQAAABXRUJQVlA4IBgAAAAwAQCdASoBAAEAAgA0JaQAA3AA/vv9UAA="

func TestReadRefusesWhatIsNoPicture(t *testing.T) {
	dot := image.NewRGBA(image.Rect(0, 0, 2, 3))
	pngData := encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, dot) })
	jpegData := encoded(t, func(b *bytes.Buffer) error { return jpeg.Encode(b, dot, nil) })
	gifData := encoded(t, func(b *bytes.Buffer) error { return gif.Encode(b, dot, nil) })
	wide := encoded(t, func(b *bytes.Buffer) error { return png.Encode(b, image.NewGray(image.Rect(0, 0, 8001, 1))) })
	in := base64.StdEncoding.EncodeToString
	for name, test := range map[string]struct{ mime, data, problem string }{
		"png":            {"image/png", in(pngData), ""},
		"jpeg":           {"image/jpeg", in(jpegData), ""},
		"webp":           {"image/webp", webp, ""},
		"wrong type":     {"image/png", in(jpegData), `its mimeType is "image/png", but its data is image/jpeg`},
		"no type":        {"", in(pngData), `its mimeType is "", but its data is image/png`},
		"parameters":     {"image/png; charset=utf-8", in(pngData), "but its data is image/png"},
		"gif":            {"image/gif", in(gifData), "no picture of the type image/png, image/jpeg or image/webp"},
		"svg":            {"image/svg+xml", in([]byte(`<svg onload="alert(1)"/>`)), "no picture of the type"},
		"svg as png":     {"image/png", in([]byte(`<svg/>`)), "no picture of the type"},
		"page":           {"image/png", in([]byte("<!doctype html>")), "no picture of the type"},
		"cut off":        {"image/png", in(pngData[:12]), "no picture of the type"},
		"nothing":        {"image/png", "", "no picture of the type"},
		"broken base64":  {"image/png", "iVBOR*", "not base64"},
		"no padding":     {"image/png", strings.TrimRight(in(pngData)[:5], "="), "not base64"},
		"address":        {"image/png", "data:image/png;base64," + in(pngData), "not base64"},
		"other alphabet": {"image/png", "_-8=", "not base64"},
		"bomb":           {"image/png", in(bomb()), "pixels, and may have 8000 on a side"},
		"too wide":       {"image/png", in(wide), "it has 8001 x 1 pixels, and may have 8000 on a side"},
		"too many bytes": {"image/png", in(append(pngData, make([]byte, picture.MostBytes)...)), "may have 3932160"},
		"one byte too many": {"image/png", in(append(pngData, make([]byte, picture.MostBytes-len(pngData)+1)...)),
			"3932160"},
	} {
		p, err := picture.Read(test.mime, test.data)
		switch {
		case test.problem == "" && err != nil:
			t.Errorf("%s: %v", name, err)
		case test.problem == "" && in(p.Data) != test.data:
			t.Errorf("%s: the data is another one", name)
		case test.problem != "" && (err == nil || !strings.Contains(err.Error(), test.problem)):
			t.Errorf("%s: %v, want %q", name, err, test.problem)
		}
	}
}

func TestListIsBounded(t *testing.T) {
	var many, large picture.List
	for range picture.Most {
		if err := many.Add(picture.Picture{Data: []byte("x")}); err != nil {
			t.Fatal(err)
		}
	}
	if err := many.Add(picture.Picture{}); err == nil || len(many.All()) != picture.Most {
		t.Errorf("%v, %d", err, len(many.All()))
	}
	_ = large.Add(picture.Picture{Data: make([]byte, picture.MostBytes)})
	if err := large.Add(picture.Picture{Data: make([]byte, picture.MostBytes)}); err == nil || len(large.All()) != 1 {
		t.Errorf("%v, %d", err, len(large.All()))
	}
}
