import { expect } from 'vitest'
import { call, type TestResponse, type TestService, type TestTenant } from './service.ts'

/** A hook of a test, with its URL's path. */
export interface TestHook {
  id: string
  /** Its path under /v1. */
  path: string
  /** The path that senders call. */
  url: string
  token: string
}

/** A mapping of orders to events and contacts. */
export const ORDERS = {
  event: {
    name: { path: 'type' },
    id: { path: 'order.id' },
    timestamp: { path: 'at' },
    data: { total: { path: 'order.total' } },
  },
  contact: {
    email: { path: 'customer.email' },
    properties: { firstname: { path: 'customer.name' }, plan: { path: 'customer.plan' } },
  },
}

/** An order in the form that `ORDERS` maps. */
export function order(id: string, email: string, more: object = {}) {
  return { type: 'order_paid', order: { id, total: 49.9 }, customer: { email, name: 'Ada', ...more } }
}

let hooks = 0

/** Creates a hook. */
export async function createHook(tenant: TestTenant, settings: object = {}): Promise<TestHook> {
  const input = { name: `Hook ${++hooks}`, kind: 'custom', mapping: ORDERS, ...settings }
  const { status, body } = await tenant.call('POST', '/v1/hooks', input)
  expect([status, body.error]).toEqual([201, undefined])
  const id = body.hook.hook_id as string
  return { id, path: `/v1/hooks/${id}`, token: body.token, url: new URL(body.url).pathname }
}

/** Sends a body to a hook like its sender; an object as JSON. */
export function send(
  service: TestService,
  { url }: Pick<TestHook, 'url'>,
  body: unknown,
  headers: Record<string, string> = {},
): Promise<TestResponse> {
  return call(service, 'POST', url, { headers, body: typeof body === 'string' ? body : JSON.stringify(body) })
}

/** The kept bodies of a hook, newest first. */
export async function bodiesOf(tenant: TestTenant, { path }: Pick<TestHook, 'path'>) {
  const { status, body } = await tenant.call('GET', `${path}/bodies`)
  expect(status).toBe(200)
  return body.bodies
}
