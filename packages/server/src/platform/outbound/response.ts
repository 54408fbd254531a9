import type { Dispatcher } from 'undici'
import { OutboundError } from './client.ts'

const MIB = 1024 * 1024

/** The headers by name in lower case; the first value of each. */
export function firstOfEach(headers: Dispatcher.ResponseData['headers']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(headers).flatMap(([name, value]) => {
      const first = Array.isArray(value) ? value[0] : value
      return first === undefined ? [] : [[name.toLowerCase(), first]]
    }),
  )
}

/** Reads a whole body. @throws OutboundError `too_long` if it is longer than `mebibytesMax` MiB */
export async function readWhole(body: Dispatcher.ResponseData['body'], mebibytesMax: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of body) {
    chunks.push(chunk as Buffer)
    length += (chunk as Buffer).length
    // Exiting the loop destroys the stream.
    if (length > mebibytesMax * MIB) {
      throw new OutboundError('too_long', `The response is longer than ${mebibytesMax} MiB.`, null)
    }
  }
  return Buffer.concat(chunks)
}
