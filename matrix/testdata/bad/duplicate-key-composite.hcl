defaults {
  server = server.inno
  my_cnf = {
    rocksdb_default_cf_options = {
      block_size = 4096
      block_size = 8192
    }
  }
}
phase "load" {
  workload "bench" { step = "load" }
}
