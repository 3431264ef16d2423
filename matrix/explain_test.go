package matrix

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

const explainExperiment = `
variable "cache" { default = "2G" }
defaults {
  server = server.inno
  my_cnf = {
    plugin_load_add         = null
    innodb_buffer_pool_size = "1G"
    table_open_cache        = 100
  }
  env    = { MALLOC_CONF = "a", DB_PASSWORD = "secret1" }
  params = { rows = 10, more = param.rows + 1 }
}
server "myrocks" {
  my_cnf = { innodb_buffer_pool_size = "512M" }
}
axis "engine" {
  level "rocks" {
    server = server.myrocks
    my_cnf = { innodb_buffer_pool_size = var.cache }
    params = { rows = 20 }
    env    = { MALLOC_CONF = null }
  }
}
axis "memory" {
  my_cnf = { rocksdb_default_cf_options = { block_size = 4096 } }
  level "low" {
    storage = { redo = storage.ssd }
    my_cnf  = { rocksdb_default_cf_options = { compression = "kZSTD" } }
  }
}
phase "load" {
  snapshot = true
  workload "bench" {
    step = "load"
    rows = param.more
  }
}
phase "query" {
  override = ["innodb_buffer_pool_size"]
  my_cnf   = { innodb_buffer_pool_size = "4G" }
  workload "bench" { step = "query" }
}
`

// explained prints explanations, a line for each origin.
func explained(list []Explanation) string {
	var b strings.Builder
	for _, x := range list {
		fmt.Fprintf(&b, "%s = %s", x.Name, x.Value)
		if x.Removed {
			b.WriteString("(removed)")
		}
		if x.Phases != nil {
			fmt.Fprintf(&b, " in %s", strings.Join(x.Phases, ", "))
		}
		b.WriteByte('\n')
		for _, o := range x.Origins {
			value := o.Value
			if o.Null {
				value = "null"
			}
			if o.Part != "" {
				value = o.Part + "=" + value
			}
			place := o.Place()
			fmt.Fprintf(&b, "  %s: %s at %s\n", o.Name, value, place[strings.LastIndexByte(place, '/')+1:])
		}
	}
	return b.String()
}

func TestExplain(t *testing.T) {
	e, cells := expandText(t, explainExperiment)
	all := e.Explain(cells[0])
	tests := []struct{ name, want string }{
		// A server's option, the defaults, a level and a phase: four sources
		// and more, since the machine file speaks of the server too.
		{"my_cnf.innodb_buffer_pool_size", `my_cnf.innodb_buffer_pool_size = 2G in load
  server myrocks: 512M at experiment.hcl:14
  defaults: 1G at experiment.hcl:7
  level engine.rocks: 2G at experiment.hcl:19
my_cnf.innodb_buffer_pool_size = 4G in query
  server myrocks: 512M at experiment.hcl:14
  defaults: 1G at experiment.hcl:7
  level engine.rocks: 2G at experiment.hcl:19
  phase query: 4G at experiment.hcl:40
`},
		{"Innodb-Buffer-Pool-Size", ""}, // the same as the one before, which is tested below
		{"plugin_load_add", `my_cnf.plugin_load_add = (removed)
  server myrocks: ha_rocksdb at machine.hcl:4
  defaults: null at experiment.hcl:6
`},
		{"table_cache", `my_cnf.table_open_cache = 100
  defaults: 100 at experiment.hcl:8
`},
		{"rocksdb_default_cf_options", `my_cnf.rocksdb_default_cf_options = block_size=4096; compression=kZSTD
  axis memory: block_size=4096 at experiment.hcl:25
  level memory.low: compression=kZSTD at experiment.hcl:28
`},
		{"server", `server = myrocks (mariadb 10.11.19)
  defaults: server.inno at experiment.hcl:4
  level engine.rocks: server.myrocks at experiment.hcl:18
`},
		{"param.rows", `param.rows = 20
  defaults: 10 at experiment.hcl:11
  level engine.rocks: 20 at experiment.hcl:20
`},
		{"more", `param.more = 21
  defaults: 21 at experiment.hcl:11
`},
		{"MALLOC_CONF", `env.MALLOC_CONF = (removed)
  defaults: a at experiment.hcl:10
  level engine.rocks: null at experiment.hcl:21
`},
		{"storage.redo", `storage.redo = storage.ssd
  level memory.low: storage.ssd at experiment.hcl:27
`},
		{"nothing", ""},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			want := tt.want
			if strings.HasPrefix(tt.name, "Innodb") {
				want = tests[0].want
			}
			if diff := cmp.Diff(want, explained(e.Find(all, tt.name))); diff != "" {
				t.Errorf("explanation (-want +got):\n%s", diff)
			}
		})
	}
	t.Run("secrets are not shown", func(t *testing.T) {
		if text := explained(all); strings.Contains(text, "secret1") || !strings.Contains(text, "env.DB_PASSWORD = sha256:") {
			t.Errorf("explanation shows a password, or no hash of it:\n%s", text)
		}
	})
}

// TestOrigins tests that an option carries its origins into the option file.
func TestOrigins(t *testing.T) {
	_, cells := expandText(t, explainExperiment)
	o := cells[0].Phases[1].Settings.Option("innodb_buffer_pool_size")
	var kinds []OverlayKind
	for _, origin := range o.Origins {
		kinds = append(kinds, origin.Kind)
	}
	if diff := cmp.Diff([]OverlayKind{OverlayServer, OverlayDefaults, OverlayLevel, OverlayPhase}, kinds); diff != "" {
		t.Errorf("kinds of origins (-want +got):\n%s", diff)
	}
	if !o.Varied() || cells[0].Phases[0].Settings.Option("table_open_cache").Varied() {
		t.Error("an option is varied where a phase decides it, and not where the defaults do")
	}
	if got := (Origin{}).Place(); got != "dbmatrix" {
		t.Errorf("the place of what dbmatrix sets is %q", got)
	}
}
