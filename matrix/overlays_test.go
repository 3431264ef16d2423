package matrix

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// look returns what a phase of a cell runs with, as text: "my_cnf.x", "env.X",
// "param.x", "storage.data", "server", "setup", "prefix", an attribute of the
// workload, or one of the phase. "-" stands for what is not set, or not there.
func look(cells []*Cell, key CellKey, phase, name string) string {
	for _, c := range cells {
		if c.Key != key {
			continue
		}
		for _, p := range c.Phases {
			if p.Block == phase {
				return lookPhase(p, name)
			}
		}
		return "no phase " + phase
	}
	return fmt.Sprintf("no cell %q", key)
}

func lookPhase(p *Phase, name string) string {
	s := p.Settings
	kind, rest, _ := strings.Cut(name, ".")
	switch kind {
	case "my_cnf", "postgresql_conf":
		if o := s.Option(rest); o != nil {
			return o.Value.String()
		}
	case "env":
		for _, e := range s.Env {
			if e.Name == rest {
				return e.Value
			}
		}
	case "param":
		if v, ok := s.Params[rest]; ok {
			return show(v)
		}
	case "storage":
		if st, ok := s.Storage[rest]; ok {
			return st.Name
		}
	case "server":
		if s.Server != nil {
			return s.Server.Name
		}
	case "setup":
		return fmt.Sprint(s.Setup)
	case "teardown":
		return fmt.Sprint(s.Teardown)
	case "prefix":
		return fmt.Sprint(s.Prefix)
	case "unverified":
		return fmt.Sprint(s.Unverified)
	case "adjusted":
		return fmt.Sprint(s.Adjusted)
	case "numbers":
		return fmt.Sprintf("%s %d to %d", p.Name, p.FirstIteration, p.LastIteration())
	default:
		if v, ok := p.Workload.Args[name]; ok && !v.IsNull() {
			return show(v)
		}
	}
	return "-"
}

const loadPhase = `
phase "load" {
  workload "bench" { step = "load" }
}
`

const queryPhase = `
phase "query" {
  restart = true
  workload "bench" { step = "query" }
}
`

