package resource

import (
	"bytes"
	"mime"
	"net/http"
	"path"
	"strings"
	"unicode/utf8"

	"tabrelay/relay/call"
	"tabrelay/relay/rawjson"
)

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
