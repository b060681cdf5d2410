# Plain `make` prints this help: every target whose line carries "##".
GO      ?= go
TAGS    := sqlite_fts5
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
LDFLAGS := -s -w -X main.version=$(VERSION)
DATA    ?= data
PREFIX  ?= /usr/local
DESTDIR ?=
FUZZTIME ?= 20s
BOARD   ?= rpi3-64
PORT    ?= 8080

.DEFAULT_GOAL := help
.PHONY: buildroot-image buildroot-check image image-lock
.PHONY: help setup build run test bench bench-memory install lint fmt fuzz boot e2e bench-image powercut

help: ## print this help
	@awk -F':.*## ' '/^[a-z][a-z0-9-]*:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## bring what this computer lacks: packages, speech models
	@tools/setup

build: ## bin/homed and bin/homectl (static), bin/homed-agent
	@mkdir -p bin
	CGO_ENABLED=0 $(GO) build -ldflags '$(LDFLAGS)' -o bin/homed ./cmd/homed
	CGO_ENABLED=0 $(GO) build -ldflags '$(LDFLAGS)' -o bin/homectl ./cmd/homectl
	$(GO) build -tags '$(TAGS)' -ldflags '$(LDFLAGS)' -o bin/homed-agent ./cmd/homed-agent

run: setup build ## start HomeAgent here: page at http://localhost:8080, data in ./data (DATA=folder)
	@exec bin/homed -data '$(DATA)'

test: setup lint ## everything that can be tested on this computer, with the race detector; names what was skipped
	@exec $(GO) run ./tools/gotest/run -race -tags '$(TAGS)' -timeout 9m ./...

boot: ## boot the image in QEMU, built if needed: page at http://localhost:8080 (PORT=), Ctrl-C ends; FRESH=1 forgets its data
	@exec $(GO) run ./tools/emulator/boot -board '$(BOARD)' -page '$(PORT)' $(if $(FRESH),-fresh)

e2e: ## build the image, boot it in QEMU and test it from outside
	@tools/setup image
	@exec $(GO) run ./tools/e2e/run $(E2E)

bench-image: ## boot the image in QEMU and measure it: time to the page, memory, wear; prints one JSON object a line
	@exec $(GO) run -tags '$(TAGS)' ./tools/imagebench

bench-memory: ## measure what memory finds again: DATA=folder of docs.jsonl, queries.jsonl, qrels.tsv; WITHOUT=parts, SCALE=10k,100k,1m
	@exec $(GO) run -tags '$(TAGS)' ./tools/memorybench $(if $(filter-out file,$(origin DATA)),-data '$(DATA)') \
		$(if $(WITHOUT),-without '$(WITHOUT)') $(if $(SCALE),-scale '$(SCALE)') $(if $(DOCUMENTS),-documents '$(DOCUMENTS)')

powercut: ## cut the power of emulated houses 50 times for real and 950 times in a recorded run; needs root, takes an hour
	@exec $(GO) run -tags '$(TAGS)' ./tools/powercut

bench: setup build ## measure the promises; prints one JSON object a line
	@$(GO) run -tags '$(TAGS)' ./tools/bench -bin bin

install: setup build ## binaries, models, defaults and a systemd unit below $(DESTDIR)$(PREFIX) and $(DESTDIR)/etc
	install -D -m 0755 bin/homed '$(DESTDIR)$(PREFIX)/bin/homed'
	install -D -m 0755 bin/homed-agent '$(DESTDIR)$(PREFIX)/bin/homed-agent'
	install -D -m 0755 bin/homectl '$(DESTDIR)$(PREFIX)/bin/homectl'
	test -e '$(DESTDIR)/etc/homeagent/config.yaml' || install -D -m 0640 overlay/etc/homeagent/config.yaml '$(DESTDIR)/etc/homeagent/config.yaml'
	mkdir -p '$(DESTDIR)/usr/share/homeagent/models' '$(DESTDIR)/usr/lib/systemd/system'
	cp -R "$${HOMEAGENT_MODELS:-$${XDG_CACHE_HOME:-$$HOME/.cache}/homeagent/models}/." '$(DESTDIR)/usr/share/homeagent/models/'
	cp -R overlay/usr/share/homeagent/licences '$(DESTDIR)/usr/share/homeagent/'
	sed 's|@PREFIX@|$(PREFIX)|g' tools/install/homeagent.service > '$(DESTDIR)/usr/lib/systemd/system/homeagent.service'
	install -D -m 0644 tools/install/homeagent.sysusers '$(DESTDIR)/usr/lib/sysusers.d/homeagent.conf'
	@echo 'Now: systemd-sysusers && systemctl daemon-reload && systemctl enable --now homeagent; the code for the first visit: journalctl -u homeagent'

lint: ## format and vet
	@unformatted=$$(git ls-files -z '*.go' | xargs -0r gofmt -l); [ -z "$$unformatted" ] || { echo "not formatted, run make fmt: $$unformatted"; exit 1; }
	$(GO) vet -tags '$(TAGS)' ./...
	$(GO) vet -tags '$(TAGS) e2e' ./tools/e2e/...

fmt: ## format all Go files
	git ls-files -z '*.go' | xargs -0r gofmt -w

fuzz: ## run every fuzz test for FUZZTIME (20s) each
	@tools/fuzz '$(FUZZTIME)'

buildroot-image: ## the product's image by Buildroot: BOARD=rpi3-64|zero2w|rpi4-64|rpi5|virt BUILDROOT=checkout; hours
	@tools/buildroot/image '$(BOARD)' '$(BUILDROOT)'

buildroot-check: ## let a Buildroot checkout resolve every board: BUILDROOT=checkout; builds nothing
	@tools/buildroot/check '$(BUILDROOT)'

image: ## assemble the card's image from Debian's packages (BOARD=rpi3-64, zero2w, rpi4-64), in out/
	@tools/setup image
	$(GO) run ./tools/image -board '$(or $(BOARD),rpi3-64)' -version '$(VERSION)'

image-lock: ## pin the newest versions of Debian's packages for the image
	$(GO) run ./tools/image -lock
