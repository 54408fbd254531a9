import { expect } from 'vitest'
import type { Import } from '../src/imports/import-object.ts'
import type { TestTenant } from './service.ts'

/** Uploads a file that must be accepted. */
export async function uploaded(
  tenant: TestTenant,
  content: string | Uint8Array<ArrayBuffer>,
  name = 'contacts.csv',
): Promise<Import> {
  const { status, body } = await tenant.upload(content, { name })
  expect([status, body.error]).toEqual([201, undefined])
  return body.import
}

/** Reads an import. */
export async function importOf(tenant: TestTenant, importId: string): Promise<Import> {
  return (await tenant.call('GET', `/v1/imports/${importId}`)).body.import
}

/** Requests something of an import, and waits until it is in a state. */
export async function act(
  tenant: TestTenant,
  { import_id }: Pick<Import, 'import_id'>,
  action: 'preview' | 'start' | 'undo',
  state: Import['state'],
): Promise<Import> {
  const { status, body } = await tenant.call('POST', `/v1/imports/${import_id}/${action}`)
  expect([status, body.error]).toEqual([202, undefined])
  return ended(tenant, import_id, state)
}

/** Waits until an import is in a state. */
export async function ended(tenant: TestTenant, importId: string, state: Import['state']): Promise<Import> {
  await expect.poll(async () => (await importOf(tenant, importId)).state, { timeout: 120_000 }).toBe(state)
  return importOf(tenant, importId)
}
