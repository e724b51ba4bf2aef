# Everything is one command, and each command sets up what it needs: Debian packages (as root),
# the Python environment, the packages of requirements.lock, the Rust engine.
# Stamps live in the environment and are named after this folder and this Python, so a moved
# folder or another Python starts it anew. A stamp is made last: what was interrupted is redone.

SHELL := /bin/bash
.SHELLFLAGS := -eu -o pipefail -c
.DELETE_ON_ERROR:
.NOTPARALLEL:
.SUFFIXES:
MAKEFLAGS += --no-builtin-rules --no-print-directory
.DEFAULT_GOAL := all

TARGET ?= sim:mlc-a
METHOD ?= pts.iops
SPEC ?= $(if $(filter pts.iops,$(METHOD)),2.0.2-client)
SET ?=
SEED ?= $(if $(filter sim:%,$(TARGET)),1)
DESTROY ?=
REPORT ?= html,pdf
OUT ?= reports
TESTS ?=
SYSTEM ?= yes
BENCH ?=
FLOOR ?=
RATES ?=
# A folder with fio's source: `t/io_uring`, which no package has, is built there for `make bench`.
FIO_SOURCE ?=
SLICE = $(or $(CARGO_TARGET_DIR),target)/release/examples/slice
CPU ?=
HOUSE ?=
FUZZ ?= 60
INPUTS ?= 1000000
NTH ?=
# How many cases a property of the Rust meets (of the Python: tests/conftest.py).
CASES := 256

PYTHON ?= $(firstword $(shell for name in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$name -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$name; done))
HERE := $(shell $(PYTHON) -c 'import os, sys, zlib; print(zlib.crc32(repr((os.getcwd(), \
	os.path.realpath(sys.executable), sys.version)).encode()))' 2>/dev/null || echo none)
VENV := .venv
BIN := $(VENV)/bin
STAMPS := $(VENV)/stamps-$(HERE)
UV := $(shell command -v uv 2>/dev/null)
NATIVE := python/teijo/engine/_native.abi3.so
SOURCES := $(shell find python -name '*.py')
RUST := $(shell find crates \( -name '*.rs' -o -name Cargo.toml \)) Cargo.toml Cargo.lock
ifeq ($(wildcard $(NATIVE)),)
$(shell rm -f $(STAMPS)/built)
endif

# One worker more than processors, for some tests wait; who runs out of tests takes a neighbour's.
CPUS := $(shell nproc)
WORKERS ?= $(shell echo $$(($(CPUS) + 1)))
VM := vm
VM_WORKERS ?= $(if $(filter 1,$(CPUS)),1,3)
PYTEST = $(BIN)/python -m pytest -n $(WORKERS) --dist worksteal
CARGO_TEST := cargo test --workspace --locked --no-fail-fast --quiet

export PATH := $(PATH):$(HOME)/.cargo/bin
export PYO3_PYTHON := $(CURDIR)/$(BIN)/python
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Without its caches each process of the tests compiles the tests again.
unexport PYTHONDONTWRITEBYTECODE
export T_IO_URING ?= $(if $(FIO_SOURCE),$(FIO_SOURCE)/t/io_uring)

.PHONY: all run examples test test-long campaign vm test-vm coverage test-boot nthcall world lint lint-rust lint-python format build docs bench cpu house-numbers error-rates fleet-rates bottleneck-rates fuzz miri audit lock clean help

all: format lint test ## format, lint, build and test: what to run before a commit

run: .stamps/apt-run $(STAMPS)/compiled ## measure [TARGET=… METHOD=… SPEC=… SET="k=v …" SEED=… DESTROY=SERIAL]
	@mkdir -p $(OUT)
	@$(BIN)/teijo run '$(METHOD)' '$(TARGET)' $(if $(SPEC),--spec '$(SPEC)') \
		$(foreach pair,$(SET),--set '$(pair)') $(if $(DESTROY),--destroy '$(DESTROY)') \
		$(if $(SEED),--seed '$(SEED)') \
		--report '$(REPORT)' --report-dir '$(OUT)' -o '$(OUT)/'

examples: $(STAMPS)/built ## every test of the PTS on simulated drives, in English and Japanese, and the articles' results
	@$(BIN)/python examples/pts.py $(OUT)/examples
	@$(BIN)/python examples/articles.py $(OUT)/examples/articles

