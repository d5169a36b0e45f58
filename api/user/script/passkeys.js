// Passkeys on the pages of people. A form with data-passkey is hidden until this script knows that the browser has
// passkeys; it is sent with what an authenticator made of the options that the server has at data-options. "create" makes
// a passkey and "get" uses one, which data-offered has browsers offer beside what they fill in.
"use strict";
(() => {
  if (!window.PublicKeyCredential || !navigator.credentials) return;

  const bytes = (text) =>
    Uint8Array.from(atob(text.replaceAll("-", "+").replaceAll("_", "/")), (c) => c.charCodeAt(0));
  const text = (buffer) =>
    btoa(Array.from(new Uint8Array(buffer), (b) => String.fromCharCode(b)).join(""))
      .replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");

  // Refused is what the server says to people.
  class Refused extends Error {}

  // Reload says that nobody is signed in any more, which a page says better.
  class Reload extends Error {}

  // optionsFor asks the server for the options of a form, as the browser takes them.
  async function optionsFor(form) {
    const answer = await fetch(form.dataset.options, { method: "POST", body: new URLSearchParams(new FormData(form)) });
    if (!/json/.test(answer.headers.get("Content-Type") || "")) {
      throw new Reload();
    }
    const told = await answer.json();
    if (!answer.ok) throw new Refused(told.detail);
    const options = told.publicKey;
    options.challenge = bytes(options.challenge);
    if (options.user) options.user.id = bytes(options.user.id);
    for (const one of [...(options.allowCredentials || []), ...(options.excludeCredentials || [])]) one.id = bytes(one.id);
    return options;
  }

  // written is a credential as the server reads it.
  function written(made) {
    const response = {};
    for (const name of ["clientDataJSON", "attestationObject", "authenticatorData", "signature", "userHandle"]) {
      if (made.response[name]) response[name] = text(made.response[name]);
    }
    if (made.response.getTransports) response.transports = made.response.getTransports();
    return JSON.stringify({ id: made.id, rawId: text(made.rawId), type: made.type,
      authenticatorAttachment: made.authenticatorAttachment || undefined, response });
  }

  function send(form, made) {
    form.elements.credential.value = written(made);
    if (form.elements.password) form.elements.password.value = "";
    form.submit();
  }

  const reasons = {
    InvalidStateError: "This device has a passkey of yours already.",
    NotAllowedError: "It was cancelled, or took too long. Try again, or use another way.",
    SecurityError: "This page is open under another name than the server's own. Open it there.",
  };

  function say(form, fault) {
    const place = form.querySelector("[role=alert]");
    place.textContent = fault instanceof Refused ? fault.message : reasons[fault.name] || "It did not work. Try again.";
    place.hidden = false;
  }

  let offered = new AbortController(); // ends what the browser offers by itself

  // offer has the browser offer passkeys where people type their address, with a challenge that is not too old.
  async function offer(form) {
    const able = PublicKeyCredential.isConditionalMediationAvailable;
    if (!able || !(await able.call(PublicKeyCredential))) return;
    for (;;) {
      while (document.hidden) {
        await new Promise((shown) => document.addEventListener("visibilitychange", shown, { once: true }));
      }
      const round = (offered = new AbortController());
      try {
        const publicKey = await optionsFor(form);
        const old = setTimeout(() => round.abort("old"), publicKey.timeout * 0.8);
        try {
          send(form, await navigator.credentials.get({ publicKey, mediation: "conditional", signal: round.signal }));
          return;
        } finally {
          clearTimeout(old);
        }
      } catch (fault) {
        if (round.signal.reason !== "old") return; // the form below is still there
      }
    }
  }

  for (const form of document.querySelectorAll("form[data-passkey]")) {
    form.hidden = false;
    form.addEventListener("submit", async (event) => {
      event.preventDefault();
      offered.abort("asked");
      const button = form.querySelector("button");
      button.disabled = true;
      form.querySelector("[role=alert]").hidden = true;
      try {
        const publicKey = await optionsFor(form);
        send(form, await navigator.credentials[form.dataset.passkey]({ publicKey }));
      } catch (fault) {
        if (fault instanceof Reload) location.reload();
        else say(form, fault);
      }
      button.disabled = false;
    });
    if ("offered" in form.dataset) offer(form);
  }
})();
