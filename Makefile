# The commands of this project; each installs what it needs and does not find.
# CI runs `make ci`, which is these same commands.

SWIFT ?= swift
EXAMPLES = --package-path Examples
# What is built for debugging shares what it builds of the library.
SHARED = --scratch-path .build
# The Debian releases whose bluetoothd is tested against: bookworm (5.66), trixie (5.82), forky (the newest).
BLUEZ ?= bookworm forky

SYSTEM_TEST_OPTIONS ?=

# The ready-made services; Conformance is what tests them.
SERVICES = $(filter-out Conformance,$(notdir $(patsubst %/,%,$(wildcard Services/*/))))

.PHONY: help setup setup-firmware build test test-thread-sanitizer test-address-sanitizer fuzz check-fuzz examples test-examples demo system-test bluez-versions \
	benchmark format lint check-imports check-diagnostics check-snippets check-linkage \
	test-interoperability new test-new firmware check-firmware image check-image deb check-packaging check-unit check-swift-6.2 check-arm64 docs soak ci ci-full clean

help: ## Show this list
	@grep -hE '^[a-z0-9.-]+:.*## ' $(MAKEFILE_LIST) | awk -F ':.*## ' '{printf "  %-24s %s\n", $$1, $$2}'

setup: ## Install the system libraries that are missing (Debian and its relatives)
	@.ci/install-dependencies

setup-firmware: setup
	@.ci/install-dependencies binutils xz-utils

build: setup ## Build the library
	$(SWIFT) build

test: setup ## Run every test that needs no kernel of its own
	@SWIFT=$(SWIFT) Tests/run --experimental-maximum-parallelization-width 8

test-thread-sanitizer: setup ## Run the same tests under the thread sanitizer
	@SWIFT=$(SWIFT) Tests/ThreadSanitizer/run

test-address-sanitizer: setup ## Run the tests of what touches C under the address sanitizer
	@SWIFT=$(SWIFT) Tests/AddressSanitizer/run

soak: setup ## Restart an emulated bluetoothd 1,000 times below a peripheral, send 10 MB to four centrals, kill a program 500 times, and see what is left
	@SWIFT=$(SWIFT) PERIPHERAL_SOAK=1 Tests/run --no-parallel --filter SoakTests

# Of Tests/Fuzzing/Sources/fuzz/Entrances, all or one.
ENTRANCE ?=
FUZZ_SECONDS ?= 60
fuzz: setup ## Fuzz each entrance for a minute: make fuzz [ENTRANCE=bus-messages] [FUZZ_SECONDS=600]
	@SWIFT=$(SWIFT) ENTRANCE="$(ENTRANCE)" FUZZ_SECONDS=$(FUZZ_SECONDS) Tests/Fuzzing/run

check-fuzz: setup ## Check that the corpora of the fuzzer reach the decoders, and that it finds a planted fault of each
	@SWIFT=$(SWIFT) ENTRANCE="$(ENTRANCE)" Tests/Fuzzing/coverage
	@SWIFT=$(SWIFT) ENTRANCE="$(ENTRANCE)" Tests/Fuzzing/planted

examples: setup ## Build the examples for release into Examples/.build/release/
	$(SWIFT) build $(EXAMPLES) -c release --static-swift-stdlib

test-examples: setup ## Test what the examples are made of
	$(SWIFT) test $(EXAMPLES) $(SHARED)
	Examples/Tests/ends-at-sigterm .build/debug/lamp-service
	Examples/Tests/runs-emulated .build/debug

new: ## Make a package of a new peripheral outside of this tree: make new NAME=door-bell [DIR=../door-bell]
	@Templates/new "$(NAME)" "$(DIR)"

test-new: setup ## Make such a package, build it, test it and run it
	@SWIFT=$(SWIFT) Templates/test

demo: setup ## Run the heart rate sensor with an emulated Bluetooth stack for 20 seconds
	$(SWIFT) build $(EXAMPLES) -c release --static-swift-stdlib --product heart-rate-sensor
	Examples/.build/release/heart-rate-sensor --emulated --duration 20s

system-test: setup ## Test against the real bluetoothd of the Debian releases BLUEZ, with a virtual radio
	$(SWIFT) build $(EXAMPLES) $(SHARED)
	$(SWIFT) build --package-path Tests/System $(SHARED)
	Tests/System/run --bluez "$(BLUEZ)" $(SYSTEM_TEST_OPTIONS) .build/debug/heart-rate-sensor .build/debug/conformance-runner

bluez-versions: ## Write docs/bluez-versions.md anew
	$(SWIFT) run --package-path Tests/System $(SHARED) conformance-runner --document > docs/bluez-versions.md

benchmark: setup ## Compare the cost of a request with that of a server in C, and of a saved state with a plain write
	$(SWIFT) run -c release --package-path Tests/Benchmarks dbus-benchmark
	$(SWIFT) run -c release --package-path Tests/Benchmarks storage-benchmark

format: ## Format all Swift sources
	$(SWIFT) format --in-place --parallel --recursive Package.swift Sources Services Tests Examples Firmware Templates

lint: ## Check the format of all Swift sources
	$(SWIFT) format lint --strict --parallel --recursive Package.swift Sources Services Tests Examples Firmware Templates

check-imports: ## Check that no product imports Foundation
	@.ci/check-imports

check-diagnostics: build ## Check what the compiler says of a misplaced element in a declaration
	@Tests/Diagnostics/run

check-snippets: build ## Check that the Swift in the documentation compiles, and that each service shows a complete peripheral
	@Tests/Snippets/run

check-linkage: setup ## Check what a minimal program links, its size, and what each service adds to it
	@Tests/Linkage/run

firmware: setup-firmware ## Build an example as for a device's image: make firmware EXAMPLE=heart-rate-sensor
	@SWIFT=$(SWIFT) Firmware/build $(EXAMPLE)

check-firmware: setup-firmware ## Check the size of firmware, and what it uses of a device
	@SWIFT=$(SWIFT) Tests/Firmware/run

deb: EXAMPLE ?= heart-rate-sensor
deb: firmware ## Make a Debian package of an example: make deb EXAMPLE=door-lock
	@.ci/install-dependencies build-essential debhelper
	@Firmware/debian/build $(EXAMPLE)

check-packaging: setup-firmware ## Check the Debian package in a fresh Debian, the Yocto layer and the Buildroot tree; as root
	@SWIFT=$(SWIFT) Firmware/build heart-rate-sensor
	@Tests/Firmware/deb heart-rate-sensor
	@Tests/Firmware/unit heart-rate-sensor
	@Tests/Firmware/yocto
	@Tests/Firmware/buildroot
	@Tests/Firmware/init-script

image: EXAMPLE ?= heart-rate-sensor
image: firmware ## Make the image of a device with an example, and start it until a central is notified: make image EXAMPLE=door-lock
	@Tests/Firmware/image --brief $(EXAMPLE)

check-image: setup-firmware ## Check the size of a device's image, and how it starts, again after a kill, and again after a power cut
	@SWIFT=$(SWIFT) Firmware/build heart-rate-sensor door-lock
	@Tests/Firmware/image heart-rate-sensor door-lock

check-unit: setup-firmware ## Have systemd start, watch and stop a firmware, in a container and in the rig; as root
	@SWIFT=$(SWIFT) Firmware/build heart-rate-sensor
	@Tests/Firmware/unit heart-rate-sensor

check-swift-6.2: ## Build with Swift 6.2, the oldest that is supported, and run the tests; fetches 0.8 GB the first time
	@Tests/Compatibility/swift-6.2

check-arm64: ## Cross-build the firmware and the tests for arm64, and run both by emulation; fetches 1.5 GB the first time
	@Tests/Compatibility/arm64

test-interoperability: setup ## Compare the values of the services with those of an independent decoder
	@SWIFT=$(SWIFT) Tests/Interoperability/run

docs: setup ## Build the reference documentation; a dead link is an error
	@for target in PeripheralCore PeripheralKit PeripheralStorage PeripheralBlueZ PeripheralTesting PeripheralEmulator PeripheralOneThread \
		$(SERVICES:%=Peripheral%); do \
		PERIPHERAL_DOCUMENTATION=1 $(SWIFT) package --scratch-path .build-docs generate-documentation \
			--target $$target --warnings-as-errors || exit 1; \
	done

# Both end with the closing lines of the tests.
CI = lint check-imports check-diagnostics check-snippets test-interoperability test-examples test-new check-linkage check-firmware check-image \
	system-test test-thread-sanitizer test
CI_FULL = docs check-packaging test-address-sanitizer soak $(CI)
# Each of the releases with one of the radios: the whole matrix takes twice as long.
ci: system_test_options = --alternate
ci: parts = $(CI)
ci: ci-parts ## Run all that CI runs, in less than an hour, and tell how long each part takes
ci-full: system_test_options = --long
ci-full: parts = $(CI_FULL)
ci-full: ci-parts ## Run the same with each release on each radio, and what takes long

.PHONY: ci-parts
ci-parts:
	@for part in $(parts); do \
		echo "ci: $$part, $$(($$(date +%s) - $${started:=$$(date +%s)})) s after the start"; \
		$(MAKE) --no-print-directory $$part SYSTEM_TEST_OPTIONS="$(system_test_options)" || exit 1; \
	done

clean: ## Remove everything that was built
	rm -rf .build .build-* Examples/.build Firmware/.build Templates/.build Templates/*/.build Tests/*/.build
