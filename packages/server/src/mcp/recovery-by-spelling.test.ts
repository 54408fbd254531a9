import { beforeAll, describe, expect, test } from 'vitest'
import { callMcp } from '../../test/mcp.ts'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../test/service.ts'

/*
 * Whatever is hidden where a text is shown is not found by its parts either, however the text spells it.
 */

let service: TestService
let tenant: TestTenant

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  await tenant.contact('ottilie@stranger.example', { firstname: 'Ottilie', lastname: 'Brandhuber' })
})

// biome-ignore lint/suspicious/noExplicitAny: results of every shape
async function use(name: string, args: object): Promise<any> {
  const { body } = await callMcp(service, tenant.key, 'tools/call', { name, arguments: args })
  expect([args, body.result.isError ? body.result.content : null]).toEqual([args, null])
  return body.result.structuredContent
}

const filterOf = (property: string, value: string, contact: string) => ({
  match: 'all',
  conditions: [
    { property, operator: 'contains', value },
    { property: 'plan', operator: 'equals', value: contact },
  ],
})

let contacts = 0
/** A contact with a text as its job title and under a name of its own. */
async function contactWith(text: string): Promise<{ id: string; plan: string }> {
  const plan = `plan ${++contacts}`
  const names = { firstname: 'Xanthe', lastname: 'Vorbis Lünd', middlename: 'Zenobia' }
  const id = await tenant.contact(`qx84${contacts}@spelled.example`, { ...names, jobtitle: text, topic: text, plan })
  return { id, plan }
}

describe('a part of what is hidden finds nobody', () => {
  test.each([
    ['a name without its accents', 'Talks to Lund, boats', 'lun', 'boat'],
    ['a word of a name of several', 'Calls Vorbis, boats', 'orbi', 'oats'],
    ['a name beside an underscore', 'vorbis_xanthe_boats', 'orbi', 'boats'],
    ['the full name as one word', 'xanthevorbislund boats', 'thevor', 'boat'],
    ['the last name first, as one word', 'vorbislundxanthe boats', 'lundx', 'boat'],
    ['an initial and the last name', 'xvorbislund boats', 'xvor', 'boat'],
    ['a middle name', 'Zenobia, boats', 'zeno', 'boat'],
    ['a phone number with slashes', 'Call 0171/555778, boats', '555', 'boat'],
    ['an address of the next protocol', 'From 2001:db8:17::4, boats', '2001', 'boat'],
    ['a parameter of a URL', 'https://boats.example/list?token=zedsecret#frag', 'zedsec', 'boats'],
    ['a fragment of a URL', 'https://boats.example/list#zedsecret', 'zedsec', 'boats'],
    ['an encoded name', 'https://boats.example/a%20xanthe%20b', 'xanth', 'https'],
    ["an encoded name of somebody else's", 'https://boats.example/Ottilie%20Brandhuber', 'brandh', 'https'],
    ["somebody else's name beside an underscore", 'ottilie_brandhuber boats', 'brandh', 'boat'],
  ])('%s: %s', async (_what, text, hidden, visible) => {
    const { id, plan } = await contactWith(text)
    const { contact } = await use('get_contact', { contact_id: id })
    expect(contact.properties.topic.toLowerCase()).not.toContain(hidden)
    for (const property of ['jobtitle', 'topic']) {
      const totalOf = async (part: string) =>
        (await use('search_contacts', { filter: filterOf(property, part, plan), count_only: true })).total
      expect([property, await totalOf(hidden), await totalOf(visible)]).toEqual([
        property,
        0,
        // What an encoded text shows is not compared by its parts.
        text.includes('%20') ? expect.any(Number) : 1,
      ])
    }
    const filter = { match: 'all', conditions: [{ property: 'plan', operator: 'equals', value: plan }] }
    expect((await use('search_contacts', { query: hidden, filter, count_only: true })).total).toBe(0)
  })

  test('a name in a script without spaces', async () => {
    const id = await tenant.contact('li@spelled.example', {
      firstname: '小龙',
      lastname: '李',
      topic: '我是李小龙的朋友',
    })
    const { contact } = await use('get_contact', { contact_id: id })
    expect(contact.properties.topic).not.toContain('小龙')
    const totalOf = async (value: string) => {
      const filter = { match: 'all', conditions: [{ property: 'topic', operator: 'contains', value }] }
      return (await use('search_contacts', { filter, count_only: true })).total
    }
    expect([await totalOf('小'), await totalOf('李小'), await totalOf('朋友')]).toEqual([0, 0, 1])
  })
})

describe('a personal value under another name', () => {
  let id: string

  beforeAll(async () => {
    id = await tenant.contact('values@spelled.example', {
      city: 'Quedlinburg',
      address: 'Rosenweg 17',
      birthday: '1984-03-07',
      taxid: 123_456_789,
      topic: 'Head in Quedlinburg, Rosenweg 17',
      jobtitle: 'Head in Quedlinburg, Rosenweg 17',
      company: 'Quedlinburg Works',
      since: '1984-03-07',
      ref: 123_456_789,
      joined: '2020-01-01',
    })
    const title = 'Ring +49/171/5557788 or 0171/555778'
    const events = [{ event: 'page_view', contact_id: id, url: `https://${tenant.site}/2024/05/17/x`, title }]
    expect((await tenant.call('POST', '/v1/events', { events })).status).toBe(200)
  })

  test.each([
    ['topic', 'contains', 'uedl', 0],
    ['jobtitle', 'contains', 'osenw', 0],
    ['topic', 'contains', 'head', 1],
    ['company', 'contains', 'uedl', 1],
    ['since', 'before', '1990-01-01', 0],
    ['since', 'after', '1980-01-01', 0],
    ['since', 'within_days', 30_000, 0],
    ['joined', 'before', '2020-06-01', 1],
    ['ref', 'gt', 1, 0],
  ])('is not found by a part or an order: %s %s %j', async (property, operator, value, total) => {
    const filter = { match: 'all', conditions: [{ property, operator, value }] }
    expect((await use('search_contacts', { filter, count_only: true })).total).toBe(total)
  })

  test('is not shown by its figures', async () => {
    const { buckets } = await use('aggregate', {
      entity: 'contacts',
      group_by: 'country',
      metric: 'max',
      metric_field: 'ref',
    })
    expect(buckets).toEqual([{ key: null }])
  })

  test.each([
    [{ title_contains: '171' }, 0],
    [{ title_contains: '0171' }, 0],
    [{ title_contains: 'ring' }, 1],
    [{ url_contains: '/2024/05' }, 1],
  ])('is not found in texts of events by a group of digits: %j', async (args, total) => {
    expect((await use('query_events', { ...args, count_only: true })).total).toBe(total)
  })
})
