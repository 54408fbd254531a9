import { describe, expect, test } from 'vitest'
import { createTestTenant, sharedService, startTestService, type TestTenant } from '../../../test/service.ts'

const conversion = (lead: unknown) => ({ event: 'video_conversion', data: { provider: 'html5' }, lead })

async function contactsOf(tenant: TestTenant) {
  return (await tenant.call('GET', '/v1/contacts?include=provenance')).body.contacts
}

describe('an address that a visitor leaves with an event, such as in a video', () => {
  test('identifies the visitor as a form does, and is not stored with the event', async () => {
    const tenant = await createTestTenant(await sharedService())
    await tenant.track({ visitor_id: 'v', events: [{ event: 'before' }] })
    const sent = await tenant.track({ visitor_id: 'v', events: [conversion(' Ada@Example.com'), { event: 'after' }] })
    expect([sent.status, sent.body.accepted, sent.body.warnings ?? []]).toEqual([200, 2, []])
    const [contact, ...others] = await contactsOf(tenant)
    expect(others).toEqual([])
    expect(contact).toMatchObject({ creation_source: 'form', properties: { email: 'ada@example.com' } })
    const { events } = (await tenant.call('GET', `/v1/events?contact_id=${contact.contact_id}`)).body
    const names = events.map(({ event }: { event: string }) => event)
    expect(names).toEqual(expect.arrayContaining(['before', 'video_conversion', 'after']))
    expect(names).not.toContain('form_submission')
    const stored = events.find(({ event }: { event: string }) => event === 'video_conversion')
    expect(stored.data).toEqual({ provider: 'html5' })
  })

  test('creates the contact and leaves the visitor unlinked where signed identification is required', async () => {
    const tenant = await createTestTenant(await sharedService())
    await tenant.call('PATCH', '/v1/tenant', { require_signed_identification: true })
    const sent = await tenant.track({ visitor_id: 'v', events: [conversion('ada@example.com')] })
    expect(sent.body.warnings).toEqual([expect.stringContaining('signed identification is required')])
    const [contact] = await contactsOf(tenant)
    expect(contact).toMatchObject({ creation_source: 'form', properties: { email: 'ada@example.com' } })
    const { events } = (
      await tenant.call('GET', `/v1/events?event_type=video_conversion&contact_id=${contact.contact_id}`)
    ).body
    expect(events).toEqual([])
  })

  test.each([['no address'], [7], [{ email: 'ada@example.com' }], ['']])(
    'is ignored with a warning if it is %j, and the event is recorded',
    async (lead) => {
      const tenant = await createTestTenant(await sharedService())
      const sent = await tenant.track({ visitor_id: 'v', events: [conversion(lead)] })
      expect([sent.status, sent.body.accepted]).toEqual([200, 1])
      expect(sent.body.warnings).toEqual(['events[0].lead was ignored: it is not a valid email address'])
      expect(await contactsOf(tenant)).toEqual([])
    },
  )

  test('null counts as absent', async () => {
    const tenant = await createTestTenant(await sharedService())
    const sent = await tenant.track({ events: [conversion(null)] })
    expect([sent.status, sent.body.accepted, sent.body.warnings ?? []]).toEqual([200, 1, []])
  })

  test('has the limits of a form: by person, and by address', async () => {
    const limited = await startTestService({
      CDS_RATE_LIMITS: 'on',
      CDS_RATE_LIMIT_FORM_PER_PERSON_PER_MINUTE: '2',
      CDS_RATE_LIMIT_FORM_PER_IP_PER_MINUTE: '4',
    })
    try {
      const tenant = await createTestTenant(limited)
      const send = async (visitor_id: string, email: string) => {
        const { status, headers } = await tenant.track({ visitor_id, events: [conversion(email)] })
        return status === 429 ? Number(headers.get('retry-after')) > 0 && '429' : status
      }
      expect(await send('1', 'ada@example.com')).toBe(200)
      expect(await send('2', 'ada@example.com')).toBe(200)
      expect(await send('3', 'ada@example.com')).toBe('429')
      expect(await send('4', 'bob@example.com')).toBe(200)
      expect(await send('5', 'cleo@example.com')).toBe('429')
      expect(await contactsOf(tenant)).toHaveLength(2)
      // The page sends it again later: nothing of the request was recorded.
      const { events } = (await tenant.call('GET', '/v1/events?event_type=video_conversion')).body
      expect(events).toHaveLength(3)
    } finally {
      await limited.close()
    }
  })
})
