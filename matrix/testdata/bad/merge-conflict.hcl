experiment {
<<<<<<< HEAD
  title = "Ours"
=======
  title = "Theirs"
>>>>>>> feature
}
defaults { server = server.inno }
phase "load" {
  workload "bench" { step = "load" }
}
