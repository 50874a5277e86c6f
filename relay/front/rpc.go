package front

import (
	"encoding/json"
	"strconv"

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
	body = rawjson.AppendText(append(body, `,"message":`...), e.Message)
	if data, err := json.Marshal(e); err == nil {
		body = append(append(body, `,"data":`...), data...)
	}
	return response{body: append(body, "}}"...), code: code}
}

// refuseWithData answers with a protocol error whose data is encoded already.
func refuseWithData(id []byte, code int, message string, data []byte) response {
	body := append(appendID(nil, id), `,"error":{"code":`...)
	body = strconv.AppendInt(body, int64(code), 10)
	body = rawjson.AppendText(append(body, `,"message":`...), message)
	body = append(append(body, `,"data":`...), data...)
	return response{body: append(body, "}}"...), code: code}
}

// refuseWith answers with one of the numbers that belong to a transport and have no fault.
func refuseWith(id []byte, code int, message string) response {
	body := append(appendID(nil, id), `,"error":{"code":`...)
	body = strconv.AppendInt(body, int64(code), 10)
	body = rawjson.AppendText(append(body, `,"message":`...), message)
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
