table "load" {
  phase   = "load"
  columns = ["ips.av"]
  only    = startwith(axis.size, "1")
}
axis "size" {
  levels = [1, 2]
  my_cnf = { innodb_io_capacity = level }
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
