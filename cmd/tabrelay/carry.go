package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"strconv"

	"tabrelay/relay"
)

// carryOut asks the relay for a call. On a terminal the person sees its progress.
func (a *app) carryOut(ctx context.Context, path string, body any) (answer relay.Answer, err error) {
	if !a.watched() {
		err = a.post(ctx, path, body, &answer)
		return answer, err
	}
	res, err := a.send(ctx, "POST", path, body, "application/x-ndjson")
	if err != nil {
		return answer, err
	}
	defer res.Body.Close() // only read from
	for lines := json.NewDecoder(res.Body); ; {
		var line relay.Line
		switch err := lines.Decode(&line); {
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return answer, failed("the relay's answer ended early").hinting("tabrelay logs shows why")
		case err != nil:
			return answer, failed("the relay's answer cannot be read: %w", err).hinting("the relay may be of another version; run: tabrelay down, then tabrelay up")
		case line.Answer != nil:
			return *line.Answer, nil
		case line.Progress != nil:
			a.notef("%s\n", stepText(*line.Progress))
		}
	}
}

// stepText is a step of progress as a person reads it: 3 of 10: saving.
func stepText(s relay.Step) string {
	var b bytes.Buffer
	b.WriteString(strconv.FormatFloat(s.Progress, 'g', 6, 64))
	if s.Total != nil {
		b.WriteString(" of " + strconv.FormatFloat(*s.Total, 'g', 6, 64))
	}
	if s.Message != "" {
		b.WriteString(": " + s.Message)
	}
	return b.String()
}
