"""`python -m conformance`: the console script's entry, which looks for hidden packages first."""

from _cdc_conformance_pytest import main

main()
