# spikeroot: `make help` lists the targets.
#
# CFLAGS, CPPFLAGS, LDFLAGS and LDLIBS are yours: they are added after ours. V=1 shows the commands.
# BUILD=dir builds in another directory, where the program is then too (default: build, and ./spikeroot).

BUILD     ?= build
PREFIX    ?= /usr/local
DESTDIR   ?=
PKG_CONFIG ?= pkg-config
V         ?= 0

Q := $(if $(filter 1,$(V)),,@)
say = @$(if $(filter 1,$(V)),:,printf '  %-7s %s\n' $(1) $(2))

VERSION := $(shell sed -n 's/^\#define SR_VERSION  *"\(.*\)"/\1/p' include/spikeroot/version.h)
$(if $(VERSION),,$(error no SR_VERSION in include/spikeroot/version.h))
BIN     := $(if $(filter build,$(BUILD)),spikeroot,$(BUILD)/spikeroot)
RUN     := $(if $(filter /%,$(BIN)),$(BIN),./$(BIN))
LIB     := $(BUILD)/libspikeroot.a

LIB_SRCS  := $(sort $(wildcard src/*/*.c))
LIB_OBJS  := $(LIB_SRCS:%.c=$(BUILD)/%.o)
MAIN_OBJ  := $(BUILD)/src/main.o
UNIT_SRCS := $(sort $(wildcard tests/unit/test_*.c))
UNIT_BINS := $(UNIT_SRCS:%.c=$(BUILD)/%)
FIXTURES  := $(sort $(wildcard tests/unit/*_fixture.c))
FIXTURE_OBJS := $(FIXTURES:%.c=$(BUILD)/%.o)
C_FILES   := $(wildcard src/*.c) $(LIB_SRCS) $(UNIT_SRCS) $(FIXTURES) $(sort $(wildcard tests/fuzz/*.c tests/fault/*.c))
H_FILES   := $(sort $(wildcard include/spikeroot/*.h src/*/*.h tests/*/*.h))

WARN := -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wdouble-promotion -Wformat=2 -Wstrict-prototypes \
        -Wmissing-prototypes -Wcast-qual -Wvla -Wundef -Wswitch-enum
# -fPIE and the linker flags below are for Linux; HARDEN= and LDHARDEN= leave hardening out.
# Fortified functions need the optimiser: not with CFLAGS=-O0.
HARDEN   := $(if $(filter -O0,$(CFLAGS)),,-U_FORTIFY_SOURCE -D_FORTIFY_SOURCE=2) -fstack-protector-strong -fPIE
ifeq ($(shell uname -s),Linux)
LDHARDEN := -pie -Wl,-z,relro,-z,now
endif
SANITIZE :=

DEP_CFLAGS  := $(shell $(PKG_CONFIG) --cflags sqlite3 libcjson 2>/dev/null)
DEP_LIBS    := $(or $(shell $(PKG_CONFIG) --libs sqlite3 libcjson 2>/dev/null),-lsqlite3 -lcjson)
TEST_CFLAGS := $(shell $(PKG_CONFIG) --cflags cmocka 2>/dev/null)
TEST_LIBS   := $(or $(shell $(PKG_CONFIG) --libs cmocka 2>/dev/null),-lcmocka)

# Files over 2 GiB and dates after 2038, where long has 32 bits.
LARGE := $(if $(filter 4,$(shell echo __SIZEOF_LONG__ | $(CC) $(CFLAGS) -E -P - 2>/dev/null)),-D_FILE_OFFSET_BITS=64 -D_TIME_BITS=64)

ALL_CPPFLAGS := -D_POSIX_C_SOURCE=200809L $(LARGE) -Iinclude $(DEP_CFLAGS) $(CPPFLAGS)
# Without contraction into fused multiply-adds (clang does it on aarch64) results are the same bytes on every machine.
ALL_CFLAGS   := -std=c11 -O2 -g -ffp-contract=off $(WARN) $(HARDEN) $(SANITIZE) -pthread $(CFLAGS)
ALL_LDFLAGS  := $(LDHARDEN) $(SANITIZE) -pthread $(LDFLAGS)
ALL_LDLIBS   := $(DEP_LIBS) -lpthread -lm $(LDLIBS)

.DELETE_ON_ERROR:
.SUFFIXES:
.PHONY: all check check-unit check-cli asan tsan valgrind coverage bench bench-scale lint format install uninstall \
        clean demo help FORCE

all: $(BIN) ## build ./spikeroot (the default)

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z0-9-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' Makefile tests/fuzz/fuzz.mk tests/fault/fault.mk docs/packaging/packaging.mk
	@echo "Variables: BUILD= PREFIX= DESTDIR= CC= CFLAGS= CPPFLAGS= LDFLAGS= LDLIBS= V=1"

# A file that changes when the text does, so that other flags or another list of sources rebuild what they should.
define stamp
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(1))' | cmp -s - $@ 2>/dev/null || printf '%s\n' '$(subst ','\'',$(1))' >$@
endef
$(BUILD)/flags: FORCE
	$(call stamp,$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) $(TEST_CFLAGS) $(ALL_LDFLAGS) $(ALL_LDLIBS) $(TEST_LIBS))
$(BUILD)/sources: FORCE
	$(call stamp,$(LIB_SRCS))
FORCE:

# What is missing is said here, once, before the compiler says it forty times.
define need
	@mkdir -p $(@D)
	@printf '%s\n' $(1) 'int main(void) { return 0; }' >$@.c
	@$(CC) $(ALL_CPPFLAGS) $(2) $(CFLAGS) $@.c $(ALL_LDFLAGS) $(3) $(ALL_LDLIBS) -o $@.out 2>$@.log || { cat $@.log >&2; \
		echo 'make: a compiler or library is missing (see above): run `sh setup.sh`, then make again' >&2; exit 1; }
	@rm -f $@.c $@.out $@.log; touch $@
endef
$(BUILD)/have-libs: $(BUILD)/flags
	$(call need,'#include <sqlite3.h>' '#include <cjson/cJSON.h>',,)
$(BUILD)/have-cmocka: $(BUILD)/flags $(BUILD)/have-libs
	$(call need,'#include <stdarg.h>' '#include <stddef.h>' '#include <stdint.h>' '#include <setjmp.h>' '#include <cmocka.h>',$(TEST_CFLAGS),$(TEST_LIBS))

$(BUILD)/%.o: %.c $(BUILD)/flags | $(BUILD)/have-libs
	@mkdir -p $(@D)
	$(call say,CC,$<)
	$(Q)$(CC) $(ALL_CPPFLAGS) $(ALL_CFLAGS) -MMD -MP -c $< -o $@

$(LIB): $(LIB_OBJS) $(BUILD)/sources
	$(call say,AR,$@)
	$(Q)rm -f $@ && $(AR) rcs $@ $(LIB_OBJS)

$(BIN): $(MAIN_OBJ) $(LIB)
	$(call say,LD,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $(ALL_LDFLAGS) $(MAIN_OBJ) $(LIB) $(ALL_LDLIBS) -o $@

# A unit test may include the private headers of the module it tests.
$(BUILD)/tests/unit/%: tests/unit/%.c $(FIXTURE_OBJS) $(LIB) $(BUILD)/flags | $(BUILD)/have-cmocka
	@mkdir -p $(@D)
	$(call say,TEST,$<)
	$(Q)$(CC) $(ALL_CPPFLAGS) -Isrc $(TEST_CFLAGS) $(ALL_CFLAGS) -MMD -MP -MF $@.d $< $(FIXTURE_OBJS) $(LIB) \
		$(ALL_LDFLAGS) $(TEST_LIBS) $(ALL_LDLIBS) -o $@

$(FIXTURE_OBJS): private ALL_CPPFLAGS += -Isrc
$(FIXTURE_OBJS): | $(BUILD)/have-cmocka

-include $(LIB_OBJS:.o=.d) $(FIXTURE_OBJS:.o=.d) $(MAIN_OBJ:.o=.d) $(UNIT_BINS:=.d)

include tests/fuzz/fuzz.mk
include tests/fault/fault.mk

check: $(BIN) $(UNIT_BINS) $(FUZZ_BINS) $(FAULT_BINS) ## all tests: unit, fuzzed inputs, command line, recorded cases, schemas, documents
	@FUZZ='$(FUZZ_BINS)' FAULT_DIR=$(FAULT_DIR) sh tests/check.sh $(BIN) unit fuzz cli golden schema docs fault -- $(UNIT_BINS)

check-unit: $(UNIT_BINS) ## the unit tests only
	@sh tests/check.sh $(BIN) unit -- $(UNIT_BINS)

check-cli: $(BIN) ## all but the unit tests
	@sh tests/check.sh $(BIN) cli golden schema docs --

ASAN := -fsanitize=address,undefined -fno-sanitize-recover=all -fno-omit-frame-pointer
TSAN := -fsanitize=thread
# EMULATED: something else takes memory too (here and under valgrind), so tests of its limits are skipped

asan: ## tests and sample files under the address and undefined-behaviour sanitizers
	@rc=0; EMULATED=1 $(MAKE) BUILD=$(BUILD)-asan SANITIZE='$(ASAN)' HARDEN= LDHARDEN= check || rc=1; \
		sh tests/samples.sh $(BUILD)-asan/spikeroot || rc=1; exit $$rc

tsan: ## tests under the thread sanitizer
	@EMULATED=1 $(MAKE) BUILD=$(BUILD)-tsan SANITIZE='$(TSAN)' HARDEN=-fPIE LDHARDEN=-pie check

valgrind: $(BIN) $(UNIT_BINS) ## tests under valgrind
	@command -v valgrind >/dev/null || { echo 'make valgrind: valgrind is not installed' >&2; exit 1; }
	@EMULATED=1 TEST_TIMEOUT=1200 WRAP='valgrind -q --leak-check=full --error-exitcode=99' sh tests/check.sh $(BIN) unit cli -- $(UNIT_BINS)

coverage: ## the share of lines that the tests run (needs gcovr; fails below 90 %)
	@find $(BUILD)-coverage -name '*.gcda' -delete 2>/dev/null; \
		$(MAKE) BUILD=$(BUILD)-coverage CFLAGS='-O0 --coverage' LDFLAGS=--coverage HARDEN= LDHARDEN= check && \
		sh tests/coverage/coverage.sh $(BUILD)-coverage 90

bench: $(BIN) ## time and memory against sqlite3 and wc -l (minutes; needs 1 GB in $TMPDIR)
	@sh tests/bench/bench.sh $(RUN)

bench-scale: $(BIN) ## how time and memory grow, to 1e8 rows (15 minutes; 6 GB in $TMPDIR; SCALE_MAX=1e7 ends earlier)
	@sh tests/bench/scale.sh $(RUN)

lint: ## gcc and clang with -Werror, include rules, cppcheck, shellcheck
	@CC='$(CC)' CPPFLAGS='$(ALL_CPPFLAGS) $(TEST_CFLAGS)' WARN='$(WARN)' sh tests/lint/lint.sh $(C_FILES)

format: ## clang-format over all sources
	clang-format -i $(C_FILES) $(H_FILES)

demo: $(BIN) ## all phases on recorded runs
	@sh tests/demo.sh $(RUN)

# Where things go below $(DESTDIR)$(PREFIX)
SHARE := share/spikeroot
MAN1  := share/man/man1
BASHC := share/bash-completion/completions
ZSHC  := share/zsh/site-functions

install: $(BIN) ## install under $(DESTDIR)$(PREFIX)
	install -d $(foreach d,bin $(SHARE)/schema $(MAN1) $(BASHC) $(ZSHC),'$(DESTDIR)$(PREFIX)/$(d)')
	install -m 755 $(BIN) '$(DESTDIR)$(PREFIX)/bin/spikeroot'
	install -m 644 docs/schema/*.json '$(DESTDIR)$(PREFIX)/$(SHARE)/schema'
	install -m 644 docs/spikeroot.1 '$(DESTDIR)$(PREFIX)/$(MAN1)'
	install -m 644 docs/completions/spikeroot.bash '$(DESTDIR)$(PREFIX)/$(BASHC)/spikeroot'
	install -m 644 docs/completions/_spikeroot '$(DESTDIR)$(PREFIX)/$(ZSHC)'

uninstall: ## remove what install put there
	rm -f $(foreach f,bin/spikeroot $(MAN1)/spikeroot.1 $(BASHC)/spikeroot $(ZSHC)/_spikeroot,'$(DESTDIR)$(PREFIX)/$(f)')
	rm -rf '$(DESTDIR)$(PREFIX)/$(SHARE)'

include docs/packaging/packaging.mk

clean: ## remove everything that was built
	rm -rf $(BUILD) $(BUILD)-asan $(BUILD)-tsan $(BUILD)-fuzz $(BUILD)-coverage $(BUILD)-static-* $(BUILD)-dist-* $(BUILD)-deb $(BUILD)-32 $(BUILD)-matrix spikeroot spikeroot-$(VERSION)*.tar.gz*
