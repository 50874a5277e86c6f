package front

import (
	"encoding/json"
	"math"
	"slices"
	"strconv"

	"tabrelay/relay/lib/rawjson"
	"tabrelay/relay/road/call"
)

// note encodes one step of progress, nil when it cannot be told in JSON. MCP wants the value to increase with each
// message; a page that only changes its words, or goes back, is moved up by the least that makes it so.
func (p *progressPace) note(token []byte, step call.Progress) []byte {
	value := step.Progress
	if math.IsNaN(value) || math.IsInf(value, 0) {
		return nil
	}
	if p.sent && value <= p.last {
		if value = math.Nextafter(p.last, math.Inf(1)); step.Total == nil {
			value = p.last + 1
		}
	}
	p.last, p.sent = value, true
	b := append([]byte(`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":`), token...)
	b = appendNumber(append(b, `,"progress":`...), value)
	if total := step.Total; total != nil && !math.IsNaN(*total) && !math.IsInf(*total, 0) {
		b = appendNumber(append(b, `,"total":`...), *total)
	}
	if step.Message != "" {
		b = rawjson.AppendText(append(b, `,"message":`...), step.Message)
	}
	return append(b, "}}"...)
}

func appendNumber(dst []byte, n float64) []byte {
	if n == math.Trunc(n) && math.Abs(n) < 1<<53 {
		return strconv.AppendInt(dst, int64(n), 10)
	}
	return strconv.AppendFloat(dst, n, 'g', -1, 64)
}

// levels are the log levels of MCP, least first.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// defaultLevel is what a client of the legacy era gets before it has called logging/setLevel.
const defaultLevel = "info"

// wanted reports whether a message of this level reaches a client that asked for least. An unknown level counts as
// info.
func wanted(level, least string) bool {
	if least == "" {
		return false
	}
	return levelRank(level) >= levelRank(least)
}

func levelRank(level string) int {
	if i := slices.Index(levels, level); i >= 0 {
		return i
	}
	return slices.Index(levels, defaultLevel)
}

// logNote encodes one log line of a tool. Its words are a page's.
func logNote(tool string, e call.LogEntry) []byte {
	b := encodeLog(tool, e)
	return append(b, `,"_meta":{"`+metaUntrusted+`":true}}}`...)
}

func encodeLog(tool string, e call.LogEntry) []byte {
	data := rawjson.AppendText(nil, e.Message)
	if len(e.Data) > 0 && json.Valid(e.Data) {
		data = append([]byte(`{"message":`), data...)
		data = append(append(data, `,"data":`...), oneLine(e.Data)...)
		data = append(data, '}')
	}
	b := append([]byte(`{"jsonrpc":"2.0","method":"notifications/message","params":{"level":`),
		strconv.Quote(levels[levelRank(e.Level)])...)
	b = rawjson.AppendText(append(b, `,"logger":`...), tool)
	return append(append(b, `,"data":`...), data...)
}

// droppedNote tells that a tool logged more than was sent.
func droppedNote(tool string, lines int) []byte {
	return append(encodeLog(tool, call.LogEntry{Level: "warning", Message: strconv.Itoa(lines) +
		" more log lines came too fast and were not sent"}), "}}"...)
}
