import { createCipheriv, createDecipheriv, createHash, createHmac, hkdfSync, randomBytes } from 'node:crypto'
import { KEY_BYTES } from '../../config-values.ts'

const ALGORITHM = 'aes-256-gcm'
const NONCE_BYTES = 12
const TAG_BYTES = 16
const VERSION = 'v1'

/** Encrypts secrets in the database. */
export interface SecretBox {
  /**
   * Encrypts a text. `place` is where it will be stored (tenant, row, column): the ciphertext can be decrypted nowhere
   * else, so that someone who can write to the database cannot have another tenant's secret sent to them.
   */
  seal(text: string, place: string): string
  /**
   * @throws Error if the text was changed, moved to another place, or encrypted with a key that is no longer configured.
   */
  open(sealed: string, place: string): string
  /** Whether a text was encrypted with the current key; otherwise it should be re-encrypted. */
  isCurrent(sealed: string): boolean
  /**
   * Keyed hashes of a text for one place, one per key, in the order of the keys: store the first, accept any. Someone
   * with the database but no key cannot test guesses. Without a key there are no hashes.
   */
  digests(text: string, place: string): Buffer[]
}

/**
 * AES-256-GCM. The first key encrypts, all keys decrypt: each ciphertext names its key, so a new one can be prepended
 * while old ciphertexts remain.
 */
export function createSecretBox(keys: readonly Buffer[]): SecretBox {
  const [first] = keys
  if (!first) throw new Error('A secret box needs a key.')
  const byId = new Map(keys.map((key) => [idOf(key), key]))
  // The encryption key is not used for hashing.
  const digestKeys = keys.map((key) => Buffer.from(hkdfSync('sha256', key, '', 'cds digest', KEY_BYTES)))
  return {
    seal: (text, place) => {
      const nonce = randomBytes(NONCE_BYTES)
      const cipher = createCipheriv(ALGORITHM, first, nonce).setAAD(Buffer.from(place))
      const sealed = Buffer.concat([nonce, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()])
      return [VERSION, idOf(first), sealed.toString('base64url')].join('.')
    },
    open: (sealed, place) => {
      const [version, keyId = '', text = ''] = sealed.split('.')
      const key = byId.get(keyId)
      if (version !== VERSION || !key) {
        throw new Error(`A stored secret was encrypted with the key ${keyId}, which is not in CDS_SECRET_KEY.`)
      }
      const bytes = Buffer.from(text, 'base64url')
      const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES), { authTagLength: TAG_BYTES })
      decipher.setAAD(Buffer.from(place)).setAuthTag(bytes.subarray(-TAG_BYTES))
      return decipher.update(bytes.subarray(NONCE_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
    },
    isCurrent: (sealed) => sealed.startsWith(`${VERSION}.${idOf(first)}.`),
    digests: (text, place) => digestKeys.map((key) => createHmac('sha256', key).update(`${place}\0${text}`).digest()),
  }
}

/** Identifies a key without revealing it. */
function idOf(key: Buffer): string {
  return createHash('sha256').update('cds key id').update(key).digest('hex').slice(0, 12)
}
