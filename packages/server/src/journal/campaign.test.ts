import fc from 'fast-check'
import { expect, test } from 'vitest'
import { sharedService } from '../../test/service.ts'
import { campaignInSql, campaignOf, UTM_COLUMNS } from './campaign.ts'

test.each([
  ['https://a.example/', {}],
  ['', {}],
  [
    'https://a.example/?utm_source=news&utm_medium=e%20mail&utm_campaign=%C3%BCber+all',
    { utm_source: 'news', utm_medium: 'e mail', utm_campaign: 'über all' },
  ],
  ['https://a.example/?utm_source=first&utm_source=second#utm_term=fragment', { utm_source: 'first' }],
  ['https://a.example/#/?utm_source=fragment', {}],
  ['https://a.example/utm_source=path', {}],
  ['https://a.example/?xutm_source=other&utm_content=', {}],
  ['/pricing?utm_source=app', { utm_source: 'app' }],
  ['shop://open?utm_campaign=push', { utm_campaign: 'push' }],
  ['https://a.example/?utm_source=a%00b%FF%', { utm_source: 'ab\ufffd%' }],
  [`https://a.example/?utm_term=${'😀'.repeat(600)}`, { utm_term: '😀'.repeat(500) }],
])('the campaign of %j', (url, campaign) => {
  const sent = Object.entries(campaignOf(url)).filter(([, value]) => value !== '')
  expect(Object.fromEntries(sent)).toEqual(campaign)
})

test('is the same in ClickHouse, which computes it for the rows of an earlier version', async () => {
  const { clickhouse } = (await sharedService()).stores
  const part = fc.constantFrom(
    ...['?', '&', '#', '=', '/', '%20', '%C3%BC', '%00', '+', 'ü', '😀', ' ', 'a', 'utm_', 'x', '&&', '?utm_source='],
    ...UTM_COLUMNS.map((name) => `&${name}=`),
  )
  const url = fc.array(part, { maxLength: 14 }).map((parts) => `https://a.example/${parts.join('')}`)
  const urls = fc.sample(url, 500)
  const columns = UTM_COLUMNS.map((name) => `${campaignInSql(name)} AS ${name}`).join(', ')
  const rows = await clickhouse.query(`SELECT ${columns} FROM (SELECT arrayJoin({urls: Array(String)}) AS url)`, {
    urls,
  })
  expect(rows).toEqual(urls.map(campaignOf))
})
