import { Webhook } from 'standardwebhooks'
import { describe, expect, test } from 'vitest'
import { createTestTenant } from '../../server/test/service.ts'
import { startWebhookBench, until } from '../../server/test/webhooks.ts'
import { verifyWebhook } from '../src/index.ts'

const SECRET = `whsec_${Buffer.from('a secret of thirty-two bytes ...').toString('base64')}`
const BODY = JSON.stringify({ event: 'page_view', event_id: 'e-1', data: { title: 'Grüße 👋' } })
const AT = new Date('2026-03-01T12:00:00Z')

/** Signs as the authors of the standard do. */
function signed(body: string, { secret = SECRET, at = AT } = {}): Record<string, string> {
  return {
    'webhook-id': 'e-1',
    'webhook-timestamp': String(at.getTime() / 1_000),
    'webhook-signature': new Webhook(secret).sign('e-1', at, body),
  }
}

const verify = (more: Partial<Parameters<typeof verifyWebhook>[0]> = {}) =>
  verifyWebhook({ body: BODY, headers: signed(BODY), secret: SECRET, now: AT, ...more })

describe('a request that the standard’s own library signed', () => {
  test('is accepted as text, as bytes, and with the headers of Node, of fetch and of proxies', async () => {
    const headers = signed(BODY)
    const capitals = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]))
    for (const each of [headers, new Headers(headers), capitals]) {
      expect(await verify({ headers: each })).toMatchObject({ event: 'page_view', data: { title: 'Grüße 👋' } })
    }
    expect(await verify({ body: Buffer.from(BODY) })).toMatchObject({ event_id: 'e-1' })
  })

  test('is accepted by either of two secrets during a rotation', async () => {
    const [old, current] = [`whsec_${btoa('old secret')}`, SECRET]
    const both = `${signed(BODY, { secret: old })['webhook-signature']} ${signed(BODY)['webhook-signature']}`
    const headers = { ...signed(BODY), 'webhook-signature': both }
    for (const secret of [old, current]) expect(await verify({ headers, secret })).toMatchObject({ event_id: 'e-1' })
  })

  test.each([
    ['another body', { body: BODY.replace('page_view', 'purchase') }, 'wrong_signature'],
    ['a byte more', { body: `${BODY}\n` }, 'wrong_signature'],
    ['another secret', { secret: `whsec_${btoa('another secret')}` }, 'wrong_signature'],
    ['another id', { headers: { ...signed(BODY), 'webhook-id': 'e-2' } }, 'wrong_signature'],
    ['no signature', { headers: { ...signed(BODY), 'webhook-signature': '' } }, 'missing_headers'],
    ['garbage', { headers: { ...signed(BODY), 'webhook-signature': 'v1,%%% v1 v2,x ,' } }, 'wrong_signature'],
    ['six minutes late', { now: new Date(AT.getTime() + 360_000) }, 'timestamp_too_far'],
    ['six minutes early', { now: new Date(AT.getTime() - 360_000) }, 'timestamp_too_far'],
    ['no time', { headers: { ...signed(BODY), 'webhook-timestamp': 'soon' } }, 'timestamp_too_far'],
  ])('is refused with %s', async (_, change, code) => {
    await expect(verify(change)).rejects.toMatchObject({ name: 'WebhookError', code })
  })

  test('and a secret that is none is a mistake of the program', async () => {
    for (const secret of ['', 'whsec_', 'whsec_%', 'cds_key'])
      await expect(verify({ secret })).rejects.toThrow(TypeError)
  })
})

test('a delivery of the service is verified, and by the library of the standard too', async () => {
  const bench = await startWebhookBench()
  try {
    const tenant = await createTestTenant(bench.service)
    const { signingSecret } = await bench.subscribe(tenant)
    await tenant.track({ visitor_id: 'v', events: [{ event: 'page_view', url: `https://${tenant.site}/` }] })
    const { body, headers } = await until(() => bench.receiver.received[0] ?? Promise.reject(new Error('none yet')))
    const payload = await verifyWebhook({ body, headers, secret: signingSecret })
    expect(payload).toMatchObject({ event: 'page_view', tenant_id: tenant.id, data: { visitorId: 'v' } })
    expect(new Webhook(signingSecret).verify(body, headers as Record<string, string>)).toEqual(payload)
  } finally {
    await bench.close()
  }
})
