import { Readable } from 'node:stream'
import type { Connector } from '../../platform/outbound/connect.ts'
import type { EmailAccount } from '../email-account.ts'
import { type ServerError, serverError } from './server-error.ts'
import { openSmtp } from './servers.ts'

/** For the whole conversation with the server. */
const DELIVERY_MS_MAX = 120_000

/**
 * What became of a mail. `unknown`: it was handed over in full, and the connection ended before the server answered, so
 * that it may be on its way.
 */
export type Delivery =
  | { outcome: 'accepted'; response: string }
  | { outcome: 'refused' | 'unavailable'; error: ServerError; stage: 'login' | 'recipient' | 'mail'; cause: unknown }
  | { outcome: 'unknown'; cause: unknown }

/** Hands a mail over to the account's SMTP server. It never throws. */
export async function deliver(
  connector: Connector,
  { smtp, address }: EmailAccount,
  recipient: string,
  raw: Buffer,
): Promise<Delivery> {
  let stage: 'login' | 'mail' = 'login'
  // The final dot goes out when the stream has ended. Before that no server delivers anything.
  let isHandedOver = false
  let timer: NodeJS.Timeout | undefined
  try {
    const connection = await openSmtp(connector, smtp)
    stage = 'mail'
    const message = Readable.from([raw])
    message.once('end', () => {
      isHandedOver = true
    })
    try {
      const response = await new Promise<string>((resolve, reject) => {
        timer = setTimeout(() => reject(new Error('the server took too long')), DELIVERY_MS_MAX)
        connection.send({ from: address, to: [recipient] }, message, (error, info) =>
          error ? reject(error) : resolve(info?.response ?? ''),
        )
      })
      connection.quit()
      return { outcome: 'accepted', response: response.slice(0, 500) }
    } catch (error) {
      connection.close()
      throw error
    }
  } catch (cause) {
    const error = serverError(cause, smtp.login)
    if (isHandedOver && error.code === null) return { outcome: 'unknown', cause }
    const isRecipient = (cause as { command?: string }).command === 'RCPT TO'
    // A log-in that fails says nothing of the mail: it can go out when the account has been mended.
    const isFinal = stage === 'mail' && error.code !== null && error.code >= 500
    return {
      outcome: isFinal ? 'refused' : 'unavailable',
      error,
      stage: isRecipient ? 'recipient' : stage,
      cause,
    }
  } finally {
    clearTimeout(timer)
  }
}
