package main

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"syscall"
	"time"
	"unsafe"
)

func misbehave(how string) {
	switch how {
	case "echo":
		_, _ = io.Copy(os.Stdout, os.Stdin)
	case "fail":
		fmt.Fprintln(os.Stderr, "it went wrong")
		os.Exit(7)
	case "hang":
		fmt.Fprintln(os.Stderr, "about to hang")
		sleepForEver()
	case "crash":
		fmt.Fprintln(os.Stderr, "about to crash")
		os.Exit(4)
	case "hog":
		hog()
	case "huge":
		flood()
	case "fork":
		fork()
	case "fill":
		fill()
	case "network":
		network()
	case "syscalls":
		syscalls()
	case "look":
		look()
	case "write":
		write()
	case "spin":
		for {
			runtime.Gosched()
		}
	default:
		fmt.Fprintln(os.Stderr, "unknown word", how)
		os.Exit(9)
	}
}

// hog wants 64 GB, and touches every page of it.
func hog() {
	kept := [][]byte{}
	for range 64 << 10 / 16 {
		block := make([]byte, 16<<20)
		for at := 0; at < len(block); at += 4096 {
			block[at] = 1
		}
		kept = append(kept, block)
	}
	fmt.Println("has", len(kept), "blocks")
}

func flood() {
	block := []byte(strings.Repeat("x", 1<<20))
	for range 1 << 10 {
		if _, err := os.Stdout.Write(block); err != nil {
			return
		}
	}
}

// fork starts processes until it cannot, which each sleep.
func fork() {
	if len(os.Args) > 2 {
		time.Sleep(5 * time.Second)
		return
	}
	for count := range 100000 {
		if err := exec.Command("/proc/self/exe", "fork", "child").Start(); err != nil {
			fmt.Println("processes", count, err)
			return
		}
	}
}

func fill() {
	for _, directory := range []string{"/tmp", "/dev/shm"} {
		total := 0
		block := make([]byte, 1<<20)
		for number := range 4096 {
			err := os.WriteFile(filepath.Join(directory, fmt.Sprint(number)), block, 0o600)
			if err != nil {
				fmt.Println(directory, total>>20, err)
				break
			}
			total += len(block)
		}
	}
}

func network() {
	places, _ := io.ReadAll(os.Stdin)
	for _, place := range strings.Fields(string(places)) {
		kind, address, _ := strings.Cut(place, "=")
		connection, err := net.DialTimeout(kind, address, time.Second)
		fmt.Println(place, "reached:", connection != nil, err)
	}
	interfaces, _ := net.Interfaces()
	for _, each := range interfaces {
		fmt.Println("interface", each.Name)
	}
}

func look() {
	places, _ := io.ReadAll(os.Stdin)
	for _, place := range strings.Fields(string(places)) {
		for _, prefix := range []string{"", "/proc/1/root", "/proc/self/cwd", "/proc/self/root/../.."} {
			data, err := os.ReadFile(prefix + place)
			fmt.Println("file", prefix+place, "read:", err == nil && len(data) > 0)
		}
	}
	processes, _ := filepath.Glob("/proc/[0-9]*")
	fmt.Println("processes", len(processes))
	fmt.Println("user", os.Getuid(), "environment", strings.Join(os.Environ(), " "))
	maps, _ := os.ReadFile("/proc/self/uid_map")
	fmt.Println("map", strings.Join(strings.Fields(string(maps)), " "))
	secret, err := os.ReadFile("/tls/server/tls.key")
	fmt.Println("key", len(secret), err)
}

func write() {
	for _, path := range []string{"/x", "/etc/hosts", "/bin/x", "/proc/sys/kernel/core_pattern", "/function"} {
		file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE, 0o600)
		fmt.Println(path, "opened:", file != nil, err)
	}
}

// syscalls tries what a function has no business with, and prints what was allowed.
func syscalls() {
	nothing := uintptr(unsafe.Pointer(new([16]uint64)))
	root := uintptr(unsafe.Pointer(syscall.StringBytePtr("/")))
	tries := map[string][]uintptr{
		"ptrace": {101, 0, 0, 0}, "mount": {165, root, root, root, 4096}, "unshare": {272, 0x10000000},
		"setns": {308, 0, 0}, "keyctl": {250, 0, 0, 0}, "add_key": {248, root, root, 0}, "bpf": {321, 0, nothing, 64},
		"userfaultfd": {323, 0}, "perf_event_open": {298, nothing, 0, ^uintptr(0), ^uintptr(0)},
		"io_uring_setup": {425, 1, nothing}, "process_vm_readv": {310, 1, nothing, 1, nothing, 1},
		"chroot": {161, root}, "pivot_root": {155, root, root}, "mknod": {133, root, 0o20666, 0x103},
		"reboot": {169, 0}, "kexec_load": {246, 0, 0, 0}, "init_module": {175, nothing, 0, root},
		"clock_settime": {227, 0, nothing}, "sethostname": {170, root, 1}, "swapon": {167, root, 0},
		"raw socket": {41, 2, 3, 1}, "packet socket": {41, 17, 3, 0}, "vsock": {41, 40, 1, 0},
		"clone newuser": {56, 0x10000000 | 17}, "clone3": {435, nothing, 88}, "setuid 1": {105, 1},
		"open_by_handle_at": {304, 0, nothing, 0}, "syslog": {103, 3, nothing, 16},
	}
	for name, call := range tries {
		arguments := append(call[1:], 0, 0, 0, 0, 0, 0)
		_, _, problem := syscall.RawSyscall6(call[0], arguments[0], arguments[1], arguments[2], arguments[3], arguments[4], arguments[5])
		if problem == 0 {
			fmt.Println("ALLOWED", name)
		}
	}
	fmt.Println("tried", len(tries))
}
