"""Which system calls a function may make: what programs need, and nothing that administers a machine.

What is not listed is refused: no tracing of other processes, no mounts and namespaces, no keys of the kernel,
no BPF, no userfaultfd, no io_uring, no kernel modules, no clocks set. Container engines have such a list too;
this one is shorter, since a function has no privilege that it could use the rest with.
"""

from __future__ import annotations

from crossply.values import Object

_FILES = """
access chdir chmod chown close close_range copy_file_range creat dup dup2 dup3 epoll_create epoll_create1
epoll_ctl epoll_ctl_old epoll_pwait epoll_pwait2 epoll_wait epoll_wait_old eventfd eventfd2 faccessat
faccessat2 fadvise64 fadvise64_64 fallocate fchdir fchmod fchmodat fchmodat2 fchown fchownat fcntl fcntl64
fdatasync fgetxattr flistxattr flock fremovexattr fsetxattr fstat fstat64 fstatat64 fstatfs fstatfs64
fsync ftruncate ftruncate64 futimesat getcwd getdents getdents64 getxattr inotify_add_watch inotify_init
inotify_init1 inotify_rm_watch ioctl lchown lgetxattr link linkat listxattr llistxattr _llseek
lremovexattr lseek lsetxattr lstat lstat64 memfd_create mkdir mkdirat mknod mknodat newfstatat open openat
openat2 pipe pipe2 poll ppoll ppoll_time64 pread64 preadv preadv2 pselect6 pselect6_time64 pwrite64
pwritev pwritev2 read readahead readlink readlinkat readv removexattr rename renameat renameat2 rmdir
select _newselect sendfile sendfile64 setxattr splice stat stat64 statfs statfs64 statx symlink symlinkat
sync sync_file_range syncfs tee truncate truncate64 umask unlink unlinkat utime utimensat utimensat_time64
utimes vmsplice write writev
"""

_MEMORY = """
arch_prctl brk cachestat get_thread_area set_thread_area madvise map_shadow_stack membarrier mincore mlock
mlock2 mlockall mmap mmap2 mprotect mremap mseal msync munlock munlockall munmap pkey_alloc pkey_free
pkey_mprotect get_mempolicy
"""

_PROCESSES = """
alarm capget capset clock_getres clock_getres_time64 clock_gettime clock_gettime64 clock_nanosleep
clock_nanosleep_time64 execve execveat exit exit_group fork futex futex_requeue futex_time64 futex_wait
futex_waitv futex_wake getcpu getegid getegid32 geteuid geteuid32 getgid getgid32 getgroups getgroups32
getitimer getpgid getpgrp getpid getppid getpriority getrandom getresgid getresgid32 getresuid getresuid32
getrlimit get_robust_list getrusage getsid gettid gettimeofday getuid getuid32 ioprio_get ioprio_set kill
landlock_add_rule landlock_create_ruleset landlock_restrict_self nanosleep pause pidfd_open
pidfd_send_signal prctl prlimit64 restart_syscall rseq rt_sigaction rt_sigpending rt_sigprocmask
rt_sigqueueinfo rt_sigreturn rt_sigsuspend rt_sigtimedwait rt_sigtimedwait_time64 rt_tgsigqueueinfo
sched_getaffinity sched_getattr sched_getparam sched_get_priority_max sched_get_priority_min
sched_getscheduler sched_rr_get_interval sched_rr_get_interval_time64 sched_setaffinity sched_setattr
sched_setparam sched_setscheduler sched_yield seccomp setfsgid setfsgid32 setfsuid setfsuid32 setgid
setgid32 setgroups setgroups32 setitimer setpgid setpriority setregid setregid32 setresgid setresgid32
setresuid setresuid32 setreuid setreuid32 setrlimit set_robust_list setsid set_tid_address setuid setuid32
sigaltstack signalfd signalfd4 sigprocmask sigreturn sysinfo tgkill time timer_create timer_delete
timer_getoverrun timer_gettime timer_gettime64 timer_settime timer_settime64 timerfd_create
timerfd_gettime timerfd_gettime64 timerfd_settime timerfd_settime64 times tkill ugetrlimit uname vfork
wait4 waitid waitpid
"""

_TALKING = """
accept accept4 bind connect getpeername getsockname getsockopt listen recv recvfrom recvmmsg
recvmmsg_time64 recvmsg send sendmmsg sendmsg sendto setsockopt shutdown socketpair socketcall ipc msgctl
msgget msgrcv msgsnd semctl semget semop semtimedop semtimedop_time64 shmat shmctl shmdt shmget
mq_getsetattr mq_notify mq_open mq_timedreceive mq_timedreceive_time64 mq_timedsend mq_timedsend_time64
mq_unlink
"""

_FAMILIES = (1, 2, 10, 16)
"""Of sockets: unix, both of the internet, and netlink, for network interfaces."""
_NEW_NAMESPACES = 0x7E020000
_PERSONALITIES = (0x0, 0x8, 0x20000, 0x20008, 0xFFFFFFFF)
_NOT_ALLOWED, _UNKNOWN = 1, 38
_ARCHITECTURES = {"x86_64": ["SCMP_ARCH_X86_64"], "aarch64": ["SCMP_ARCH_AARCH64"]}
"""Only what the machine itself is: a program that calls the kernel in an older way is ended."""


def seccomp_profile(machine: str) -> Object:
    """The profile of every container, for a kind of machine (as `uname -m` says it)."""
    return {
        "defaultAction": "SCMP_ACT_ERRNO",
        "defaultErrnoRet": _NOT_ALLOWED,
        "architectures": _ARCHITECTURES.get(machine, []),
        "syscalls": [
            {"names": (_FILES + _MEMORY + _PROCESSES + _TALKING).split(), "action": "SCMP_ACT_ALLOW"},
            _allowed("clone", 0, _NEW_NAMESPACES, "SCMP_CMP_MASKED_EQ", 0),
            # Its flags are in memory, where no filter can look: a program then uses clone.
            {"names": ["clone3"], "action": "SCMP_ACT_ERRNO", "errnoRet": _UNKNOWN},
            *(_allowed("socket", 0, family) for family in _FAMILIES),
            *(_allowed("personality", 0, value) for value in _PERSONALITIES),
        ],
    }


def _allowed(name: str, index: int, value: int, comparison: str = "SCMP_CMP_EQ", second: int = 0) -> Object:
    argument = {"index": index, "value": value, "valueTwo": second, "op": comparison}
    return {"names": [name], "action": "SCMP_ACT_ALLOW", "args": [argument]}