test: .stamps/apt-test $(STAMPS)/compiled ## run the tests, Rust and Python; a property of the Python meets few cases [TESTS=tests/cli]
	@status=0; $(if $(TESTS),,PROPTEST_CASES=$(CASES) $(CARGO_TEST) -- --include-ignored || status=1;) \
	$(PYTEST) $(TESTS) || status=1; exit $$status

test-long: .stamps/apt-test $(STAMPS)/built ## run the long tests (marker long), and every property of the Python with many cases
	@status=0; $(PYTEST) -m '(long or hypothesis) and not vm' --hypothesis-profile=long $(TESTS) || status=1; \
	$(if $(TESTS),,$(MAKE) test-vm VM='vm and not long' || status=1;) exit $$status

vm: .stamps/apt-test $(STAMPS)/compiled ## build the guest with a kernel of its own that test-vm boots, of Debian packages
	@$(BIN)/python -m tests.guest.build

# One guest a worker, and three of them at most: each wants 1.3 GiB, and a processor while it does not
# wait for a drive or for a time limit of its kernel.
test-vm: vm ## run all tests in the guest (marker vm); test-long leaves out the long ones of them [TESTS=tests/guest]
	@$(BIN)/python -m pytest -n $(VM_WORKERS) --dist worksteal -m '$(VM)' $(or $(TESTS),tests/guest)

coverage: .stamps/apt-test $(STAMPS)/compiled ## run the Python tests and print which lines of it they reach [TESTS=tests/analysis]
	@rm -rf .stamps/coverage; mkdir -p .stamps/coverage; export COVERAGE_FILE=$(CURDIR)/.stamps/coverage/data; \
	status=0; $(BIN)/coverage run -m pytest -n $(WORKERS) --dist worksteal $(TESTS) || status=1; \
	$(BIN)/coverage combine --quiet && $(BIN)/coverage report; exit $$status

# CLOCK_MONOTONIC and CLOCK_BOOTTIME begin anew in a namespace of their own; /proc/uptime follows.
test-boot: .stamps/apt-test $(STAMPS)/built ## run the tests as one second after a boot (root, Linux 5.6) [TESTS=tests/runner]
	@up=$$($(BIN)/python -c 'import time; print(int(time.monotonic()) - 1)'); \
	unshare --time --fork --monotonic=-$$up --boottime=-$$up $(MAKE) test

world: .stamps/apt-run $(STAMPS)/built ## play simulated worlds around the program [SEED=… | SEEDS=200 START=1]
	@$(BIN)/python -m tests.world $(if $(filter command environment,$(firstword $(origin SEED))),\
		--seed $(SEED),--seeds $(or $(SEEDS),200) --start $(or $(START),1)) $(WORLD)

nthcall: .stamps/apt-run $(STAMPS)/built ## let every call of libc fail, one after the other (half an hour) [NTH="--acts run"]
	@shim=$$($(BIN)/python -c 'from tests.faults import shim; print(shim.build())'); \
	LD_PRELOAD=$$shim TEIJO_SHIM=$$shim $(BIN)/python -m tests.faults.warm $(NTH)

# The engine's last step, a link over all crates, is work for one processor: clippy takes the other.
lint: $(STAMPS)/packages ## check format, clippy, ruff, types, the native module's stub and import order
	@$(MAKE) lint-rust & rust=$$!; status=0; $(MAKE) lint-python || status=1; \
	wait $$rust || status=1; [ $$status = 0 ] && echo 'lint: clean'

lint-rust: $(STAMPS)/packages
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --locked --quiet -- -D warnings

lint-python: $(STAMPS)/built
	$(BIN)/ruff check --quiet python tests examples benchmarks
	$(BIN)/ruff format --quiet --check python tests examples benchmarks
	@$(BIN)/stubtest --mypy-config-file pyproject.toml teijo.engine._native >.stamps/stubs & stubs=$$!; \
	status=0; $(BIN)/mypy --no-error-summary || status=1; \
	wait $$stubs || { cat .stamps/stubs; status=1; }; exit $$status
	@$(BIN)/lint-imports --no-cache --no-logo >.stamps/imports || { cat .stamps/imports; false; }

format: $(STAMPS)/packages ## format the Rust and the Python
	@cargo fmt --all
	@$(BIN)/ruff check --quiet --fix-only python tests examples benchmarks
	@$(BIN)/ruff format --quiet python tests examples benchmarks

build: $(STAMPS)/compiled ## set up .venv with the engine in it, and stop there

