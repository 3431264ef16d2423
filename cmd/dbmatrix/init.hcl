# A first experiment: does the flush method matter, and durability? dbmatrix runs
# each combination on a server of its own, with an empty data directory.
#
#   dbmatrix plan .        what would run, and why
#   dbmatrix run .         run what is left; Ctrl-C and run again at any time
#   dbmatrix report .      the tables below, from what was measured

experiment {
  title      = "InnoDB: flush method and durability"
  replicates = 1 # independent repetitions of each cell
}

# Sizes are variables: dbmatrix run . --var rows=1000000
variable "rows" {
  description = "rows that the load inserts, all tables together"
  default     = 50000
}

# The base that every cell starts from. server.mariadb is found on this host;
# dbmatrix doctor lists what there is. Builds elsewhere are named in machine.hcl.
defaults {
  server = server.mariadb
  my_cnf = {
    innodb_buffer_pool_size = "64M"
  }
}

# What varies: an axis has levels, a cell takes one level from each axis.
axis "io" {
  level "buffered" {
    description = "through the page cache"
    my_cnf      = { innodb_flush_method = "fsync" }
  }
  level "direct" {
    description = "around the page cache"
    my_cnf      = { innodb_flush_method = "O_DIRECT" }
  }
}

axis "durability" {
  level "relaxed" {
    description = "the log is written at each commit and synced once a second"
    my_cnf      = { innodb_flush_log_at_trx_commit = 2 }
  }
  level "strict" {
    description = "the log is synced at each commit"
    my_cnf      = { innodb_flush_log_at_trx_commit = 1 }
  }
}

# What is done to each cell, in this order.
phase "load" {
  workload "insert_benchmark" {
    step    = "load"
    tables  = 2
    clients = 2
    rows    = var.rows
  }
}

phase "query" {
  workload "insert_benchmark" {
    step        = "query"
    insert_rate = 200
    seconds     = 5
  }
}

# What is shown. dbmatrix columns lists the tokens.
table "load" {
  title   = "Load"
  phase   = "load"
  columns = ["ips", "wkb/i", "Mcpu/i", "size"]
}

table "query" {
  title   = "Query, with inserts at a fixed rate"
  phase   = "query"
  columns = ["ips", "qps", "r/q"]
}
