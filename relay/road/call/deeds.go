package call

import "encoding/json"

// Deeds is what an act of the browser's own tools will do, as the page told it before anything was done. Zero: nobody
// asked the page.
type Deeds struct {
	Sentences []string        // one for each thing that is done, in its order
	Frame     string          // origin of the document it is done in, where that is not the tab's
	Secret    bool            // it acts on a field for passwords, payment or one-time codes
	Elsewhere []string        // other sites that forms are sent to
	Effects   []string        // what weighs more than a change does, in a few words each
	Print     json.RawMessage // what the page compares its targets with before it acts
}
