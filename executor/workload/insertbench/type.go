package insertbench

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/zclconf/go-cty/cty"

	"dbmatrix/executor/workload"
	"dbmatrix/matrix"
)

// version changes when the data or the statements do.
const version = 1

// Profiles of the benchmark.
const (
	classic = "classic"
	modern  = "modern"
)

// Steps of the classic profile.
const (
	stepLoad  = "load"
	stepScan  = "scan"
	stepQuery = "query"
)

// Steps of the modern profile, named as the original's reports name them.
const (
	stepFill    = "l.i0"
	stepIndex   = "l.x"
	stepInsert1 = "l.i1"
	stepInsert2 = "l.i2"
	stepRange   = "qr"
	stepPoint   = "qp"
)

var (
	classicSteps = []string{stepLoad, stepScan, stepQuery}
	modernSteps  = []string{stepFill, stepIndex, stepInsert1, stepInsert2, stepRange, stepPoint}
)

// Disk for each row with its three indexes, in bytes: 2,000 million rows were
// published to take 404 GB in InnoDB and 226 GB in MyRocks without compression.
const (
	bytesPerRow        = 217
	bytesPerRowRocksDB = 121
)

// Type returns the workload type insert_benchmark.
func Type() workload.Type {
	return workload.Type{
		WorkloadType: matrix.WorkloadType{
			Name:       "insert_benchmark",
			Summary:    "rows into tables with secondary indexes, and range queries meanwhile",
			Version:    version,
			Attributes: attributes(),
			Steps: func(args matrix.Args) int {
				if workload.Read(args).Text("step") == stepScan {
					return len(scans)
				}
				return 1
			},
			Follows: func(args matrix.Args) []string {
				switch workload.Read(args).Text("step") {
				case stepLoad, stepFill:
					return nil
				case stepScan, stepQuery:
					return []string{stepLoad}
				default:
					return []string{stepFill}
				}
			},
			Check: func(args matrix.Args, build matrix.Build) []matrix.ArgError {
				_, faults := decode(args, build)
				return faults
			},
			Duration: func(args matrix.Args) time.Duration {
				v := workload.Read(args)
				if c := (config{step: v.Text("step")}); c.reads() {
					return time.Duration(v.Int("seconds", 1)) * time.Second
				}
				return 0
			},
			Bytes: func(args matrix.Args) uint64 {
				v := workload.Read(args)
				perRow := uint64(bytesPerRow)
				if v.Text("engine") == "rocksdb" {
					perRow = bytesPerRowRocksDB
				}
				return perRow * uint64(v.Int("rows", 1))
			},
			WarmUp: true,
			Built:  true,
		},
		New: newWorkload,
	}
}

