# SQLite is compiled in; without cgo it builds and then fails at the first query.
export CGO_ENABLED = 1

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2

# The builds that "make servers" brings here; scripts/servers.sh lists them.
SERVERS = all

# The builds that "make test" needs, one of each flavour and MyRocks. PostgreSQL
# is unpacked only where none is installed.
TEST_SERVERS = mariadb1011 mysql97 $(if $(wildcard /usr/lib/postgresql/*/bin/postgres),,pg15)

.PHONY: build demo experiments test conformance linkbench race lint fmt golden bench clean tools servers test-servers

build:
	go build -o bin/dbmatrix ./cmd/dbmatrix

# The quickstart on real servers: its table is printed and left in RESULTS.md.
demo: tools
	scripts/servers.sh mariadb1011
	$(MAKE) --no-print-directory build
	scripts/demo.sh

# The experiments that were published elsewhere, on real servers at the small
# scale: an hour and a half on two cores. PART=1, 2 or 3 runs a third of them; what was
# measured before is not measured again. The tables are left in RESULTS.md.
experiments: tools bin/go-tpc
	scripts/servers.sh mariadb1011 mariadb118 mysql97 pg15
	$(MAKE) --no-print-directory build
	scripts/experiments.sh $(PART)

# With the servers here, no test may skip for want of one. A minute of servers on
# two quiet cores takes many beside other work, so no package is ended after Go's
# own ten.
test: tools test-servers bin/go-tpc
	DBMATRIX_REQUIRE_SERVERS=1 go test -timeout=20m ./...

# What dbmatrix asks of a server, with every build that "make servers" brings. The
# list of builds is printed before, what each did after; a build that is not there
# fails the run.
conformance: tools servers
	cd executor/server/servertest && DBMATRIX_REQUIRE_SERVERS=1 DBMATRIX_CONFORMANCE=1 go test -count=1 -timeout=30m -run '^TestConformance$$'

# LinkBench with a hundred thousand nodes, a minute on each engine: what was loaded,
# what the requests did and the counts of links are checked by SQL.
linkbench: tools test-servers
	DBMATRIX_REQUIRE_SERVERS=1 DBMATRIX_LINKBENCH_SECONDS=60 \
		go test -count=1 -timeout=30m -v -run '^Test(InnoDB|MyRocks|Postgres)$$/^scale$$' ./executor/workload/linkbench

race: tools test-servers bin/go-tpc
	DBMATRIX_REQUIRE_SERVERS=1 go test -timeout=40m -race ./...

# A matrix that is disturbed at random moments: KILLS says how often, SEED repeats
# what a run printed.
KILLS = 200
SEED =
chaos: tools servers
	DBMATRIX_REQUIRE_SERVERS=1 DBMATRIX_KILLS=$(KILLS) DBMATRIX_SEED=$(SEED) \
		go test -count 1 -timeout 1h -v -run '^TestChaos$$' ./reliability

lint:
	test -z "$$(gofmt -l . | tee /dev/stderr)"
	go vet ./...
	go run $(STATICCHECK) ./...
	go test -run '^TestImports$$' .
	go mod tidy -diff

fmt: build
	gofmt -w .
	bin/dbmatrix fmt experiments/*/

# Writes the expected output of the tests anew from what they print now.
golden: tools test-servers bin/go-tpc
	go test $$(grep -rl --include='*_test.go' 'flag.Bool("update"' . | xargs -r -n 1 dirname | sort -u) -update

bench: tools test-servers bin/go-tpc
	go test -run '^$$' -bench . ./...

# Results and data directories are not touched: "dbmatrix clean" knows them.
clean:
	rm -rf bin

# The program of the workload tpcc, at the version that it knows.
bin/go-tpc:
	GOBIN=$(CURDIR)/bin go install github.com/pingcap/go-tpc/cmd/go-tpc@v1.0.12

# The programs that building and testing need beside Go, through apt.
tools:
	scripts/tools.sh

# Server builds, into .servers/.
servers:
	scripts/servers.sh $(SERVERS)

test-servers:
	scripts/servers.sh $(TEST_SERVERS)
