import type { Event } from '../../../../client/src/index.ts'
import type { ApiFetch } from '../../platform/outbound/api-fetch.ts'
import { renderPayload } from '../../webhooks/payload.ts'
import { deliveryHeaders, USER_AGENT } from '../../webhooks/signature.ts'

const RESPONSE_WITHIN_MS = 10_000

export interface Sender {
  outbound: ApiFetch
  target: string
  secret: string
  subscriptionId: string
  tenantId: string
  signal: AbortSignal
}

/** What became of an event: the status of the response, or why there is none. */
export interface Forwarded {
  event: string
  event_id: string
  status: number | null
  error?: string
}

/** Sends an event once, with the body and the headers of a webhook. */
export async function forward(sender: Sender, event: Event): Promise<Forwarded> {
  const { target, secret, subscriptionId, tenantId } = sender
  const { title } = event.data
  const content = { event, title: typeof title === 'string' ? title : '', path: pathOf(event.url) }
  const body = renderPayload(tenantId, subscriptionId, content)
  const message = { messageId: event.event_id, at: new Date(), body: Buffer.from(body) }
  const signing = { primary: secret, valid: [secret] }
  const sent = { event: event.event, event_id: event.event_id }
  try {
    const { status } = await sender.outbound.fetch(target, {
      method: 'POST',
      headers: {
        'user-agent': USER_AGENT,
        ...deliveryHeaders({ event: event.event, subscriptionId }, signing, message),
      },
      body,
      signal: AbortSignal.any([sender.signal, AbortSignal.timeout(RESPONSE_WITHIN_MS)]),
    })
    return { ...sent, status }
  } catch (error) {
    const { name, message: text, cause } = error as Error & { cause?: { code?: string; message?: string } }
    const reason = name === 'TimeoutError' ? 'no response within 10 seconds' : (cause?.code ?? cause?.message ?? text)
    return { ...sent, status: null, error: reason }
  }
}

function pathOf(url: string | null): string {
  return url !== null && URL.canParse(url) ? new URL(url).pathname : ''
}
