# A current directory that can't be written to (without root's rights), and a name that is mounted by itself.
. "$CLI_LIB"
without_rights
csv run grad_unreduced 12 2
cp "$OLDPWD/testdata/cases/nan_origin-db_v1_micro_false/trend.db" t.db
mkdir mine
chmod 777 mine
chmod 555 .
for data in run t.db; do
    as ./program phase1 $data -q >mine/a && as ./program phase1 $data -q -o mine/b && cmp mine/a mine/b && echo "$data: same"
done
try as ./program phase1 run -q -o p1.json
try as ./program report mine/a -q -o mine/report.md --plots plots
ls . mine
