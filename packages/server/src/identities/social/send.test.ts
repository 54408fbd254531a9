import { beforeAll, expect, test } from 'vitest'
import { createTestTenant, sharedService, type TestService, type TestTenant } from '../../../test/service.ts'
import { createIdentity, socialOf } from '../../../test/social.ts'
import { newId } from '../../platform/ids.ts'
import type { SocialMessage } from './connector.ts'
import { type SendDependencies, sendSocialConnect, sendSocialMessage } from './send.ts'

let service: TestService
let tenant: TestTenant
let dependencies: SendDependencies

beforeAll(async () => {
  service = await sharedService()
  tenant = await createTestTenant(service)
  dependencies = { social: service.social, clock: () => new Date() }
})

async function connected(username: string): Promise<string> {
  const identityId = await createIdentity(tenant)
  const flow = socialOf(tenant, identityId)
  await flow.until(await flow.begin(username), 'completed')
  return identityId
}

const MESSAGE: SocialMessage = {
  recipientProfileUrl: 'https://social.example/in/bob/',
  message: 'Hello 🎉',
  idempotencyKey: 'key-1',
}
const send = (identityId: string, changes: Partial<SocialMessage> = {}) =>
  sendSocialMessage(tenant.handle, dependencies, identityId, { ...MESSAGE, ...changes })

test('a message is in the outbox once per key and tenant, even after concurrent calls', async () => {
  const identityId = await connected('ada@example.com')
  const sent = await Promise.all(Array.from({ length: 8 }, () => send(identityId)))
  expect(new Set(sent.map(({ external_id }) => external_id)).size).toBe(1)
  const invitation = { recipientProfileUrl: MESSAGE.recipientProfileUrl, idempotencyKey: 'key-2' }
  const invited = await sendSocialConnect(tenant.handle, dependencies, identityId, invitation)
  const outbox = await tenant.handle.db
    .selectFrom('social_sandbox_outbox')
    .select(['external_id', 'kind', 'recipient_profile_url', 'text', 'profile_id'])
    .orderBy('external_id')
    .execute()
  const profile_id = expect.stringMatching(/^sandbox-ok-/)
  const recipient_profile_url = MESSAGE.recipientProfileUrl
  expect(outbox).toEqual([
    { external_id: sent[0]?.external_id, kind: 'message', recipient_profile_url, text: MESSAGE.message, profile_id },
    { external_id: invited.external_id, kind: 'connect', recipient_profile_url, text: null, profile_id },
  ])
})

test("an identity that never logged in has another error than an unknown one or another tenant's", async () => {
  await expect(send(await createIdentity(tenant))).rejects.toMatchObject({
    status: 409,
    code: 'identity_without_social',
  })
  const stranger = await createTestTenant(service)
  for (const id of [newId(), 'no-id', await createIdentity(stranger)]) {
    await expect(send(id)).rejects.toMatchObject({ status: 404, code: 'not_found' })
  }
})

test('refusals, expired sessions and an unreachable network have codes of their own', async () => {
  const identityId = await connected('ada@example.com')
  const to = (name: string) => send(identityId, { recipientProfileUrl: `https://social.example/in/${name}` })
  await expect(to('nobody')).rejects.toMatchObject({ status: 409, code: 'social_refused' })
  await expect(to('unreachable')).rejects.toMatchObject({ status: 503, code: 'social_unavailable' })
  await expect(send(await connected('refuse@example.com'))).rejects.toMatchObject({ code: 'social_refused' })
  const expired = await connected('expired@example.com')
  await expect(send(expired)).rejects.toMatchObject({ status: 409, code: 'social_session_expired' })
  const profile = await tenant.handle.db
    .selectFrom('social_profiles')
    .select('connected')
    .where('identity_id', '=', expired)
    .execute()
  expect(profile).toEqual([{ connected: false }])
})

test.each([
  [{ message: '' }],
  [{ message: 'x'.repeat(8_001) }],
  [{ message: 'half \ud800' }],
  [{ idempotencyKey: '' }],
  [{ recipientProfileUrl: 'social.example/in/bob' }],
  [{ recipientProfileUrl: 'javascript:alert(1)' }],
])('%j is 400', async (changes) => {
  await expect(send(newId(), changes)).rejects.toMatchObject({ status: 400, code: 'validation_error' })
})
