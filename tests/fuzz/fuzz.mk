# Fuzz targets: tests/fuzz/NAME.c with what they share, and a main program: replay.c, or libFuzzer's (make fuzz).
FUZZ_SRCS    := $(sort $(wildcard tests/fuzz/*.c))
FUZZ_OBJS    := $(FUZZ_SRCS:%.c=$(BUILD)/%.o)
FUZZ_SHARED  := common model replay trend
FUZZ_TARGETS ?= $(filter-out $(FUZZ_SHARED),$(FUZZ_SRCS:tests/fuzz/%.c=%))
FUZZ_BINS    := $(FUZZ_TARGETS:%=$(BUILD)/tests/fuzz/%)
FUZZ_MAIN    ?= $(BUILD)/tests/fuzz/replay.o

$(FUZZ_OBJS): private ALL_CPPFLAGS += -Isrc
$(BUILD)/tests/fuzz/trend_%: FUZZ_WRAP := $(BUILD)/tests/fuzz/trend.o $(BUILD)/tests/unit/pages_fixture.o -Wl,--wrap=sqlite3_open_v2
$(BUILD)/tests/fuzz/trend_db $(BUILD)/tests/fuzz/trend_sql: $(BUILD)/tests/unit/pages_fixture.o
$(FUZZ_BINS): $(BUILD)/tests/fuzz/%: $(BUILD)/tests/fuzz/%.o $(FUZZ_SHARED:%=$(BUILD)/tests/fuzz/%.o) $(LIB)
	$(call say,FUZZ,$@)
	$(Q)$(CC) $(ALL_CFLAGS) $< $(BUILD)/tests/fuzz/common.o $(BUILD)/tests/fuzz/model.o $(FUZZ_MAIN) $(FUZZ_WRAP) \
		$(LIB) $(ALL_LDFLAGS) $(ALL_LDLIBS) -o $@
-include $(FUZZ_OBJS:.o=.d)

check-fuzz: $(FUZZ_BINS) ## the inputs kept from fuzzing only
	@FUZZ='$(FUZZ_BINS)' sh tests/check.sh none fuzz --

FUZZ_CC      ?= clang
FUZZ_SECONDS ?= 60
FUZZ_JOBS    ?= 2
FUZZ_SAN     := -fsanitize=fuzzer-no-link,address,undefined,float-cast-overflow -fno-sanitize-recover=all \
                -fno-omit-frame-pointer
# Files are read in small pieces, so that inputs need not be large for something to lie across two of them.
FUZZ_SMALL   := -DSR_SCAN_CHUNK=4096 -DSR_CSV_LINE=8192 -DSR_CSV_BLOCK=16384

fuzz-build: $(FUZZ_BINS)

fuzz: ## look for inputs that crash: FUZZ_SECONDS=60 for each target, FUZZ_JOBS=2, FUZZ_TARGETS=... (needs clang)
	@echo 'int LLVMFuzzerTestOneInput(void) { return 0; }' | $(FUZZ_CC) -x c - -o /dev/null -fsanitize=fuzzer,address || \
		{ echo 'make fuzz: $(FUZZ_CC) has no libFuzzer here: run `sh setup.sh fuzz`' >&2; exit 1; }
	@$(MAKE) BUILD=$(BUILD)-fuzz CC='$(FUZZ_CC)' SANITIZE='$(FUZZ_SAN)' CPPFLAGS='$(FUZZ_SMALL) $(CPPFLAGS)' HARDEN= LDHARDEN= \
		FUZZ_MAIN=-fsanitize=fuzzer fuzz-build
	@FUZZ_SECONDS=$(FUZZ_SECONDS) FUZZ_JOBS=$(FUZZ_JOBS) sh tests/fuzz/fuzz.sh $(BUILD)-fuzz $(FUZZ_TARGETS)

.PHONY: check-fuzz fuzz-build fuzz
