"""What happened to the objects of a collection, in the order in which the API server wrote it."""
import http.client
import json
import socket
import threading
import typing


class Happening(typing.NamedTuple):
    """One event of a watch: ADDED, MODIFIED or DELETED; of a deletion, the object as it was."""
    type: str
    object: dict


class Watch:
    """Every version of the objects of a collection, as the API server wrote them. A server ends a watch that reads too slowly: it goes on from there."""

    def __init__(self, server, path):
        self.server, self.path = server, path
        self.happenings = []
        self.news = threading.Condition()
        self.closed = False
        self._open()
        self.thread = threading.Thread(target=self._read, daemon=True)
        self.thread.start()

    @property
    def objects(self):
        return [happening.object for happening in self.happenings]

    def close(self):
        self.closed = True
        self.connection.sock.shutdown(socket.SHUT_RDWR)
        self.thread.join()
        self.connection.close()

    def wait(self, condition, limit):
        """Returns as soon as condition() is true, which is asked at each happening; false when that takes longer than `limit` seconds."""
        with self.news:
            return self.news.wait_for(condition, limit)

    def _open(self):
        after = f"&resourceVersion={self.happenings[-1].object['metadata']['resourceVersion']}" if self.happenings else ""
        self.connection = self.server.connect()
        self.connection.timeout = None
        self.connection.request("GET", f"{self.path}?watch=1{after}", headers=self.server.credentials())
        self.answer = self.connection.getresponse()

    def _read(self):
        while not self.closed:
            try:
                for line in self.answer:
                    event = json.loads(line)
                    with self.news:
                        self.happenings.append(Happening(event["type"], event["object"]))
                        self.news.notify_all()
            except (OSError, ValueError, http.client.HTTPException):
                pass  # it ended within a line
            if not self.closed:
                self._open()
