package registry

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// stopWords say nothing about what is looked for.
var stopWords = wordSet(`a about again am an and any anybody anyone are as at be been being but by can could current
	currently did do does doing don for from get gets getting give given giving gives going had has have he her here him
	his how i if in instead into is it its just last let ll make making many me much my need needs new no not now of off
	on one or our out over own please re s she should so some somebody someone something t than that the their them then
	there these they thing this those to together too tool tools up us use using ve want was we were what when where
	which who whom whose why will with would yet you your`)

func wordSet(text string) map[string]bool {
	set := map[string]bool{}
	for word := range strings.FieldsSeq(text) {
		set[word] = true
	}
	return set
}

// vocabulary has every word that search knows, so that none of them is taken for a misspelling of another.
var vocabulary = sync.OnceValue(func() map[string]bool {
	words := wordSet(strings.ReplaceAll(meanings, ":", " "))
	maps.Copy(words, stopWords)
	return words
})

// idioms are words that mean something else together, with what they mean: “like” is what a tool does, but not in
// “would like to”. Each word stands between spaces.
var idioms = strings.NewReplacer(
	" would like ", " ", " d like ", " ", " looks like ", " ", " look like ", " ", " things like ", " ", " feel like ",
	" ",
	" to do ", " todo ", " to dos ", " todos ", " thumbs up ", " upvote ", " tick off ", " complete ",
	" check off ", " complete ", " shut down ", " stop ", " turn off ", " disable ", " turn on ", " enable ",
	" switch off ", " disable ", " go live ", " publish ", " send back ", " return ", " take back ", " undo ",
	" pass on ", " forward ", " get to ", " directions ", " look up ", " search ", " look for ", " search ",
	" sign up ", " subscribe ", " log in ", " login ", " sign in ", " login ", " text message ", " sms ",
	" second hand ", " marketplace ", " ip address ", " dns ", " money back ", " refund ",
)

// synonyms are the stems that answer for a stem, where people ask for tools.
var synonyms = sync.OnceValue(func() map[string][]string {
	all := map[string][]string{}
	mean := func(asked, meant string) {
		if a, b := stem(asked), stem(meant); a != b && !slices.Contains(all[a], b) {
			all[a] = append(all[a], b)
		}
	}
	for group := range strings.FieldsFuncSeq(meanings, func(r rune) bool { return r == '\n' }) {
		asked, meant, directed := strings.Cut(group, ":")
		if !directed {
			meant = asked
		}
		for _, a := range strings.Fields(asked) {
			for _, b := range strings.Fields(meant) {
				mean(a, b)
			}
		}
	}
	return all
})

