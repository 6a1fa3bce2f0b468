"""A proxy that writes down who changed what and when: one in front of each client tells them apart."""
import re
import socket
import threading
import time

CHANGE = re.compile(rb"(POST|PUT|PATCH|DELETE) (/\S*) HTTP/1\.1\r\n")
LONGEST = 4096  # of a request line


class RecordingProxy:
    """Passes bytes on to a server of plain HTTP on this machine, as they come, those of a client through `alter`. `flags` lead a part
    of ours through it."""

    def __init__(self, server, alter=lambda data: data):
        self.server_port = int(server.url.rsplit(":", 1)[1])
        self.alter = alter
        self.changes = []  # (seconds since the epoch, method, path), noted before the server has them
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.flags = ("--kubeconfig", server.kubeconfig, "--master", f"http://127.0.0.1:{self.listener.getsockname()[1]}")
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def paths(self, pattern):
        """[(when, what the group of the pattern matched)] of the changes whose path matches."""
        found = ((when, re.search(pattern, path)) for when, _, path in self.changes)
        return [(when, match.group(1)) for when, match in found if match]

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return  # closed
            try:
                server = socket.create_connection(("127.0.0.1", self.server_port))
            except OSError:
                client.close()
                continue
            for source, sink, look in ((client, server, self._note), (server, client, None)):
                threading.Thread(target=self._pump, args=(source, sink, look), daemon=True).start()

    def _note(self, before, data):
        for match in CHANGE.finditer(before + data):
            if match.end() > len(before):
                self.changes.append((time.time(), match.group(1).decode(), match.group(2).decode()))

    def _pump(self, source, sink, look):
        tail = b""
        try:
            while data := source.recv(65536):
                if look:
                    look(tail, data)
                    tail = (tail + data)[-LONGEST:]
                    data = self.alter(data)
                sink.sendall(data)
        except OSError:
            pass
        for end in (source, sink):
            try:
                end.shutdown(socket.SHUT_RDWR)
            except OSError:
                pass
        source.close()  # the sink is the source of the other way