docs: $(STAMPS)/built ## write the generated page docs/reference/cli.md anew
	@$(BIN)/python -m teijo.cli.reference >.stamps/cli.md
	@cp .stamps/cli.md docs/reference/cli.md

bench: $(STAMPS)/built ## measure the engine above its floor and beside its peers, and the simulator [BENCH="--only hole" FLOOR="--rounds 31"]
	@cargo bench --workspace --locked --quiet
	@cargo build --release --locked --quiet -p teijo-engine --example slice
	@$(if $(FIO_SOURCE),cd '$(FIO_SOURCE)' && { [ -e config-host.mak ] || ./configure >/dev/null; } \
		&& env -u MAKEFLAGS make --silent t/io_uring >/dev/null)
	@mkdir -p $(OUT)
	@$(BIN)/python benchmarks/floor.py --slice $(SLICE) --json $(OUT)/floor.json $(FLOOR)
	@$(BIN)/python benchmarks/peers.py --slice $(SLICE) --json $(OUT)/bench.json $(BENCH)

cpu: $(STAMPS)/compiled ## measure the CPU time of starts and reports [CPU="--rounds 15 --beside OTHER/python"]
	@$(BIN)/python benchmarks/cpu_time.py $(CPU)

house-numbers: $(STAMPS)/compiled ## count lines a room and a method, and hops, parses and settings a verb [HOUSE="--at COMMIT"]
	@$(BIN)/python benchmarks/house_numbers.py $(HOUSE)

campaign: .stamps/apt-test $(STAMPS)/built ## run the tests that CI leaves out: more seeds and cases of what is tested (marker campaign)
	@$(PYTEST) -m campaign $(TESTS)

error-rates: $(STAMPS)/built ## count how often `teijo compare` errs: ten runs of each test, 45 pairs (an hour; resumable)
	@nice $(BIN)/python benchmarks/error_rates.py run --folder target/error_rates
	@$(BIN)/python benchmarks/error_rates.py judge --folder target/error_rates

fleet-rates: $(STAMPS)/built ## count how often `teijo fleet report` errs: 200 fleets of 40 drives, and drawn ones (an hour; resumable)
	@for spread in 0.8 0.5; do nice $(BIN)/python benchmarks/fleet_outliers.py \
		--folder target/fleet_outliers --spread $$spread; done
	@nice $(BIN)/python -m benchmarks.outlier_rates
	@nice $(BIN)/python -m pytest -s -m campaign tests/methods/studies

bottleneck-rates: $(STAMPS)/built ## count how often `teijo fleet bottleneck` errs, on drawn rates (some minutes) [RATES="--scatter 3"]
	@nice $(BIN)/python -m benchmarks.bottleneck_rates $(RATES)

fuzz: $(STAMPS)/built ## feed every reader 10^6 inputs, then Rust for FUZZ seconds, with cargo-fuzz [INPUTS=10000 FUZZ=600]
	@$(BIN)/python -m tests.fuzz.campaign --inputs $(INPUTS)
	@command -v cargo-fuzz >/dev/null || { echo 'without cargo-fuzz (cargo install cargo-fuzz)' \
		'the Rust targets plan and histogram are left out'; exit 0; }; \
	for target in plan histogram; do mkdir -p .stamps/fuzz/$$target; \
	RUSTC_BOOTSTRAP=1 cargo fuzz run --fuzz-dir crates/engine/fuzz --sanitizer none \
		--target-dir target/fuzz $$target .stamps/fuzz/$$target -- -max_total_time=$(FUZZ) \
		-max_len=400 -rss_limit_mb=4096 -artifact_prefix=.stamps/fuzz/; done

miri: ## run the engine's tests under Miri, as far as it knows the system (slow)
	@cargo +nightly miri --version >/dev/null 2>&1 || { echo 'error: there is no Miri. Install it:' \
		'rustup toolchain install nightly --component miri' >&2; exit 1; }
	@export MIRIFLAGS='-Zmiri-disable-isolation -Zmiri-deterministic-floats' PROPTEST_CASES=2; \
	miri='cargo +nightly miri test --locked --quiet --target-dir target/miri -p teijo-engine'; \
	$$miri --lib -- --skip ring::; \
	$$miri --test slots --test refusals --test access; \
	$$miri --test virtual_time -- --skip a_stall; \
	$$miri --test patterns any_plan; \
	$$miri --test verify a_plan_that

