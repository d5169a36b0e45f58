# Uses the authorization server with Authlib: as itself, and for a person, with another refresh token. Reads the same
# argument as verify.mjs.
import html
import json
import os
import re
import sys

os.environ["AUTHLIB_INSECURE_TRANSPORT"] = "1"
import httpx
from authlib.integrations.httpx_client import OAuth2Client
from authlib.common.security import generate_token

told = json.loads(sys.argv[1])
server = httpx.get(told["url"] + "/.well-known/oauth-authorization-server").raise_for_status().json()
for method in ["client_secret_basic", "client_secret_post"]:
    itself = OAuth2Client(told["confidential"]["id"], told["confidential"]["secret"], token_endpoint_auth_method=method)
    itself.fetch_token(server["token_endpoint"], grant_type="client_credentials", scope="vehicles:read")
    assert itself.get(told["url"] + "/v1/vehicles").status_code == 200
    seen = itself.introspect_token(server["introspection_endpoint"], token=itself.token["access_token"])
    assert seen.json()["active"] is True
    assert itself.revoke_token(server["revocation_endpoint"], token=itself.token["access_token"]).status_code == 200

app = OAuth2Client(told["public"]["id"], token_endpoint_auth_method="none", scope="vehicles:read",
                   redirect_uri="http://127.0.0.1:8765/done", code_challenge_method="S256")
verifier = generate_token(48)
ask, state = app.create_authorization_url(server["authorization_endpoint"], code_verifier=verifier)
person = {"X-Person": "a"}
wish = html.unescape(re.search(r'name="wish" value="([^"]+)"', httpx.get(ask, headers=person).text).group(1))
answer = httpx.post(told["url"] + "/oauth/authorize", headers=person, data={"wish": wish, "answer": "allow"})
first = app.fetch_token(server["token_endpoint"], authorization_response=answer.headers["location"], state=state,
                        code_verifier=verifier)
assert app.get(told["url"] + "/v1/vehicles").status_code == 200
second = app.refresh_token(server["token_endpoint"], refresh_token=first["refresh_token"])
assert second["refresh_token"] != first["refresh_token"]
assert app.get(told["url"] + "/v1/vehicles").status_code == 200
print("Authlib: good")
