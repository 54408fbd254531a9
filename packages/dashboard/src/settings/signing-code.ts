/** Server code that signs an identification; the same as in docs/identification.md, where a test runs it. */
export const SIGNING_CODE = {
  'Node.js': `import { createHmac } from 'node:crypto'

export function userHash(secret, userId) {
  return createHmac('sha256', secret).update(userId).digest('hex')
}`,
  Python: `import hashlib, hmac

def user_hash(secret, user_id):
    return hmac.new(secret.encode(), user_id.encode(), hashlib.sha256).hexdigest()`,
  PHP: `function user_hash(string $secret, string $userId): string
{
    return hash_hmac('sha256', $userId, $secret);
}`,
  Go: `package main

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
)

func UserHash(secret, userID string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(userID))
	return hex.EncodeToString(mac.Sum(nil))
}`,
}
