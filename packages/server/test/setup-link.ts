import type { TestService } from './service.ts'

/** The token in the link that the service prints. */
export async function setupTokenOf(service: Pick<TestService, 'findSetupLink'>): Promise<string> {
  const link = await service.findSetupLink()
  const token = new URLSearchParams(new URL(link ?? 'http://localhost').hash.slice(1)).get('token')
  if (token === null) throw new Error(`The service printed ${link}.`)
  return token
}
