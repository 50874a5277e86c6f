# Every command a contributor needs. `make` alone lists them.

export CGO_ENABLED := 0
export GOFLAGS := -trimpath

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
DEADCODE    := golang.org/x/tools/cmd/deadcode@v0.52.0
ACTIONLINT  := github.com/rhysd/actionlint/cmd/actionlint@v1.7.12
WORKSPACES  := plugin-sdk extension adapters e2e packaging
POCKETBASE_VERSION := v0.36.0
POCKETBASE  := e2e/.cache/pocketbase-$(POCKETBASE_VERSION)/base
# How long each test took, for the end of make test.
RESULTS     := test-results
# Libraries that compute and hold nothing between two calls: reading and writing them is not watched for races, which
# takes four fifths of the time of a test that matches much. Locks and goroutines in them still order what calls them.
UNWATCHED   := regexp regexp/syntax github.com/evanw/esbuild/...
# A program with the race detector waits a second when it ends, for races of what still runs. Tests start hundreds of
# programs, so only make nightly lets them wait.
GORACE      := atexit_sleep_ms=0
RACE        := -race -tags lockcheck -vet=off
# A count, not a time: a run that ends by the clock can fail with "context deadline exceeded" in the fuzzing engine itself.
FUZZTIME    ?= 20000x
PREFIX      ?= $(HOME)/.local

.DEFAULT_GOAL := help
.PHONY: help build install up test packages check bench bench-quick bench-all compare nightly trace generate generated conformance extension-e2e e2e clients cross go-check ts-check \
	go-test fleet-sim go-race cli ts-test fuzz soak browser applications peers clean site site-test recording \
	release release-check snapshot homes-check wine-check workflow-check container container-check extension-store extension-managed store-pictures

help: ## list the commands
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

build: generate ## build bin/tabrelay (needs Go, nothing else); VERSION=… sets another version
	go build -ldflags "-s -w $(if $(VERSION),-X tabrelay/relay.Version=$(VERSION))" -o bin/tabrelay ./cmd/tabrelay

install: build ## put bin/tabrelay into PREFIX/bin (~/.local/bin), in one step, because it may run
	@mkdir -p "$(PREFIX)/bin"
	@cp bin/tabrelay "$(PREFIX)/bin/.tabrelay.new" && mv "$(PREFIX)/bin/.tabrelay.new" "$(PREFIX)/bin/tabrelay"
	@case ":$$PATH:" in *":$(PREFIX)/bin:"*) echo "installed: $(PREFIX)/bin/tabrelay";; \
		*) echo "installed: $(PREFIX)/bin/tabrelay; add $(PREFIX)/bin to your PATH";; esac

up: build browser ## build, find or get a browser, and run `tabrelay up`
	bin/tabrelay up

# What the tests need beside Go and Node: the browser, a display for it, and the web applications. No service of the
# machine is used: tests start their own.
APPLICATIONS := mediawiki wordpress roundcube-core tt-rss dokuwiki prometheus
PACKAGES := chromium xvfb $(APPLICATIONS) php-cli php-sqlite3 php-mbstring php-xml php-intl php-apcu \
	wordpress-theme-twentytwentythree mariadb-server-core roundcube-sqlite3 dovecot-imapd dbconfig-no-thanks

packages: ## on Debian, install what the tests need and this machine lacks
	@if [ ! -e /etc/debian_version ]; then \
		echo "not Debian: install Chromium yourself; tests of these web applications are left out: $(APPLICATIONS)"; \
		exit 0; fi; \
	missing=""; for package in $(PACKAGES); do \
		dpkg-query -W -f='$${Status}' $$package 2>/dev/null | grep -q 'ok installed' || missing="$$missing $$package"; done; \
	if [ -z "$$missing" ]; then exit 0; fi; \
	if [ "$$(id -u)" != 0 ]; then \
		echo "error: the tests need Debian's packages$$missing" >&2; \
		echo "hint: sudo make packages" >&2; exit 1; fi; \
	echo "installing$$missing"; \
	apt-get update -q && DEBIAN_FRONTEND=noninteractive apt-get install -y -q --no-install-recommends $$missing

