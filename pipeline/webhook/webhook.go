// Package webhook tells other systems what has happened: it signs events as Standard Webhooks 1.0.0 says, sends them to
// the endpoints that want them, and goes on with those that failed after pauses that grow.
//
//	topic events ─► Dispatcher: who wants it? ─► topic webhook.deliveries, by endpoint
//	                                                     │ one Handler a partition: the owner of its endpoints
//	                        webhook_deliveries ◄─────────┤ 1. written as pending
//	                                 │                   ▼
//	       what is due later, or has │             a queue an endpoint ─► Deliverer: accounts take turns, and
//	       no room in memory         └──── 3. read ──►   ▲                their endpoints ─► Courier ─► endpoint
//	                                                     │ 2. written: what came of the attempt
//
// A delivery is a row before it is tried, with an id made of its content. Killed anywhere, the next owner of the
// endpoint reads what is not settled and goes on: an attempt that was not noted is made again, under the same
// webhook-id. So every endpoint gets every event at least once, in no order. Commands (recover, replay, retry) are
// records of the same topic, behind which an owner comes only when they are done.
//
// What waits in memory is bounded, by endpoint and in all (some of each endpoint beside); the rest waits in the store,
// and what is new waits behind it. An endpoint has its own number of requests at once, rate and circuit; an account
// holds no more workers than are free, and those that are slow or fail no more than half of all.
package webhook
