"""A proxy that breaks what passes through it: one in front of each client, so that each has faults of its own.

What happens to the n-th request of a kind depends on the seed, the client, the kind and n alone, so the same seed gives the same faults."""
import contextlib
import http.client
import random
import socket
import threading
import time
import typing

# One in so many requests of a kind meets a fault.
RATES = {"bind": 3, "create": 5, "write": 12, "read": 15, "watch": 4, "lease": 25}
LONGEST_HOLD = 12  # seconds: beyond what a client waits whose lease ends
LONGEST_WATCH = 10  # seconds until a watch is cut or falls silent
SILENCE = 20  # seconds
STATUSES = (409, 429, 429, 429, 500, 503, 504)
BUFFER = 65536


class Fate(typing.NamedTuple):
    """What happens to a request: "passes", "cut" before the server has it, "lost answer", "refused", "held", and for a watch "ends" or "silent"."""
    what: str
    status: int = 0
    seconds: float = 0  # Retry-After, how long it is held, or how long the watch lives


def kind_of(method, target):
    path = target.split("?")[0]
    if "/leases" in path:
        return "lease"
    if method == "GET":
        return "watch" if "watch=" in target else "read"
    if path.endswith("/binding"):
        return "bind"
    return "create" if method == "POST" and not path.endswith("/events") else "write"


def draw(seed, name, kind, number):
    """The fate of that request."""
    rng = random.Random(f"{seed}/{name}/{kind}/{number}")
    if rng.randrange(RATES[kind]):
        return Fate("passes")
    if kind == "watch":
        return Fate(rng.choice(("ends", "ends", "silent")), seconds=rng.uniform(0.1, LONGEST_WATCH))
    what = rng.choice(("cut", "lost answer", "refused", "refused", "held"))
    if what == "held":
        return Fate(what, seconds=rng.uniform(0.5, LONGEST_HOLD))
    if what == "refused":
        status = 410 if kind == "read" and rng.random() < 0.3 else rng.choice(STATUSES)
        return Fate(what, status, rng.randint(1, 3) if status in (429, 503) else 0)
    return Fate(what)


@contextlib.contextmanager
def ending(client, fate):
    """Cuts the connection of a watch whose time is over, also while nothing comes."""
    if fate.what not in ("ends", "silent"):
        yield
        return
    timer = threading.Timer(fate.seconds + (SILENCE if fate.what == "silent" else 0), shut, [client])
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def shut(connection):
    with contextlib.suppress(OSError):
        connection.shutdown(socket.SHUT_RDWR)


class FaultProxy:
    """In front of a server of plain HTTP on this machine, which may go and come back. `flags` lead a part of ours through it; `on_asked_to_wait` is called
    when a bind or a create was refused with Retry-After. `calm` lets everything pass."""

    def __init__(self, server, name, seed, on_asked_to_wait=lambda name: None):
        self.server_port = int(server.url.rsplit(":", 1)[1])
        self.name, self.seed, self.on_asked_to_wait = name, seed, on_asked_to_wait
        self.calm = True
        self.faults = 0
        self.numbers = {}
        self.lock = threading.Lock()
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.flags = ("--kubeconfig", server.kubeconfig, "--master", f"http://127.0.0.1:{self.listener.getsockname()[1]}")
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return  # closed
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _fate(self, method, target):
        kind = kind_of(method, target)
        with self.lock:
            number = self.numbers[kind] = self.numbers.get(kind, 0) + 1
        fate = Fate("passes") if self.calm else draw(self.seed, self.name, kind, number)
        if fate.what != "passes":
            with self.lock:
                self.faults += 1
            if fate.status == 429 and kind in ("bind", "create"):
                self.on_asked_to_wait(self.name)
        return fate

    def _serve(self, client):
        """The requests of one connection, one after the other; it is closed when one of them is cut."""
        with contextlib.closing(client), client.makefile("rb") as requests, contextlib.suppress(OSError, ValueError, http.client.HTTPException):
            while line := requests.readline():
                method, target, _ = line.decode().split()
                headers = http.client.parse_headers(requests)
                body = requests.read(int(headers.get("Content-Length", 0)))
                if not self._answer(client, self._fate(method, target), (method, target, headers, body)):
                    return

    def _answer(self, client, fate, request):
        """Whether the connection goes on."""
        if fate.what == "cut":
            return False
        if fate.what == "refused":
            self._refuse(client, fate)
            return True
        if fate.what == "held":
            threading.Event().wait(fate.seconds)  # the fault itself; the client may have gone meanwhile
        with contextlib.closing(http.client.HTTPConnection("127.0.0.1", self.server_port)) as server:
            answer = self._ask(server, *request)
            if fate.what == "lost answer":
                answer.read()
                return False
            return self._pass_on(client, answer, fate)

    @staticmethod
    def _ask(server, method, target, headers, body):
        server.request(method, target, body, {**headers, "Connection": "close"})
        return server.getresponse()

    @staticmethod
    def _refuse(client, fate):
        reason = {409: "Conflict", 410: "Expired", 429: "TooManyRequests"}.get(fate.status, "")
        body = f'{{"kind":"Status","apiVersion":"v1","status":"Failure","message":"injected","reason":"{reason}","code":{fate.status}}}'
        wait = f"Retry-After: {int(fate.seconds)}\r\n" if fate.seconds else ""
        client.sendall(f"HTTP/1.1 {fate.status} Injected\r\nContent-Type: application/json\r\n{wait}Content-Length: {len(body)}\r\n\r\n{body}".encode())

    @staticmethod
    def _pass_on(client, answer, fate):
        kept = [f"{name}: {value}" for name, value in answer.getheaders()
                if name.lower() not in ("connection", "transfer-encoding", "content-length")]
        head = "\r\n".join([f"HTTP/1.1 {answer.status} {answer.reason}", *kept])
        if not answer.chunked:
            body = answer.read()
            client.sendall(f"{head}\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body)
            return True
        client.sendall(f"{head}\r\nTransfer-Encoding: chunked\r\n\r\n".encode())
        begun = time.monotonic()
        with ending(client, fate):
            while piece := answer.read1(BUFFER):
                if fate.what == "silent" and time.monotonic() > begun + fate.seconds:
                    continue
                client.sendall(b"%x\r\n%s\r\n" % (len(piece), piece))
        client.sendall(b"0\r\n\r\n")
        return True
