# A file over 4 GiB (most of it a hole that SQLite does not read): sizes and places do not end at 32 bits.
. "$CLI_LIB"
cp testdata/cases/nan_origin-db_v1_micro_false/trend.db t.db
spikeroot phase1 t.db -q -o small
truncate -s 5G t.db 2>/dev/null || skip 'no file of 5 GiB can be made here'
spikeroot phase1 t.db -q -o large && cmp small large && echo same
spikeroot phase1 t.db -q -o large --threads 8 && cmp small large && echo same
