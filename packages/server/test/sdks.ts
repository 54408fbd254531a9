import { setImmediate } from 'node:timers/promises'
import RudderAnalytics from '@rudderstack/rudder-sdk-node'
import { Analytics } from '@segment/analytics-node'

/** The SDKs of Segment and RudderStack for Node, as they are published: nothing but the URL and the key are ours. */

/** More calls in a request mean fewer requests that can go wrong, so that the SDKs' waits fit into a test. */
export const PER_REQUEST = 30
const FLUSH_MS = 100

export interface Sdk {
  identify(call: { userId: string; traits: object }): void
  track(call: { userId: string; event: string; properties: object; timestamp?: Date }): void
  /** Waits for the calls so far, if a long queue costs the SDK much processor time. */
  keepUp(): Promise<void>
  /** Sends what is left. @returns the errors that the SDK reported. */
  end(): Promise<string[]>
}

function segmentSdk(writeKey: string, host: string): Sdk {
  const errors: string[] = []
  const analytics = new Analytics({ writeKey, host, flushAt: PER_REQUEST, flushInterval: FLUSH_MS })
  analytics.on('error', ({ reason }) => errors.push(String(reason)))
  return {
    identify: (call) => analytics.identify(call),
    track: (call) => analytics.track(call),
    keepUp: async () => {},
    end: async () => {
      await analytics.closeAndFlush({ timeout: 600_000 })
      return errors
    },
  }
}

function rudderSdk(writeKey: string, dataPlaneUrl: string): Sdk {
  const errors: string[] = []
  let pending = 0
  const done = () => {
    pending--
  }
  const drain = async () => {
    while (pending > 0) {
      await analytics.flush()
      // It calls back in the next turn.
      await setImmediate()
    }
  }
  const analytics = new RudderAnalytics(writeKey, {
    dataPlaneUrl,
    flushAt: PER_REQUEST,
    flushInterval: FLUSH_MS,
    retryCount: 10,
    logLevel: 'none',
    errorHandler: (error) => errors.push(String(error)),
  })
  return {
    identify: (call) => {
      pending++
      analytics.identify(call as Parameters<typeof analytics.identify>[0], done)
    },
    track: (call) => {
      pending++
      analytics.track(call as Parameters<typeof analytics.track>[0], done)
    },
    // For each call it serializes all that it has not sent yet.
    keepUp: drain,
    end: async () => {
      await drain()
      return errors
    },
  }
}

export const SDKS = [
  ['Segment', segmentSdk],
  ['RudderStack', rudderSdk],
] as const

const CALLS = 300
/** The numbers of `count`'s calls. */
export const COUNTED = Array.from({ length: CALLS }, (_, n) => n)

/** Makes calls that differ in their number, two requests' worth at a time. @returns the errors that the SDK reported. */
export async function count(sdk: Sdk, numbers: readonly number[] = COUNTED): Promise<string[]> {
  for (const n of numbers) {
    sdk.track({ userId: `user-${n % 5}`, event: 'Counted', properties: { n } })
    if ((n + 1) % (2 * PER_REQUEST) === 0) await sdk.keepUp()
  }
  return sdk.end()
}

/** The numbers of the recorded calls, in order. @param list reads a path of the API */
export async function counted(
  list: (path: string) => Promise<{ events: { data: { n: number } }[] }>,
): Promise<number[]> {
  const numbers: number[] = []
  for (let page = 1; ; page++) {
    const { events } = await list(`/v1/events?limit=100&page=${page}`)
    numbers.push(...events.map(({ data }) => data.n))
    if (events.length < 100) return numbers.sort((a, b) => a - b)
  }
}