func attributes() []matrix.Attribute {
	return []matrix.Attribute{
		workload.Step("Of the classic profile: load makes and fills the tables, scan reads all of them five times, query reads ranges while it inserts."+
			" Of the modern one: l.i0 makes and fills them, l.x makes the secondary indexes, l.i1 and l.i2 insert and delete, qr and qp read ranges or rows while they do.",
			slices.Concat(classicSteps, modernSteps)...),
		{
			Name: "profile", Type: cty.String, Values: []string{classic, modern},
			Doc: "The form of the benchmark, that of the step unless given. classic is the form of 2018: three indexes before the load, a float price. modern is the present one: indexes after the load, a whole price, deletes.",
		},
		workload.Whole("tables", "tables", 1, "Tables pi1 .. piN in the database ib."),
		workload.Optional("clients", "clients", "Clients, each with a connection, and with one more each for its queries, its deletes and its open transactions. One for each table unless given; else a multiple or a divisor of the number of tables."),
		workload.Whole("rows", "rows", 1000000, "Rows to load, all tables together."),
		workload.Optional("insert_rows", "rows", "Rows that l.i1 and l.i2 insert, all tables together: four fifths of them the first, the rest the second; twice rows unless given."),
		workload.Choice("engine", "Storage engine of the tables; PostgreSQL has none to choose.", "innodb", "rocksdb"),
		workload.Whole("partitions", "partitions", 0, "Partitions of each table, by ranges of transactionid; 0 is an unpartitioned table."),
		workload.Whole("later_rows", "rows", 0, "Rows that later phases will insert, all tables together: the partitions are sized for them too."),
		workload.Choice("compression", "none; table is InnoDB's compressed row format; transparent is page compression with hole punching (COMPRESSION='zlib' in MySQL, PAGE_COMPRESSED=1 in MariaDB). MyRocks is compressed by its server options.",
			"none", "table", "transparent"),
		workload.Optional("key_block_size", "KiB", "Compressed page size with compression = table: 1, 2, 4, 8 or 16; 8 unless given."),
		workload.Whole("secondary_indexes", "indexes", 3, "Secondary indexes of each table: of marketsegment, registersegment and pdc the first so many."),
		workload.Optional("rows_per_commit", "rows", "Rows of one INSERT, or DELETE, which is one transaction: 100 unless given; 50 in l.i1, qr and qp, 5 in l.i2."),
		workload.Whole("data_length_min", "bytes", 10, "Shortest value of the column data."),
		workload.Whole("data_length_max", "bytes", 20, "Longest value of the column data."),
		workload.Whole("data_random", "percent", 50, "Three quarters of this share of a value are random text, the rest is one letter."),
		workload.Optional("insert_rate", "rows/s", "Rows that each client inserts in a second; unless given, or with 0, as many as it can."),
		workload.Whole("seconds", "seconds", 60, "How long the steps with queries take."),
		workload.Optional("max_seconds", "seconds", "How long l.i1 or l.i2 takes at most: the step ends then, with the rows that it has inserted. No limit unless given."),
		workload.Whole("rows_per_query", "rows", 10, "LIMIT of a range query; keys of a query of qp."),
		{
			Name: "delete_per_insert", Type: cty.Bool, Default: cty.True,
			Doc: "In the modern profile: with each INSERT delete as many rows, those with the lowest keys, in l.i1, l.i2, qr and qp.",
		},
		workload.Whole("resync_min", "deletes", 1000, "Deletes after which the lowest key of the table is read anew; 0 is never."),
		workload.Optional("htap_seconds", "seconds", "In the modern profile each client also holds a transaction open that has read a row, for so long, again and again, in l.i1, l.i2, qr and qp; unless given there is none."),
		{
			Name: "unique_checks", Type: cty.Bool, Default: cty.True,
			Doc: "The variable unique_checks of connections that insert, of MySQL and MariaDB. Without, MyRocks does not look for a row of the same key.",
		},
		workload.Switch("bulk_load", "In l.i0 with MyRocks: load with rocksdb_bulk_load = 1, past the memtables."),
		{
			Name: "verify", Type: cty.Bool, Default: cty.True,
			Doc: "Count the rows of each table after the load, outside the measured time. It reads every table once.",
		},
		workload.Seed(),
		workload.Switch("bug_compat", "Percentiles of interval rates are those of the first client, as the original's reports have them, in place of all clients pooled."),
		workload.AllowErrors(),
	}
}

// config is the decoded body of a block.
type config struct {
	postgres      bool // the server is PostgreSQL
	step          string
	profile       string
	tables        int
	clients       int
	rows          int64
	insertRows    int64 // 0 in the classic profile
	engine        string
	partitions    int64
	laterRows     int64
	compression   string
	keyBlockSize  int64
	indexes       int
	rowsPerCommit int64
	data          dataShape
	insertRate    float64
	seconds       int64
	longest       time.Duration // that a step takes which ends by rows; 0 is no limit
	rowsPerQuery  int64
	deletes       bool          // in this step
	resync        int64         // deletes
	hold          time.Duration // that a transaction is held open; 0 is none
	uniqueChecks  bool
	bulkLoad      bool
	verify        bool
	seed          *int64
	firstClient   bool
	allowed       []string
}

