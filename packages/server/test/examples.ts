import { expect } from 'vitest'
import type { Services } from '../src/assembly/all-operations.ts'
import { type Operation, routeOf, type Values } from '../src/operations/declare.ts'
import { success } from '../src/platform/http/responses.ts'
import { exampleOf, fill, queryOf } from './one-of-each.ts'
import type { TestResponse } from './service.ts'
import { undeclaredFields } from './undeclared-fields.ts'

/**
 * Operations whose examples need another system; peer-examples.test.ts provides it. No declaration says so: some call
 * none, but read or remove what only such a system accepts, such as a mailbox.
 */
export const WITH_PEERS = [
  'ask',
  'checkEmailAccount',
  'completeAuthorization',
  'createConnection',
  'getEmailAccount',
  'getMailbox',
  'removeEmailAccount',
  'rereadMailbox',
  'setConnectionWriteBack',
  'setEmailAccount',
  'subscribeToDashboard',
  'testWarehouseDestination',
  'updateConnection',
  'writeContactsBack',
] as const

export interface Caller {
  call(method: string, path: string, body?: unknown): Promise<TestResponse>
}

/** The example of an operation, with the caller's own ids, addresses and codes in place of the example's. */
export function exampleWith(operation: Operation<Services>, own: Values): Values {
  return Object.fromEntries(Object.entries(exampleOf(operation)).map(([name, value]) => [name, own[name] ?? value]))
}

/** Sends an input, and expects a success with the declared fields and headers. @param ids for the path */
export async function succeed(
  caller: Caller,
  operation: Operation<Services>,
  sent: Values,
  ids: Values,
): Promise<TestResponse> {
  const { method, url, hasBody } = routeOf(operation)
  const query = hasBody ? '' : queryOf(sent)
  const body = hasBody && Object.keys(sent).length > 0 ? sent : undefined
  const path = fill(url, ids) + query
  const response = await caller.call(method, path, body)
  expect(response.status, `${path}: ${JSON.stringify(response.body)}`).toBe(operation.status ?? 200)
  expect(undeclaredFields(success(operation.output), response.body)).toEqual([])
  expect(response.headers.has('etag')).toBe(operation.etag !== undefined)
  return response
}
