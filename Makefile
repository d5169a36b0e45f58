# Motorpool. `make` lists the targets.
# Everything a target needs is installed by it, pinned: Go modules by go.sum, the engine's library by
# deploy/embedded/npm/package-lock.json, Apache Kafka by deploy/kafka/pom.xml.

SHELL := bash
.SHELLFLAGS := -eu -o pipefail -c
GO ?= go
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -X main.version=$(VERSION)
# Tests are linked in half the time without what only a debugger reads.
TEST := $(GO) test -vet=off -ldflags=-w
# Those packages whose tests take longest, which begin first: the last one would run alone else.
LONGEST := ./api ./cmd/motorpool ./schemas ./api/desk/fact ./loadtest/...
# What make test leaves to make test-all.
SLOW_TESTS := $(shell grep -v '^\#' slow-tests.txt | paste -sd '|')
NPM_DIR := deploy/embedded/npm
KAFKA_DIR := deploy/kafka
CONSOLE_DIR := api/console
# The guides among them: docs/*.md are pages of the console too.
CONSOLE_FILES := $(shell git ls-files $(CONSOLE_DIR)/web docs deploy/traccar/README.md 2>/dev/null)
# What the description of the interface is made of.
INTERFACE_FILES := $(shell git ls-files '*.go' ':!*_test.go' ':!pipeline' ':!loadtest' ':!cmd' ':!deploy' ':!api/console' 2>/dev/null)
IN_MEMORY := deploy/embedded/in-memory.sh
GOFILES := $(shell git ls-files '*.go' 2>/dev/null)
FUZZTIME ?= 20s
COMPARE_DIR ?= /tmp/motorpool-compare
OPENAPI_DIR ?= /tmp/motorpool-openapi
OPENAPI_TIME ?= 600
# Those tests of the program that are about records on their way through a broker, as far as CI has time; soak runs all.
KAFKA_TESTS := TestFromNothingToATrack|TestReportsOfAnUnknownDeviceComeBack|TestUpKilledInTheMiddleOfAReplayLosesNothing|TestServeReadsWhileKafkaIsAway|TestAnEventReachesItsEndpoint|TestListenGoesOnWhereItStoodAndForwardsSigned
BI_DIR ?= /tmp/motorpool-bi
RECOUNT_ACCOUNT ?= Demo
GENERATORS_DIR ?= /tmp/motorpool-generators
ACME_DIR ?= /tmp/motorpool-acme
PEBBLE := v2.10.1
VULN_DB ?= https://vuln.go.dev
SIGNATURES_DIR ?= /tmp/motorpool-signatures
CONSOLE_PAGES_DIR ?= /tmp/motorpool-console
CONSOLE_MINUTES ?= 10
OAUTH_CLIENTS_DIR ?= /tmp/motorpool-oauth-clients
PAGES_DIR ?= /tmp/motorpool-pages
CHROMIUM ?= chromium

.DEFAULT_GOAL := help
.PHONY: help
help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

##@ use
.PHONY: run
run: build ## install, build and start everything with a demo fleet; Ctrl-C stops it
	@exec bin/motorpool up --demo

.PHONY: deps
deps: $(NPM_DIR)/node_modules/.installed ## install the embedded engine's library

$(NPM_DIR)/node_modules/.installed: $(NPM_DIR)/package-lock.json
	@echo "installing the embedded ClickHouse library (once, about 190 MB)" >&2
	npm ci --prefix $(NPM_DIR) --no-audit --no-fund
	@touch $@

.PHONY: console
console: $(CONSOLE_DIR)/built/index.html ## build what people see in a browser; the program takes it in when it is built

$(CONSOLE_DIR)/web/node_modules/.installed: $(CONSOLE_DIR)/web/package-lock.json
	@echo "installing what the console is built with (once)" >&2
	npm ci --prefix $(CONSOLE_DIR)/web --no-audit --no-fund
	@touch $@

$(CONSOLE_DIR)/web/src/client/schema.d.ts: $(CONSOLE_DIR)/web/node_modules/.installed $(INTERFACE_FILES)
	@mkdir -p $(CONSOLE_DIR)/web/client
	$(GO) run ./cmd/motorpool openapi >$(CONSOLE_DIR)/web/client/openapi.json
	npm run --silent --prefix $(CONSOLE_DIR)/web client

