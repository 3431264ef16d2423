defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
phase "query" {
  restart = true
  my_cnf  = { innodb_page_size = "8K" }
  workload "bench" { step = "query" }
}
