# The commands of this project. Each installs what it needs.
# CI runs `make ci`, which consists of these commands.

SWIFT ?= swift
EXAMPLES = --package-path Examples
# Debug builds share the build of the library.
SHARED = --scratch-path .build
# The Debian releases whose bluetoothd is tested: bookworm (5.66), trixie (5.82), forky (the newest).
BLUEZ ?= bookworm forky

SYSTEM_TEST_OPTIONS ?=

.PHONY: help setup setup-firmware build test test-thread-sanitizer test-address-sanitizer fuzz check-fuzz examples test-examples demo system-test bluez-versions \
	benchmark format lint check-imports check-diagnostics check-snippets check-linkage \
	test-interoperability new test-new firmware check-firmware image check-image deb check-packaging check-unit check-swift-6.2 check-arm64 docs soak ci ci-full clean

##@ Start here

help: ## Show this list
	@awk -F ':.*## ' '/^##@ / {printf "%s%s\n", separator, substr($$0, 5); separator = "\n"} \
		/^[a-z0-9.-]+:.*## / {printf "  %-24s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: ## Install missing system libraries (Debian and its derivatives)
	@.ci/install-dependencies

setup-firmware: setup
	@.ci/install-dependencies binutils xz-utils

demo: setup ## Run a heart rate sensor for 20 seconds, without Bluetooth: a virtual phone plots the pulse
	$(SWIFT) build $(EXAMPLES) -c release --static-swift-stdlib --product heart-rate-sensor
	Examples/.build/release/heart-rate-sensor --emulated --duration 20s

# The variables of the command line that make new does not use, such as a KIND with a typing error.
UNKNOWN_TO_NEW = $(filter-out NAME KIND DIR SWIFT,$(foreach name,$(.VARIABLES),$(if $(filter command,$(origin $(name))),$(name))))

new: ## Make a package of a new peripheral: make new NAME=door-bell [KIND=sensor, switch or uart] [DIR=../door-bell]
	@$(if $(UNKNOWN_TO_NEW),echo "make new has no variable $(UNKNOWN_TO_NEW)." >&2; Templates/new --help >&2; exit 2)
	@Templates/new $(if $(KIND),--kind "$(KIND)") "$(NAME)" $(if $(DIR),"$(DIR)")

examples: setup ## Build the examples for release into Examples/.build/release/
	$(SWIFT) build $(EXAMPLES) -c release --static-swift-stdlib

##@ Put a peripheral on a device

firmware: setup-firmware ## Build an example for the image of a device: make firmware EXAMPLE=heart-rate-sensor
	@SWIFT=$(SWIFT) Firmware/build $(EXAMPLE)

deb: EXAMPLE ?= heart-rate-sensor
deb: firmware ## Make a Debian package of an example: make deb EXAMPLE=door-lock
	@.ci/install-dependencies build-essential debhelper
	@Firmware/debian/build $(EXAMPLE)

image: EXAMPLE ?= heart-rate-sensor
image: firmware ## Make the image of a device, and start it until a central is notified: make image EXAMPLE=door-lock
	@Tests/Firmware/image --brief $(EXAMPLE)

##@ Build the library and its documentation

build: setup ## Build the library
	$(SWIFT) build

docs: setup ## Build the documentation of all products as one site; fail for a dead link, and a public type without a topic
	@SWIFT=$(SWIFT) Tests/Documentation/run

##@ Test a change

test: setup ## Run every test that needs no kernel of its own
	@SWIFT=$(SWIFT) Tests/run --experimental-maximum-parallelization-width 8

lint: ## Check the format of the sources, the words of comments and documentation, and the files for other tools
	$(SWIFT) format lint --strict --parallel --recursive Package.swift Sources Services Tests Examples Firmware Templates
	@.ci/check-words
	@SWIFT=$(SWIFT) .ci/check-project-files

format: ## Format all Swift sources
	$(SWIFT) format --in-place --parallel --recursive Package.swift Sources Services Tests Examples Firmware Templates

check-snippets: build ## Check that the Swift in the documentation compiles, and that each service shows a complete peripheral
	@Tests/Snippets/run

test-examples: setup ## Test the examples
	$(SWIFT) test $(EXAMPLES) $(SHARED)
	Examples/Tests/ends-at-sigterm .build/debug/lamp-service
	Examples/Tests/runs-emulated .build/debug

test-new: setup ## Make a package as make new does, build it, test it, and run it
	@SWIFT=$(SWIFT) Templates/test

##@ Test on the real bluetoothd, and on devices

system-test: setup ## Test against the real bluetoothd of the Debian releases BLUEZ, with a virtual radio
	$(SWIFT) build $(EXAMPLES) $(SHARED)
	$(SWIFT) build --package-path Tests/System $(SHARED)
	Tests/System/run --bluez "$(BLUEZ)" $(SYSTEM_TEST_OPTIONS) .build/debug/heart-rate-sensor .build/debug/conformance-runner

bluez-versions: ## Write the known differences into the documentation of PeripheralBlueZ
	$(SWIFT) build --package-path Tests/System $(SHARED)
	Tests/System/bluez-versions .build/debug/conformance-runner

check-firmware: setup-firmware ## Check the size of firmware, and what it uses of a device
	@SWIFT=$(SWIFT) Tests/Firmware/run

check-image: setup-firmware ## Check the size of the image of a device, and its start, also after a kill and a power cut
	@SWIFT=$(SWIFT) Firmware/build heart-rate-sensor door-lock
	@Tests/Firmware/image heart-rate-sensor door-lock