// meanings has one group on each line: words that mean the same, or words that people say, a colon, and those that
// tools have for it. A word may be in several.
const meanings = `change edit update modify rewrite fix correct replace alter set
create add new start begin write insert make compose
delete remove trash erase drop discard
list show all see view display which
find search look lookup query locate
read get fetch open show view see summarize extract
send mail email write compose
reply answer respond
mail email message inbox letter mailbox
folder mailbox inbox archive
article page wiki wikipedia
post blog entry article
picture image photo file media
upload attach put
attachment attached attach download file
history version revision edited
compare diff difference between
changed recent change latest today
discussion discuss talk comment
highlight highlighted select selection mark marked
link hyperlink url href
heading outline structure
form field input
table row column grid
record row entry item
collection table
database collection record
schema field structure
user account person people member who
contact address person people
flow automation workflow
disable enable stop turn off pause deactivate
trigger inject run press fire
node function block
module installed palette
log logs logging
metric measurement series value usage cpu memory disk load latency query
range over time graph chart course history
alert alarm firing warning
target scrape job
valid check correct validate parse
config configuration setting option
publish post create write
approve moderate moderation accept
tag category term label
watch follow notify notified subscribe
draft unsent
move archive put
status health version info
signed login user
tab window page
play listen hear: play playback start resume
music song tune: track playback song music
album artist band singer: album artist track
mixtape compilation: playlist
louder quieter loud quiet: volume
speaker headphones headset: device
stop halt interrupt: stop pause end cancel
hush silence shush quiet: mute silence
tweet twitter: tweet x
say tell announce inform: send post create message write
followers fans: tweet follower
like love heart favorite: like react reaction star save vote
upvote: upvote vote like reaction rate
downvote: downvote vote
undo revert withdraw: unlike undo remove clear revert restore
share: share forward retweet quote repost
private dm pm: direct dm private
message text write chat: message send chat
room: channel group room
colleague coworker teammate: member user invite
bring add: invite add
vacation holiday away absent: vacation status reply responder office
follow: subscribe follow watch
unfollow: unfollow unsubscribe
opinion think feedback say said: comment review discussion message reply
said spoken: transcript message comment
catch: read recent
report file: create report submit
bug defect problem: issue bug
error crash exception failure: issue error event exception log
fix fixed solved: resolve fix solve
propose suggest: create propose
pr: pull request
branch merging: merge branch pull
approve accept: accept approve merge review respond
decline reject: decline reject respond
ci build: workflow pipeline ci build job deployment run action
pass passed fail failed: run log job status
again: rerun retry repeat
rerun retry: retry rerun again
version: version release tag
code function class: code
ticket: ticket issue
done finished: complete done resolve close transition solve
close finish end: close solve complete resolve
give hand: assign share send
worked hours effort: worklog time
sprint iteration: sprint cycle
notes: page note
paragraph: block text content
filter: query filter
task todo chore: task todo
remind reminder: task reminder create
deadline due: due date
break divide: subtask split
smaller: subtask
column: list column field table
card: card
junk phishing: spam
automatic automatically auto: automatic auto responder reply filter
pass: forward
boss: forward
category: label category folder
schedule plan arrange: create schedule event meeting
meeting call conference: meeting event participant
appointment reservation booking: event appointment booking reservation
reschedule postpone: update move
calendar agenda: calendar event
today tomorrow yesterday: event list recent
free available availability: free available availability slot
access permission: permission access share
see view: list get view permission
pdf docx export: export pdf
cells cell: value range row
spreadsheet sheet excel: sheet spreadsheet range value row
graph draw plot diagram: chart graph
coffee cafe bar pharmacy museum: place
nearby near around close: near location place
directions route way: directions
open closed: open opening hour
video clip: video
movie film show series: title film series
save keep later: save add list bookmark store
community forum: subreddit group
redditor redditors: reddit comment
question ask: question post submit ask
job vacancy position: job
network professional: connect connection
photo picture: post image photo
furniture sofa: listing product marketplace
mom dad friend: message
unread: unread
busy: presence status availability
who: list user member participant permission people
attended attendees joined: participant attendee member
buy purchase order: cart order buy checkout product place
sell: listing sale sell
parcel: package shipment delivery
where: track search status
deliver delivery: delivery order
return: return
customers buyers: customer review
customer client buyer: customer
offer: bid offer
auction: auction bid
pizza burger sushi food meal: dish restaurant menu food
groceries: grocery budget transaction
taxi cab uber: ride fare uber
price cost much expensive cheap: price fare cost quote estimate
apartment flat: home stay room
house houses: home house
night nights: stay guest
flight flights: flight
hotel: property reservation room hotel
table: table
refund: refund payment
bill charge invoice: invoice payment
money cash: payment money balance transaction
spend spent spending: transaction cost budget
earn revenue income: payment balance
bitcoin crypto ethereum: crypto asset price
stocks stock shares: stock share position portfolio quote
sales prospect: lead deal opportunity
support help: ticket support
internal hidden secretly: internal note
rate usage: metric query
hour: time hour
alarm alarming page paging alert: alert alarm monitor
live production online: publish production promote deploy
deploy: deploy deployment publish
domain hostname: domain dns zone
ip dns: dns record address
point: create set update
flush clear empty: purge clear
cdn: cache
pay paid paying: payment cost pay
server machine vm: instance server
select statement: sql query
icon logo: image node export
design mockup: design file
wikipedia encyclopedia: article
programmer programmers developer: programmer code question answer
solve: answer resolve solve
news: story news feed
library dependency: package library
javascript js: javascript package script
docker container: docker image tag
exist available: list
booked: book booked scheduled
old earlier previous: earlier previous old version history
back recover: restore return
fast pace: pace speed activity
ran running jog: activity run
rent mortgage: home rent
website homepage: site page website
sms phone: sms phone number
press tap hit push: click press
button: click button
type enter: fill type
form: fill form field
picture capture: screenshot picture
go visit: navigate open go
request requests call calls api: request network call
slow slowly fast load loading: performance load time
pretend imitate simulate: emulate look
print: pdf print
mouse: pointer mouse hover drag
slider: pointer drag
attach: upload attach file
warn notify tell: watch subscribe notify alert
summarize: read summary article
highlight highlighted: read selection
`
