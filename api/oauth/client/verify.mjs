// Uses the authorization server with libraries of others: as itself, for a person, with another refresh token, and bound to
// a key. Reads {url, confidential: {id, secret}, public: {id}} from its argument; the person is the one of the header X-Person.
import assert from "node:assert/strict";
import * as oauth from "oauth4webapi";
import * as client from "openid-client";

const told = JSON.parse(process.argv[2]);
const back = "http://127.0.0.1:8765/done";
const open = { [oauth.allowInsecureRequests]: true };

// consent is what the person's browser does: it reads the question, allows it, and is sent back.
async function consent(address) {
  const headers = { "X-Person": "a" };
  const page = await (await fetch(address, { headers })).text();
  const wish = page.match(/name="wish" value="([^"]+)"/)[1].replaceAll("&#43;", "+");
  const answer = await fetch(told.url + "/oauth/authorize", {
    method: "POST", headers, redirect: "manual", body: new URLSearchParams({ wish, answer: "allow" }),
  });
  return new URL(answer.headers.get("location"));
}

async function vehicles(token) {
  const answer = await fetch(told.url + "/v1/vehicles", { headers: { Authorization: "Bearer " + token } });
  assert.equal(answer.status, 200);
}

// oauth4webapi
const issuer = new URL(told.url);
const server = await oauth.processDiscoveryResponse(
  issuer, await oauth.discoveryRequest(issuer, { ...open, algorithm: "oauth2" }));
const resource = await oauth.processResourceDiscoveryResponse(issuer, await oauth.resourceDiscoveryRequest(issuer, open));
assert.deepEqual(resource.authorization_servers, [told.url]);

const itself = { client_id: told.confidential.id };
for (const proof of [oauth.ClientSecretBasic, oauth.ClientSecretPost]) {
  const secret = proof(told.confidential.secret);
  const got = await oauth.processClientCredentialsResponse(server, itself,
    await oauth.clientCredentialsGrantRequest(server, itself, secret, { scope: "vehicles:read" }, open));
  await vehicles(got.access_token);
  const seen = await oauth.processIntrospectionResponse(server, itself,
    await oauth.introspectionRequest(server, itself, secret, got.access_token, open));
  assert.equal(seen.active, true);
  await oauth.processRevocationResponse(await oauth.revocationRequest(server, itself, secret, got.access_token, open));
}

const app = { client_id: told.public.id };
for (const bound of [false, true]) {
  const keys = bound ? await oauth.generateKeyPair("ES256") : undefined;
  const DPoP = bound ? oauth.DPoP(app, keys) : undefined;
  const verifier = oauth.generateRandomCodeVerifier(), state = oauth.generateRandomState();
  const ask = new URL(server.authorization_endpoint);
  ask.search = new URLSearchParams({
    client_id: app.client_id, redirect_uri: back, response_type: "code", scope: "vehicles:read", state,
    code_challenge: await oauth.calculatePKCECodeChallenge(verifier), code_challenge_method: "S256",
  });
  const answer = oauth.validateAuthResponse(server, app, await consent(ask), state);
  const first = await oauth.processAuthorizationCodeResponse(server, app,
    await oauth.authorizationCodeGrantRequest(server, app, oauth.None(), answer, back, verifier, { ...open, DPoP }));
  const next = await oauth.processRefreshTokenResponse(server, app,
    await oauth.refreshTokenGrantRequest(server, app, oauth.None(), first.refresh_token, { ...open, DPoP }));
  assert.notEqual(next.refresh_token, first.refresh_token);
  const got = await oauth.protectedResourceRequest(
    next.access_token, "GET", new URL(told.url + "/v1/vehicles"), undefined, undefined, { ...open, DPoP });
  assert.equal(got.status, 200);
}

// openid-client
const config = await client.discovery(issuer, told.public.id, undefined, client.None(),
  { algorithm: "oauth2", execute: [client.allowInsecureRequests] });
const verifier = client.randomPKCECodeVerifier(), state = client.randomState();
const ask = client.buildAuthorizationUrl(config, {
  redirect_uri: back, scope: "vehicles:read", state, code_challenge_method: "S256",
  code_challenge: await client.calculatePKCECodeChallenge(verifier),
});
const first = await client.authorizationCodeGrant(config, await consent(ask),
  { pkceCodeVerifier: verifier, expectedState: state });
await vehicles((await client.refreshTokenGrant(config, first.refresh_token)).access_token);
const own = await client.discovery(issuer, told.confidential.id, told.confidential.secret, undefined,
  { algorithm: "oauth2", execute: [client.allowInsecureRequests] });
await vehicles((await client.clientCredentialsGrant(own, { scope: "vehicles:read" })).access_token);
console.log("oauth4webapi and openid-client: good");
