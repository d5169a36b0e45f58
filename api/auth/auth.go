// Package auth decides who makes a request and how much they may do: API keys (their written form, storage and
// look-up), scopes, rate limits, and the throttling of clients that fail to authenticate.
//
// The package holds no HTTP: api reads the headers and writes the answers. Keys are looked up through a function that
// the caller gives, and remembered for at most Config.CacheFor, so that a revocation is felt everywhere within that
// time. All types here are safe for concurrent use, and what they remember is bounded.
package auth