$(CONSOLE_DIR)/built/index.html: $(CONSOLE_DIR)/web/src/client/schema.d.ts $(CONSOLE_FILES)
	npm run --silent --prefix $(CONSOLE_DIR)/web check
	rm -rf $(CONSOLE_DIR)/built/assets
	npm run --silent --prefix $(CONSOLE_DIR)/web build

.PHONY: build
build: deps console ## build bin/motorpool, with the console in it
	$(GO) build -ldflags '$(LDFLAGS)' -o bin/motorpool ./cmd/motorpool

##@ check
.PHONY: test
test: deps console ## lint and six tests of seven, against the real engines: those that take no three seconds each (slow-tests.txt)
	@$(MAKE) --no-print-directory lint
	@$(IN_MEMORY) env MOTORPOOL_REQUIRE_ENGINES=1 $(TEST) -p 3 -timeout 20m -skip '^($(SLOW_TESTS))$$' ./...

.PHONY: test-all
test-all: deps console ## lint and run every test against the real engines and in a real browser, as CI does (half an hour)
	@$(MAKE) --no-print-directory --jobs 2 lint-beside console-tests
	$(IN_MEMORY) env MOTORPOOL_REQUIRE_ENGINES=1 $(TEST) -timeout 30m $(LONGEST) ./...

# The browser's tests wait half of the time.
.PHONY: lint-beside console-tests
lint-beside:
	@nice $(MAKE) --no-print-directory lint
console-tests:
	@$(MAKE) --no-print-directory console-days
	@$(MAKE) --no-print-directory console-some

.PHONY: test-long
test-long: deps ## the tests that CI has no time for: more of the rental half, half a year of the demo, more kills and tracks (an hour)
	$(IN_MEMORY) env MOTORPOOL_REQUIRE_ENGINES=1 $(TEST) -tags long -timeout 60m ./api ./api/desk ./api/desk/person ./api/seed ./cmd/motorpool ./loadtest/crash ./loadtest/recordings ./pipeline ./pipeline/follow ./schemas ./api/desk/fact ./api/desk/cost ./pipeline/webhook ./query/report

.PHONY: test-race
test-race: deps console ## the tests of everything concurrent, with the race detector
	MOTORPOOL_REQUIRE_ENGINES=1 $(GO) test -race -timeout 20m . ./api/... ./query/... ./pipeline/...

.PHONY: test-kafka
test-kafka: deps console $(KAFKA_DIR)/target/.installed ## the system tests against Apache Kafka (KRaft, Java 17)
	@$(MAKE) --no-print-directory --jobs 2 kafka-packages kafka-program

# Each with a Kafka of its own, which its tests wait for most of the time.
.PHONY: kafka-packages kafka-program
kafka-packages:
	$(IN_MEMORY) deploy/kafka/with-kafka.sh env MOTORPOOL_REQUIRE_ENGINES=1 MOTORPOOL_REQUIRE_KAFKA=1 $(TEST) -p 1 -count=1 -timeout 20m ./deploy/kafka ./pipeline/topic ./pipeline/consume
kafka-program:
	$(IN_MEMORY) deploy/kafka/with-kafka.sh env MOTORPOOL_REQUIRE_ENGINES=1 MOTORPOOL_REQUIRE_KAFKA=1 $(TEST) -count=1 -timeout 20m -run '$(KAFKA_TESTS)' ./cmd/motorpool

$(KAFKA_DIR)/target/.installed: $(KAFKA_DIR)/pom.xml
	@echo "installing Apache Kafka (once)" >&2
	mvn -q -B -f $(KAFKA_DIR)/pom.xml dependency:copy-dependencies
	@touch $@

.PHONY: lint
lint: ## gofmt, go vet, staticcheck, the length of lines, no secret in a file, licences of what is built in
	@test -z "$$(gofmt -l $(GOFILES))" || { echo "gofmt would change:"; gofmt -l $(GOFILES); exit 1; }
	$(GO) vet -tags long ./...
	$(GO) tool staticcheck ./...
	$(GO) test -run "TestLinesEnd|TestOnlyWhatCannotBeBroken|TestNoFileHoldsASecret|TestEveryModuleHasALicence" .

