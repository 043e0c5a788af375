# Every target does one thing and runs here as it runs in CI.
# `make help` lists them.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.ONESHELL:
.DEFAULT_GOAL := build

export CGO_ENABLED := 1

GO       ?= go
BIN      := bin/tiergrid
DATA     ?= ./data
RESP     ?= 127.0.0.1:6379
HTTP     ?= 127.0.0.1:11222
FUZZTIME ?= 5s
ROUNDS   ?= 20
BENCH    ?=

# A source archive has no .git and builds all the same; it then calls itself dev.
VERSION := $(shell git describe --tags --always --dirty 2>/dev/null)
LDFLAGS := $(if $(VERSION),-X main.version=$(VERSION))

.PHONY: help build run test unit race lint vuln fuzz bench e2e soak clean

help: ## list the targets
	@grep -hE '^[a-z0-9]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

build: ## build bin/tiergrid
	$(GO) build -trimpath -ldflags '$(LDFLAGS)' -o $(BIN) ./cmd/tiergrid

run: build ## build, then serve on loopback with the data in DATA (./data)
	@resp='$(RESP)'; http='$(HTTP)'
	echo
	echo "Redis clients: redis-cli -h $${resp%:*} -p $${resp##*:}"
	echo "Health:        curl http://$$http/health/ready"
	echo "Data:          $(DATA)    Stop: Ctrl-C"
	echo
	exec $(BIN) server --data '$(DATA)' --resp-bind "$$resp" --http-bind "$$http"

test: ## all that can be judged right or wrong, with the time of each step
	@scripts/deps --check
	scripts/steps lint unit race e2e

unit: ## unit tests, those against a real redis-server included
	@scripts/gotest -timeout 10m

race: ## the same tests under the race detector
	@scripts/gotest -race -short -timeout 15m

lint: ## gofmt, go vet, staticcheck
	@bad=$$(gofmt -l .)
	[[ -z $$bad ]] || { echo "gofmt would change:"; echo "$$bad"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...

vuln: ## known vulnerabilities; asks an online database
	$(GO) tool govulncheck ./...

fuzz: ## every fuzz target for FUZZTIME
	@scripts/fuzz $(FUZZTIME)

bench: build ## speed and memory next to redis-server; BENCH=--quick is shorter
	$(BIN) loadtest bench --tiergrid $(BIN) $(BENCH)

e2e: ## the built binary judged from outside
	$(GO) test -count=1 -timeout 10m ./cmd/e2e/...

soak: ## the end-to-end tests ROUNDS times over
	$(GO) test -count=$(ROUNDS) -timeout 24h ./cmd/e2e/...

clean: ## remove what the build made; never touches DATA
	rm -rf bin
