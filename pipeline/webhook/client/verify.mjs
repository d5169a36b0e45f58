// Verifies messages of webhooks with libraries of others, and refuses those that were changed. Reads the messages from the
// file that is named: [{secret, headers, body (base64)}, …].
import { readFileSync } from "node:fs";
import { Webhook as Standard } from "standardwebhooks";
import { Webhook as Svix } from "svix";

for (const message of JSON.parse(readFileSync(process.argv[2], "utf8"))) {
  const body = Buffer.from(message.body, "base64").toString("utf8");
  for (const [name, Library] of Object.entries({ standardwebhooks: Standard, svix: Svix })) {
    const webhook = new Library(message.secret);
    webhook.verify(body, message.headers);
    for (const [changed, headers] of [[body + " ", message.headers], [body, { ...message.headers, "webhook-id": "evt_2" }]]) {
      let taken = true;
      try {
        webhook.verify(changed, headers);
      } catch {
        taken = false;
      }
      if (taken) throw new Error(`${name} takes a message that was changed`);
    }
  }
}
