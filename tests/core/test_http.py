"""Whom limits count a request for."""

import pytest
from starlette.requests import Request

from earshot.core.http import address_of


@pytest.mark.parametrize(
    ("host", "counted"),
    [
        ("192.0.2.1", "192.0.2.1"),
        ("::ffff:192.0.2.1", "192.0.2.1"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("2001:db8:0:1:ffff::2", "2001:db8:0:1::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("::1", "::1"),
        ("::ffff:127.0.0.1", "127.0.0.1"),
        ("testclient", "testclient"),
    ],
)
def test_addresses_of_one_host_are_one(host: str, counted: str) -> None:
    assert address_of(Request({"type": "http", "client": (host, 1)})) == counted
