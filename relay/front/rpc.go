package front

import (
	"bytes"
	"encoding/json"
	"strconv"
	"unicode/utf8"

	"tabrelay/relay/fault"
	"tabrelay/relay/rawjson"
)

// response is the answer to one request, ready for the wire.
type response struct {
	body []byte // one JSON object, without line breaks
	code int    // the JSON-RPC error code, 0 for a result
}

// succeed answers with a result that is encoded already.
func succeed(id, result []byte) response {
	body := make([]byte, 0, len(result)+len(id)+40)
	body = append(appendID(body, id), `,"result":`...)
	body = append(body, result...)
	return response{body: append(body, '}')}
}

// refuse answers with a protocol error. Its data is the whole fault, so that a program finds code, hint and the rest
// where it finds them in a tool's failure.
func refuse(id []byte, e *fault.Error, modern bool) response {
	code := e.ProtocolNumber(modern)
	body := append(appendID(nil, id), `,"error":{"code":`...)
	body = strconv.AppendInt(body, int64(code), 10)
	body = appendString(append(body, `,"message":`...), e.Message)
	if data, err := json.Marshal(e); err == nil {
		body = append(append(body, `,"data":`...), data...)
	}
	return response{body: append(body, "}}"...), code: code}
}

// refuseWithData answers with a protocol error whose data is encoded already.
func refuseWithData(id []byte, code int, message string, data []byte) response {
	body := append(appendID(nil, id), `,"error":{"code":`...)
	body = strconv.AppendInt(body, int64(code), 10)
	body = appendString(append(body, `,"message":`...), message)
	body = append(append(body, `,"data":`...), data...)
	return response{body: append(body, "}}"...), code: code}
}

// refuseWith answers with one of the numbers that belong to a transport and have no fault.
func refuseWith(id []byte, code int, message string) response {
	body := append(appendID(nil, id), `,"error":{"code":`...)
	body = strconv.AppendInt(body, int64(code), 10)
	body = appendString(append(body, `,"message":`...), message)
	return response{body: append(body, "}}"...), code: code}
}

// appendID begins a response. An id that could not be read is left out: MCP has no null id, and the official clients
// refuse a message that has one.
func appendID(dst, id []byte) []byte {
	dst = append(dst, `{"jsonrpc":"2.0"`...)
	if id != nil {
		dst = append(append(dst, `,"id":`...), id...)
	}
	return dst
}

// appendString appends text as a JSON string. Unlike encoding/json it leaves <, > and & alone, which would make a page
// 1.7 times as long, and it copies what needs no escape in runs. What is not UTF-8 becomes U+FFFD.
func appendString[T string | []byte](dst []byte, text T) []byte {
	return appendQuoted(dst, []byte(text))
}

func appendQuoted(dst, text []byte) []byte {
	const hex = "0123456789abcdef"
	if !utf8.Valid(text) {
		text = bytes.ToValidUTF8(text, []byte("\uFFFD"))
	}
	dst = append(dst, '"')
	for {
		i := rawjson.Plain(text, 0)
		dst = append(dst, text[:i]...)
		if i == len(text) {
			return append(dst, '"')
		}
		switch c := text[i]; c {
		case '"', '\\':
			dst = append(dst, '\\', c)
		case '\n':
			dst = append(dst, '\\', 'n')
		case '\r':
			dst = append(dst, '\\', 'r')
		case '\t':
			dst = append(dst, '\\', 't')
		default:
			dst = append(dst, '\\', 'u', '0', '0', hex[c>>4], hex[c&15])
		}
		text = text[i+1:]
	}
}
