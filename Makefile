# Every command a contributor needs. `make` alone lists them.

export GOEXPERIMENT := jsonv2

STATICCHECK := honnef.co/go/tools/cmd/staticcheck@v0.8.2
WORKSPACES  := plugin-sdk extension adapters e2e
POCKETBASE_VERSION := v0.36.0
POCKETBASE  := e2e/.cache/pocketbase-$(POCKETBASE_VERSION)/base
# A count, not a time: a run that ends by the clock can fail with "context deadline exceeded" in the fuzzing engine itself.
FUZZTIME    ?= 2000x

.DEFAULT_GOAL := help
.PHONY: help build up test check bench trace generate generated conformance extension-e2e e2e clients cross go-check ts-check go-test go-race ts-test extension-test fuzz browser applications clean

help: ## list the commands
	@sed -n 's/^\([a-z0-9-]*\):.*## \(.*\)/  make \1|\2/p' $(MAKEFILE_LIST) | column -t -s '|'

build: generate ## build bin/tabrelay (needs Go, nothing else)
	CGO_ENABLED=0 go build -trimpath -ldflags "-s -w" -o bin/tabrelay ./cmd/tabrelay

up: build browser ## build, find or get a browser, and run `tabrelay up`
	bin/tabrelay up

test: go-check cross ts-check go-race ts-test fuzz conformance extension-e2e e2e ## everything there is
	@echo "make test: all passed"

check: go-check ts-check go-test ts-test ## the fast half: formats, lints, types, unit tests
	@echo "make check: all passed"

bench: build node_modules/.package-lock.json ## the numbers of this machine: the relay alone, plugin builds, and the whole path in Chromium
	bin/tabrelay bench
	node --import tsx e2e/bench/build.ts
	node --import tsx e2e/bench/whole-path.ts

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

extension-e2e: generate node_modules/.package-lock.json ## the extension alone in a real Chromium, with a small relay
	node --import tsx --test --test-concurrency=1 extension/test/browser/*.browser.ts

e2e: build node_modules/.package-lock.json e2e/conformance/node_modules/.package-lock.json e2e/outside/node_modules/.package-lock.json applications ## the whole path in a real Chromium, and clients not written here
	cd e2e && npx playwright test

clients: build node_modules/.package-lock.json e2e/outside/clients/node_modules/.package-lock.json ## Claude Code, Codex, Gemini CLI and opencode themselves (1.1 GB, so not part of make test)
	cd e2e && npx playwright test outside-clients

go-check: generate
	@test -z "$$(gofmt -l adapters cmd e2e/outside/go extension relay)" || { gofmt -l adapters cmd e2e/outside/go extension relay; echo "run gofmt -w on these files"; exit 1; }
	go vet ./...
	cd e2e/outside/go && go vet ./...
	go run $(STATICCHECK) ./...

cross: generate ## the binary compiles for macOS and Windows too
	@set -e; for system in darwin/arm64 windows/amd64; do echo "build $$system"; \
		GOOS=$${system%/*} GOARCH=$${system#*/} CGO_ENABLED=0 go build -o /dev/null ./cmd/tabrelay; done

ts-check: node_modules/.package-lock.json
	@set -e; for workspace in $(WORKSPACES); do echo "tsc $$workspace"; npx tsc -p $$workspace; done
	npx biome check --error-on-warnings

go-test: generate
	go test ./...

go-race: generate
	go test -race -timeout 20m ./...

ts-test: node_modules/.package-lock.json
	node --import tsx --test $$(find plugin-sdk extension adapters -name '*.test.ts' -not -path '*/node_modules/*' | sort)

# The extension against a relay of its own, in a real Chromium: one browser for each file.
extension-test: generate node_modules/.package-lock.json
	node --import tsx --test --test-concurrency=1 extension/test/browser/*.browser.ts

fuzz: generate ## each fuzz target for FUZZTIME inputs (2000x; more of them: make fuzz FUZZTIME=200000x)
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
	GOEXPERIMENT= CGO_ENABLED=0 GOBIN=$(abspath $(@D)) go install github.com/pocketbase/pocketbase/examples/base@$(POCKETBASE_VERSION)

e2e/outside/node-red/node_modules/.package-lock.json: e2e/outside/node-red/package-lock.json
	cd e2e/outside/node-red && npm ci --no-audit --no-fund --ignore-scripts
	@touch $@

# No lock file: npm leaves some of opencode's optional packages out of it, and refuses it then. The versions are exact.
e2e/outside/clients/node_modules/.package-lock.json: e2e/outside/clients/package.json
	cd e2e/outside/clients && npm install --no-package-lock --no-audit --no-fund --ignore-scripts
	@touch $@

e2e/conformance/node_modules/.package-lock.json: e2e/conformance/package-lock.json
	cd e2e/conformance && npm ci --no-audit --no-fund
	@touch $@

clean: ## remove what the build made
	rm -rf bin e2e/test-results e2e/playwright-report
	find adapters/dist extension/dist -mindepth 1 -not -name .gitkeep -delete