// TestOverlays tests what cells run with. The keys of want are a cell, a phase
// and a name, as look takes them.
func TestOverlays(t *testing.T) {
	type sight struct {
		cell        CellKey
		phase, name string
	}
	tests := []struct {
		name string
		hcl  string
		want map[sight]string
	}{
		{"each overlay wins over those before it", `
defaults {
  server = server.myrocks
  my_cnf = { plugin_load_add = "ha_x", b = 1, c = 1, d = 1 }
}
axis "first" {
  level "on" { my_cnf = { b = 2 } }
}
axis "second" {
  level "on" {
    override = ["b"]
    my_cnf   = { b = 3, c = 3 }
  }
}
phase "load" {
  override = ["c"]
  my_cnf   = { c = 4 }
  workload "bench" { step = "load" }
}`, map[sight]string{
			{"first=on,second=on", "load", "my_cnf.plugin_load_add"}: "ha_x",
			{"first=on,second=on", "load", "my_cnf.b"}:               "3",
			{"first=on,second=on", "load", "my_cnf.c"}:               "4",
			{"first=on,second=on", "load", "my_cnf.d"}:               "1",
		}},
		{"a server's own options lie under all", `
defaults { server = server.myrocks }` + loadPhase, map[sight]string{
			{"", "load", "my_cnf.plugin_load_add"}: "ha_rocksdb",
		}},
		{"null removes", `
defaults {
  server = server.myrocks
  my_cnf = { a = 1, plugin_load_add = null }
  env    = { X = "1", Y = "2" }
}
axis "a" {
  level "none" {
    my_cnf = { a = null }
    env    = { X = null }
  }
  level "some" {}
}` + loadPhase, map[sight]string{
			{"a=none", "load", "my_cnf.a"}:               "-",
			{"a=none", "load", "my_cnf.plugin_load_add"}: "-",
			{"a=none", "load", "env.X"}:                  "-",
			{"a=none", "load", "env.Y"}:                  "2",
			{"a=some", "load", "my_cnf.a"}:               "1",
		}},
		{"a null object sets nothing", `
variable "tune" { default = false }
defaults {
  server = server.inno
  my_cnf = { a = 1 }
}
axis "a" {
  level "x" { my_cnf = var.tune ? { a = 2 } : null }
}` + loadPhase, map[sight]string{
			{"a=x", "load", "my_cnf.a"}: "1",
		}},
		{"composite options merge key by key", `
defaults {
  server = server.inno
  my_cnf = { rocksdb_default_cf_options = { block_size = 4096, compression = "kZSTD" } }
}
axis "a" {
  level "bottom" { my_cnf = { rocksdb_default_cf_options = { bottommost = "kZSTD" } } }
  level "none" { my_cnf = { rocksdb_default_cf_options = { compression = null, block_size = 8192 } } }
  level "gone" { my_cnf = { rocksdb_default_cf_options = null } }
  level "text" { my_cnf = { rocksdb_default_cf_options = "a=b" } }
}` + loadPhase, map[sight]string{
			{"a=bottom", "load", "my_cnf.rocksdb_default_cf_options"}: "block_size=4096; bottommost=kZSTD; compression=kZSTD",
			{"a=none", "load", "my_cnf.rocksdb_default_cf_options"}:   "block_size=8192",
			{"a=gone", "load", "my_cnf.rocksdb_default_cf_options"}:   "-",
			{"a=text", "load", "my_cnf.rocksdb_default_cf_options"}:   "a=b",
		}},
		{"the axis decides under its levels, which may differ from it", `
defaults { server = server.inno }
axis "a" {
  my_cnf = { a = 1, b = 1 }
  level "x" {}
  level "y" { my_cnf = { a = 2 } }
}` + loadPhase, map[sight]string{
			{"a=x", "load", "my_cnf.a"}: "1",
			{"a=y", "load", "my_cnf.a"}: "2",
			{"a=y", "load", "my_cnf.b"}: "1",
		}},
		{"equal values do not conflict, however they are spelt", `
defaults { server = server.inno }
axis "a" {
  level "x" { my_cnf = { size = "128M", sync = "ON", log_bin = false } }
}
axis "b" {
  level "y" { my_cnf = { Size = 134217728, sync = true, skip-log-bin = true } }
}` + loadPhase, map[sight]string{
			{"a=x,b=y", "load", "my_cnf.size"}:    "134217728",
			{"a=x,b=y", "load", "my_cnf.log_bin"}: "OFF",
		}},
		{"override by any spelling of the option", `
defaults { server = server.inno }
axis "a" {
  level "x" { my_cnf = { table_open_cache = 100 } }
}
axis "b" {
  level "y" {
    override = ["Table-Cache"]
    my_cnf   = { table_cache = 200 }
  }
}` + loadPhase, map[sight]string{
			{"a=x,b=y", "load", "my_cnf.table_open_cache"}: "200",
		}},
		{"override of server, storage, param and env", `
axis "a" {
  level "x" {
    server  = server.inno
    storage = storage.ssd
    params  = { Rows = 1 }
    env     = { X_Y = "1" }
  }
}
axis "b" {
  level "y" {
    override = ["server", "storage", "Rows", "X_Y"]
    server   = server.mysql97
    storage  = storage.hdd
    params   = { Rows = 2 }
    env      = { X_Y = "2" }
  }
}
phase "load" {
  workload "bench" {
    step = "load"
    rows = param.Rows
  }
}`, map[sight]string{
			{"a=x,b=y", "load", "server"}:       "mysql97",
			{"a=x,b=y", "load", "storage.redo"}: "hdd",
			{"a=x,b=y", "load", "rows"}:         "2",
			{"a=x,b=y", "load", "env.X_Y"}:      "2",
		}},
		{"override of one storage role", `
defaults { server = server.inno }
axis "a" {
  level "x" { storage = storage.ssd }
}
axis "b" {
  level "y" {
    override = ["redo"]
    storage  = { redo = storage.hdd }
  }
}` + loadPhase, map[sight]string{
			{"a=x,b=y", "load", "storage.data"}: "ssd",
			{"a=x,b=y", "load", "storage.redo"}: "hdd",
		}},
		{"prefixes and negation", `
defaults {
  server = server.inno
  my_cnf = { loose-innodb_a = 1, skip_log_bin = true, enable_b = false, skip_networking = true, disable-c = "0" }
}` + loadPhase, map[sight]string{
			{"", "load", "my_cnf.innodb_a"}:        "1",
			{"", "load", "my_cnf.log_bin"}:         "OFF",
			{"", "load", "my_cnf.b"}:               "OFF",
			{"", "load", "my_cnf.skip_networking"}: "ON",
			{"", "load", "my_cnf.c"}:               "ON",
		}},
		{"values keep their kind and exact digits", `
defaults {
  server = server.inno
  my_cnf = { a = 0.1 + 0.2, b = 1e6, c = 18446744073709551615, d = ["x", "y"], e = "1e6", f = 90.0 }
}` + loadPhase, map[sight]string{
			{"", "load", "my_cnf.a"}: "0.3",
			{"", "load", "my_cnf.b"}: "1000000",
			{"", "load", "my_cnf.c"}: "18446744073709551615",
			{"", "load", "my_cnf.d"}: "x, y",
			{"", "load", "my_cnf.e"}: "1e6",
			{"", "load", "my_cnf.f"}: "90",
		}},
		{"options of the other flavour do not reach a server", `
axis "server" {
  level "inno" { server = server.inno }
  level "pg" { server = server.pg15 }
}
defaults {
  my_cnf          = { a = 1 }
  postgresql_conf = { b = 2, "auto_explain.log" = true }
}` + loadPhase, map[sight]string{
			{"server=inno", "load", "my_cnf.a"}:                       "1",
			{"server=inno", "load", "my_cnf.b"}:                       "-",
			{"server=pg", "load", "postgresql_conf.a"}:                "-",
			{"server=pg", "load", "postgresql_conf.b"}:                "2",
			{"server=pg", "load", "postgresql_conf.auto_explain.log"}: "ON",
		}},
		{"setup, teardown append; prefix is the last", `
defaults {
  server   = server.inno
  setup    = [["a"]]
  teardown = [["c"]]
  prefix   = ["nice"]
}
axis "a" {
  level "x" {
    setup    = [["b", "{dir}"]]
    teardown = [["d"]]
    prefix   = ["taskset", "-c", "1"]
  }
}` + loadPhase, map[sight]string{
			{"a=x", "load", "setup"}:    "[[a] [b {dir}]]",
			{"a=x", "load", "teardown"}: "[[c] [d]]",
			{"a=x", "load", "prefix"}:   "[taskset -c 1]",
		}},
		{"storage by role", `
defaults {
  server  = server.inno
  storage = { data = storage.ssd, redo = storage.hdd }
}
axis "a" {
  level "x" { storage = { redo = storage.ssd } }
}` + loadPhase, map[sight]string{
			{"a=x", "load", "storage.data"}:   "ssd",
			{"a=x", "load", "storage.redo"}:   "ssd",
			{"a=x", "load", "storage.binlog"}: "-",
		}},
		{"params refer to params, after merging", `
defaults {
  server = server.inno
  params = { rows = param.pages * 10, pages = 5 }
}
axis "a" {
  level "x" { params = { pages = param.base + 1 } }
  level "y" {}
}
axis "b" {
  level "z" { params = { base = 6 } }
}
phase "load" {
  workload "bench" {
    step = "load"
    rows = param.rows
  }
}`, map[sight]string{
			{"a=x,b=z", "load", "rows"}: "70",
			{"a=y,b=z", "load", "rows"}: "50",
		}},
		{"a param of an axis that the cell lacks is null", `
defaults { server = server.inno }
axis "a" {
  level "x" { params = { rate = 7 } }
}
axis "b" {
  levels = [1, 2]
  my_cnf = { b = level }
}
matrix "one" { a = "*" }
matrix "two" { b = "*" }
phase "load" {
  workload "bench" {
    step = "load"
    rate = param.rate
    rows = axis.b == null ? 10 : 20
  }
}`, map[sight]string{
			{"a=x", "load", "rate"}: "7",
			{"a=x", "load", "rows"}: "10",
			{"b=1", "load", "rate"}: "-",
			{"b=1", "load", "rows"}: "20",
		}},
		{"params choose, by build too", `
axis "server" {
  level "old" { server = server.inno }
  level "new" { server = server.mysql97 }
}
defaults {
  params = { capacity = at_least(build.version, "10.0") ? 2000 : 1000, flavour = build.flavour }
  my_cnf = {
    innodb_io_capacity = param.capacity
    name               = build.name
    native             = param.flavour == "mysql" ? true : null
  }
}` + loadPhase, map[sight]string{
			{"server=old", "load", "my_cnf.innodb_io_capacity"}: "2000",
			{"server=new", "load", "my_cnf.innodb_io_capacity"}: "1000",
			{"server=new", "load", "my_cnf.name"}:               "mysql97",
			{"server=new", "load", "my_cnf.native"}:             "ON",
			{"server=old", "load", "my_cnf.native"}:             "-",
		}},
		{"phases and from", `
defaults { server = server.inno }
axis "a" {
  level "x" {
    phases = ["query"]
    my_cnf = { a = 1 }
  }
}
axis "b" {
  from   = "query"
  my_cnf = { b = 1 }
  level "y" {
    from   = "query"
    my_cnf = { c = 1 }
  }
}` + loadPhase + queryPhase + `
phase "end" {
  restart = true
  workload "bench" { step = "query" }
}`, map[sight]string{
			{"a=x,b=y", "load", "my_cnf.a"}:  "-",
			{"a=x,b=y", "query", "my_cnf.a"}: "1",
			{"a=x,b=y", "end", "my_cnf.a"}:   "-",
			{"a=x,b=y", "load", "my_cnf.b"}:  "-",
			{"a=x,b=y", "query", "my_cnf.b"}: "1",
			{"a=x,b=y", "end", "my_cnf.b"}:   "1",
			{"a=x,b=y", "load", "my_cnf.c"}:  "-",
			{"a=x,b=y", "end", "my_cnf.c"}:   "1",
		}},
		{"levels apply where their axis does", `
defaults { server = server.inno }
axis "a" {
  phases = ["query"]
  level "x" { my_cnf = { a = 1 } }
  level "y" {
    from   = "load"
    my_cnf = { a = 2 }
  }
}` + loadPhase + queryPhase, map[sight]string{
			{"a=x", "load", "my_cnf.a"}:  "-",
			{"a=x", "query", "my_cnf.a"}: "1",
			{"a=y", "load", "my_cnf.a"}:  "2",
			{"a=y", "query", "my_cnf.a"}: "2",
		}},
		{"an option of one phase only", `
defaults {
  server = server.inno
  my_cnf = { log_bin = false }
}` + loadPhase + `
phase "first" {
  iterations = 2
  workload "bench" { step = "query" }
}
phase "second" {
  continues  = "first"
  iterations = 2
  restart    = true
  my_cnf     = { log_bin = true }
  workload "bench" { step = "query" }
}`, map[sight]string{
			{"", "load", "my_cnf.log_bin"}:   "OFF",
			{"", "first", "my_cnf.log_bin"}:  "OFF",
			{"", "second", "my_cnf.log_bin"}: "ON",
			{"", "first", "numbers"}:         "first 1 to 2",
			{"", "second", "numbers"}:        "first 3 to 4",
		}},
		{"a chain of continued phases, and steps", `
defaults { server = server.inno }` + loadPhase + `
phase "a" {
  workload "bench" { step = "scan" }
}
phase "b" {
  continues = "a"
  workload "bench" { step = "query" }
}
phase "c" {
  continues = "b"
  workload "bench" { step = "query" }
}`, map[sight]string{
			{"", "a", "numbers"}: "a 1 to 5",
			{"", "b", "numbers"}: "a 6 to 6",
			{"", "c", "numbers"}: "a 7 to 7",
		}},
		{"when leaves a phase out, and what continues it starts at 1", `
defaults { server = server.inno }
axis "a" {
  levels = [1, 2]
  params = { first = level }
}` + loadPhase + `
phase "query" {
  when = param.first == 1
  workload "bench" { step = "query" }
}
phase "more" {
  continues = "query"
  workload "bench" { step = "query" }
}`, map[sight]string{
			{"a=1", "more", "numbers"}:  "query 2 to 2",
			{"a=2", "query", "numbers"}: "no phase query",
			{"a=2", "more", "numbers"}:  "query 1 to 1",
		}},
		{"workload attributes come from the nearest earlier phase of the type", `
defaults { server = server.inno }
axis "a" {
  levels = [10, 20]
  params = { rows = level }
}
phase "load" {
  workload "bench" {
    step = "load"
    rows = param.rows
    rate = 5
  }
}
phase "between" {
  workload "sql" { statements = ["ANALYZE"] }
}
phase "q1" {
  workload "bench" {
    step = "query"
    rate = 6
  }
}
phase "q2" {
  workload "bench" {
    step = "query"
    rate = null
  }
}`, map[sight]string{
			{"a=10", "q1", "rows"}: "10",
			{"a=20", "q2", "rows"}: "20",
			{"a=20", "q1", "rate"}: "6",
			{"a=20", "q2", "rate"}: "6",
		}},
		{"the shorthand of an axis", `
defaults { server = server.inno }
axis "size" {
  levels = range(1, 4)
  label  = "${level} GiB"
  my_cnf = { innodb_buffer_pool_size = "${level}G" }
  params = { big = level > 2 }
}
axis "kind" {
  levels = ["a", true, 1.5]
  my_cnf = { k = level }
}
phase "load" {
  workload "bench" {
    step = "load"
    rows = param.big ? 9 : 1
  }
}`, map[sight]string{
			{"size=3,kind=a", "load", "my_cnf.innodb_buffer_pool_size"}: "3G",
			{"size=3,kind=a", "load", "rows"}:                           "9",
			{"size=2,kind=true", "load", "rows"}:                        "1",
			{"size=2,kind=true", "load", "my_cnf.k"}:                    "ON",
			{"size=2,kind=1.5", "load", "my_cnf.k"}:                     "1.5",
		}},
		{"a cell without a server", `
defaults { setup = [["sync"]] }
phase "io" {
  workload "fileio" { mode = "rndrd" }
}`, map[sight]string{
			{"", "io", "server"}: "-",
			{"", "io", "mode"}:   `"rndrd"`,
			{"", "io", "setup"}:  "[[sync]]",
		}},
		{"unverified and adjusted, also of an axis that sets nothing else", `
defaults {
  server = server.inno
  my_cnf = { a = 1, table_open_cache = 5 }
}
axis "a" {
  unverified = ["A"]
  level "x" { my_cnf = { b = 1 } }
  level "y" {
    adjusted = ["table-cache"]
    my_cnf   = { b = 2 }
  }
}` + loadPhase, map[sight]string{
			{"a=x", "load", "unverified"}: "[a]",
			{"a=x", "load", "adjusted"}:   "[]",
			{"a=y", "load", "unverified"}: "[a]",
			{"a=y", "load", "adjusted"}:   "[table_open_cache]",
		}},
		{"locals wait for what they read", `
locals {
  small = 10
  rows  = local.small * (axis.a == "x" ? 1 : 2)
  both  = local.rows + param.more
}
defaults {
  server = server.inno
  params = { more = local.rows }
}
axis "a" {
  levels = ["x", "y"]
}
phase "load" {
  workload "bench" {
    step = "load"
    rows = local.both
  }
}`, map[sight]string{
			{"a=x", "load", "rows"}: "20",
			{"a=y", "load", "rows"}: "40",
		}},
		{"labels, positions, keys and matrices as names", `
defaults { server = server.inno }
axis "a" {
  level "x" { label = "the x" }
  level "y" {}
}
matrix "m" { a = "*" }
phase "load" {
  my_cnf = { label = label.a, pos = pos.a, key = cell.key, matrix = cell.matrix }
  workload "bench" { step = "load" }
}`, map[sight]string{
			{"a=x", "load", "my_cnf.label"}:  "the x",
			{"a=y", "load", "my_cnf.label"}:  "y",
			{"a=y", "load", "my_cnf.pos"}:    "1",
			{"a=y", "load", "my_cnf.key"}:    "a=y",
			{"a=y", "load", "my_cnf.matrix"}: "m",
		}},
		{"facts of the host", `
defaults {
  server = server.inno
  my_cnf = { innodb_buffer_pool_size = "${floor(host.memory / 2)}G", threads = host.cpus }
}` + loadPhase, map[sight]string{
			{"", "load", "my_cnf.innodb_buffer_pool_size"}: "12G",
			{"", "load", "my_cnf.threads"}:                 "2",
		}},
		{"server and storage chosen by an expression", `
variable "disk" { default = "ssd" }
axis "server" {
  levels  = ["inno", "mysql97"]
  server  = server[level]
  storage = storage[var.disk]
}` + loadPhase, map[sight]string{
			{"server=mysql97", "load", "server"}:       "mysql97",
			{"server=mysql97", "load", "storage.data"}: "ssd",
		}},
		{"dynamic blocks", `
variable "clients" { default = [1, 8] }
server "inno" { min_version = "10.6" }
dynamic "server" {
  for_each = ["spare1", "spare2"]
  labels   = [server.value]
  content { flavour = "mysql" }
}
defaults { server = server.inno }
dynamic "axis" {
  for_each = ["p", "q"]
  labels   = ["axis_${axis.value}"]
  content {
    dynamic "level" {
      for_each = [1, 2]
      labels   = ["l${level.value}"]
      content { my_cnf = { "option_${axis.value}" = level.value } }
    }
  }
}
phase "load" {
  workload "bench" { step = "load" }
}
dynamic "phase" {
  for_each = var.clients
  labels   = ["c${phase.value}"]
  content {
    iterations = phase.value == 1 ? 1 : 2
    workload "bench" {
      step = "query"
      rate = phase.value
    }
  }
}
dynamic "table" {
  for_each = var.clients
  labels   = ["c${table.value}"]
  content {
    phase = "c${table.value}"
    dynamic "column" {
      for_each = ["qps.av", "qps.99"]
      labels   = [column.value]
      content { of = column.value }
    }
  }
}
dynamic "exclude" {
  for_each = ["l2"]
  content { when = axis.axis_p == exclude.value }
}`, map[sight]string{
			{"axis_p=l1,axis_q=l2", "c8", "my_cnf.option_q"}: "2",
			{"axis_p=l1,axis_q=l2", "c8", "rate"}:            "8",
			{"axis_p=l1,axis_q=l2", "c8", "numbers"}:         "c8 1 to 2",
			{"axis_p=l2,axis_q=l2", "c8", "rate"}:            `no cell "axis_p=l2,axis_q=l2"`,
		}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, cells := expandText(t, tt.hcl)
			got := map[sight]string{}
			for s := range tt.want {
				got[s] = look(cells, s.cell, s.phase, s.name)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("settings (-want +got):\n%s", diff)
			}
		})
	}
}
