"""Spellings of addresses of this host and its networks."""

BYPASSES = [
    # This host, in every spelling that a library accepts.
    "127.0.0.1", "127.1", "127.255.255.254", "0x7f000001", "0x7f.1", "2130706433", "0177.0.0.1",
    "127.0.0.01", "0.0.0.0", "0",  # noqa: S104 - nothing is bound
    "::1", "::", "0:0:0:0:0:0:0:1", "localhost", "LOCALHOST.",
    "\uff11\uff12\uff17.0.0.1", "127\u30020\u30020\u30021", "127.0.0.1\n", " 127.0.0.1",
    "127.0.0.1 ",
    # An IPv4 address in an IPv6 one: mapped, compatible, translated, NAT64, 6to4, Teredo.
    "::ffff:127.0.0.1", "::ffff:7f00:1", "::127.0.0.1", "::ffff:0:127.0.0.1",
    "64:ff9b::7f00:1", "64:ff9b::127.0.0.1", "64:ff9b:1::7f00:1", "2002:7f00:1::",
    "2002:7f00:0001::1", "2001:0:7f00:1::", "2001::80ff:fffe",
    # With a zone.
    "fe80::1%lo", "::1%lo", "10.0.0.1%lo", "fd00::1%lo", "fe80::1", "fe80::a9fe:a9fe",
    # Metadata services of clouds.
    "169.254.169.254", "::ffff:169.254.169.254", "169.254.170.2", "2852039166",
    "0xa9fea9fe", "metadata.google.internal", "fd00:ec2::254", "fd20:ce::254", "100.100.100.200",
    "192.0.0.192", "168.63.129.16", "fd00:0ec2:0:0::0254",
    # Multicast and unspecified.
    "224.0.0.1", "239.255.255.250", "ff02::1", "255.255.255.255", "240.0.0.1", "0.1.2.3",
    # An address with more text.
    "10.0.0.1@127.0.0.1", "127.0.0.1:80", "[::1]", "[::1]:80", "10.0.0.1/../127.0.0.1",
    "10.0.0.1#@127.0.0.1", "10.0.0.1\r\nHost: 127.0.0.1", "http://127.0.0.1", "10.0.0.0/8", "",
]  # fmt: skip