.PHONY: notices
notices: ## write the licences of what is built in anew, after a module came or went
	$(GO) test . -count=1 -run TestEveryModuleHasALicence -update-notices

.PHONY: vulnerabilities
vulnerabilities: ## known holes in what is built in, by the database at VULN_DB; fails where it cannot be asked
	@out=$$($(GO) tool govulncheck -db $(VULN_DB) ./... 2>&1) && rc=0 || rc=$$?; echo "$$out"; \
	if [[ "$$out" == *"fetching vulnerabilities"* ]]; then \
	  echo "It could NOT look for known holes: $(VULN_DB) does not answer. VULN_DB=file:///folder takes a copy of it." >&2; exit 2; \
	fi; exit $$rc

.PHONY: acme
acme: ## a certificate by ACME from a real server of it (Pebble), on loopback
	mkdir -p $(ACME_DIR)
	GOBIN=$(ACME_DIR) $(GO) install github.com/letsencrypt/pebble/v2/cmd/pebble@$(PEBBLE) github.com/letsencrypt/pebble/v2/cmd/pebble-challtestsrv@$(PEBBLE)
	$(GO) test ./cmd/motorpool -vet=off -count=1 -v -tags acme -run TestACertificateIsHadByACME -args -tools $(ACME_DIR)

.PHONY: fuzz
fuzz: ## fuzz every decoder for FUZZTIME each (20s)
	@for pkg in $$($(GO) list ./...); do \
	  for name in $$($(GO) test -list '^Fuzz' $$pkg | grep '^Fuzz' || true); do \
	    echo "$$pkg $$name"; $(GO) test -run '^$$' -fuzz "^$$name\$$" -fuzztime $(FUZZTIME) $$pkg; \
	  done; done

.PHONY: bench
bench: build ## throughput, size and latency as ratios measured side by side in one run
	$(GO) test -run '^$$' -bench . -benchmem ./pipeline/codec ./pipeline/fix ./pipeline/trip ./pipeline/geofence ./pipeline/alert ./pipeline/follow ./pipeline
	$(GO) run ./loadtest bench

.PHONY: bench-reports
bench-reports: deps ## each report over ten years of 5,000 vehicles, which are made once and kept in bin/reports (3 GB)
	$(GO) run ./loadtest reports

.PHONY: soak
soak: deps $(KAFKA_DIR)/target/.installed ## the crash tests, also with Apache Kafka and for an hour, all tests of the program with Apache Kafka, and many more orders of arrival
	deploy/kafka/with-kafka.sh env MOTORPOOL_REQUIRE_ENGINES=1 MOTORPOOL_REQUIRE_KAFKA=1 $(GO) test -p 1 -count=1 -timeout 60m ./loadtest/crash ./cmd/motorpool
	MOTORPOOL_REQUIRE_ENGINES=1 MOTORPOOL_SOAK=1h $(GO) test -p 1 -count=1 -timeout 120m ./loadtest/crash ./pipeline/follow

.PHONY: compare
compare: ## trips and geofences against independent computations (Python: movingpandas, shapely)
	python3 -m venv $(COMPARE_DIR)
	$(COMPARE_DIR)/bin/pip install -q -r loadtest/independent/requirements.txt
	$(COMPARE_DIR)/bin/python -W ignore loadtest/independent/trips.py ../shared/data loadtest/independent/trips.json
	$(COMPARE_DIR)/bin/python -W ignore loadtest/independent/thinned.py ../shared/data loadtest/independent/thinned.json
	$(GO) test ./pipeline/trip -count=1 -run TestTripsAgainstAnIndependentComputation -update
	$(GO) test ./pipeline/derive -count=1 -run TestThinnedRecordingsAgainstAnIndependentComputation -update
	$(COMPARE_DIR)/bin/pip install -q -r query/area/check/requirements.txt
	cd query/area/check && $(COMPARE_DIR)/bin/python check.py
	$(GO) test ./query/area -count=1 -run TestShapely
	$(GO) test ./pipeline/geofence -count=1 -tags compare -run TestRecordings -args -python $(COMPARE_DIR)/bin/python
	$(GO) test ./pipeline/route -count=1 -tags compare -run TestArrivalsOnRecordings