audit: $(STAMPS)/built ## check pins, licences and known vulnerabilities of every dependency
	@status=0; $(BIN)/python -m pytest tests/house/test_supply_chain.py || status=1; \
	.ci/audit || status=1; exit $$status

lock: $(STAMPS)/packages ## pin the packages of pyproject.toml anew, with hashes (needs uv and a network)
	@uv pip compile pyproject.toml --universal --python-version 3.11 --extra test --upgrade --quiet \
		--generate-hashes --no-header --no-annotate --no-emit-index-url --no-emit-find-links \
		--output-file .stamps/lock >/dev/null
	@{ sed -n 1p requirements.lock; cat .stamps/lock; } >.stamps/lock.whole
	@cp .stamps/lock.whole requirements.lock

clean: ## remove all that was built; run files and reports stay
	@rm -rf .stamps $(VENV) target dist $(NATIVE) .mypy_cache .ruff_cache .pytest_cache .hypothesis
	@find python tests -name __pycache__ -type d -prune -exec rm -rf {} +

help: ## print this
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  make \1|\2/p' Makefile \
		| awk -F'|' '{ printf "%-15s %s\n", $$1, $$2 }'
	@printf '\n  %s\n' "make run TARGET='drive.img?size=2GiB' METHOD=workload SET='rw=randread seconds=10'"

# ---- set-up -----------------------------------------------------------------------------------

# Debian packages: as root, only what is missing, and never a reason to stop. Tests start database
# servers of their own, so those of the system that come with the packages are not left running.
APT_RUN := gcc libc6-dev python3-venv fio smartmontools nvme-cli hdparm
APT_TEST := $(APT_RUN) chromium qemu-system-x86 busybox-static kmod e2fsprogs xfsprogs \
	btrfs-progs poppler-utils fuse3 openssh-client openssl mariadb-server postgresql bonnie++ sg3-utils iproute2

.stamps/apt-run: PACKAGES = $(APT_RUN)
.stamps/apt-test: PACKAGES = $(APT_TEST)
.stamps/apt-%: Makefile
	@mkdir -p .stamps
	@missing=''; if [ '$(SYSTEM)' = yes ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null; then \
	for name in $(PACKAGES); do dpkg -s $$name >/dev/null 2>&1 || missing+=" $$name"; done; \
	if [ -n "$$missing" ]; then echo "== Debian packages:$$missing"; \
	export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1; \
	{ apt-get update -qq && apt-get install -qq -y --no-install-recommends $$missing; } \
	>.stamps/apt.log 2>&1 || echo "warning: not installed (.stamps/apt.log says why):$$missing" >&2; \
	for name in mariadb postgresql; do case "$$missing" in *" $$name"*) \
	systemctl disable --now $$name >/dev/null 2>&1 || true;; esac; done; \
	fi; fi
	@touch $@

$(STAMPS)/venv: | .stamps/apt-run
	@[ -n '$(PYTHON)' ] || { echo 'error: Teijo needs Python 3.11 or newer, and there is none on' \
		'the PATH. Install it, or name one: make PYTHON=/path/to/python3' >&2; exit 1; }
	@echo '== Python environment'
	@rm -rf $(VENV)
	@$(if $(UV),uv venv --quiet --python $(PYTHON),$(PYTHON) -m venv) $(VENV)
	@mkdir -p $(@D); touch $@

$(STAMPS)/packages: requirements.lock $(STAMPS)/venv
	@echo '== Python packages'
	@$(if $(UV),uv pip install --quiet --python $(BIN)/python,$(BIN)/python -m pip install --quiet) \
		--require-hashes -r requirements.lock
	@touch $@

$(STAMPS)/built: $(RUST) pyproject.toml $(STAMPS)/packages
	@command -v cargo >/dev/null || { echo 'error: Teijo needs Rust 1.88 or newer (cargo), and' \
		'there is none. Install it from https://rustup.rs and run make again.' >&2; exit 1; }
	@echo '== Rust engine (a release build: a minute or two)'
	@VIRTUAL_ENV='$(CURDIR)/$(VENV)' $(BIN)/maturin develop --release --locked $(if $(UV),--uv) \
		>.stamps/build.log 2>&1 || { cat .stamps/build.log; false; }
	@touch $@

# Byte code beside the sources, also where PYTHONDONTWRITEBYTECODE keeps a run from leaving it: a
# program that compiles itself at every start takes half as long again.
$(STAMPS)/compiled: $(SOURCES) $(STAMPS)/built
	@$(BIN)/python -m compileall -q python
	@touch $@
