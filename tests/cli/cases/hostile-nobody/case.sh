# Without root's rights: directories and files that can't be read are counted or named; read-only ones are read.
. "$CLI_LIB"
data=$(pwd)/testdata/cases
without_rights
csv run grad_unreduced 8 2
layers dump/step0/rank0 1
layers dump/step0/rank1 1
mkdir closed
chmod 0 closed run/*rank1* dump/step0/rank1
as ./program phase1 run -q | grep '"total_rows"\|"code"\|"where"'
try as ./program phase1 --strict --csv run
as ./program phase1 dump -q | grep '"ranks"\|"code"\|"where"'
try as ./program phase1 closed
chmod 755 run/*rank1*
chmod 0 run/*rank1*/*.csv
as ./program phase1 run -q | grep '"total_rows"\|"code"\|"where"'
try as ./program phase1 run/*rank1*/*.csv
try as ./program phase2 --phase1 run/*rank1*/*.csv
cp "$data"/nan_origin-db_v1_micro_false/trend.db t.db
mkdir ro
cp t.db ro
chmod 444 ro/t.db
chmod 555 ro
find ro -printf '%p %m %s %T@\n' >before
as ./program phase1 ro/t.db -q | cksum >a
as ./program phase1 ro -q --strict | sed 's/"ro"/"ro\/t.db"/' | cksum | cmp - a && echo 'a read-only database was read'
find ro -printf '%p %m %s %T@\n' >after
cmp before after
chmod 0 t.db
try as ./program phase1 t.db