.PHONY: recount
recount: build ## every report against an independent recomputation of random histories, of a demo that runs with RECOUNT_URL=http://127.0.0.1:8080 [RECOUNT_ACCOUNT=Demo]; of RECOUNT_REPORTS alone, if they are named
ifdef RECOUNT_URL
	python3 loadtest/independent/books/check.py $(RECOUNT_URL) bin/motorpool --account "$(RECOUNT_ACCOUNT)" $(if $(RECOUNT_REPORTS),--reports $(RECOUNT_REPORTS))
else
	loadtest/openapi/with-motorpool.sh bin/motorpool bash -c 'python3 $(CURDIR)/loadtest/independent/books/check.py "$$MOTORPOOL_URL" $(CURDIR)/bin/motorpool $(if $(RECOUNT_REPORTS),--reports $(RECOUNT_REPORTS))'
endif

.PHONY: browser
browser:
	@command -v $(CHROMIUM) >/dev/null || { \
	  [[ $$EUID = 0 ]] && command -v apt-get >/dev/null || { \
	    echo "There is no $(CHROMIUM) here: install Chromium, or name another by CHROMIUM=PROGRAM." >&2; exit 1; }; \
	  echo "installing Chromium (once)" >&2; \
	  apt-get -qq update && apt-get -qq install -y --no-install-recommends chromium fonts-liberation >/dev/null; }

.PHONY: console-pages
console-pages: build browser ## the console in a real browser, with vehicles that drive; pictures are kept (CHROMIUM)
	$(IN_MEMORY) env CHROMIUM="$$(command -v $(CHROMIUM))" PAGES_DIR=$(CONSOLE_PAGES_DIR) loadtest/openapi/with-motorpool.sh bin/motorpool npm exec --prefix $(CURDIR)/$(CONSOLE_DIR)/web -- playwright test --config $(CURDIR)/$(CONSOLE_DIR)/web/playwright.config.ts $(CONSOLE_TESTS)
	@echo "pictures are in $(CONSOLE_PAGES_DIR)" >&2

.PHONY: console-days
console-days: CONSOLE_TESTS := --grep "(clerk|operator|analyst).s day|two tabs"
console-days: export WITH_DEMO := 1
console-days: console-pages ## tests of the console in the account of the demo: a clerk's, an operator's and an analyst's day, two accounts and two people at once

.PHONY: console-some
console-some: CONSOLE_TESTS := --grep "day|reference is found|samples of each" --grep-invert "(clerk|operator|analyst|workshop).s day|in euros|on a telephone"
console-some: console-pages ## those other tests of the console that CI has time for, in an empty account: days of others, a drive, the reference

.PHONY: console-scale
console-scale: build browser ## the map in a real browser with 10,000 vehicles that drive, for CONSOLE_MINUTES: what its main thread does, what memory it takes (CHROMIUM)
	$(IN_MEMORY) env CHROMIUM="$$(command -v $(CHROMIUM))" PAGES_DIR=$(CONSOLE_PAGES_DIR) CONSOLE_MINUTES=$(CONSOLE_MINUTES) loadtest/openapi/with-motorpool.sh bin/motorpool npm exec --prefix $(CURDIR)/$(CONSOLE_DIR)/web -- playwright test --config $(CURDIR)/$(CONSOLE_DIR)/web/playwright.config.ts scale

.PHONY: bi-attempts
bi-attempts: deps ## what a user for analysts tries in vain, by a real client (Python: clickhouse-connect)
	python3 -m venv $(BI_DIR)
	$(BI_DIR)/bin/pip install -q -r api/bi/client/requirements.txt
	MOTORPOOL_REQUIRE_ENGINES=1 $(GO) test ./api/bi -count=1 -v -tags client -run TestAttemptsOfAClient -args -python $(BI_DIR)/bin/python

