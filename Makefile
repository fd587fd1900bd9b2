# All that a developer does. Needs Go, git, make and a shell; `make install` kubectl too.
.DEFAULT_GOAL := help
MODULE  := github.com/nginx-stream/tcpingress
VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null || echo dev)
IMAGE   ?= ghcr.io/nginx-stream/tcpingress
LDFLAGS := -s -w -X $(MODULE)/cli.version=$(VERSION)
LINT    := $(CURDIR)/.cache/bin/golangci-lint
# The race detector needs a C compiler; without one the tests run without it.
RACE    := $(if $(filter 1,$(shell go env CGO_ENABLED)),-race)
# Several connections call a hook at a time.
RACED   := ./hooks/...
# Packages whose tests rewrite their goldens with -update.
GOLDEN   = $(shell grep -rl --include='*_test.go' '"update", false' . | xargs -r -n1 dirname | sort -u)
FUZZTIME ?= 30s

.PHONY: help
help: ## Print this list
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## Build bin/tcpingress, a static binary
	CGO_ENABLED=0 go build -trimpath -ldflags '$(LDFLAGS)' -o bin/tcpingress .

.PHONY: demo
demo: ## Show it on a real API server, built once into .cache; KEEP=1 leaves it running
	@cd test/e2e && go build -o ../../.cache/bin/demo ./demo && exec ../../.cache/bin/demo

.PHONY: run
run: ## Show what the hooks answer to an example, without a cluster
	@go run ./test/run

.PHONY: test
test: test-unit test-race lint test-cluster test-e2e ## Run all that CI runs

.PHONY: test-unit
test-unit: ## Test everything that needs no cluster, goldens included
	go test ./...

.PHONY: test-race
test-race: ## Test what runs at the same time with the race detector
	go test $(RACE) -vet=off -short $(RACED)

.PHONY: test-cluster
test-cluster: ## Test against a real API server, built once into .cache
	cd test/cluster && go run ./cmd/assets && go test ./...

.PHONY: test-e2e
test-e2e: ## Test the whole on a real API server; METACONTROLLER_BIN chooses the real applier
	cd test/cluster && go run ./cmd/assets
	cd test/e2e && go test ./... -timeout 15m

.PHONY: generate
generate: ## Write the deepcopy functions and the CustomResourceDefinitions
	go tool controller-gen object paths=./crd/...
	go tool controller-gen crd paths=./crd/v1/... output:crd:artifacts:config=crd/generated
	go tool controller-gen crd paths=./crd/podset/... output:crd:artifacts:config=crd/podset/generated

.PHONY: golden
golden: ## Rewrite the goldens
	go test $(GOLDEN) -update

.PHONY: verify
verify: generate golden ## Check that what is generated and the goldens are committed
	@git diff --exit-code --stat || { echo 'make verify: commit what `make generate golden` changed' >&2; exit 1; }
	@test -z "$$(git status --porcelain)" || { git status --short; echo 'make verify: the tree is not clean' >&2; exit 1; }

.PHONY: lint
lint: $(LINT) ## Check style, and the arrows between packages
	$(LINT) run ./...

$(LINT): tools/go.mod
	cd tools && go build -o $@ github.com/golangci/golangci-lint/v2/cmd/golangci-lint

.PHONY: fuzz
fuzz: ## Run every fuzz target for FUZZTIME
	@set -e; for dir in $$(grep -rl --include='*_test.go' '^func Fuzz' . | xargs -r -n1 dirname | sort -u); do \
		for target in $$(go test -list '^Fuzz' $$dir | grep '^Fuzz'); do \
			go test -run '^$$' -fuzz "^$$target\$$" -fuzztime $(FUZZTIME) $$dir; done; done

.PHONY: bench
bench: ## Run the benchmarks
	go test -run '^$$' -bench . -benchmem ./...

.PHONY: bench-e2e
bench-e2e: ## Measure the whole on a real API server; METACONTROLLER_BIN as above
	cd test/e2e && go run ./bench

.PHONY: bench-nginx
bench-nginx: ## Measure what nginx forwards with what we render, beside one by hand and HAProxy
	go run ./test/nginx/bench

.PHONY: image
image: ## Build and push the image for amd64 and arm64
	docker buildx build --platform linux/amd64,linux/arm64 --build-arg VERSION=$(VERSION) \
		--build-arg REVISION=$(shell git rev-parse HEAD) --tag $(IMAGE):$(VERSION) --push .

.PHONY: install
install: ## Apply the manifests to the cluster of your current context
	kubectl apply -k manifests

.PHONY: clean
clean: ## Remove what was built, not the Go caches
	rm -rf bin dist .cache
