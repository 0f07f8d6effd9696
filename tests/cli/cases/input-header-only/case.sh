. "$CLI_LIB"
mkdir -p run/Jan01_00-00-00-rank0-aaaa
echo 'vpp_stage,name,step,norm,shape,dtype' >run/Jan01_00-00-00-rank0-aaaa/grad_unreduced_0-9.csv
try spikeroot phase1 run
