import type { TestTenant } from './service.ts'

let sources = 0

/** Creates a source. @returns its write key. */
export async function createSource(tenant: TestTenant, type: 'browser' | 'server'): Promise<string> {
  const { status, body } = await tenant.call('POST', '/v1/sources', { name: `Source ${++sources}`, type })
  if (status !== 201) throw new Error(JSON.stringify(body))
  return body.write_key
}
