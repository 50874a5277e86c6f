package resources

import (
	"bytes"
	"mime"
	"net/http"
	"net/url"
	"path"
	"strings"
	"unicode"
	"unicode/utf8"

	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
	"tabrelay/relay/road/fault"
)

// maxURI is how long a URI may be, in bytes.
const maxURI = 8 << 10

// parse reads an absolute URI with an authority or a path (RFC 3986). It refuses what readers are known to disagree
// about: user information, control characters and white space, also behind a percent sign, and backslashes.
func parse(uri string) (*url.URL, *fault.Error) {
	const hint = "Take a URI from resources/list, or fill in a template of resources/templates/list."
	switch {
	case len(uri) > maxURI:
		return nil, invalid("The URI is longer than 8 KiB", hint)
	case !utf8.ValidString(uri) || strings.ContainsFunc(uri, unprintable) || strings.ContainsRune(uri, '\\'):
		return nil, invalid("The URI holds characters that a URI cannot have", hint)
	}
	u, err := url.Parse(uri)
	switch {
	case err != nil, u.Scheme == "", u.Opaque != "":
		return nil, invalid("That is not a URI with a scheme", hint)
	case u.User != nil:
		return nil, invalid("The URI holds user information", "Leave out what stands before the @ sign.")
	case strings.ContainsFunc(u.Path, unprintable), strings.ContainsFunc(u.Host, unprintable),
		strings.ContainsFunc(u.Fragment, unprintable):
		return nil, invalid("The URI holds control characters", hint)
	}
	if _, err := url.ParseQuery(u.RawQuery); err != nil {
		return nil, invalid("The query of the URI cannot be read", hint)
	}
	return u, nil
}

func unprintable(r rune) bool {
	return unicode.IsControl(r) || r == unicode.ReplacementChar || unicode.IsSpace(r) && r != ' '
}

// only refuses query parameters that a provider does not know, so that a misspelt one is not taken for none.
func only(u *url.URL, known ...string) *fault.Error {
	for name, values := range u.Query() {
		found := false
		for _, k := range known {
			found = found || k == name
		}
		if !found || len(values) != 1 {
			return invalid("The URI has an unknown query parameter, or the same one twice", "Parameters allowed: "+
				orNone(known)+".")
		}
	}
	return nil
}

func orNone(names []string) string {
	if len(names) == 0 {
		return "none"
	}
	return strings.Join(names, ", ")
}

// types are the MIME types of names that a system's own table may not know or may disagree about.
var types = map[string]string{
	".md": "text/markdown", ".json": "application/json", ".jsonl": "application/jsonl", ".txt": "text/plain",
	".log": "text/plain",
	".csv": "text/csv", ".html": "text/html", ".htm": "text/html", ".css": "text/css", ".js": "text/javascript",
	".ts": "text/plain",
	".go": "text/plain", ".py": "text/plain", ".sh": "text/plain", ".yaml": "application/yaml",
	".yml":  "application/yaml",
	".toml": "application/toml", ".xml": "application/xml", ".svg": "image/svg+xml", ".png": "image/png",
	".jpg":  "image/jpeg",
	".jpeg": "image/jpeg", ".gif": "image/gif", ".webp": "image/webp", ".pdf": "application/pdf",
	".zip": "application/zip",
}

// typeOf is the MIME type of what has that name and these bytes.
func typeOf(name string, data []byte) string {
	if t := types[strings.ToLower(path.Ext(name))]; t != "" {
		return t
	}
	sniffed, _, err := mime.ParseMediaType(http.DetectContentType(data))
	if err != nil {
		return "application/octet-stream"
	}
	return sniffed
}

// contentOf makes text of what is UTF-8 without control characters that no text has, and a blob of everything else.
func contentOf(mimeType string, data []byte, meta any) call.ResourceContents {
	c := call.ResourceContents{MIMEType: mimeType}
	if meta != nil {
		c.Meta = rawjson.MustEncode(meta)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if utf8.Valid(data) && bytes.IndexByte(data, 0) < 0 {
		c.Text = string(data)
		return c
	}
	c.Blob = data
	return c
}

// mediaType is a content type as a server or program gave it, or the sniffed one.
func mediaType(given, name string, data []byte) string {
	if t, _, err := mime.ParseMediaType(given); err == nil && strings.Contains(t, "/") && len(t) < 128 {
		return t
	}
	return typeOf(name, data)
}