# What keeps both cores busy runs alone; what mostly waits for other programs runs beside something else.
test: packages ## everything that guards a change, in about half an hour on two cores; on Debian it installs what is missing
	@rm -rf $(RESULTS)
	@$(MAKE) --no-print-directory go-check go-race
	@$(MAKE) --no-print-directory -j2 --output-sync=target ts-check ts-test cli conformance extension-e2e
	@$(MAKE) --no-print-directory e2e
	@node --import tsx e2e/report/slowest.ts
	@echo "make test: all passed"

check: go-check ts-check go-test ts-test ## the fast half: formats, lints, types, unit tests
	@echo "make check: all passed"

nightly: cross fuzz soak fleet-sim workflow-check release-check wine-check ## what takes long: other systems, fuzzing, soaks, a fleet under faults, a release built twice, capabilities left out, everything with the race detector
	@if [ "$$(id -u)" = 0 ] && command -v debootstrap >/dev/null; then $(MAKE) --no-print-directory homes-check; \
		else echo "left out: homes-check, which needs root and Debian's debootstrap"; fi
	go test -timeout 120m -run TestLeftOut ./relay -args -everything
	CGO_ENABLED=1 go test $(RACE) -timeout 40m $$(go list ./... | grep -v '/cmd/tabrelay$$') # libraries, too
	CGO_ENABLED=1 go test -race -vet=off -timeout 40m ./cmd/tabrelay
	@echo "make nightly: all passed"

bench: build ## the relay beside a bare one, in a minute, without terminal or network: compared with the run that was kept last, and kept in its place (docs/speed.md)
	bin/tabrelay bench --last e2e/bench/speed.json --keep
	go test ./relay/program/bench -run TestPage -update

bench-quick: build ## the same with fewer calls, and nothing kept
	bin/tabrelay bench --calls 5000 --starts 5 --last e2e/bench/speed.json

bench-all: bench node_modules/.package-lock.json peers applications ## that, plugin builds, the whole path in Chromium, and errands beside other servers
	node --import tsx e2e/bench/build.ts
	node --import tsx e2e/bench/whole-path.ts
	node --import tsx e2e/bench/waits.ts
	BUSY=6 node --import tsx e2e/bench/waits.ts
	node --import tsx e2e/bench/delegation.ts
	node --import tsx e2e/bench/errands.ts
	node --import tsx e2e/bench/looks.ts
	node --import tsx e2e/bench/browser.ts
	node --import tsx e2e/bench/questions.ts

compare: build node_modules/.package-lock.json peers applications ## errands and looks beside other servers, by scripts and from a shell, in half an hour: writes docs/browser-comparison.md (RUNS=3: medians)
	node --import tsx e2e/bench/compare.ts --runs $(or $(RUNS),1)

trace: generate node_modules/.package-lock.json ## the functions that one call executes (LIST=1: by name)
	LIST=$(LIST) node --import tsx e2e/bench/trace-call.ts

generate: ## make the extension bundle and the shipped plugins, which are not committed
	go generate ./extension ./adapters

generated: node_modules/.package-lock.json ## make the committed generated files anew (error table, frame types, config schema)
	go generate ./relay/...
	npm run generate

