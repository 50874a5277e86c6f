package call

import "encoding/json"

// Deeds says what an act of the browser's own tools will do, by a preview of the page before anything is done. The zero
// value: there was no preview.
type Deeds struct {
	Sentences []string        // one for each thing that is done, in its order
	Frame     string          // origin of the document it is done in, where that is not the tab's
	Secret    bool            // it acts on a field for passwords, payment or one-time codes
	Elsewhere []string        // other sites that forms are sent to
	Effects   []string        // of special weight, such as a payment or a deletion, in a few words each
	Targets   json.RawMessage // what the page said of its targets; it compares this before it acts
}
