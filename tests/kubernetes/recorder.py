"""A relay in front of a plain HTTP server that writes down what is asked, and may refuse some of it: the audit log of a server that has none."""
import re
import socket
import threading

REQUEST = re.compile(rb"(?:^|\r\n\r\n|\})(GET|POST|PUT|PATCH|DELETE) (/\S*) HTTP/1\.1\r\n")
REFUSAL = b'{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"refused by a test","reason":"Conflict","code":409}'


class Recorder:
    """Listens on a port of its own; `requests` has (method, target) of every request so far. Those whose target matches `refused` are answered with 409."""

    def __init__(self, port, refused=None):
        self.upstream = ("127.0.0.1", port)
        self.refused = re.compile(refused) if refused else None
        self.requests = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def close(self):
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            try:
                server = socket.create_connection(self.upstream)
            except OSError:
                client.close()
                continue
            threading.Thread(target=self._ask, args=(client, server), daemon=True).start()
            threading.Thread(target=self._answer, args=(server, client), daemon=True).start()

    def _ask(self, client, server):
        try:
            while data := client.recv(1 << 20):
                found = [(method.decode(), target.decode()) for method, target in REQUEST.findall(data)]
                self.requests += found
                if self.refused and any(self.refused.search(target) for _, target in found):
                    client.sendall(b"HTTP/1.1 409 Conflict\r\nContent-Type: application/json\r\nContent-Length: "
                                   + str(len(REFUSAL)).encode() + b"\r\n\r\n" + REFUSAL)
                else:
                    server.sendall(data)
        except OSError:
            pass
        finally:
            self._end(server)

    def _answer(self, server, client):
        try:
            while data := server.recv(1 << 20):
                client.sendall(data)
        except OSError:
            pass
        finally:
            self._end(client)

    @staticmethod
    def _end(peer):
        try:
            peer.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass
