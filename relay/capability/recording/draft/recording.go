// Package draft makes the draft of a plugin from a recording of a tab: the requests that its pages made while a
// person did something there become tools, with schemas, fixtures and the places in which tokens are read afresh. A
// recording has secrets and what people wrote; a draft has neither.
package draft

import (
	"cmp"
	"encoding/json"
	"net/url"
	"slices"
	"strings"
)

// Limits of a draft.
const (
	// MaxTools is how many tools a draft has; an agent does not choose well from more.
	MaxTools = 40
	// MaxRequests is how many requests of a recording are looked at.
	MaxRequests = 2000
)

// Place is where a page has a token: see extension/src/capabilities/recording/locate.ts.
type Place struct {
	In   string   `json:"in"`
	Name string   `json:"name"`
	Path []string `json:"path"`
}

// Field is a field of a form.
type Field struct {
	Name     string   `json:"name"`
	Label    string   `json:"label"`
	Type     string   `json:"type"`
	Required bool     `json:"required"`
	Given    bool     `json:"given"` // of a password: it was not empty
	Options  []string `json:"options"`
}

// event is what the extension tells of a recorded tab; which fields it has depends on its kind.
type event struct {
	Kind    string         `json:"kind"`
	At      int64          `json:"at"` // Unix milliseconds
	Number  int            `json:"number"`
	Method  string         `json:"method"`
	URL     string         `json:"url"`
	Type    string         `json:"type"`
	Form    map[string]any `json:"form"`
	Body    *string        `json:"body"`
	File    bool           `json:"file"`
	Headers [][]string     `json:"headers"`
	Status  int            `json:"status"`
	Text    string         `json:"text"`
	Cut     bool           `json:"cut"`
	Label   string         `json:"label"`
	Page    string         `json:"page"`
	Action  string         `json:"action"`
	Fields  []Field        `json:"fields"`
	Value   string         `json:"value"`
	Places  []Place        `json:"places"`
}

// request is one request of a page, and what it was answered.
type request struct {
	at, answeredAt int64
	method         string
	url            *url.URL
	navigation     bool
	form           url.Values // nil: no form
	body           string
	file           bool // its body is no text, or too long
	headers        map[string]string
	status         int
	answerType     string
	answer         string
	answered       bool // answer is what came
	afterClick     string
	sinceClick     int64 // milliseconds; -1: there was none
	submit         *event
	page           string // that sent it
	batched        bool   // the page sent it with others, in one request
}

// found is where a page has a value.
type found struct {
	value, page string
	places      []Place
}

// Recording is what was seen of a tab.
type Recording struct {
	requests []*request
	found    []found
	submits  []*event
	skipped  int
}

const afterClickMs = 3000 // what a page asks within that time after a click belongs to it

// Read puts the events of a recording together, in the order in which they came. What cannot be read is left out.
func Read(events []json.RawMessage) *Recording {
	r := &Recording{}
	byNumber := map[int]*request{}
	var click, submit *event
	page := ""
	for _, raw := range events {
		var e event
		if json.Unmarshal(raw, &e) != nil {
			continue
		}
		switch e.Kind {
		case "click":
			click = &e
		case "submit":
			submit = &e
			r.submits = append(r.submits, &e)
			click = &event{At: e.At, Label: e.Label}
		case "request":
			q := r.began(&e, click, submit, page)
			if q != nil {
				byNumber[e.Number] = q
			}
		case "headers":
			if q := byNumber[e.Number]; q != nil {
				q.headers = pairs(e.Headers)
			}
		case "response":
			if q := byNumber[e.Number]; q != nil {
				q.status, q.answeredAt = e.Status, e.At
				q.answerType = pairs(e.Headers)["content-type"]
				if q.navigation && q.method == "GET" && e.Status < 300 {
					page = q.url.String()
				}
			}
		case "answer":
			r.answer(&e)
		case "found":
			r.found = append(r.found, found{e.Value, e.Page, e.Places})
		}
	}
	r.unbatch()
	return r
}