// decode reads the arguments and judges them, for a build where it is known.
func decode(args matrix.Args, build matrix.Build) (config, []matrix.ArgError) {
	v := workload.Read(args)
	c := config{
		postgres:      build.Flavour == "postgres",
		step:          v.Text("step"),
		profile:       v.Text("profile"),
		tables:        int(v.Int("tables", 1)),
		clients:       int(v.Int("clients", 1)),
		rows:          v.Int("rows", 1),
		insertRows:    v.Int("insert_rows", 1),
		engine:        v.Text("engine"),
		partitions:    v.Int("partitions", 0),
		laterRows:     v.Int("later_rows", 0),
		compression:   v.Text("compression"),
		keyBlockSize:  v.Int("key_block_size", 1),
		indexes:       int(v.Int("secondary_indexes", 0)),
		rowsPerCommit: v.Int("rows_per_commit", 1),
		data: dataShape{
			shortest: int(v.Int("data_length_min", 0)),
			longest:  int(v.Int("data_length_max", 0)),
			random:   int(v.Int("data_random", 0)),
		},
		insertRate:   v.Float("insert_rate"),
		seconds:      v.Int("seconds", 1),
		longest:      time.Duration(v.Int("max_seconds", 1)) * time.Second,
		rowsPerQuery: v.Int("rows_per_query", 1),
		deletes:      v.Bool("delete_per_insert"),
		resync:       v.Int("resync_min", 0),
		hold:         time.Duration(v.Float("htap_seconds") * float64(time.Second)),
		uniqueChecks: v.Bool("unique_checks"),
		bulkLoad:     v.Bool("bulk_load"),
		verify:       v.Bool("verify"),
		firstClient:  v.Bool("bug_compat"),
		allowed:      v.ErrorCodes("allow_errors"),
	}
	if v.Has("seed") {
		seed := v.Int("seed", 0)
		c.seed = &seed
	}
	if len(v.Faults) == 0 {
		c.complete()
		c.check(v, build)
	}
	return c, v.Faults
}

// complete fills in what depends on other attributes.
func (c *config) complete() {
	c.completeProfile()
	if c.engine == "" {
		c.engine = "innodb"
	}
	if c.compression == "" {
		c.compression = "none"
	}
	if c.clients == 0 {
		c.clients = c.tables
	}
	if c.compression == "table" && c.keyBlockSize == 0 {
		c.keyBlockSize = 8
	}
	if c.insertRate > 0 && c.insertRate < float64(c.rowsPerCommit) {
		// As the original: no batch is larger than a second's rows.
		c.rowsPerCommit = max(1, int64(c.insertRate))
	}
}

// completeProfile fills in what the profiles have different.
func (c *config) completeProfile() {
	own := classic
	if slices.Contains(modernSteps, c.step) {
		own = modern
	}
	if c.profile == "" {
		c.profile = own
	}
	switch {
	case c.profile == classic:
		c.insertRows = 0
	case c.insertRows == 0:
		c.insertRows = 2 * c.rows
	}
	if !slices.Contains([]string{stepInsert1, stepInsert2, stepRange, stepPoint}, c.step) {
		c.deletes, c.hold = false, 0
	}
	if c.rowsPerCommit == 0 {
		c.rowsPerCommit = rowsPerCommit(c.step)
	}
}

// rowsPerCommit returns how many rows a transaction of a step has.
func rowsPerCommit(step string) int64 {
	switch step {
	case stepInsert1, stepRange, stepPoint:
		return 50
	case stepInsert2:
		return 5
	}
	return 100
}

// reads reports whether the step has queries beside its inserts. It ends by time
// then.
func (c *config) reads() bool {
	return slices.Contains([]string{stepQuery, stepRange, stepPoint}, c.step)
}

// stepRows returns how many rows l.i1 or l.i2 inserts, all tables together.
func (c *config) stepRows() int64 {
	first := c.insertRows * 4 / 5
	if c.step == stepInsert1 {
		return first
	}
	return c.insertRows - first
}

// check finds what is wrong between attributes, and with the build.
func (c *config) check(v *workload.Values, build matrix.Build) {
	c.checkProfile(v)
	if c.rows < int64(c.tables) {
		v.Fault("rows", "fewer rows than tables", "rows counts all tables together: give at least one for each.")
	}
	if c.clients%c.tables != 0 && c.tables%c.clients != 0 {
		v.Fault("clients", "the clients do not share the tables evenly",
			"Give a multiple or a divisor of the number of tables, or leave it out for one client a table.")
	}
	if c.indexes > len(secondaryIndexes) {
		v.Fault("secondary_indexes", "too many", "The benchmark has three secondary indexes: give 0 to 3.")
	}
	if (c.step == stepQuery || c.step == stepRange) && c.indexes == 0 {
		v.Fault("secondary_indexes", "no range query is left", "The queries of this step use the secondary indexes: give 1 to 3.")
	}
	if c.step == stepIndex && c.indexes == 0 {
		v.Fault("secondary_indexes", "no index is left to make", "Leave the step l.x out, or give 1 to 3.")
	}
	if c.insertRate != 0 && c.insertRate < 1 {
		v.Fault("insert_rate", "less than one row a second", "Give at least 1, or 0 for no limit.")
	}
	c.checkData(v)
	c.checkStorage(v)
}

