import { randomBytes } from 'node:crypto'
import { link, mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { KEY_BYTES } from '../../config-values.ts'
import { ServiceError } from '../errors.ts'
import { createSecretBox, type SecretBox } from './secret-box.ts'

/** File in the data directory with the generated key, in base64. */
export const KEY_FILE = 'secret-key'

interface KeyConfig {
  secretKeys: Buffer[]
  dataDirectory: string
  databaseUrl: string | null
  clickhouseUrl: string | null
}

/**
 * The key comes from CDS_SECRET_KEY or, without it, from the data directory, where the first start creates it. If both
 * databases are external, there may be no persistent directory shared by all processes, so no key is generated:
 * encryption then requires CDS_SECRET_KEY, and fails with an error that says so.
 */
export async function openSecretBox(config: KeyConfig): Promise<SecretBox> {
  if (config.secretKeys.length > 0) return createSecretBox(config.secretKeys)
  const file = join(resolve(config.dataDirectory), KEY_FILE)
  const known = await readKey(file)
  if (known) return createSecretBox([known])
  if (config.databaseUrl !== null && config.clickhouseUrl !== null) {
    return { seal: missing, open: missing, isCurrent: missing, digests: () => [] }
  }
  return createSecretBox([await makeKey(file)])
}

async function readKey(file: string): Promise<Buffer | null> {
  const text = await readFile(file, 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return null
    throw error
  })
  if (text === null) return null
  const key = Buffer.from(text.trim(), 'base64')
  if (key.length !== KEY_BYTES) throw new Error(`${file} does not contain a key of ${KEY_BYTES} bytes in base64.`)
  return key
}

/** Two processes may do this at once: the first to link its file has created the key, and both use it. */
async function makeKey(file: string): Promise<Buffer> {
  const mine = `${file}.${process.pid}.${randomBytes(4).toString('hex')}`
  await mkdir(resolve(file, '..'), { recursive: true })
  await writeFile(mine, `${randomBytes(KEY_BYTES).toString('base64')}\n`, { mode: 0o600, flag: 'wx', flush: true })
  try {
    await link(mine, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(mine, { force: true })
  }
  const key = await readKey(file)
  if (!key) throw new Error(`${file} could not be written.`)
  return key
}

function missing(): never {
  throw secretKeyMissing()
}

/** 503: nothing can be encrypted. */
export function secretKeyMissing(): ServiceError {
  const message =
    'There is no key to encrypt secrets with. Set CDS_SECRET_KEY to 32 random bytes in base64 (openssl rand -base64 32), the same for every process.'
  return new ServiceError(503, 'secret_key_missing', message)
}
