package fault

import (
	"encoding/json"
	"regexp"
)

// place is the path of a URL with line and column. A query, a fragment or white space is never part of it.
var place = regexp.MustCompile(`^/[!-"$->@-~]{0,300}:[0-9]{1,7}:[0-9]{1,7}$`)

// machine is how paths of a person's own files begin. A page has no business with them, and an agent neither.
var machine = regexp.MustCompile(`(?i)^/+(?:home|users|root|tmp|var|private|etc|usr|opt|mnt|media|volumes|srv|[a-z]:` +
	`|[a-z]%3a)(?:/|$)`)

// readTrace takes the place an error was thrown at out of the serialised error, if it is one that may be told.
func readTrace(raw json.RawMessage) (line, problem string) {
	var thrown struct {
		TraceLine json.RawMessage `json:"traceLine"`
	}
	if json.Unmarshal(dropSurrogates(raw), &thrown) != nil || len(thrown.TraceLine) == 0 ||
		string(thrown.TraceLine) == "null" {
		return "", ""
	}
	if json.Unmarshal(thrown.TraceLine, &line) != nil || !place.MatchString(line) || machine.MatchString(line) {
		return "", "traceLine was dropped: it is not the path, line and column of a URL"
	}
	return line, ""
}
