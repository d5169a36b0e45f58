package auth

// clientSecretPrefix begins the secrets of OAuth clients, so that scanners of leaked secrets know them.
const clientSecretPrefix = "mp_ocs_"

// MakeClientSecret makes the secret of an OAuth client: 256 random bits and a checksum over all before it, as an API
// key has. The hash is all that is stored.
func MakeClientSecret() (secret, hash, lastFour string) {
	body := clientSecretPrefix + randomText(secretLen)
	secret = body + checksum(body)
	return secret, Hash(secret), secret[len(secret)-4:]
}

// MakeOnce makes a text that nobody can guess, 256 random bits, of which the beginning says what it is.
func MakeOnce(prefix string) string { return prefix + randomText(secretLen) }
