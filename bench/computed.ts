import { setTimeout as sleep } from 'node:timers/promises'
import { serverEvents, USERS } from './bodies.ts'
import { load, URL_OF_SERVICE, withKey } from './load.ts'
import { latency, number, progress, rate, report } from './report.ts'
import type { Target } from './target.ts'

const PROPERTIES = 20
const FUNCTIONS = ['count', 'sum', 'avg', 'min', 'max', 'distinct', 'first', 'last', 'most_frequent', 'sum'] as const
const SERVERS = 8
const EVENTS = 10
const POLL_MS = 200
/** Values follow within this time. */
const PATIENCE_MS = 120_000

/**
 * What computed properties cost: the same events of known users without any and with 20, turn by turn, and how long a value takes
 * after an event, both at rest and under this load.
 */
export async function measureComputed({ raw, size }: Target): Promise<void> {
  const headers = { ...withKey(raw.apiKey), 'content-type': 'application/json' }
  const call = async (method: string, path: string, body?: unknown) => {
    const response = await fetch(URL_OF_SERVICE + path, {
      method,
      headers,
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    })
    const parsed = await response.json()
    if (!response.ok) throw new Error(JSON.stringify(parsed))
    return parsed
  }
  const send = () =>
    load({
      connections: SERVERS,
      seconds: size.seconds,
      headers: withKey(raw.apiKey),
      next: () => ({ path: '/v1/events', body: serverEvents(EVENTS) }),
    })

  progress('creating the users')
  for (let first = 0; first < USERS; first += 500) {
    const events = Array.from({ length: 500 }, (_, n) => ({ event: 'signed_up', user_id: `bench-user-${first + n}` }))
    await call('POST', '/v1/events', { events })
  }
  const what = `POST /v1/events, ${EVENTS} events a request, ${SERVERS} connections`
  progress(`${what}, without computed properties`)
  await send()
  const without = await send()

  progress(`filling in ${PROPERTIES} computed properties of ${number(size.contacts)} contacts`)
  const filledFrom = performance.now()
  for (let n = 0; n < PROPERTIES; n++) {
    const name = FUNCTIONS[n % FUNCTIONS.length]
    const definition = {
      name: `computed_${n}`,
      entity: 'contacts',
      function: name,
      event: 'order_paid',
      ...(name === 'count' ? {} : { property: n % 2 === 0 ? 'data.amount' : 'data.coupon' }),
      ...(n < 10 ? {} : { within_days: 30 }),
    }
    await call('POST', '/v1/computed-properties', definition)
  }
  const filling = async () =>
    (await call('GET', '/v1/computed-properties?limit=100')).computed_properties.some(
      (each: { filling: boolean }) => each.filling,
    )
  while (await filling()) await sleep(POLL_MS)
  const seconds = (performance.now() - filledFrom) / 1000
  report({
    what: `filling in ${PROPERTIES} computed properties`,
    measured: `${number(seconds)} s, ${rate((size.contacts + USERS) / seconds)} contacts/s`,
    limit: '',
    ratio: null,
    aim: 'once',
  })

  const rest = await lag(call, 0)
  progress(`${what}, with ${PROPERTIES} computed properties`)
  const loading = send()
  await sleep((size.seconds * 1000) / 2)
  const busy = lag(call, 1)
  const measured = await loading
  report({
    what: `${what}, ${PROPERTIES} computed properties`,
    measured: `${rate(measured.perSecond * EVENTS)} events/s; ${latency(measured)}`,
    limit: `${rate(without.perSecond * EVENTS)} events/s without any`,
    ratio: without.perSecond / measured.perSecond,
    aim: '1.30',
  })
  report({
    what: 'from an event to the value of its contact',
    measured: `${rest.toFixed(1)} s; ${(await busy).toFixed(1)} s under this load`,
    limit: '',
    ratio: null,
    aim: '10 s',
  })
}

/** The seconds from an event of a new user to its value. */
async function lag(
  // biome-ignore lint/suspicious/noExplicitAny: It reads responses of several shapes.
  call: (method: string, path: string, body?: unknown) => Promise<any>,
  user: number,
): Promise<number> {
  const user_id = `bench-lag-${user}`
  await call('POST', '/v1/events', { events: [{ event: 'signed_up', user_id }] })
  await sleep(5_000)
  const { results } = await call('POST', '/v1/events', {
    events: [{ event: 'order_paid', user_id, data: { amount: 1 } }],
  })
  const since = performance.now()
  const contactId = results[0].contact_id
  for (;;) {
    const { contact } = await call('GET', `/v1/contacts/${contactId}?include_events=false`)
    if (contact.properties.computed_0 === 1) return (performance.now() - since) / 1000
    if (performance.now() - since > PATIENCE_MS) return Number.POSITIVE_INFINITY
    await sleep(POLL_MS)
  }
}
