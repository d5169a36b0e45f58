"""Opens the pages on which people sign in, in a real browser, and does what people do there: takes up an invitation, makes
a passkey with the browser's own virtual authenticator, signs in by it alone and after the password, sets an app up, and
lets a program in. Each page is looked at in light and dark, wide and 390 pixels narrow, by axe, and kept as a picture.
Runs under loadtest/openapi/with-motorpool.sh.

    pages.py CHROMIUM AXE PICTURES
"""
import base64
import hashlib
import hmac
import json
import os
import pathlib
import re
import struct
import sys
import time
import urllib.parse
import urllib.request

from playwright.sync_api import expect, sync_playwright

chromium, axe, pictures = sys.argv[1], pathlib.Path(sys.argv[2]).read_text(), pathlib.Path(sys.argv[3])
server = os.environ["MOTORPOOL_URL"].replace("127.0.0.1", "localhost")
password = "a horse in the rain"
faults = []


def call(path, body):
    request = urllib.request.Request(
        os.environ["MOTORPOOL_URL"] + path,
        json.dumps(body).encode(),
        {"Authorization": "Bearer " + os.environ["MOTORPOOL_KEY"], "Content-Type": "application/json"},
    )
    with urllib.request.urlopen(request) as answer:
        return json.load(answer)


def look(page, name):
    """Looks at a page in each of its appearances."""
    for scheme in "light", "dark":
        for width in 1280, 390:
            page.emulate_media(color_scheme=scheme)
            page.set_viewport_size({"width": width, "height": 800})
            found = page.evaluate(axe + "; axe.run(document, {resultTypes: ['violations']})")["violations"]
            for one in found:
                faults.append(f"{name}, {scheme}, {width}: {one['id']}: {one['help']}: {one['nodes'][0]['html'][:200]}")
            wide = page.evaluate("document.documentElement.scrollWidth - document.documentElement.clientWidth")
            if wide > 0:
                faults.append(f"{name}, {scheme}, {width}: {wide} pixels are beyond the edge")
            page.screenshot(path=pictures / f"{name}-{scheme}-{width}.png", full_page=True)
    page.emulate_media(color_scheme="light")
    page.set_viewport_size({"width": 1280, "height": 800})


