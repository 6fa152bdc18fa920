"""Exit with 0 if a service is alive, or ready, and with 1 if not: what containers without curl ask.

python health.py [URL], by default http://127.0.0.1:8080/v1/health. A certificate is not verified: the service asks itself.
"""

import http.client
import ssl
import sys
from urllib.parse import urlsplit

SECONDS = 4


def is_well(url: str) -> bool:
    """Whether a GET is answered with 200 in time. No proxy is asked, whatever the environment says."""
    parts = urlsplit(url)
    if parts.hostname is None or parts.scheme not in ("http", "https"):
        sys.exit(f"{url!r} is no URL of a service. Give one such as http://127.0.0.1:8080/v1/health.")
    if parts.scheme == "https":
        context = ssl.create_default_context()
        context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
        asked = http.client.HTTPSConnection(parts.hostname, parts.port, timeout=SECONDS, context=context)
    else:
        asked = http.client.HTTPConnection(parts.hostname, parts.port, timeout=SECONDS)
    try:
        asked.request("GET", parts.path)
        return asked.getresponse().status == 200
    except (OSError, http.client.HTTPException):
        return False
    finally:
        asked.close()


if __name__ == "__main__":
    sys.exit(0 if is_well(sys.argv[1] if len(sys.argv) > 1 else "http://127.0.0.1:8080/v1/health") else 1)