check-packaging: setup-firmware ## Check the Debian packages, also of a new package, the container recipe, Yocto and Buildroot; as root
	@SWIFT=$(SWIFT) Firmware/build heart-rate-sensor
	@Tests/Firmware/deb heart-rate-sensor
	@Tests/Firmware/unit heart-rate-sensor
	@Tests/Firmware/container heart-rate-sensor
	@Tests/Firmware/yocto
	@Tests/Firmware/buildroot
	@Tests/Firmware/init-script
	@Tests/Firmware/new-package

check-unit: setup-firmware ## Check that systemd starts, watches and stops a firmware, in a container and in the rig; as root
	@SWIFT=$(SWIFT) Firmware/build heart-rate-sensor
	@Tests/Firmware/unit heart-rate-sensor

check-arm64: ## Cross-build firmware and tests for arm64, and run them by emulation; fetches 1.5 GB at first
	@Tests/Compatibility/arm64

check-swift-6.2: ## Build with Swift 6.2, the oldest supported version, and run the tests; fetches 0.8 GB at first
	@Tests/Compatibility/swift-6.2

##@ Test in depth

test-thread-sanitizer: setup ## Run the tests of make test under the thread sanitizer
	@SWIFT=$(SWIFT) Tests/ThreadSanitizer/run

test-address-sanitizer: setup ## Run the tests of code that uses C under the address sanitizer
	@SWIFT=$(SWIFT) Tests/AddressSanitizer/run

soak: setup ## Restart bluetoothd 1,000 times, send 10 MB to four centrals, kill a program 500 times; check for leaks
	@SWIFT=$(SWIFT) PERIPHERAL_SOAK=1 Tests/run --no-parallel --filter SoakTests

# An entrance of Tests/Fuzzing/Sources/fuzz/Entrances, or all of them.
ENTRANCE ?=
FUZZ_SECONDS ?= 60
fuzz: setup ## Fuzz each entrance for a minute: make fuzz [ENTRANCE=bus-messages] [FUZZ_SECONDS=600]
	@SWIFT=$(SWIFT) ENTRANCE="$(ENTRANCE)" FUZZ_SECONDS=$(FUZZ_SECONDS) Tests/Fuzzing/run

check-fuzz: setup ## Check that the corpora of the fuzzer reach the decoders, and that it finds a planted fault in each
	@SWIFT=$(SWIFT) ENTRANCE="$(ENTRANCE)" Tests/Fuzzing/coverage
	@SWIFT=$(SWIFT) ENTRANCE="$(ENTRANCE)" Tests/Fuzzing/planted

test-interoperability: setup ## Compare the values of the services, and beacons, with independent decoders
	@SWIFT=$(SWIFT) Tests/Interoperability/run

check-imports: ## Check that no product imports Foundation
	@.ci/check-imports

check-diagnostics: build ## Check the errors of the compiler for a misplaced element in a declaration
	@Tests/Diagnostics/run

check-linkage: setup ## Check what a minimal program links, its size, and the size of each service
	@Tests/Linkage/run

benchmark: setup-firmware ## Measure the goals of performance, as multiples of a server in C, and fail where one is missed
	@SWIFT=$(SWIFT) Tests/Benchmarks/run

##@ Run what CI runs

# Both end with the last lines of the tests.
CI = lint check-imports check-diagnostics check-snippets test-interoperability test-examples test-new check-linkage check-firmware check-image \
	system-test test-thread-sanitizer test
CI_FULL = docs check-packaging test-address-sanitizer soak $(CI)
# Some parts of them: make ci-full PARTS="docs soak"
PARTS ?=
# ci tests each release with one of the radios. The whole matrix takes twice as long.
ci: system_test_options = --alternate
ci: parts = $(or $(PARTS),$(CI))
ci: ci-parts ## Run all that CI runs, in less than 60 minutes, and print the time of each part
ci-full: system_test_options = --long
ci-full: parts = $(or $(PARTS),$(CI_FULL))
ci-full: ci-parts ## Run what make ci runs with each release on each radio, and the long tests: make ci-full [PARTS="docs soak"]

.PHONY: ci-parts
# Some parts leave a processor idle at times. The kernel of the rig is built beside the first parts, and the thread
# sanitizer's tests beside the system tests.
ci-parts:
	@case " $(parts) " in *" system-test "*) \
		$(MAKE) --no-print-directory setup setup-firmware && Tests/System/rig/install --packages || exit 1; \
		nice -n 19 Tests/System/rig/install > /dev/null 2>&1 & \
	esac; \
	began=$$(date +%s); last=; \
	for part in $(parts); do \
		now=$$(date +%s); \
		[ -z "$$last" ] || echo "ci: $$last took $$((now - lastBegan)) s"; \
		echo "ci: $$part begins $$((now - began)) s after the start"; \
		last=$$part; lastBegan=$$now; \
		case "$$part $(parts) " in "system-test "*" test-thread-sanitizer "*) \
			SWIFT=$(SWIFT) nice -n 19 Tests/ThreadSanitizer/run --only-build > /dev/null 2>&1 & \
		esac; \
		$(MAKE) --no-print-directory $$part SYSTEM_TEST_OPTIONS="$(system_test_options)" || exit 1; \
	done; \
	echo "ci: $$last took $$(($$(date +%s) - lastBegan)) s"; \
	echo "ci: all parts took $$(($$(date +%s) - began)) s"

##@ Clean up

clean: ## Remove all build products
	rm -rf .build .build-* Examples/.build Firmware/.build Templates/.build Templates/*/.build Tests/*/.build
