package main

import (
	"context"
	"errors"
	"io"
	"net/http"
	"net/url"

	"tabrelay/relay"
	"tabrelay/relay/pause"
	"tabrelay/relay/plugin"
	"tabrelay/relay/review"
)

// vouch lets a build run whose author sees it come about: once a person has confirmed that, each build counts as
// reviewed while `plugin dev` runs. Without somebody to confirm it, nothing is vouched for.
func (d *development) vouch(ctx context.Context, p *plugin.Plugin) {
	if d.alone {
		return
	}
	last := d.end
	ctx, end := context.WithCancel(ctx)
	begun := make(chan error, 1)
	go d.keepVouching(ctx, "/api/v1/reviews/"+url.PathEscape(p.Manifest.Name)+"/dev", relay.Decision{Hash: p.Hash}, begun)
	if err := <-begun; err != nil {
		d.alone = true // asking again at each save would only wear the person out
		if !errors.Is(err, errNobody) {
			d.notef("problem: builds do not run without a review: %v\n", err)
		}
		end()
		return // an earlier build stays
	}
	d.end = end
	if last != nil {
		last() // not before, so that there is no moment without
	}
}

// keepVouching does so as long as ctx lives, to one relay after the other. begun hears of the first time.
func (d *development) keepVouching(ctx context.Context, path string, what relay.Decision, begun chan<- error) {
	for first := true; ctx.Err() == nil; first = false {
		res, err := d.sendWith(ctx, http.MethodPost, path, what, http.Header{"Accept": {"text/plain"}, relay.DevelopHeader: {d.seat}}, d.confirmHere)
		if err == nil {
			d.seat = res.Header.Get(relay.DevelopHeader)
		}
		if first {
			begun <- err
		}
		if err == nil {
			if !first {
				_ = d.tellRelay(ctx, "") // the new relay read the folder before it heard of this; its own log has what is wrong
			}
			_, _ = io.Copy(io.Discard, res.Body) // until either side ends it
			_ = res.Body.Close()                 // only read from
		} else if first {
			return
		}
		pause.For(ctx, rejoinTime)
	}
}

func (d *development) endVouching() {
	if d.end != nil {
		d.end()
	}
}

// noteReview says so when the relay does not run a build because nobody reviewed it.
func (a *app) noteReview(ctx context.Context, p *plugin.Plugin) {
	s, err := a.sheet(ctx, p.Manifest.Name)
	if err != nil || s.Hash != p.Hash || s.State != review.Waiting && s.State != review.Refused {
		return // the relay, or the next build, says what is wrong
	}
	a.notef("problem: nobody reviewed this build. %s\n", offUntil(s))
	a.notef("Next: review it in the side panel, or in a terminal: tabrelay plugin review %s; or run plugin dev in a terminal, which lets each save run\n", p.Manifest.Name)
}