func (r *Recording) began(e, click, submit *event, page string) *request {
	u, err := url.Parse(e.URL)
	if err != nil || u.Host == "" || len(r.requests) >= MaxRequests {
		r.skipped++
		return nil
	}
	u.Fragment, u.RawFragment = "", ""
	q := &request{at: e.At, method: strings.ToUpper(e.Method), url: u, file: e.File, headers: map[string]string{},
		navigation: e.Type == "main_frame" || e.Type == "sub_frame", sinceClick: -1, page: page}
	if e.Form != nil {
		q.form = url.Values{}
		for name, value := range e.Form {
			q.form[name] = texts(value)
		}
	}
	if e.Body != nil {
		q.body = *e.Body
	}
	if click != nil {
		q.sinceClick = e.At - click.At
		if q.sinceClick <= afterClickMs {
			q.afterClick = click.Label
		}
	}
	if submit != nil && e.At-submit.At <= afterClickMs && samePlace(submit.Action, u) && submit.Method == q.method {
		q.submit = submit
	}
	r.requests = append(r.requests, q)
	return q
}

// answer gives an answer to the first request that it may belong to.
func (r *Recording) answer(e *event) {
	u, err := url.Parse(e.URL)
	if err != nil {
		return
	}
	u.Fragment, u.RawFragment = "", ""
	for _, q := range r.requests {
		if !q.answered && !q.navigation && q.method == e.Method && q.url.String() == u.String() {
			if !e.Cut {
				q.answer, q.answered = e.Text, true
			}
			q.status = cmp.Or(q.status, e.Status)
			return
		}
	}
}

func samePlace(address string, u *url.URL) bool {
	a, err := url.Parse(address)
	return err == nil && a.Host == u.Host && a.Path == u.Path
}

func pairs(list [][]string) map[string]string {
	all := map[string]string{}
	for _, pair := range list {
		if len(pair) == 2 {
			all[strings.ToLower(pair[0])] = pair[1]
		}
	}
	return all
}

func texts(value any) []string {
	switch v := value.(type) {
	case string:
		return []string{v}
	case []any:
		var all []string
		for _, one := range v {
			all = append(all, texts(one)...)
		}
		return all
	}
	return nil
}

// passwordFields are the names of the fields into which a person writes a password.
func (r *Recording) passwordFields() map[string]bool {
	names := map[string]bool{}
	for _, submit := range r.submits {
		for _, f := range submit.Fields {
			if f.Type == "password" && f.Name != "" {
				names[f.Name] = true
			}
		}
	}
	return names
}

// effectiveMethod is what a request does, also where it says so beside its method.
func (q *request) effectiveMethod() string {
	said := q.headers["x-http-method-override"]
	if said == "" && q.form != nil {
		said = q.form.Get("_method")
	}
	if said = strings.ToUpper(said); q.method == "POST" && slices.Contains([]string{"PUT", "PATCH", "DELETE"}, said) {
		return said
	}
	return q.method
}

// fields are the fields of a URL-encoded or multipart body; nil when it has another form.
func (q *request) fields() url.Values {
	if q.form != nil {
		return q.form
	}
	if strings.HasPrefix(q.headers["content-type"], "application/x-www-form-urlencoded") {
		if values, err := url.ParseQuery(q.body); err == nil {
			return values
		}
	}
	return nil
}

// json is the body as JSON.
func (q *request) json() (value any, ok bool) {
	if q.body == "" || q.fields() != nil {
		return nil, false
	}
	return value, json.Unmarshal([]byte(q.body), &value) == nil
}

// isGraphQLQuery tells a request whose text says that it only reads.
func (q *request) isGraphQLQuery() bool {
	text := q.url.Query().Get("query")
	if body, ok := q.json(); ok {
		object, _ := body.(map[string]any)
		text, _ = object["query"].(string)
	}
	return graphQLRead.MatchString(text) && !graphQLDoes.MatchString(text)
}

// answerJSON is the answer as JSON.
func (q *request) answerJSON() (value any, ok bool) {
	if !q.answered {
		return nil, false
	}
	return value, json.Unmarshal([]byte(q.answer), &value) == nil
}

func (q *request) succeeded() bool { return q.status >= 200 && q.status < 400 }

// Shown is an address for the person who records, without its query and without ids.
func Shown(u *url.URL) string {
	segments := split(u.EscapedPath())
	for i, segment := range segments {
		if isID(segment) {
			segments[i] = "…"
		}
	}
	return plainText("/" + strings.Join(segments, "/"))
}
