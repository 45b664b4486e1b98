# Needs Go alone; every other tool is fetched by `go run` at a pinned version.

GO       ?= go
FUZZTIME ?= 10s
SCENARIO ?= incast-8to1
GOLANGCI := github.com/golangci/golangci-lint/v2/cmd/golangci-lint@v2.15.0

.DEFAULT_GOAL := help

.PHONY: help
help: ## say what there is
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-12s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

.PHONY: build
build: ## bin/rdmasim
	$(GO) build -o bin/rdmasim ./cmd/rdmasim

.PHONY: demo
demo: build ## run a scenario of the library and draw its report
	./bin/rdmasim run $(SCENARIO)

# A test is long when it says so itself: it calls testing.Short() and skips.
.PHONY: test
test: ## all tests but the long ones
	$(GO) test -short $(TESTFLAGS) ./...

.PHONY: test-full
test-full: ## all tests, and the whole library by rdmasim test
	$(GO) test -timeout 60m $(TESTFLAGS) ./...
	$(MAKE) --no-print-directory library-full

.PHONY: library
library: ## rdmasim test on the scenarios of the library that do not say long: true
	$(GO) run ./cmd/rdmasim test --short

.PHONY: library-full
library-full: ## rdmasim test on all of the library, each also without what it is about
	$(GO) run ./cmd/rdmasim test --without

.PHONY: test-slurm
test-slurm: ## a sweep through a real Slurm, whose node is killed; as root on Debian, installs it
	RDMASIM_TEST_SLURM=1 $(GO) test -count 1 -timeout 20m -v -run '^TestSlurm$$' $(TESTFLAGS) ./cmd/rdmasim

.PHONY: test-hw
test-hw: ## what needs real queue pairs, on Soft-RoCE in emulated machines; that of one machine is part of test
	$(GO) test -count 1 -timeout 40m -run TestGuest -v $(TESTFLAGS) ./scenarios/hardware

.PHONY: race
race: ## the race detector where there are goroutines
	$(GO) test -race -short -run 'Engine|Workers|TestInterrupt' $(TESTFLAGS) ./sim ./scenarios ./cmd/rdmasim

.PHONY: bench
bench: ## the speed of the simulator: ns per packet-hop, allocations, memory; of a NIC: posting and polling
	$(GO) test -run '^$$' -bench . -benchtime 1x -timeout 60m ./scenarios/
	$(GO) test -run '^$$' -bench . -benchtime 1x -v ./verbs/ibv/

.PHONY: lint
lint: ## gofmt, go vet and golangci-lint
	@unformatted=$$(gofmt -l $$(git ls-files '*.go')); \
	  if [ -n "$$unformatted" ]; then echo "gofmt -w these:"; echo "$$unformatted"; exit 1; fi
	$(GO) vet ./...
	$(GO) run $(GOLANGCI) run --allow-parallel-runners ./...

.PHONY: fuzz-seeds
fuzz-seeds: ## every fuzz target on its seeds
	$(GO) test -run '^Fuzz' $(TESTFLAGS) ./...

.PHONY: fuzz
fuzz: ## every fuzz target for FUZZTIME
	@grep -rHoE --include='*_test.go' '^func Fuzz[A-Za-z0-9_]+' . | sort | \
	  while IFS=: read -r file func; do \
	    echo "== $${func#func } in $$(dirname $$file)"; \
	    $(GO) test -run '^$$' -fuzz "^$${func#func }\$$" -fuzztime $(FUZZTIME) -fuzzminimizetime 1x $$(dirname $$file) || exit 1; \
	  done

.PHONY: docs
docs: ## run every command of the docs and write its output there
	$(GO) test ./scenarios -run TestReference -update
	$(GO) test ./cmd/rdmasim -run 'TestDocs|TestSummary' -update

.PHONY: clean
clean: ## remove what make made; runs/ stays
	rm -rf bin
