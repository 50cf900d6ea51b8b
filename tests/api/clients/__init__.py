"""Programs and libraries that people use, on our server and on a real one."""
