package delegation

import (
	"fmt"
	"strconv"
	"strings"

	"tabrelay/relay/capability/delegation/picture"
	"tabrelay/relay/capability/delegation/provider"
	"tabrelay/relay/lib/lazyregexp"
	"tabrelay/relay/lib/lock"
)

// handed is the pictures that tools answered a model with in one turn. A model writes no pictures: it names those that
// it hands over with its answer.
type handed struct {
	mu   lock.Mutex
	seen []provider.Image
	size int
}

// mostSeen bounds what is kept of them, in bytes.
const mostSeen = 16 << 20

// marks are the names of pictures, and what they are good for. Those that there is no room for have none.
func (h *handed) marks(images []provider.Image) string {
	h.mu.Lock()
	defer h.mu.Unlock()
	var b strings.Builder
	for _, i := range images {
		if h.size+len(i.Data) > mostSeen {
			break
		}
		h.seen, h.size = append(h.seen, i), h.size+len(i.Data)
		fmt.Fprintf(&b, "\nThis picture is [tool picture %d]. Write that in your answer if the other agent needs it.",
			len(h.seen))
	}
	return b.String()
}

var toolPicture = lazyregexp.New(`\[tool picture (\d{1,4})\]`)

// handOver gives an answer the pictures that its text names, and the text their marks.
func (h *handed) handOver(a *Answer) {
	h.mu.Lock()
	defer h.mu.Unlock()
	var list picture.List
	for _, i := range a.Images { // of the model itself; there is room for them
		_ = list.Add(i)
	}
	places := map[int]string{}
	a.Text = toolPicture.ReplaceAllStringFunc(a.Text, func(mark string) string {
		n, _ := strconv.Atoi(toolPicture.FindStringSubmatch(mark)[1])
		if n < 1 || n > len(h.seen) {
			return mark
		}
		if _, known := places[n]; !known {
			err := list.Add(h.seen[n-1])
			places[n] = picture.Mark(len(list.All()), err)
		}
		return places[n]
	})
	a.Images = list.All()
}
