import { newId } from '../src/platform/ids.ts'
import type { TestResponse, TestTenant } from './service.ts'

/** Creates an identity through the API. @returns its id. */
export async function createIdentity(tenant: TestTenant): Promise<string> {
  const identity_id = newId()
  const now = new Date()
  const names = { first_name: 'Ada', last_name: 'Byron', role: 'sales' }
  await tenant.handle.db
    .insertInto('identities')
    .values({ identity_id, ...names, created_at: now, updated_at: now })
    .execute()
  return identity_id
}

/** The login flow of one identity, call by call. */
export function socialOf(tenant: TestTenant, identityId: string, network = 'social') {
  const base = `/v1/identities/${identityId}/${network}`
  const flow = {
    base,
    login: (body?: object): Promise<TestResponse> => tenant.call('POST', `${base}/login`, body),
    status: (sessionId: string): Promise<TestResponse> => tenant.call('GET', `${base}/status/${sessionId}`),
    code: (sessionId: string, code: unknown): Promise<TestResponse> =>
      tenant.call('POST', `${base}/code/${sessionId}`, { code }),
    check: (): Promise<TestResponse> => tenant.call('GET', `${base}/check`),
    /** Logs in, which must be accepted. @returns the session's id. */
    begin: async (username: string, more: object = {}): Promise<string> => {
      const { status, body } = await flow.login({ username, password: 'a password', ...more })
      if (status !== 200) throw new Error(JSON.stringify(body))
      return body.login_result.session_id
    },
    /** Polls until the status is one of the given. */
    until: async (sessionId: string, ...wanted: string[]): Promise<TestResponse> => {
      for (;;) {
        const response = await flow.status(sessionId)
        if (response.status !== 200) throw new Error(JSON.stringify(response.body))
        if (wanted.includes(response.body.status)) return response
        if (['completed', 'failed'].includes(response.body.status)) throw new Error(JSON.stringify(response.body))
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    },
  }
  return flow
}
