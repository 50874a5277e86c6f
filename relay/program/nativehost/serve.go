package nativehost

import (
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// mostMessage bounds a message of the extension, in bytes. Chrome allows more; ours have less than a hundred.
const mostMessage = 64 << 10

// Kinds of requests.
const (
	Find  = "find"  // where the relay is, and what proves to it that this is its extension
	Start = "start" // the same, after it was started where it did not run
)

// Request is what the extension asks.
type Request struct {
	Type string `json:"type"`
}

// Answer is what it is told: the relay, or why there is none.
type Answer struct {
	Address string   `json:"address,omitempty"` // host and port
	Secret  string   `json:"secret,omitempty"`  // of the pairing, 64 hexadecimal digits
	Running bool     `json:"running"`           // whether a relay listens there
	Version string   `json:"version,omitempty"` // of this program
	Problem *Problem `json:"problem,omitempty"`
}

// Problem is why it cannot be told, and what helps.
type Problem struct {
	Message string `json:"message"`
	Hint    string `json:"hint,omitempty"`
}

// Serve answers the extension's messages, each of which has its length before it in the machine's order of bytes,
// until the browser closes in.
func Serve(in io.Reader, out io.Writer, answer func(Request) Answer) error {
	for {
		text, err := read(in)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		var asked Request
		a := Answer{}
		if err := json.Unmarshal(text, &asked); err != nil {
			a.Problem = &Problem{Message: "the message is not JSON: " + err.Error()}
		} else {
			a = answer(asked)
		}
		if err := write(out, a); err != nil {
			return err
		}
	}
}

func read(in io.Reader) ([]byte, error) {
	var length [4]byte
	if _, err := io.ReadFull(in, length[:]); err != nil {
		return nil, err
	}
	n := binary.NativeEndian.Uint32(length[:])
	if n > mostMessage {
		return nil, fmt.Errorf("a message of %d bytes is longer than %d", n, mostMessage)
	}
	text := make([]byte, n)
	if _, err := io.ReadFull(in, text); err != nil {
		return nil, fmt.Errorf("a message ends early: %w", io.ErrUnexpectedEOF)
	}
	return text, nil
}

func write(out io.Writer, a Answer) error {
	text, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, err = out.Write(append(binary.NativeEndian.AppendUint32(nil, uint32(len(text))), text...))
	return err
}
