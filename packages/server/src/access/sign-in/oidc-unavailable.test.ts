import { once } from 'node:events'
import { type AddressInfo, createServer } from 'node:net'
import { expect, test } from 'vitest'
import { OPENID_CLIENT, startOpenIdProvider } from '../../../test/openid-provider.ts'
import { Browser, signedIn } from '../../../test/people.ts'
import { createTestTenant, startTestService } from '../../../test/service.ts'

test('passwords work while the provider is down, and it is used again once it is back', async () => {
  const person = { sub: '1', email: 'x@example.com', email_verified: true, name: 'X' }
  // A silent server keeps the port, which the system could otherwise assign to another program.
  const silent = createServer((socket) => socket.destroy()).listen(0, '127.0.0.1')
  await once(silent, 'listening')
  const { port } = silent.address() as AddressInfo
  const issuer = `http://127.0.0.1:${port}`
  const service = await startTestService({
    CDS_OIDC_ISSUER: issuer,
    CDS_OIDC_CLIENT_ID: OPENID_CLIENT.id,
    CDS_OIDC_CLIENT_SECRET: OPENID_CLIENT.secret,
  })
  try {
    const { email } = await signedIn(service, (await createTestTenant(service)).id, 'viewer')
    await new Browser(service).signIn(email)
    const begin = () => new Browser(service).call('POST', '/api/auth/sign-in/oauth2', { providerId: 'oidc' })
    const away = await begin()
    expect([away.status, away.body.error.code]).toEqual([503, 'oidc_unavailable'])
    silent.close()
    await once(silent, 'close')
    const back = await startOpenIdProvider(person, port)
    const { status, body } = await begin()
    expect([status, body.url.startsWith(`${issuer}/authorize?`)]).toEqual([200, true])
    await back.close()
  } finally {
    await service.close()
  }
})
