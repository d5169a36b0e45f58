"""The interface of a Motorpool, as a program outside of it sees it. Standard library only."""

import json
import time
import urllib.error
import urllib.parse
import urllib.request
import uuid


class Refused(Exception):
    """An answer that is no success: its status and what it says."""

    def __init__(self, status, text):
        super().__init__(f"{status} {text}")
        self.status = status


class Client:
    """Calls of one account."""

    def __init__(self, base, key):
        self.base, self.key = base, key

    def call(self, method, path, body=None, accept=None):
        """One call. A store that is too busy to answer (503) is asked again; the key has a write happen once."""
        once = str(uuid.uuid4())
        for patience in (5, 15, 45, None):
            try:
                return self.try_call(method, path, body, accept, once)
            except Refused as refused:
                if refused.status != 503 or patience is None:
                    raise
                time.sleep(patience)

    def try_call(self, method, path, body, accept, once):
        request = urllib.request.Request(self.base + path, method=method)
        request.add_header("Authorization", "Bearer " + self.key)
        if accept:
            request.add_header("Accept", accept)
        if method == "POST":
            request.add_header("Idempotency-Key", once)
        data = None
        if body is not None:
            data = json.dumps(body).encode()
            request.add_header("Content-Type", "application/json")
        try:
            with urllib.request.urlopen(request, data, timeout=120) as answer:
                text = answer.read().decode()
        except urllib.error.HTTPError as error:
            raise Refused(error.code, error.read().decode()[:500]) from None
        return text if accept else json.loads(text or "null")

    def get(self, path, **params):
        return self.call("GET", path + ("?" + urllib.parse.urlencode(params) if params else ""))

    def post(self, path, body=None):
        return self.call("POST", path, {} if body is None else body)

    def all(self, path, **params):
        """Every row of a list, page by page."""
        params.setdefault("per_page", 100)
        while True:
            page = self.get(path, **params)
            yield from page["data"]
            cursor = page["pagination"].get("next_cursor")
            if not cursor:
                return
            params["cursor"] = cursor

    def entries(self, **params):
        """Every entry of the ledger, of an export as lines of JSON."""
        path = "/v1/ledger/entries?" + urllib.parse.urlencode({**params, "format": "ndjson"})
        for line in self.call("GET", path, accept="application/x-ndjson").splitlines():
            yield json.loads(line)
