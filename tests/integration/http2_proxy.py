"""An HTTP/2 server over TLS that asks clients for a certificate, passes on to a plain `strata apiserver`, and breaks off what it serves when told to."""
import asyncio
import contextlib
import http.client
import socket
import ssl
import sys
import threading

sys.path.append("/usr/lib/python3/dist-packages")  # of Debian's python3-h2, whichever Python runs this
import h2.config
import h2.connection
import h2.events
import hyperframe.frame


class Front(asyncio.Protocol):
    """One connection; everything on the proxy's loop, except for `_serve`."""

    def __init__(self, proxy):
        self.proxy = proxy
        self.h2 = h2.connection.H2Connection(h2.config.H2Configuration(client_side=False, header_encoding="utf-8"))
        self.asked = {}  # stream: (headers, body), until it is whole
        self.out = {}  # stream: what is to be sent; None ends it
        self.watches = {}  # stream: its path

    def connection_made(self, transport):
        self.transport = transport
        tls = transport.get_extra_info("ssl_object")
        self.protocol, self.peer = tls.selected_alpn_protocol(), tls.getpeercert()
        self.proxy.fronts.append(self)
        self.h2.initiate_connection()
        self._flush()

    def data_received(self, data):
        for event in self.h2.receive_data(data):
            if isinstance(event, h2.events.RequestReceived):
                self.asked[event.stream_id] = (dict(event.headers), bytearray())
            elif isinstance(event, h2.events.DataReceived):
                self.asked[event.stream_id][1].extend(event.data)
                self.h2.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
            elif isinstance(event, h2.events.StreamEnded):
                headers, body = self.asked.pop(event.stream_id)
                self.out[event.stream_id] = []
                if "watch=true" in headers[":path"]:
                    self.watches[event.stream_id] = headers[":path"]
                threading.Thread(target=self._serve, args=(event.stream_id, headers, bytes(body)), daemon=True).start()
            elif isinstance(event, h2.events.StreamReset):
                self._forget(event.stream_id)
        self._pump()
        self.proxy.wake_waiting()

    def connection_lost(self, _):
        self.out.clear()
        self.watches.clear()

    def reset(self, code):
        for stream in sorted(self.watches):
            self.h2.reset_stream(stream, code)
            self._forget(stream)
        self._flush()

    def go_away(self):
        """GOAWAY: what is under way goes on, new streams belong elsewhere."""
        frame = hyperframe.frame.GoAwayFrame(0)
        frame.last_stream_id = max([0, *self.out])
        self.transport.write(frame.serialize())

    def _forget(self, stream):
        self.out.pop(stream, None)
        self.watches.pop(stream, None)

    def _serve(self, stream, headers, body):
        backend = http.client.HTTPConnection(*self.proxy.backend, timeout=60)
        passed = {name: value for name, value in headers.items() if name in ("accept", "content-type")}
        try:
            backend.request(headers[":method"], headers[":path"], body or None, passed)
            answer = backend.getresponse()
            self.proxy.call(self._start, stream, answer.status, answer.headers["Content-Type"])
            while piece := answer.read1(65536):
                self.proxy.call(self._add, stream, piece)
            self.proxy.call(self._add, stream, None)
        except (OSError, http.client.HTTPException):
            pass  # the server behind was stopped
        finally:
            backend.close()

    def _start(self, stream, status, content_type):
        if stream in self.out:
            self.h2.send_headers(stream, [(":status", str(status)), ("content-type", content_type)])
            self._flush()

    def _add(self, stream, piece):
        if stream in self.out:
            self.out[stream].append(piece)
            self._pump()

    def _pump(self):
        """Sends as much as the peer's windows allow."""
        for stream in list(self.out):
            pieces = self.out[stream]
            while pieces and pieces[0] is not None:
                room = min(self.h2.local_flow_control_window(stream), self.h2.max_outbound_frame_size)
                if room == 0:
                    break
                self.h2.send_data(stream, pieces[0][:room])
                pieces[0] = pieces[0][room:]
                if not pieces[0]:
                    pieces.pop(0)
            if pieces and pieces[0] is None:
                self.h2.end_stream(stream)
                self._forget(stream)
        self._flush()

    def _flush(self):
        self.transport.write(self.h2.data_to_send())


class Http2Proxy:
    def __init__(self, url, certificate, key, clients_authority):
        host, port = url.split("//")[1].split(":")
        self.backend = (host, int(port))
        self.fronts = []  # every connection there ever was
        self.waiting = []  # (condition, event that it sets)
        context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH, cafile=clients_authority)
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_cert_chain(certificate, key)
        context.set_alpn_protocols(["h2"])
        self.loop = asyncio.new_event_loop()
        listener = socket.create_server(("127.0.0.1", 0))
        self.url = f"https://127.0.0.1:{listener.getsockname()[1]}"
        self.server = self.loop.run_until_complete(self.loop.create_server(lambda: Front(self), sock=listener, ssl=context))
        self.thread = threading.Thread(target=self.loop.run_forever, daemon=True)
        self.thread.start()

    def call(self, function, *arguments):
        with contextlib.suppress(RuntimeError):  # it was stopped
            self.loop.call_soon_threadsafe(function, *arguments)

    def each(self, action):
        """Runs `action` for every open connection, on the loop, and waits for it."""
        done = threading.Event()

        def run():
            for front in self.fronts:
                if not front.transport.is_closing():
                    action(front)
            done.set()
        self.call(run)
        done.wait(10)

    def wait_until(self, condition):
        """Waits until `condition`, asked on the loop after whatever clients send, is true."""
        seen = threading.Event()
        self.call(lambda: (self.waiting.append((condition, seen)), self.wake_waiting()))
        if not seen.wait(60):
            raise TimeoutError("the clients did not do what was waited for")

    def wake_waiting(self):
        for condition, seen in self.waiting:
            if condition():
                seen.set()
        self.waiting = [(condition, seen) for condition, seen in self.waiting if not seen.is_set()]

    def stop(self):
        self.each(lambda front: front.transport.abort())
        self.call(self.server.close)
        self.call(self.loop.stop)
        self.thread.join()
        self.loop.close()
