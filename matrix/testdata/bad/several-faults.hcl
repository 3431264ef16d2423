experiment {
  titel      = "Inserts"
  replicates = "three"
}
axis "size" {
  level "small" { my_cnf = { innodb_io_capacity = var.rows } }
  level "small" {}
}
phase "query" {
  restart = 1
  workload "bensh" { step = "query" }
}
table "t" {
  phase   = "qurey"
  columns = ["ips.av"]
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
