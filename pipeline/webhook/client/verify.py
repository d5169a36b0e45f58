"""Verifies messages of webhooks with libraries of others, and refuses those that were changed. Reads the messages from
the file that is named: [{secret, headers, body (base64)}, ...]."""
import base64
import json
import sys

import standardwebhooks
import svix

for message in json.load(open(sys.argv[1])):
    body = base64.b64decode(message["body"])
    for library in (standardwebhooks, svix):
        webhook = library.Webhook(message["secret"])
        webhook.verify(body.decode(), message["headers"])
        for changed, headers in ((body + b" ", message["headers"]), (body, {**message["headers"], "webhook-id": "evt_2"})):
            try:
                webhook.verify(changed.decode(), headers)
            except Exception:
                continue
            sys.exit(f"{library.__name__} takes a message that was changed")