conformance: node_modules/.package-lock.json e2e/conformance/node_modules/.package-lock.json ## the official conformance suites of MCP, TIMES in a row (1)
	node --import tsx --test e2e/conformance/*.test.ts
	node --import tsx e2e/conformance/run.ts --times $(or $(TIMES),1)

extension-e2e: generate node_modules/.package-lock.json | $(RESULTS) ## one browser for each file: the extension alone in a real Chromium, with a small relay
	node --import tsx --test --test-concurrency=2 $(call report,extension-e2e) extension/test/browser/*.browser.ts || \
		{ [ "$$CI" = true ] && node --import tsx e2e/report/again.ts $(RESULTS) extension-e2e extension/test/browser/*.browser.ts; }

e2e: build node_modules/.package-lock.json e2e/conformance/node_modules/.package-lock.json e2e/outside/node_modules/.package-lock.json applications ## the whole path in a real Chromium, and clients not written here
	cd e2e && npx playwright test

clients: build node_modules/.package-lock.json e2e/conformance/node_modules/.package-lock.json e2e/outside/clients/node_modules/.package-lock.json ## Claude Code, Codex, Gemini CLI and opencode themselves (1.6 GB, so not part of make test)
	cd e2e && npx playwright test outside-clients outside-skills outside-workers
	go test -count=1 -run TestOpencodeAsWorker ./relay # as an agent that acts for a client

go-check: generate
	@test -z "$$(gofmt -l adapters cmd e2e/outside/testdata/go extension packaging/validate relay)" || { gofmt -l adapters cmd e2e/outside/testdata/go extension packaging/validate relay; echo "run gofmt -w on these files"; exit 1; }
	go vet ./...
	cd e2e/outside/testdata/go && go vet ./...
	go run $(STATICCHECK) ./...
	@dead=$$(go run $(DEADCODE) -test ./...) || exit 1; \
		if [ -n "$$dead" ]; then echo "$$dead"; echo "remove these functions: nothing calls them"; exit 1; fi

cross: generate ## the binary compiles for macOS and Windows too
	@set -e; for system in darwin/arm64 windows/amd64; do echo "build $$system"; \
		GOOS=$${system%/*} GOARCH=$${system#*/} go build -o /dev/null ./cmd/tabrelay; done

ts-check: node_modules/.package-lock.json
	@set -e; for workspace in $(WORKSPACES); do echo "tsc $$workspace"; npx tsc -p $$workspace; done
	npx biome check --error-on-warnings
	npx knip

go-test: generate
	go test ./...

go-race: generate node_modules/.package-lock.json | $(RESULTS)
	@GORACE=$(GORACE) CGO_ENABLED=1 node --import tsx e2e/report/go.ts $(RESULTS)/go.json -- \
		$(RACE) $(UNWATCHED:%=-gcflags=%=-race=false) -timeout 20m $$(go list ./... | grep -v '/cmd/tabrelay$$')

# The sessions on the command line start a program for each line: with the race detector they take four times as long.
# The lines after it are for tests that leave themselves out with it, or most of their cases (go:build !race).
cli: generate node_modules/.package-lock.json | $(RESULTS)
	@node --import tsx e2e/report/go.ts $(RESULTS)/cli.json -- -vet=off -timeout 20m ./cmd/tabrelay
	@go test -vet=off -run 'TestLoading|TestCachedTools|TestUnpackIsLimited|TestMemoryEndsAScript|TestValuesThatNestTooDeep' \
		./relay/plugin/build ./relay/plugin/install ./relay/capability/script
	@go test -vet=off -run '^(TestForgedRequests|TestForgedRequestsFromElsewhere|TestRefusalsTellNothing)$$' ./relay

# Reporters of node's test runner: for people, and for the end of make test.
report = --test-reporter=spec --test-reporter-destination=stdout --test-reporter=junit --test-reporter-destination=$(RESULTS)/$(1).xml

$(RESULTS):
	@mkdir -p $@

