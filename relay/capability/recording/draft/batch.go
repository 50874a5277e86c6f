package draft

import "encoding/json"

// unbatch makes a request of each operation that a page sent with others in one: GraphQL and JSON-RPC have lists of
// them.
func (r *Recording) unbatch() {
	var all []*request
	for _, q := range r.requests {
		if parts := q.parts(); parts != nil && len(all)+len(parts) <= MaxRequests {
			all = append(all, parts...)
		} else {
			all = append(all, q)
		}
	}
	r.requests = all
}

// parts are the requests that a batch stands for; nil when it is none.
func (q *request) parts() []*request {
	if q.body == "" || q.fields() != nil {
		return nil
	}
	var bodies []json.RawMessage
	if json.Unmarshal([]byte(q.body), &bodies) != nil {
		return nil
	}
	var all []*request
	for i, raw := range bodies {
		var body any
		_ = json.Unmarshal(raw, &body) // it was read as JSON above
		if graphQL, rpc := operation(body); graphQL+rpc == "" {
			return nil
		}
		part := *q
		part.body, part.batched = string(raw), len(bodies) > 1
		part.answer, part.answered = q.answerOf(i, body)
		all = append(all, &part)
	}
	return all
}

// answerOf is the answer to one operation of a batch: that with its id, else the one at its place.
func (q *request) answerOf(place int, body any) (answer string, answered bool) {
	var answers []json.RawMessage
	if !q.answered || json.Unmarshal([]byte(q.answer), &answers) != nil {
		return "", false
	}
	asked, _ := body.(map[string]any)
	for _, raw := range answers {
		var one map[string]any
		if _, isRPC := asked["jsonrpc"]; isRPC && json.Unmarshal(raw, &one) == nil && one["id"] == asked["id"] {
			return string(raw), true
		}
	}
	if place < len(answers) {
		return string(answers[place]), true
	}
	return "", false
}
