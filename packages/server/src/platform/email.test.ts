import { expect, test } from 'vitest'
import { normalizeEmail, parseEmail, readableEmail } from './email.ts'

test.each([
  [' Ann@Example.COM ', 'ann@example.com'],
  ['\u200bann@example.com', 'ann@example.com'],
  ['\ufeffann@example.com\u200b', 'ann@example.com'],
  ['an\u00adn@exam\u00adple.com', 'ann@example.com'],
  ['\u202aann@example.com\u202c', 'ann@example.com'],
  ['ann\u2060@exa\u200dmple.com', 'ann@example.com'],
  [' \u200e ann@example.com', 'ann@example.com'],
  ['ann@example.com.', 'ann@example.com'],
  ['kim@b\u00fccher.example', 'kim@xn--bcher-kva.example'],
  ['kim@bu\u0308cher.example', 'kim@xn--bcher-kva.example'],
  ['KIM@BÜCHER.EXAMPLE', 'kim@xn--bcher-kva.example'],
  ['kim@xn--bcher-kva.example', 'kim@xn--bcher-kva.example'],
  ['kim@XN--BCHER-KVA.example', 'kim@xn--bcher-kva.example'],
  ['kim@ｅｘａｍｐｌｅ．com', 'kim@example.com'],
  ['kim@example。com', 'kim@example.com'],
  ['kim@日本語。example。', 'kim@xn--wgv71a119e.example'],
  ['kim@straße.example', 'kim@xn--strae-oqa.example'],
  ['kim@İstanbul.example', 'kim@xn--istanbul-o0e.example'],
  ['kim@ΑΣ.example', 'kim@xn--mxa0b.example'],
  ['kim@i❤.example', 'kim@xn--i-7iq.example'],
  ['kim@i❤\ufe0f.example', 'kim@xn--i-7iq.example'],
  ['rene\u0301@example.com', 'ren\u00e9@example.com'],
  ['用户@例子.广告', '用户@xn--fsqu00a.xn--4rr70v'],
  ['İ@example.com', 'i\u0307@example.com'],
  // The lower case of Σ depends on its place.
  ['ΣΣ@example.gr', 'σσ@example.gr'],
  ['σς@example.gr', 'σσ@example.gr'],
  ['ΝΙΚΟΣ@example.gr', 'νικοσ@example.gr'],
  ['νικος@example.gr', 'νικοσ@example.gr'],
  ['ΝΙΚΟΣ.ΠΑΠΠΑΣ@example.gr', 'νικοσ.παππασ@example.gr'],
  ['kim@نامه\u200cای.com', 'kim@xn--mgba3gch31f060k.com'],
])('%j is %j', (text, address) => {
  expect(parseEmail(text)).toBe(address)
  // Normalizing twice changes nothing, nor does showing it in between.
  expect(parseEmail(address)).toBe(address)
  expect(parseEmail(readableEmail(address))).toBe(address)
})

test.each([
  'ann',
  '@example.com',
  '\u200b@example.com',
  'ann@example',
  'ann@example..com',
  'ann@.example.com',
  'ann@example.com..',
  'ann@xn--zzzz99999999.com',
  'ann@xn--a.com',
  'ann@xn--a-ecp.ru',
  'ann@XN--bcher-kvb9.com',
  'ann@xn--example-.com',
  'ann@xn--bu\u0308.com',
  'ann@b%C3%BCcher.com',
  'ann@bücher.com/path',
  'ann@bücher.com:80',
  'ann@bü／cher.com',
  'ann@bü_cher.com',
  'ann@-ü.com',
  'ann@ü-.com',
  'ann@１２７.0.0.1',
  'ann@\u202e.com',
  // 2.1 does not count it among the spellings of @.
  'ann＠example.com',
  'an n@example.com',
  'ann@exam ple.com',
  `ann@${'ü'.repeat(60)}.com`,
])('%j is malformed', (text) => {
  expect(parseEmail(text)).toBeNull()
})

test('the limit of 254 bytes is that of the stored form', () => {
  const domain = `${'ü'.repeat(40)}.`.repeat(4)
  expect(Buffer.byteLength(`a@${domain}com`)).toBeGreaterThan(254)
  expect(parseEmail(`a@${domain}com`)).toMatch(/^a@xn--/)
  expect(parseEmail(`${'a'.repeat(60)}@${'b'.repeat(62)}.${'c'.repeat(62)}.${'d'.repeat(62)}.com`)).not.toBeNull()
  expect(parseEmail(`${'é'.repeat(60)}@${'b'.repeat(62)}.${'c'.repeat(62)}.com`)).not.toBeNull()
  expect(parseEmail(`${'é'.repeat(63)}@${'b'.repeat(62)}.${'c'.repeat(62)}.com`)).toBeNull()
})

test('what is no address is looked up in lower case, and an address is shown with its own letters', () => {
  expect(normalizeEmail(' Root ')).toBe('root')
  expect(normalizeEmail('Kim@Bücher.example')).toBe('kim@xn--bcher-kva.example')
  expect(readableEmail('kim@xn--bcher-kva.example')).toBe('kim@bücher.example')
  expect(readableEmail('xn--kim@example.com')).toBe('xn--kim@example.com')
})
