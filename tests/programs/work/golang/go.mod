module selftest

go 1.19