// checkProfile finds what is wrong with the profile, and in what the modern one
// alone has.
func (c *config) checkProfile(v *workload.Values) {
	steps := classicSteps
	if c.profile == modern {
		steps = modernSteps
	}
	if !slices.Contains(steps, c.step) {
		v.Fault("profile", fmt.Sprintf("the %s profile has no step %s", c.profile, c.step),
			"Its steps are "+strings.Join(steps, ", ")+". Leave the profile out for that of the step.")
	}
	if c.profile == modern && c.insertRows-c.insertRows*4/5 < int64(c.tables) {
		v.Fault("insert_rows", "fewer rows than tables in the step l.i2", "A fifth of insert_rows is for all tables together: give at least five for each table.")
	}
	if v.Has("htap_seconds") && v.Float("htap_seconds") <= 0 {
		v.Fault("htap_seconds", "no time", "Give a time above 0, or leave it out for no open transaction.")
	}
	if c.bulkLoad && c.engine != "rocksdb" {
		v.Fault("bulk_load", "only MyRocks has it", `Set it to null, or to false, where the engine is another.`)
	}
	if c.bulkLoad && c.clients > c.tables {
		v.Fault("bulk_load", "clients share tables", "A bulk load needs the rows of a table in the order of their keys: give no more clients than tables.")
	}
}

func (c *config) checkData(v *workload.Values) {
	if c.data.longest < c.data.shortest {
		v.Fault("data_length_max", "shorter than data_length_min", "Give at least data_length_min.")
	}
	if c.data.longest > dataColumn {
		v.Fault("data_length_max", "longer than the column", "The column data has 4000 bytes.")
	}
	if c.data.random > 100 {
		v.Fault("data_random", "more than all", "Give a share of 0 to 100 percent.")
	}
}

// maxPartitions is how many partitions both MySQL and MariaDB allow.
const maxPartitions = 8192

func (c *config) checkStorage(v *workload.Values) {
	if c.postgres {
		c.checkPostgres(v)
	}
	if c.partitions > maxPartitions {
		v.Fault("partitions", "too many", "A table has at most 8192 partitions.")
	}
	if c.partitions > 1 && c.rowsPerPartition() < 1 {
		v.Fault("partitions", "more partitions than rows in a table", "Give fewer partitions or more rows.")
	}
	if c.engine == "rocksdb" && c.compression != "none" {
		v.Fault("compression", c.compression+" compression is InnoDB's",
			`MyRocks is compressed by rocksdb_default_cf_options: set that in my_cnf, and compression = "none" here (or null) for these cells.`)
	}
	switch {
	case c.keyBlockSize == 0:
	case c.compression != "table":
		v.Fault("key_block_size", `only compression = "table" has one`, "Set it to null where the compression is another.")
	case !slices.Contains([]int64{1, 2, 4, 8, 16}, c.keyBlockSize):
		v.Fault("key_block_size", "no such page size", "InnoDB compresses to pages of 1, 2, 4, 8 or 16 KiB.")
	}
}

// checkPostgres finds what PostgreSQL does not have.
func (c *config) checkPostgres(v *workload.Values) {
	const out = "Leave it out, or set it to null for the cells of PostgreSQL."
	if c.engine != "innodb" {
		v.Fault("engine", "PostgreSQL has no storage engines", out)
	}
	if c.compression != "none" {
		v.Fault("compression", "PostgreSQL compresses no tables", out)
	}
	if !c.uniqueChecks {
		v.Fault("unique_checks", "PostgreSQL has no such variable", out)
	}
}
