import { expect, test } from 'vitest'
import { OPENID_CLIENT, startOpenIdProvider } from '../../../test/openid-provider.ts'
import { Browser, signedIn } from '../../../test/people.ts'
import { createTestTenant, startTestService } from '../../../test/service.ts'

test('while the provider is away passwords work, and it is used as soon as it is back', async () => {
  const person = { sub: '1', email: 'x@example.com', email_verified: true, name: 'X' }
  const before = await startOpenIdProvider(person)
  await before.close()
  const service = await startTestService({
    CDS_OIDC_ISSUER: before.issuer,
    CDS_OIDC_CLIENT_ID: OPENID_CLIENT.id,
    CDS_OIDC_CLIENT_SECRET: OPENID_CLIENT.secret,
  })
  try {
    await signedIn(service, (await createTestTenant(service)).id, 'viewer')
    const begin = () => new Browser(service).call('POST', '/api/auth/sign-in/oauth2', { providerId: 'oidc' })
    const away = await begin()
    expect([away.status, away.body.error.code]).toEqual([503, 'oidc_unavailable'])
    const back = await startOpenIdProvider(person, Number(new URL(before.issuer).port))
    const { status, body } = await begin()
    expect([status, body.url.startsWith(`${before.issuer}/authorize?`)]).toEqual([200, true])
    await back.close()
  } finally {
    await service.close()
  }
})
