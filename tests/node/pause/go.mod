module crossply.test/pause

go 1.24
