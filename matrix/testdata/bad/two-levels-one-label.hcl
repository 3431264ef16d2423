axis "size" {
  level "small" {
    label  = "size"
    my_cnf = { innodb_io_capacity = 100 }
  }
  level "large" {
    label  = "size"
    my_cnf = { innodb_io_capacity = 200 }
  }
}
table "load" {
  phase   = "load"
  columns = ["ips.av"]
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
