axis "cache" {
  level "small" { my_cnf = { rocksdb_default_cf_options = { block_size = 4096 } } }
  level "large" { my_cnf = { rocksdb_default_cf_options = { block_size = 8192 } } }
}
axis "memory" {
  level "low" { my_cnf = { rocksdb_default_cf_options = { block_size = 16384 } } }
  level "high" { my_cnf = { rocksdb_default_cf_options = { compression = "kZSTD" } } }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
