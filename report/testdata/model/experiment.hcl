# Two engines, compressed or not, at two numbers of clients: what the tests of
# the table model show in many ways. The results are made up by the tests.
experiment {
  title       = "Engines | made-up numbers"
  description = "Nothing here was measured."
  replicates  = 3
}

axis "engine" {
  level "inno" {
    description = "InnoDB"
    server      = server.mariadb
    params      = { engine = "innodb" }
  }
  level "rocks" {
    description = "MyRocks"
    server      = server.mariadb
    params      = { engine = "rocksdb" }
  }
}

axis "compression" {
  level "c0" { params = { compression = "none" } }
  level "c1" { params = { compression = "table" } }
}

axis "clients" {
  levels = [1, 4]
  params = { clients = tonumber(level) }
}

axis "host" {
  level "only" { label = "small host" }
}

phase "load" {
  snapshot = true
  workload "insert_benchmark" {
    step        = "load"
    engine      = param.engine
    compression = param.compression
  }
}

phase "query" {
  iterations = 2
  workload "insert_benchmark" {
    step    = "query"
    clients = param.clients
  }
}

text "intro" {
  body = "InnoDB serves ${format("%d", at("engine=inno,compression=c0,clients=4,host=only", "qps", "query", 2))} queries a second."
}

table "load" { # shared by the numbers of clients: one row for both
  phase   = "load"
  columns = ["ips", "r/i", "rmb/s", "cpu", "size", "rss"]
}

chart "load" { # one bar for the load that the numbers of clients share
  kind   = "bar"
  title  = "Load"
  phase  = "load"
  x      = "engine"
  y      = "ips"
  series = ["compression"]
}

table "grouped" {
  title   = "queries, second hour"
  phase   = "query"
  columns = ["qps", "qps@query.1", "Mcpu/q", "p99.query", "wal_gb"]
  group {
    key     = axis.engine
    heading = "engine ${axis.engine}"
    order   = ["rocks", "inno"]
    style   = "heading"
  }
  label {
    heading = "config"
    text    = "${axis.compression} | ${axis.clients}"
  }
}

table "pivot" {
  phase    = "query"
  rows     = ["engine", "compression"]
  across   = ["clients"]
  baseline = { engine = "inno", compression = "c0" }
  columns  = ["qps"]
  column "rel" {
    of       = "qps"
    relative = true
    heading  = ["relative", "qps"]
  }
  column "gain" {
    value  = col["qps"] - base_at("qps", "query", 2)
    format = "%.0f"
  }
  column "both" { cell = "{qps} ({ips@load}/s)" }
}

table "transposed" {
  transpose = true
  phase     = "query"
  columns   = ["qps", "ips@load"]
  only      = axis.clients == "4"
  label {
    heading = "metric"
    side    = "left"
  }
}

table "sorted" {
  phase    = "query"
  columns  = ["qps"]
  sort     = ["-qps"]
  only     = col["qps"] > 2500
  interval = true
  legend   = false
  column "ratio" { value = ratio(col["errors"], 0) }
}

table "median" {
  phase     = "query"
  aggregate = "median"
  rows      = ["engine"]
  columns   = ["qps", "tpm"]
}

chart "relative" {
  kind     = "bar"
  phase    = "query"
  x        = "compression"
  y        = "qps"
  facet    = ["clients"]
  baseline = { engine = "inno", compression = "c0" }
}

chart "iterations" {
  kind   = "line"
  phase  = "query"
  x      = "iteration"
  y      = "qps"
  series = ["engine", "compression"]
  facet  = ["clients"]
}

chart "clients" {
  kind  = "line"
  title = "Queries by clients"
  phase = "query"
  x     = "clients"
  y     = "p99.query"
  log   = true
  width = 640
}

chart "over time" {
  kind      = "line"
  title     = "Inserts <of one run>"
  phase     = "load"
  x         = "time"
  y         = "ips"
  series    = ["engine"]
  facet     = ["compression"]
}

chart "cpu" { # computed for each interval
  kind   = "line"
  phase  = "load"
  x      = "time"
  y      = "cpu"
  series = ["engine"]
  only   = axis.compression == "c0"
}

chart "rates" {
  kind   = "box"
  title  = "Inserts in each second"
  phase  = "load"
  x      = "engine"
  y      = "ips"
  series = ["compression"]
}