def code(secret, at):
    digest = hmac.new(base64.b32decode(secret), struct.pack(">Q", int(at) // 30), hashlib.sha1).digest()
    start = digest[-1] & 15
    return f"{(struct.unpack('>I', digest[start:start + 4])[0] & 0x7FFFFFFF) % 1_000_000:06d}"


def new_page(browser):
    page = browser.new_context().new_page()
    page.on("pageerror", lambda fault: faults.append(f"{page.url}: {fault}"))
    page.on("console", lambda told: told.type == "error" and "status of 40" not in told.text and faults.append(f"{page.url}: {told.text}"))
    return page


def authenticator(page, **changes):
    tools = page.context.new_cdp_session(page)
    tools.send("WebAuthn.enable")
    options = {"protocol": "ctap2", "transport": "internal", "hasResidentKey": True, "hasUserVerification": True,
               "isUserVerified": True, "automaticPresenceSimulation": True} | changes
    made = tools.send("WebAuthn.addVirtualAuthenticator", {"options": options})["authenticatorId"]
    return lambda what, **more: tools.send("WebAuthn." + what, {"authenticatorId": made} | more)


class Offers:
    """Lets so many requests for a challenge through: what a browser offers by itself its virtual device answers at once."""

    def __init__(self, page):
        self.left = 0
        page.route("**/signin/passkey/options", self.answer)

    def answer(self, route):
        if self.left == 0:
            route.fulfill(status=404, content_type="application/problem+json", body="{}")
        else:
            self.left -= 1
            route.continue_()


def sign_out(page):
    page.goto(server + "/signin")
    with page.expect_response("**/signin/passkey/options"):  # which the next page asks for by itself
        page.get_by_role("button", name="Sign out").click()
    expect(page.get_by_role("button", name="Sign in", exact=True)).to_be_visible()


def signed_in(page):
    expect(page.get_by_text("You are signed in as")).to_be_visible()


def run(browser):
    made = call("/v1/users", {"name": "Ann Lee", "email": "ann@example.com", "role": "manager"})
    page = new_page(browser)
    device, offers = authenticator(page), Offers(page)
    page.goto(server + "/signin/invitation?" + made["invitation_url"].partition("?")[2])
    look(page, "invitation")
    page.get_by_label("Password").fill(password)
    page.get_by_label("The same again").fill(password)
    page.get_by_role("button", name="Set password").click()
    signed_in(page)
    look(page, "signed-in")

    page.get_by_role("link", name="Second step and passkeys").click()
    look(page, "security-none")
    form = page.locator("form[data-passkey=create]")
    form.get_by_label("What you call it").fill("My telephone")
    form.get_by_label("Your password").fill("wrong wrong wrong")
    form.get_by_role("button").click()
    expect(form.get_by_role("alert")).to_have_text("The password is another.")
    look(page, "security-wrong")
    form.get_by_label("Your password").fill(password)
    form.get_by_role("button").click()
    expect(page.locator("ul.codes li")).to_have_count(10)
    recovery = page.locator("ul.codes li").all_inner_texts()
    look(page, "security-codes")
    page.goto(server + "/signin/security")
    expect(page.get_by_text("Never used.")).to_be_visible()
    page.get_by_text("Remove My telephone").click()
    look(page, "security-passkey")
    form = page.locator("form[data-passkey=create]")
    form.get_by_label("What you call it").fill("The same")
    form.get_by_label("Your password").fill(password)
    form.get_by_role("button").click()
    expect(form.get_by_role("alert")).to_have_text("This device has a passkey of yours already.")

    # By the passkey alone.
    sign_out(page)
    look(page, "sign-in")
    offers.left = 1
    page.get_by_role("button", name="Sign in with a passkey").click()
    signed_in(page)

    # By what the browser offers where the address is typed, where nobody presses a button.
    sign_out(page)
    offers.left = 1
    page.goto(server + "/signin", wait_until="commit")
    signed_in(page)

    # After the password.
    def by_password():
        page.get_by_label("Email").fill("ann@example.com")
        page.get_by_label("Password").fill(password)
        page.get_by_role("button", name="Sign in", exact=True).click()
        expect(page.get_by_role("button", name="Use a passkey")).to_be_visible()

    sign_out(page)
    by_password()
    look(page, "second-step")
    page.get_by_role("button", name="Use a passkey").click()
    signed_in(page)

    # Who is not recognised by the device does not come in, and can go on by a recovery code.
    sign_out(page)
    device("setUserVerified", isUserVerified=False)
    offers.left = 1
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_text("It was cancelled, or took too long.")).to_be_visible()
    by_password()
    page.get_by_label("Code").fill(recovery[0])
    page.get_by_role("button", name="Sign in").click()
    signed_in(page)
    device("setUserVerified", isUserVerified=True)

    # An app beside it.
    page.goto(server + "/signin/security")
    page.locator("form[action$=begin]").get_by_label("Your password").fill(password)
    page.get_by_role("button", name="Set up an app").click()
    look(page, "security-app")
    secret = re.search(r"\b[A-Z2-7]{32}\b", page.inner_text("main")).group()
    page.get_by_label("The code that the app shows now").fill(code(secret, time.time()))
    page.get_by_role("button", name="Ask for codes from now on").click()
    page.goto(server + "/signin/security")
    look(page, "security-both")

    # A program asks for access.
    client = call("/v1/oauth_clients", {"name": "Fleet board", "type": "public", "grant_types": ["authorization_code"],
                                        "redirect_uris": ["https://app.example/landing"],
                                        "scopes": ["vehicles:read", "bookings:write"]})
    wish = urllib.parse.urlencode({
        "response_type": "code", "client_id": client["id"], "redirect_uri": "https://app.example/landing", "state": "s",
        "scope": "vehicles:read bookings:write", "code_challenge_method": "S256",
        "code_challenge": base64.urlsafe_b64encode(hashlib.sha256(b"x" * 43).digest()).rstrip(b"=").decode()})
    page.goto(server + "/oauth/authorize?" + wish)
    expect(page.get_by_text("Fleet board").first).to_be_visible()
    look(page, "consent")

    # The passkey is gone: its device opens nothing, and the page says so.
    page.goto(server + "/signin/security")
    page.get_by_text("Remove My telephone").click()
    gone = page.locator("form[action$=remove]", has_text="Remove it")
    gone.get_by_label("Your password").fill(password)
    gone.get_by_role("button").click()
    expect(page.get_by_text("My telephone")).to_have_count(0)
    sign_out(page)
    offers.left = 1
    page.get_by_role("button", name="Sign in with a passkey").click()
    expect(page.get_by_text("This passkey opens nothing here.")).to_be_visible()
    look(page, "sign-in-refused")

    # Without script there is the password, and no form that does nothing.
    plain = browser.new_context(java_script_enabled=False).new_page()
    plain.goto(server + "/signin")
    expect(plain.get_by_role("button", name="Sign in with a passkey")).to_be_hidden()
    plain.get_by_label("Email").fill("ann@example.com")
    plain.get_by_label("Password").fill(password)
    plain.get_by_role("button", name="Sign in", exact=True).click()
    plain.get_by_label("Code").fill(code(secret, time.time() + 30))
    plain.get_by_role("button", name="Sign in").click()
    signed_in(plain)


pictures.mkdir(parents=True, exist_ok=True)
with sync_playwright() as tools:
    browser = tools.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
    run(browser)
    browser.close()
for fault in faults:
    print(fault)
print(f"{len(list(pictures.glob('*.png')))} pictures are in {pictures}; {len(faults)} faults")
sys.exit(1 if faults else 0)
