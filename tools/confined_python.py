"""What the function python starts: this file, by path, in a fresh interpreter. It gives up what the
code shall not have, one thing after the other, and then runs the code from standard input.

    python -I confined_python.py '{"megabytes": …, "file_bytes": …, "processes": …,
                                   "network": false, "write": …}'

Nothing of pagemind is imported here: the code must not find the runtime in its own process.
docs/tools.md says what is held by the operating system, and what is not.
"""

import contextlib
import ctypes
import json
import os
import platform
import struct
import sys

_LANDLOCK = {"create": 444, "add": 445, "restrict": 446}  # the same number on every machine
_SCOPED = 0b11  # abstract sockets and signals stay among what this process starts
_SCOPES_FROM = 6  # the version of Landlock that holds it
_READ = (1 << 0) | (1 << 2) | (1 << 3)  # run, read file, read folder
_WRITE = (1 << 1) | sum(1 << bit for bit in range(4, 13)) | (1 << 14)  # incl. truncate
_REFER = 1 << 13
# Of a filter for system calls: the machine; setpgid and setsid, by which a process leaves the group
# that is ended as one; socket and io_uring_setup, which opens sockets by itself.
_MACHINES = {
    "x86_64": (0xC000003E, (109, 112), (41, 425)),
    "aarch64": (0xC00000B7, (154, 157), (198, 425)),
}


def _prctl_no_new_rights() -> bool:
    return bool(ctypes.CDLL(None, use_errno=True).prctl(38, 1, 0, 0, 0) == 0)


def _tasks() -> int:
    """Processes and threads of this user, which are limited as one; as far as can be seen."""
    count = 0
    for process in os.listdir("/proc") if sys.platform == "linux" else ():  # noqa: PTH208
        with contextlib.suppress(OSError):
            if process.isdigit() and os.stat(f"/proc/{process}").st_uid == os.getuid():  # noqa: PTH116
                count += len(os.listdir(f"/proc/{process}/task"))  # noqa: PTH208
    return count


def bound(megabytes: int, file_bytes: int, tasks: int) -> None:
    """Address space, size of a file, processes and threads, no core dumps. macOS does not hold the
    first, and nothing holds the third for root."""
    import resource

    for what, limit in (
        (resource.RLIMIT_AS, megabytes << 20),
        (resource.RLIMIT_FSIZE, file_bytes),
        (resource.RLIMIT_NPROC, tasks),
        (resource.RLIMIT_CORE, 0),
    ):
        with contextlib.suppress(ValueError, OSError):
            resource.setrlimit(what, (limit, limit))


def within_calls(network: bool) -> bool:
    """This process and its children stay in their group, and without the network make no socket;
    whether the kernel holds that."""
    machine = _MACHINES.get(platform.machine())
    if sys.platform != "linux" or machine is None or not _prctl_no_new_rights():
        return False
    arch, groups, sockets = machine
    refused = [*groups, *(() if network else sockets)]
    # A classic BPF program: another machine's calls or x32 ones are refused, as are these.
    load, equal, at_least, answer = 0x20, 0x15, 0x35, 0x06
    refuse, permit = 0x00050000 | 1, 0x7FFF0000  # EPERM; allow
    count = len(refused)
    program = [
        (load, 0, 0, 4),
        (equal, 0, count + 3, arch),
        (load, 0, 0, 0),
        (at_least, count + 1, 0, 0x40000000),
        *((equal, count - at, 0, number) for at, number in enumerate(refused)),
        (answer, 0, 0, permit),
        (answer, 0, 0, refuse),
    ]
    code = b"".join(struct.pack("HBBI", *step) for step in program)
    buffer = ctypes.create_string_buffer(code, len(code))

    class Program(ctypes.Structure):
        _fields_ = [("length", ctypes.c_ushort), ("steps", ctypes.c_void_p)]

    filled = Program(len(program), ctypes.cast(buffer, ctypes.c_void_p))
    return bool(ctypes.CDLL(None, use_errno=True).prctl(22, 2, ctypes.byref(filled), 0, 0) == 0)


def within_folders(write: str, read: "list[str]") -> bool:
    """Files are written in one folder and read there and where Python and the system's libraries
    are; whether the kernel holds that."""
    if sys.platform != "linux" or not _prctl_no_new_rights():
        return False
    libc = ctypes.CDLL(None, use_errno=True)
    version = libc.syscall(_LANDLOCK["create"], None, 0, 1)
    if version < 3:  # before that, truncating is not held
        return False
    handled = struct.pack("Q", _READ | _WRITE | _REFER)
    if version >= _SCOPES_FROM:  # the second is about the network, which another filter holds
        handled += struct.pack("QQ", 0, _SCOPED)
    rules = libc.syscall(_LANDLOCK["create"], handled, len(handled), 0)
    if rules < 0:
        return False
    try:
        whole = _READ | _WRITE | _REFER
        for path, rights in [
            (write, whole),
            (os.devnull, whole),
            *((each, _READ) for each in read),
        ]:
            try:
                here = os.open(path, os.O_PATH | os.O_CLOEXEC)
            except OSError:
                continue
            if not os.path.isdir(path):  # noqa: PTH112
                rights &= (1 << 0) | (1 << 1) | (1 << 2) | (1 << 14)
            rule = struct.pack("=Qi", rights, here)
            libc.syscall(_LANDLOCK["add"], rules, 1, rule, 0)
            os.close(here)
        return bool(libc.syscall(_LANDLOCK["restrict"], rules, 0) == 0)
    finally:
        os.close(rules)


def guard(network: bool, write: str) -> None:
    """Where the kernel holds nothing: Python's own audit events. It stops honest code, and none
    that wants out."""
    inside = os.path.realpath(write) + os.sep

    def refuse(event: str, arguments: "tuple[object, ...]") -> None:
        if not network and event in ("socket.__new__", "socket.connect", "socket.getaddrinfo"):
            raise PermissionError(f"the network is not open to this code ({event})")
        if event == "open" and isinstance(arguments[0], str | bytes):
            flags = arguments[2] if isinstance(arguments[2], int) else 0
            path = os.path.realpath(os.fsdecode(arguments[0])) + os.sep
            changes = flags & (os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC)
            if changes and not path.startswith(inside) and path != os.devnull + os.sep:
                raise PermissionError(f"files are written in {write} only")

    sys.addaudithook(refuse)


def main() -> None:
    """Give up, then run."""
    asked = json.loads(sys.argv[1])
    code = sys.stdin.buffer.read().decode("utf-8")
    base = os.path.dirname(os.__file__)  # noqa: PTH120
    read = ["/usr", "/lib", "/lib64", "/bin", "/etc", "/dev", "/proc/self", base]
    read += [sys.prefix, sys.base_prefix, *sys.path]
    tasks = _tasks() + asked["processes"]
    within_folders(asked["write"], [os.path.realpath(each) for each in read if each])
    within_calls(asked["network"])
    guard(asked["network"], asked["write"])
    bound(asked["megabytes"], asked["file_bytes"], tasks)
    sys.argv = ["code"]
    names = {"__name__": "__main__", "__builtins__": __builtins__}
    import linecache

    linecache.cache["code"] = (len(code), None, code.splitlines(keepends=True), "code")
    try:
        exec(compile(code, "code", "exec"), names)
    except MemoryError:
        print(f"MemoryError: more than {asked['megabytes']} MB are not given")
        sys.exit(1)
    except SystemExit:
        raise
    except BaseException as error:
        import traceback

        trace = error.__traceback__
        traceback.print_exception(error.with_traceback(trace.tb_next if trace else None))
        sys.exit(1)


if __name__ == "__main__":
    main()
