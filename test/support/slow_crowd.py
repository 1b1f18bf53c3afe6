"""slow_crowd.py PORT HOST HEADS BODIES READS: keeps so many connections open that take their time with a head, a body, or with reading.

One that the server ends is made anew. Says each second how many of each there are. Python, because Node can't ask for the small receive
buffers by which slow readers keep a sender waiting.
"""
import selectors
import socket
import sys
import time

port, host = int(sys.argv[1]), sys.argv[2]
counts = [int(count) for count in sys.argv[3:6]]
begin = [
    f"GET / HTTP/1.1\r\nHost: {host}\r\nX: ".encode(),
    f"POST /up HTTP/1.1\r\nHost: {host}\r\nContent-Length: 1000000\r\n\r\n".encode(),
    f"GET /large HTTP/1.1\r\nHost: {host}\r\n\r\n".encode(),
]
READS = 2
selector = selectors.DefaultSelector()
crowd = [set(), set(), set()]


def hold(kind):
    one = socket.socket()
    if kind == READS:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
    one.connect(("127.0.0.1", port))
    one.sendall(begin[kind])
    one.setblocking(False)
    crowd[kind].add(one)
    if kind != READS:
        selector.register(one, selectors.EVENT_READ, kind)


def ended(one, kind):
    if kind != READS:
        selector.unregister(one)
    crowd[kind].discard(one)
    one.close()


def receive(one, kind, most):
    """Takes a little of what the server says."""
    try:
        if one.recv(most) == b"":
            ended(one, kind)
    except BlockingIOError:
        pass
    except OSError:
        ended(one, kind)


def say(one, kind):
    try:
        one.send(b"x")
    except OSError:
        ended(one, kind)


tick = time.monotonic()
while True:
    for kind in range(3):
        while len(crowd[kind]) < counts[kind]:
            hold(kind)
    for key, _ in selector.select(0.1):
        receive(key.fileobj, key.data, 4096)
    if time.monotonic() >= tick:
        tick += 1
        for kind in range(2):
            for one in list(crowd[kind]):
                say(one, kind)
        for one in list(crowd[READS]):
            receive(one, READS, 1)
        print("open", *(len(each) for each in crowd), flush=True)
