defaults { server = server.inno }
phase "load" { iterations = 2 }
