import { domainToASCII } from 'node:url'
import { sql } from 'kysely'
import { expect, test } from 'vitest'
import { sharedService } from '../../../test/service.ts'

const DOMAINS = [
  'bücher.example',
  'straße.example',
  '例子.广告',
  'президент.рф',
  'i❤.example',
  'ليهمابتكلموشعربي.example',
  'なぜみんな日本語を話してくれないのか.example',
  'porquénopuedensimplementehablarenespañol.example',
  'a-ü.b-ö.example',
  '𝒳.example',
]

test('a domain in punycode is read as Node reads it, alone and in an address', async () => {
  const { database } = (await sharedService()).stores
  const readable = async (text: string) => {
    const { rows } = await sql<{ text: string }>`SELECT readable_domain(${text}) AS text`.execute(database)
    return rows[0]?.text
  }
  for (const domain of DOMAINS) {
    const ascii = domainToASCII(domain)
    expect(await readable(ascii)).toBe(domain.normalize('NFKC').toLowerCase())
    expect(await readable(`kim@${ascii}`)).toBe(`kim@${domain.normalize('NFKC').toLowerCase()}`)
  }
  for (const text of ['ann@example.com', 'x@xn--9999999999999999.com', '@', '']) {
    expect(await readable(text)).toBe(text)
  }
})
