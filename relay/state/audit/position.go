package audit

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"tabrelay/relay/lib/lock"
)

// position is a small file beside the database that says how far the audit log was written, and how many entries waited
// to be. It is rewritten in place, so that this works on a full disk, too. A relay that was killed leaves it behind,
// and the next one compares it with the log. Its methods are not for concurrent use.
type position struct {
	file *os.File
	now  written
}

// written is what the file holds, as JSON padded to positionBytes.
type written struct {
	Row     int64 `json:"row"`     // number of the last row that was written
	Waiting int   `json:"waiting"` // entries that were not written yet
}

const positionBytes = 64

// openPosition opens the file and makes it when there is none. missing says in one sentence what the log lacks whose
// last row has the number head; it is empty when the log lacks nothing. gone: rows
// that were written are not there any more.
func openPosition(path string, head int64) (p *position, missing string, gone bool, err error) {
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, "", false, fmt.Errorf("cannot open %s: %w", path, err)
	}
	p = &position{file: file}
	switch err := p.read(); {
	case errors.Is(err, io.EOF): // the file is new, or lost its content in a power failure
	case err != nil:
		missing = "what an earlier relay did not write is unknown, because audit.position was damaged"
	case p.now.Row > head:
		gone = true
		missing = fmt.Sprintf("row %d was written and the log ends at row %d: the database is not the one that was "+
			"used before",
			p.now.Row, head)
	case p.now.Row+int64(p.now.Waiting) > head:
		missing = fmt.Sprintf("the relay was killed before %d entries or more were written", p.now.Row+
			int64(p.now.Waiting)-head)
	}
	p.now = written{Row: -1} // so that it is written in any case
	if err := p.note(head, 0); err != nil {
		return nil, "", false, errors.Join(err, file.Close())
	}
	return p, missing, gone, nil
}

func (p *position) read() error {
	content := make([]byte, positionBytes)
	n, err := p.file.ReadAt(content, 0)
	if n == 0 {
		return err
	}
	return json.Unmarshal(bytes.TrimRight(content[:n], " \n"), &p.now)
}

// note says that row was written last, and how many entries wait.
func (p *position) note(row int64, waiting int) error {
	if p == nil || p.now == (written{row, waiting}) {
		return nil
	}
	lock.NoneHeld("writing audit.position")
	content, err := json.Marshal(written{row, waiting})
	if err == nil {
		content = append(content, bytes.Repeat([]byte(" "), positionBytes-1-len(content))...)
		_, err = p.file.WriteAt(append(content, '\n'), 0)
	}
	if err != nil {
		return fmt.Errorf("cannot write %s: %w", p.file.Name(), err)
	}
	p.now = written{row, waiting}
	return nil
}

func (p *position) close() error {
	if p == nil {
		return nil
	}
	return p.file.Close()
}