.PHONY: fuzz-api
fuzz-api: build ## call every operation of the OpenAPI document with all sorts of input (Python: schemathesis), OPENAPI_TIME seconds
	python3 -m venv $(OPENAPI_DIR)
	$(OPENAPI_DIR)/bin/pip install -q -r loadtest/openapi/requirements.txt
	loadtest/openapi/with-motorpool.sh bin/motorpool $(CURDIR)/loadtest/openapi/fuzz.sh $(OPENAPI_DIR)/bin/schemathesis --max-time $(OPENAPI_TIME)

.PHONY: generators
generators: build ## make clients of the OpenAPI document in TypeScript, Python and Go, without a warning
	mkdir -p $(GENERATORS_DIR)
	cp -r loadtest/openapi/generators/npm $(GENERATORS_DIR)
	npm ci --prefix $(GENERATORS_DIR)/npm --no-audit --no-fund
	python3 -m venv $(GENERATORS_DIR)/python
	$(GENERATORS_DIR)/python/bin/pip install -q -r loadtest/openapi/generators/requirements.txt
	loadtest/openapi/with-motorpool.sh bin/motorpool $(CURDIR)/loadtest/openapi/generators/run.sh $(GENERATORS_DIR)

.PHONY: signatures
signatures: deps ## messages of webhooks are taken by the libraries that receivers use (npm and PyPI: standardwebhooks, svix)
	mkdir -p $(SIGNATURES_DIR)
	cp pipeline/webhook/client/* $(SIGNATURES_DIR)
	npm ci --prefix $(SIGNATURES_DIR) --no-audit --no-fund
	python3 -m venv $(SIGNATURES_DIR)/python
	$(SIGNATURES_DIR)/python/bin/pip install -q -r $(SIGNATURES_DIR)/requirements.txt
	$(GO) test ./pipeline/webhook -count=1 -v -tags client -run TestOtherLibraries -args -tools $(SIGNATURES_DIR)

.PHONY: oauth-clients
oauth-clients: deps ## access tokens are had with the libraries that programs use (npm: oauth4webapi, openid-client; PyPI: Authlib)
	mkdir -p $(OAUTH_CLIENTS_DIR)
	cp api/oauth/client/* $(OAUTH_CLIENTS_DIR)
	npm ci --prefix $(OAUTH_CLIENTS_DIR) --no-audit --no-fund
	python3 -m venv $(OAUTH_CLIENTS_DIR)/python
	$(OAUTH_CLIENTS_DIR)/python/bin/pip install -q -r $(OAUTH_CLIENTS_DIR)/requirements.txt
	MOTORPOOL_REQUIRE_ENGINES=1 deploy/embedded/in-memory.sh $(GO) test ./api -count=1 -v -tags client -run TestOtherLibraries -args -tools $(OAUTH_CLIENTS_DIR)

.PHONY: pages
pages: build browser ## the pages on which people sign in, in a real browser, with passkeys, and looked at by axe-core (Python: playwright; CHROMIUM)
	mkdir -p $(PAGES_DIR)
	cp api/user/browser/* $(PAGES_DIR)
	npm ci --prefix $(PAGES_DIR) --no-audit --no-fund
	python3 -m venv $(PAGES_DIR)/python
	$(PAGES_DIR)/python/bin/pip install -q -r $(PAGES_DIR)/requirements.txt
	loadtest/openapi/with-motorpool.sh bin/motorpool $(PAGES_DIR)/python/bin/python $(PAGES_DIR)/pages.py "$$(command -v $(CHROMIUM))" $(PAGES_DIR)/node_modules/axe-core/axe.min.js $(PAGES_DIR)/pictures

.PHONY: newest
newest: deps ## write schemas/newest.sql anew, of which new databases are made, after a migration came
	MOTORPOOL_REQUIRE_ENGINES=1 $(GO) test ./schemas -count=1 -run TestTheNewestSchema -update-newest

.PHONY: state
state: deps ## keep the newest schema in schemas/states as that of a release, RELEASE=v0.1.0
	MOTORPOOL_REQUIRE_ENGINES=1 $(GO) test ./schemas -count=1 -run TestUpgradeFromEveryRelease -release "$${RELEASE:?such as v0.1.0}"

.PHONY: clean
clean: ## remove what was built (not the data)
	rm -rf bin dist
