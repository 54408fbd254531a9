import { randomBytes } from 'node:crypto'
import { mkdtemp, readFile, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { readConfig } from '../../config.ts'
import { createSecretBox, type SecretBox } from './secret-box.ts'
import { KEY_FILE, openSecretBox } from './secret-key.ts'

const directories: string[] = []
afterEach(async () => {
  for (const directory of directories.splice(0)) await rm(directory, { recursive: true, force: true })
})

async function directory(): Promise<string> {
  const made = await mkdtemp(join(tmpdir(), 'cds-key-'))
  directories.push(made)
  return made
}

const OUTSIDE = { DATABASE_URL: 'postgres://localhost/cds', CLICKHOUSE_URL: 'http://localhost:8123' }

test('a sealed text opens in its place, and each ciphertext is different', () => {
  const box = createSecretBox([randomBytes(32)])
  const sealed = box.seal('sécret', 'tenant/row')
  expect(sealed).not.toContain('sécret')
  expect(box.seal('sécret', 'tenant/row')).not.toBe(sealed)
  expect(box.open(sealed, 'tenant/row')).toBe('sécret')
})

test('a text that was changed, moved to another place or sealed with an unknown key does not open', () => {
  const box = createSecretBox([randomBytes(32)])
  const sealed = box.seal('secret', 'tenant/row')
  expect(() => box.open(sealed, 'other/row')).toThrow()
  const [version, key, text = ''] = sealed.split('.')
  const flipped = `${text.slice(0, 20)}${text[20] === 'A' ? 'B' : 'A'}${text.slice(21)}`
  expect(() => box.open([version, key, flipped].join('.'), 'tenant/row')).toThrow()
  expect(() => box.open([version, key, 'AAAA'].join('.'), 'tenant/row')).toThrow()
  expect(() => createSecretBox([randomBytes(32)]).open(sealed, 'tenant/row')).toThrow(/CDS_SECRET_KEY/)
})

test('a new first key seals, and texts sealed with the old one still open', () => {
  const [old, fresh] = [randomBytes(32), randomBytes(32)]
  const sealed = createSecretBox([old]).seal('secret', 'place')
  const both = createSecretBox([fresh, old])
  expect(both.open(sealed, 'place')).toBe('secret')
  expect(createSecretBox([fresh]).open(both.seal('secret', 'place'), 'place')).toBe('secret')
})

test('a digest depends on text, place and key, and is recognized while its key is configured', () => {
  const [old, fresh] = [randomBytes(32), randomBytes(32)]
  const [before] = createSecretBox([old]).digests('text', 'place')
  const both = createSecretBox([fresh, old])
  expect(createSecretBox([old]).digests('text', 'place')).toEqual([before])
  expect(both.digests('text', 'place')[1]).toEqual(before)
  expect(both.digests('text', 'place')[0]).not.toEqual(before)
  expect(both.digests('text', 'elsewhere')).not.toContainEqual(before)
  expect(both.digests('other', 'place')).not.toContainEqual(before)
  expect(createSecretBox([fresh]).digests('text', 'place')).not.toContainEqual(before)
})

test('concurrent starts create one key, which only its owner can read', async () => {
  const config = readConfig({ CDS_DATA_DIR: await directory() })
  const boxes = await Promise.all(Array.from({ length: 8 }, () => openSecretBox(config)))
  const sealed = boxes[0]?.seal('secret', 'place') ?? ''
  for (const box of boxes) expect(box.open(sealed, 'place')).toBe('secret')
  const file = join(config.dataDirectory, KEY_FILE)
  expect((await stat(file)).mode & 0o777).toBe(0o600)
  expect(Buffer.from(await readFile(file, 'utf8'), 'base64')).toHaveLength(32)
})

test('with both databases external, a key must be configured and none is generated', async () => {
  const data = await directory()
  const box = await openSecretBox(readConfig({ ...OUTSIDE, CDS_DATA_DIR: data }))
  expect(box.digests('text', 'place')).toEqual([])
  const refused = expect.objectContaining({ code: 'secret_key_missing' })
  expect(() => box.seal('secret', 'place')).toThrow(refused)
  await expect(stat(join(data, KEY_FILE))).rejects.toThrow('ENOENT')
  const key = randomBytes(32).toString('base64')
  const configured: SecretBox = await openSecretBox(readConfig({ ...OUTSIDE, CDS_DATA_DIR: data, CDS_SECRET_KEY: key }))
  expect(configured.open(configured.seal('secret', 'place'), 'place')).toBe('secret')
})

test('a malformed key is rejected at startup without being shown', () => {
  const wrong = randomBytes(31).toString('base64')
  expect(() => readConfig({ CDS_SECRET_KEY: wrong })).toThrow(/CDS_SECRET_KEY must be 32 random bytes/)
  expect(() => readConfig({ CDS_SECRET_KEY: wrong })).not.toThrow(wrong)
})