UNIT_TESTS = $$(find plugin-sdk extension adapters packaging -name '*.test.ts' -not -path '*/node_modules/*' | sort)
ts-test: generate node_modules/.package-lock.json | $(RESULTS)
	node --import tsx --test $(call report,ts-test) $(UNIT_TESTS) || \
		{ [ "$$CI" = true ] && node --import tsx e2e/report/again.ts $(RESULTS) ts-test $(UNIT_TESTS); }
	export TSX_TSCONFIG_PATH=extension/tsconfig.json; \
	node --import tsx --test $(call report,ts-test-panel) extension/test/*.test.tsx || \
		{ [ "$$CI" = true ] && node --import tsx e2e/report/again.ts $(RESULTS) ts-test-panel extension/test/*.test.tsx; }

soak: build node_modules/.package-lock.json ## 20 000 writes under faults, and ten minutes of mixed calls
	cd e2e && TABRELAY_SOAK=20000 E2E_MIXED_MINUTES=10 npx playwright test write-safety sharing

fleet-sim: build ## 20 000 writes and 200 faults in a fleet of processes on loopback, and the figures of docs/fleet.md (CALLS=, FAULTS=, SEED=)
	TABRELAY_PROGRAM=$(CURDIR)/bin/tabrelay go test -count=1 -v -timeout 40m ./relay/capability/fleet/sim -args \
		-calls $(or $(CALLS),20000) -faults $(or $(FAULTS),200) -seed $(or $(SEED),1) -nodes 5 -gateways 3 -agents 24 \
		-scale 1 -slowest 5s -longest 20m -figures 2000

fuzz: generate ## each fuzz target for FUZZTIME inputs (20000x); its seeds run in every go test
	@set -e; for package in $$(go list ./...); do \
		for target in $$(go test -list '^Fuzz' $$package | grep '^Fuzz' || true); do \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$package; \
		done; \
	done

# A person with a display uses the Chrome they have; everybody else needs a Chromium that tabrelay may start itself.
browser:
	@if [ -n "$$DISPLAY$$WAYLAND_DISPLAY" ] || [ "$$(uname)" != Linux ]; then exit 0; fi; \
	for name in $$CHROMIUM chromium chromium-browser chrome; do command -v "$$name" >/dev/null && exit 0; done; \
	if command -v apt-get >/dev/null && [ "$$(id -u)" = 0 ]; then \
		apt-get update -q && apt-get install -y -q --no-install-recommends chromium; \
	else \
		echo "error: there is no display and no Chromium" >&2; \
		echo "hint: install Chromium (Debian: sudo apt-get install chromium), or set CHROMIUM to its path" >&2; \
		exit 1; \
	fi

node_modules/.package-lock.json: package-lock.json
	npm ci --no-audit --no-fund
	@touch $@

# Outside the workspaces: it brings a Node of its own, which must not become the node of every npm script.
e2e/outside/node_modules/.package-lock.json: e2e/outside/package-lock.json
	cd e2e/outside && npm ci --no-audit --no-fund --ignore-scripts
	@touch $@

# Go's checksum database vouches for the first, the lock file for the second.
applications: $(POCKETBASE) e2e/outside/node-red/node_modules/.package-lock.json ## the web applications of the e2e tests that Debian does not package

$(POCKETBASE):
	GOBIN=$(abspath $(@D)) go install github.com/pocketbase/pocketbase/examples/base@$(POCKETBASE_VERSION)

e2e/outside/node-red/node_modules/.package-lock.json: e2e/outside/node-red/package-lock.json
	cd e2e/outside/node-red && npm ci --no-audit --no-fund --ignore-scripts
	@touch $@

peers: e2e/outside/peers/node_modules/.package-lock.json ## other servers with browser tools, for the comparison of make bench-all

e2e/outside/peers/node_modules/.package-lock.json: e2e/outside/peers/package-lock.json
	cd e2e/outside/peers && npm ci --no-audit --no-fund --ignore-scripts
	@touch $@

# No lock file: npm leaves some of opencode's optional packages out of it, and refuses it then. The versions are exact.
e2e/outside/clients/node_modules/.package-lock.json: e2e/outside/clients/package.json
	cd e2e/outside/clients && npm install --no-package-lock --no-audit --no-fund --ignore-scripts
	@touch $@

e2e/conformance/node_modules/.package-lock.json: e2e/conformance/package-lock.json
	cd e2e/conformance && npm ci --no-audit --no-fund
	@touch $@

site: docs/site/node_modules/.package-lock.json ## the documentation as a site, in docs/site/dist (BASE=/path/ where it is not at the root)
	cd docs/site && BASE=$(BASE) npm run --silent build

site-test: site node_modules/.package-lock.json ## read the built site in a real Chromium: search, keyboard, light and dark, nothing from elsewhere
	cd e2e && npx playwright test --config site

STORE := packaging/dist/store

extension-store: generate ## the extension for the stores of Chrome and Edge: zips, and the same unpacked, in packaging/dist/store
	cd extension && go run ./bundle -store ../$(STORE)/unpacked
	go run ./packaging/store -folder $(STORE)/unpacked -time $$(git log -1 --format=%ct) \
		$(STORE)/tabrelay-chrome.zip $(STORE)/tabrelay-edge.zip

extension-managed: extension-store node_modules/.package-lock.json ## what a browser's policy installs the extension from: KEY=FILE.pem URL=https://HOST/FOLDER, into packaging/dist/managed; needs Chromium
	node --import tsx packaging/managed.ts --key "$(KEY)" --url "$(URL)"

store-pictures: build extension-store node_modules/.package-lock.json ## what stores ask for besides: five pictures, the tile and the logo, in packaging/dist/store/pictures
	STORE_EDITION=$(STORE)/unpacked node --import tsx e2e/recording/store-pictures.ts

RELEASE := node_modules/.package-lock.json packaging/node_modules/.package-lock.json

snapshot: $(RELEASE) ## what a release of what is committed would have, in packaging/dist; nothing is uploaded
	node --import tsx packaging/snapshot.ts

# Every program is compiled twice, the second time without a build cache.
release-check: generate $(RELEASE) ## build a release twice, compare every file, install and run what was built
	node --import tsx packaging/snapshot.ts --twice
	node --import tsx --test packaging/test/*.release.ts
	RELEASED_PROGRAM=$(CURDIR)/packaging/dist/tabrelay_linux_amd64_v1/tabrelay go test -count=1 -run TestScript/upgrade ./cmd/tabrelay

HOMES := e2e/.cache/homes

# A network of its own, so that nothing is fetched and the usual ports are free.
homes-check: $(HOMES)/whole extension-store ## people who have nothing, each in a Debian of their own, go from the files of make snapshot to the first call; needs root and debootstrap
	@test -e packaging/dist/checksums.txt || { echo "error: there is no release in packaging/dist" >&2; \
		echo "hint: make snapshot, or make release-check" >&2; exit 1; }
	cd e2e && unshare --net sh -c 'ip link set lo up && exec npx playwright test --config homes'

$(HOMES)/whole: e2e/homes/debian.sh
	unshare --mount sh e2e/homes/debian.sh $(HOMES)

container: generate $(RELEASE) ## build a container's image with podman; BASE names another image with Debian
	node --import tsx packaging/container.ts

container-check: generate $(RELEASE) ## build it, start it, make a call, kill it, start it again; needs jq; ARGS for podman run
	node --import tsx packaging/container.ts --check

release: $(RELEASE) ## for the release workflow: build and upload the release of the tag that is checked out
	node --import tsx packaging/release.ts

wine-check: generate ## run the program for Windows under Wine (Debian's packages wine, wine64 and binutils-mingw-w64-x86-64)
	go vet -tags wine ./cmd/tabrelay
	go test -tags wine -vet=off -count=1 -timeout 20m -run UnderWine ./cmd/tabrelay

workflow-check: ## the workflows in .github
	go run $(ACTIONLINT)

packaging/node_modules/.package-lock.json: packaging/package-lock.json
	cd packaging && npm ci --no-audit --no-fund --ignore-scripts
	@touch $@

recording: build node_modules/.package-lock.json ## record the first errand of the README anew, in a real Chromium
	node --import tsx e2e/recording/first-errand.ts

docs/site/node_modules/.package-lock.json: docs/site/package-lock.json
	cd docs/site && npm ci --no-audit --no-fund --ignore-scripts
	@touch $@

clean: ## remove what the build made
	rm -rf bin $(RESULTS) packaging/dist packaging/generated docs/site/dist e2e/test-results e2e/playwright-report
	find adapters/dist extension/dist -mindepth 1 -not -name .gitkeep -delete
