# SQLite is compiled in; without cgo it builds and then fails at the first query.
export CGO_ENABLED = 1

STATICCHECK = honnef.co/go/tools/cmd/staticcheck@v0.8.2

# The builds that "make servers" brings here; scripts/servers.sh lists them all.
# PostgreSQL is unpacked only where none is installed.
SERVERS = mariadb1011 mariadb118 mysql97 $(if $(wildcard /usr/lib/postgresql/*/bin/postgres),,pg15)

.PHONY: build demo test race lint fmt golden bench clean tools servers

build:
	go build -o bin/dbmatrix ./cmd/dbmatrix

# The quickstart on real servers: its table is printed and left in RESULTS.md.
demo: tools
	scripts/servers.sh mariadb1011
	$(MAKE) --no-print-directory build
	scripts/demo.sh

# With the servers here, no test may skip for want of one.
test: tools servers bin/go-tpc
	DBMATRIX_REQUIRE_SERVERS=1 go test ./...

race: tools servers bin/go-tpc
	DBMATRIX_REQUIRE_SERVERS=1 go test -race ./...

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
golden: tools servers bin/go-tpc
	go test $$(grep -rl --include='*_test.go' 'flag.Bool("update"' . | xargs -r -n 1 dirname | sort -u) -update

bench: tools servers bin/go-tpc
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
